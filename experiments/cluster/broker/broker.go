// Package broker is the NATS server of a cluster, the only package that links one. It is
// a program of its own, cmd/strategylab-broker, so that the others stay small.
package broker

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
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

	problems problems
	closing  chan struct{} // closed by Close
	once     sync.Once
	restorer sync.WaitGroup
}

// startTime is how long a broker may take to recover its streams.
const startTime = time.Minute

// Start starts a broker and returns when it accepts clients. The caller closes it.
func Start(ctx context.Context, c cluster.BrokerConfig) (*Broker, error) {
	b := &Broker{problems: problems{make(chan error, 1), make(chan struct{}, 1)}, closing: make(chan struct{})}
	o, err := b.options(c)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start broker: %w", err), b.clean())
	}
	if b.server, err = server.NewServer(o); err != nil {
		return nil, errors.Join(fmt.Errorf("start broker: %w", err), b.clean())
	}
	b.server.SetLoggerV2(b.problems, false, false, false)
	go b.server.Start() // Close waits for it
	ready := make(chan bool, 1)
	go func() { ready <- b.server.ReadyForConnections(startTime) }()
	select {
	case ok := <-ready:
		if !ok {
			err = fmt.Errorf("it is not ready after %v", startTime)
		}
	case err = <-b.problems.fatal:
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
	b.restorer.Go(func() { b.restore(o.StoreDir) })
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
		JetStream: true, StoreDir: dir, JetStreamMaxStore: mostStore, MaxPayload: maxPayload, MaxControlLine: 4096,
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

// mostStore is more than any disk has: the server's own default is a part of what is free
// at its start, which is nothing for ever if the disk is full then.
const mostStore = 1 << 50

// restoreEvery is how often a broker that does not store looks whether it can again.
const restoreEvery = time.Second

// restore has the server open its streams again when there is room, until Close: after a
// write that has failed, it writes nothing more to a stream.
func (b *Broker) restore(dir string) {
	tick := time.NewTicker(restoreEvery)
	defer tick.Stop()
	for failed := false; ; {
		select {
		case <-b.closing:
			return
		case <-b.problems.errors:
			failed = true
		case <-tick.C:
			if failed && room(dir) {
				_ = b.server.ShutdownJetStream() // it is enabled
				failed = b.server.EnableJetStream(&server.JetStreamConfig{StoreDir: dir, MaxStore: mostStore}) != nil
			}
		}
	}
}

// room reports whether a folder has room for what a run stores.
func room(dir string) bool {
	file := filepath.Join(dir, "room")
	defer os.Remove(file)
	return os.WriteFile(file, make([]byte, cluster.MaxJob), 0o600) == nil
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
	b.once.Do(func() { close(b.closing) })
	b.restorer.Wait()
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

// problems is the log of a broker: the first fatal error, which the server would otherwise
// end the process with, and whether it has failed to store something.
type problems struct {
	fatal  chan error
	errors chan struct{}
}

func (p problems) Noticef(string, ...any) {}
func (p problems) Warnf(string, ...any)   {}
func (p problems) Debugf(string, ...any)  {}
func (p problems) Tracef(string, ...any)  {}

// Errorf implements server.Logger.
func (p problems) Errorf(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !strings.Contains(text, "write error") && !strings.Contains(text, "failed to store") {
		return
	}
	select {
	case p.errors <- struct{}{}:
	default:
	}
}

// Fatalf implements server.Logger.
func (p problems) Fatalf(format string, args ...any) {
	select {
	case p.fatal <- fmt.Errorf(format, args...):
	default:
	}
}

// Serve runs a broker for cluster.StartBroker in another process, which sends the settings
// over in and receives address and token over out. The broker ends when in does: that also
// happens if the other process is killed, on every system.
func Serve(in io.Reader, out io.Writer) error {
	lines := json.NewDecoder(in)
	lines.DisallowUnknownFields() // a program of another version must not misunderstand them
	var c cluster.BrokerConfig
	if err := lines.Decode(&c); err != nil {
		return fmt.Errorf("read settings: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer cancel()
		_, _ = io.Copy(io.Discard, in) // any end is the end
	}()
	var ready cluster.BrokerReady
	b, err := Start(ctx, c)
	if err != nil {
		ready.Error = err.Error()
	} else {
		ready = cluster.BrokerReady{URL: b.URL(), Address: b.Address(), Token: b.Token()}
	}
	err = json.NewEncoder(out).Encode(ready)
	<-ended
	if b == nil {
		return err
	}
	return b.Close() // nobody is left to read why out has failed
}
