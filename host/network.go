package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// Server is one endpoint of a network.
type Server interface {
	URL() string
	// Serve answers requests until ctx ends, and then drains.
	Serve(ctx context.Context, h jsonrpc.Handler) error
	// Close closes an endpoint that is never served.
	Close() error
}

// Network is what agents reach each other by.
type Network interface {
	// Listen opens an endpoint. The name is what a network without addresses
	// knows it by.
	Listen(ctx context.Context, name string, cfg jsonrpc.Config) (Server, error)
	// From returns a way to call from the endpoint with that name.
	From(name string) jsonrpc.RoundTripper
	// Close closes what calls have left open. No call may be running.
	Close() error
}

// Sockets is the network of HTTP over TCP. The zero value listens on loopback
// at a free port for every agent.
type Sockets struct {
	// Addrs returns the addresses that an agent may listen on; it takes the first
	// that is free. The default is "127.0.0.1:0".
	Addrs func(name string) []string
	// Reached returns the URL that an agent gives to others; url is its own, which is
	// on loopback where it listens on all interfaces. The default is url.
	Reached func(name, url string) string

	client jsonrpc.RoundTripper
}

// NewSockets returns a network on free ports of 127.0.0.1.
func NewSockets() *Sockets {
	return &Sockets{client: jsonrpc.OverHTTP()}
}

// Listen implements Network.
func (s *Sockets) Listen(ctx context.Context, name string, cfg jsonrpc.Config) (Server, error) {
	addrs := []string{"127.0.0.1:0"}
	if s.Addrs != nil {
		addrs = s.Addrs(name)
	}
	var first error
	for _, addr := range addrs {
		server, err := jsonrpc.Listen(ctx, addr, cfg)
		if err == nil && s.Reached != nil {
			return reached{server, s.Reached(name, server.URL())}, nil
		}
		if err == nil {
			return server, nil
		}
		first = cmp.Or(first, err)
	}
	if len(addrs) > 1 {
		return nil, fmt.Errorf("no port is free of %s to %s: %w", addrs[0], addrs[len(addrs)-1], first)
	}
	return nil, first
}

// reached is a server under the URL by which others reach it.
type reached struct {
	*jsonrpc.Server
	url string
}

// URL implements Server.
func (r reached) URL() string { return r.url }

// From implements Network. All agents of a process share connections.
func (s *Sockets) From(string) jsonrpc.RoundTripper { return s.client }

// Close implements Network.
func (s *Sockets) Close() error { return s.client.Close() }

// Memory is a network inside the process: the same bytes, and no sockets.
type Memory struct {
	loop jsonrpc.Loopback
}

// Listen implements Network.
func (m *Memory) Listen(_ context.Context, name string, cfg jsonrpc.Config) (Server, error) {
	return m.loop.Listen(name, cfg)
}

// From implements Network.
func (m *Memory) From(name string) jsonrpc.RoundTripper { return m.loop.From(name) }

// Close implements Network.
func (m *Memory) Close() error { return nil }

// avoiding is a network on which no agent listens at a URL that is another agent's, unless
// there is no other URL. When a league is started again, the system may give an agent the
// port at which the manager knows another one; it would receive that agent's messages.
type avoiding struct {
	Network
	taken func(name, url string) bool
}

// maxListens is how many URLs are tried.
const maxListens = 16

// Listen implements Network.
func (a avoiding) Listen(ctx context.Context, name string, cfg jsonrpc.Config) (Server, error) {
	found, err := a.Network.Listen(ctx, name, cfg)
	if err != nil {
		return nil, err
	}
	var others []Server // open until the end, so that the system does not give them again
	for range maxListens {
		if !a.taken(name, found.URL()) {
			break
		}
		next, err := a.Network.Listen(ctx, name, cfg)
		if err != nil {
			break // it is the only one
		}
		others, found = append(others, found), next
	}
	for _, s := range others {
		err = errors.Join(err, s.Close())
	}
	if err != nil {
		return nil, errors.Join(err, found.Close())
	}
	return found, nil
}

// counted counts the messages that a network carries. The networks that it
// wraps outlive it.
type counted struct {
	Network
	requests *atomic.Int64
}

func (c counted) From(name string) jsonrpc.RoundTripper {
	return countedTripper{c.Network.From(name), c.requests}
}

type countedTripper struct {
	jsonrpc.RoundTripper
	requests *atomic.Int64
}

func (c countedTripper) RoundTrip(ctx context.Context, out *jsonrpc.Outgoing) (*jsonrpc.Reply, error) {
	c.requests.Add(1)
	return c.RoundTripper.RoundTrip(ctx, out)
}

// Close leaves the round tripper open: it is the network's.
func (c countedTripper) Close() error { return nil }
