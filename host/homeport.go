package host

import (
	"context"
	"net"
	"net/url"
	"strconv"
	"sync"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// homePort has an agent listen at the port that the course expects of its id,
// beside the one of its endpoint: many referees call player P04 at port 8104,
// whatever it has registered. It belongs to Agent.run.
type homePort struct {
	role protocol.Role
	host string // to listen on
	said func(id, url string, err error)
	main *url.URL // the agent's endpoint
	id   func() string

	held  net.Listener // keeps the port of the proposed id for the agent, until open
	start func(addr string) (stop func(), err error)

	mu   sync.Mutex
	port int    // at which the agent listens besides; 0 for none
	stop func() // ends that
}

// prepare fills in the id that the agent proposes: that of its port or, where its
// port is not one of the convention, that of the first free one, which is then
// the agent's as well.
func (h *homePort) prepare(ctx context.Context, endpoint string, cfg *agent.Config) {
	u, err := url.Parse(endpoint)
	if err != nil {
		return
	}
	h.main = u
	registered := cfg.Registered
	cfg.Registered = func() {
		if registered != nil {
			registered()
		}
		h.settle()
	}
	cfg.ListensAt = func(port int) bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return port != 0 && port == h.port
	}
	if cfg.ID != "" {
		return
	}
	if cfg.Proposed = agent.IDAt(h.role, h.own()); cfg.Proposed != "" {
		return
	}
	first, last := agent.Ports(h.role)
	for port := first; port <= last; port++ {
		var lc net.ListenConfig
		if held, err := lc.Listen(ctx, "tcp", h.addr(port)); err == nil {
			h.held, cfg.Proposed = held, agent.IDAt(h.role, port)
			return
		}
	}
}

// own returns the port of the agent's endpoint.
func (h *homePort) own() int {
	port, _ := strconv.Atoi(h.main.Port())
	return port
}

func (h *homePort) addr(port int) string {
	return net.JoinHostPort(h.host, strconv.Itoa(port))
}

// release gives up a port that was kept.
func (h *homePort) release() error {
	if h.held == nil {
		return nil
	}
	return h.held.Close()
}

// open begins to listen where the agent is expected, as far as its id is known.
// The servers end with ctx; serving waits for them.
func (h *homePort) open(ctx context.Context, serving *sync.WaitGroup, one *assembled) {
	h.start = func(addr string) (func(), error) {
		server, err := jsonrpc.Listen(ctx, addr, one.cfg)
		if err != nil {
			return nil, err
		}
		ctx, stop := context.WithCancel(ctx)
		serving.Go(func() { _ = server.Serve(ctx, one.chain) }) // the main endpoint reports what fails
		return stop, nil
	}
	if named, ok := one.agent.(interface{ ID() string }); ok {
		h.id = named.ID
	}
	if h.held != nil {
		port := h.held.Addr().(*net.TCPAddr).Port
		_ = h.held.Close() // to be opened as an endpoint
		h.move(port)
	}
	h.settle()
}

// settle moves to the port of the id that the agent has.
func (h *homePort) settle() {
	if h.id == nil || h.main == nil {
		return
	}
	id := h.id()
	port := agent.PortOf(h.role, id)
	h.mu.Lock()
	known := port == 0 || port == h.own() || port == h.port
	h.mu.Unlock()
	if known {
		return
	}
	err := h.move(port)
	if h.said != nil {
		u := *h.main
		u.Host = net.JoinHostPort(u.Hostname(), strconv.Itoa(port))
		h.said(id, u.String(), err)
	}
}

// move listens at a port, and no longer at the one before.
func (h *homePort) move(port int) error {
	stop, err := h.start(h.addr(port))
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stop != nil {
		h.stop()
	}
	h.port, h.stop = port, stop
	return nil
}
