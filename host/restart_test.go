package host_test

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/jsonrpc/jsonrpctest"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/wire"
)

// agents are the parts of a league that are assembled by hand, so that one can
// be started again.
type agents struct {
	t   *testing.T
	net *host.Sockets
	wg  sync.WaitGroup
}

func (a *agents) caller() *wire.Caller {
	return &wire.Caller{Client: jsonrpc.NewClient(a.net.From(""), jsonrpc.ClientConfig{}), Codec: dialect.NewCodec(protocol.Tolerant)}
}

// serve serves a handler at an address until ctx ends.
func (a *agents) serve(ctx context.Context, addr string, make func(url string) jsonrpc.Handler) string {
	a.t.Helper()
	srv, err := jsonrpc.Listen(ctx, cmp.Or(addr, "127.0.0.1:0"), jsonrpc.Config{Drain: time.Millisecond})
	if err != nil {
		a.t.Fatal(err)
	}
	h := make(srv.URL())
	a.wg.Go(func() { _ = srv.Serve(ctx, h) })
	return srv.URL()
}

// TestManagerIsRestarted kills the manager after every few results and starts it
// again on its data, while referees and players go on.
func TestManagerIsRestarted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	a := &agents{t: t, net: host.NewSockets()}
	t.Cleanup(func() {
		cancel()
		a.wg.Wait()
		a.net.Close()
	})
	cfg := manager.Config{LeagueID: "cup", Players: 4, Legs: 3, DataDir: t.TempDir(), NoSync: true, Probe: manager.ProbeOff, Timeout: time.Second, Backoff: quick, Caller: a.caller()}
	results := make(chan struct{}, 1000)
	over := make(chan struct{})
	cfg.Events = func(e manager.Event) {
		switch e.Kind {
		case manager.MatchReported:
			results <- struct{}{}
		case manager.LeagueCompleted:
			close(over)
		}
	}
	addr := jsonrpctest.Address(t)
	url := "http://" + addr + "/mcp"
	start := func() (*manager.Manager, func()) {
		life, kill := context.WithCancel(ctx)
		m, err := manager.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		var mine sync.WaitGroup
		srv, err := jsonrpc.Listen(life, addr, jsonrpc.Config{Drain: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		mine.Go(func() { _ = srv.Serve(life, m.Dispatcher()) })
		mine.Go(func() { _ = m.Run(life) })
		return m, func() { kill(); mine.Wait() }
	}
	m, kill := start()

	manages := func() *wire.Peer { return wire.NewPeer(url, dialect.Contracts) }
	a.serve(ctx, "", func(own string) jsonrpc.Handler {
		r, err := referee.New(referee.Config{Config: agent.Config{Endpoint: own, Manager: manages(), Caller: a.caller(), Backoff: quick, Timeout: time.Second}})
		if err != nil {
			t.Fatal(err)
		}
		a.wg.Go(func() { _ = r.Run(ctx) })
		return r.Dispatcher()
	})
	var done sync.WaitGroup
	for i, f := range named(t, "random", "markov-1", "role", "frequency") {
		a.serve(ctx, "", func(own string) jsonrpc.Handler {
			p, err := player.New(player.Config{
				Config: agent.Config{
					Endpoint: own,
					Manager:  manages(),
					Caller:   a.caller(),
					Name:     fmt.Sprintf("player %d", i),
					Backoff:  quick,
					Timeout:  time.Second,
					Data:     filepath.Join(cfg.DataDir, "agents"),
				},
				Factory: f,
				Once:    true,
			})
			if err != nil {
				t.Fatal(err)
			}
			done.Add(1)
			a.wg.Go(func() {
				defer done.Done()
				if err := p.Run(ctx); err != nil {
					t.Errorf("player %d: %v", i, err)
				}
			})
			return p.Dispatcher()
		})
	}
	for restarts := 0; ; restarts++ {
		for range 3 {
			select {
			case <-results:
				continue
			case <-over:
			case <-time.After(5 * time.Minute):
				t.Fatal("the league does not go on")
			}
			break
		}
		select {
		case <-over:
			done.Wait() // everybody has heard of the end
			kill()
			if restarts < 3 {
				t.Errorf("restarted %d times only", restarts)
			}
			audit(t, cfg, &host.Played{Matches: m.Results(), Standings: m.Standings()}, func(string) bool { return true })
			return
		default:
		}
		if restarts < 5 {
			kill()
			m, kill = start()
		}
	}
}
