// Package broker is the NATS server of a cluster, the only package that links one. It is
// a program of its own, cmd/strategylab-broker, so that the others stay small.
package broker

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/strategylab/strategylab/experiments/cluster"
	"github.com/strategylab/strategylab/host/disk"
)

// Broker is a NATS server in this process.
type Broker struct {
	server    *server.Server
	url       string
	token     string
	temporary string // folder to remove
}

// startTime is how long a broker may take to recover its streams.
const startTime = time.Minute

// Start starts a broker and returns when it accepts clients. The caller closes it.
func Start(ctx context.Context, c cluster.BrokerConfig) (*Broker, error) {
	b := new(Broker)
	o, err := b.options(c)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start broker: %w", err), b.clean())
	}
	if b.server, err = server.NewServer(o); err != nil {
		return nil, errors.Join(fmt.Errorf("start broker: %w", err), b.clean())
	}
	fatal := make(problems, 1)
	b.server.SetLoggerV2(fatal, false, false, false)
	go b.server.Start() // Close waits for it
	ready := make(chan bool, 1)
	go func() { ready <- b.server.ReadyForConnections(startTime) }()
	select {
	case ok := <-ready:
		if !ok {
			err = fmt.Errorf("it is not ready after %v", startTime)
		}
	case err = <-fatal:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start broker on %s: %w", c.Listen, err), b.Close())
	}
	scheme := "nats://"
	if c.Cert != "" {
		scheme = "tls://"
	}
	host, _, _ := net.SplitHostPort(c.Listen) // options has parsed it
	b.url = scheme + url.User(b.token).String() + "@" + net.JoinHostPort(host, strconv.Itoa(b.server.Addr().(*net.TCPAddr).Port))
	return b, nil
}

func (b *Broker) options(c cluster.BrokerConfig) (*server.Options, error) {
	host, text, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w; want HOST:PORT", c.Listen, err)
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("address %q: port %q; want 0 to 65535", c.Listen, text)
	}
	dir := c.Dir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "strategylab-broker-"); err != nil {
			return nil, err
		}
		b.temporary = dir
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if b.token, err = tokenOf(c.Token, filepath.Join(dir, tokenFile)); err != nil {
		return nil, err
	}
	o := &server.Options{
		ServerName: "strategylab", Host: host, Port: int(port), Authorization: b.token, NoSigs: true, NoLog: false,
		JetStream: true, StoreDir: dir, MaxPayload: maxPayload, MaxControlLine: 4096,
	}
	if port == 0 {
		o.Port = server.RANDOM_PORT
	}
	if c.Cert != "" || c.Key != "" {
		pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
		if err != nil {
			return nil, fmt.Errorf("certificate: %w", err)
		}
		o.TLSConfig, o.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, true
		o.TLSTimeout = 5
	}
	return o, nil
}

// maxPayload is the largest message, that of NATS by default.
const maxPayload = 1 << 20

// tokenFile is the file in a broker's folder that keeps its token.
const tokenFile = "token"

// tokenOf returns the given token, or the one in a file, where a new one is kept.
func tokenOf(token, file string) (string, error) {
	if token == "" {
		kept, err := os.ReadFile(file)
		if err == nil && len(strings.TrimSpace(string(kept))) > 0 {
			return strings.TrimSpace(string(kept)), nil
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
		bytes := make([]byte, 16)
		_, _ = rand.Read(bytes) // it never fails
		token = hex.EncodeToString(bytes)
	}
	return token, disk.WriteFile(file, []byte(token+"\n"), 0o600)
}

// URL returns the address for clients, with the token.
func (b *Broker) URL() string { return b.url }

// Address returns HOST:PORT, where the broker listens.
func (b *Broker) Address() string { return b.server.Addr().String() }

// Token returns what clients must present.
func (b *Broker) Token() string { return b.token }

// Traffic returns the messages and bytes that the broker has received and sent.
func (b *Broker) Traffic() (messages, bytes int64, err error) {
	v, err := b.server.Varz(&server.VarzOptions{})
	if err != nil {
		return 0, 0, err
	}
	return v.InMsgs + v.OutMsgs, v.InBytes + v.OutBytes, nil
}

// Close stops the broker and waits for it.
func (b *Broker) Close() error {
	if b.server != nil {
		b.server.Shutdown()
		b.server.WaitForShutdown()
	}
	return b.clean()
}

func (b *Broker) clean() error {
	if b.temporary == "" {
		return nil
	}
	return os.RemoveAll(b.temporary)
}

// problems is the log of a broker: it passes on the first fatal error, which the server
// would otherwise end the process with.
type problems chan error

func (p problems) Noticef(string, ...any) {}
func (p problems) Warnf(string, ...any)   {}
func (p problems) Errorf(string, ...any)  {}
func (p problems) Debugf(string, ...any)  {}
func (p problems) Tracef(string, ...any)  {}

// Fatalf implements server.Logger.
func (p problems) Fatalf(format string, args ...any) {
	select {
	case p <- fmt.Errorf(format, args...):
	default:
	}
}
