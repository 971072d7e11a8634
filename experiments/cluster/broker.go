package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"os/exec"
	"sync"

	"github.com/strategylab/strategylab/plugins/subprocess"
)

// BrokerConfig is the settings of a broker.
type BrokerConfig struct {
	// Listen is HOST:PORT. Port 0 picks a free one.
	Listen string
	// Dir keeps streams and the token across restarts. Empty means a temporary folder,
	// which the broker removes when it ends.
	Dir string
	// Token is what clients must present. Empty means the one in Dir, or a new one.
	Token string
	// Cert and Key are files in PEM format that turn on TLS; both or neither.
	Cert, Key string
}

// BrokerReady is what the program of a broker prints, as JSON, when it accepts clients
// or cannot.
type BrokerReady struct {
	URL     string // for clients, with the token
	Address string // HOST:PORT where it listens
	Token   string
	Error   string `json:",omitempty"` // why there is no broker
}

// Broker is a broker in a process of its own, which ends with this one.
type Broker struct {
	ready   BrokerReady
	input   io.Closer     // the broker ends when it is closed
	closing chan struct{} // closed by Close
	once    sync.Once
	ended   chan struct{} // closed after the process, when err is set
	err     error
}

// StartBroker starts the program of a broker, strategylab-broker, and returns when it
// accepts clients. The caller closes the broker. Settings and token go through the
// program's standard input, because everybody on a machine sees the arguments of a
// process. lost is called if the broker ends before Close.
func StartBroker(ctx context.Context, program string, stderr io.Writer, c BrokerConfig, lost func(error)) (*Broker, error) {
	cmd := exec.Command(program)
	cmd.Stderr = stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start broker: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start broker: %w", err)
	}
	if err := subprocess.Start(cmd); err != nil {
		return nil, fmt.Errorf("start broker: %w", err)
	}
	b := &Broker{input: in, closing: make(chan struct{}), ended: make(chan struct{})}
	ready := make(chan error, 1)
	go func() {
		defer close(b.ended)
		err := json.NewEncoder(in).Encode(c)
		if err == nil {
			err = json.NewDecoder(out).Decode(&b.ready)
		}
		ready <- err
		b.err = cmd.Wait()
		select {
		case <-b.closing:
		default:
			b.err = fmt.Errorf("the broker has ended (%v)", cmd.ProcessState)
			if err == nil && b.ready.Error == "" {
				lost(b.err)
			}
		}
	}()
	select {
	case err = <-ready:
		if err != nil {
			err = fmt.Errorf("start broker: program %q gives no address (%w); install it again", program, err)
		} else if b.ready.Error != "" {
			err = errors.New(b.ready.Error)
		}
	case <-ctx.Done():
		err = fmt.Errorf("start broker on %s: %w", c.Listen, context.Cause(ctx))
	}
	if err != nil {
		_ = b.Close() // err is the reason
		return nil, err
	}
	return b, nil
}

// URL returns the address for clients, with the token.
func (b *Broker) URL() string { return b.ready.URL }

// Local returns the address for clients on this machine, with the token: not every
// system connects to 0.0.0.0.
func (b *Broker) Local() string {
	u, err := url.Parse(b.ready.URL)
	at, notIP := netip.ParseAddrPort(b.ready.Address)
	if err != nil || notIP != nil || !at.Addr().IsUnspecified() {
		return b.ready.URL
	}
	u.Host = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port()).String()
	return u.String()
}

// Address returns HOST:PORT, where the broker listens.
func (b *Broker) Address() string { return b.ready.Address }

// Token returns what clients must present.
func (b *Broker) Token() string { return b.ready.Token }

// Close stops the broker and waits for it.
func (b *Broker) Close() error {
	b.once.Do(func() {
		close(b.closing)
		_ = b.input.Close() // it may have ended
	})
	<-b.ended
	return b.err
}
