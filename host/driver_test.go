package host_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
)

// garbled is a network that changes one choice on its way, the n-th that
// passes, and repairs nothing else.
type garbled struct {
	host.Network
	after atomic.Int64
	done  atomic.Int64
}

func (g *garbled) From(name string) jsonrpc.RoundTripper {
	return garbledTripper{g.Network.From(name), g}
}

type garbledTripper struct {
	jsonrpc.RoundTripper
	g *garbled
}

func (c garbledTripper) RoundTrip(ctx context.Context, out *jsonrpc.Outgoing) (*jsonrpc.Reply, error) {
	reply, err := c.RoundTripper.RoundTrip(ctx, out)
	if err != nil || !bytes.Contains(out.Body, []byte("CHOOSE_PARITY_CALL")) || c.g.after.Add(-1) != 0 {
		return reply, err
	}
	c.g.done.Add(1)
	if bytes.Contains(reply.Body, []byte(`"even"`)) {
		reply.Body = bytes.ReplaceAll(reply.Body, []byte(`"even"`), []byte(`"odd"`))
	} else {
		reply.Body = bytes.ReplaceAll(reply.Body, []byte(`"odd"`), []byte(`"even"`))
	}
	return reply, nil
}

// TestBrokenCodecShows makes sure that the comparison of transports would find
// a message that does not come out as it went in.
func TestBrokenCodecShows(t *testing.T) {
	t.Parallel()
	field := named(t, "random", "role", "biased", "markov-1")
	none := make([]bool, len(field))
	want, err := played(t, driver(t, planOf("direct", 1, "", field), field), 0, 3, none)
	if err != nil {
		t.Fatal(err)
	}
	for _, after := range []int64{1, 17, 36, 37} {
		g := &garbled{Network: new(host.Memory)}
		g.after.Store(after)
		d, err := host.NewDriverOver(planOf("loopback", 1, "", field), field, func() host.Network { return g })
		if err != nil {
			t.Fatal(err)
		}
		got, err := played(t, d, 0, 3, none)
		if err != nil {
			t.Fatal(err)
		}
		touched := after <= 36 // calls in three leagues of six matches
		if (g.done.Load() == 1) != touched {
			t.Fatalf("%d messages changed", g.done.Load())
		}
		if same := digest(t, want) == digest(t, got); same == touched {
			t.Errorf("choice %d changed: %v; same digest: %v", after, touched, same)
		}
	}
}

func TestNewDriverErrors(t *testing.T) {
	t.Parallel()
	field := named(t, "random", "role")
	plan := planOf("loopback", 1, "", field)
	if _, err := host.NewDriver(plan, field[:1]); err == nil || !strings.Contains(err.Error(), "1 factories for 2 players") {
		t.Errorf("too few factories: %v", err)
	}
	for name, change := range map[string]func(*results.Plan){
		"transport": func(p *results.Plan) { p.Transport = "direct" },
		"pigeon":    func(p *results.Plan) { p.Transport = "pigeon" },
		"legs":      func(p *results.Plan) { p.Legs = 0 },
		"draw":      func(p *results.Plan) { p.Draw = "loaded" },
		"field":     func(p *results.Plan) { p.Field = p.Field[:1] },
	} {
		bad := plan
		change(&bad)
		if _, err := host.NewDriver(bad, field); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestCancelled ends an experiment in the middle of a league.
func TestCancelled(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"loopback", "http"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		field := append(named(t, "random"), &native{name: "stops", choose: func(_ strategies.Setup, t *strategies.Turn) (strategies.Choice, error) {
			if t.Match == 1 {
				cancel(errBoom)
			}
			return 0.5, nil
		}})
		w, err := driver(t, planOf(transport, 3, "", field), field).NewWorker(ctx)
		if err != nil {
			t.Fatal(err)
		}
		err = w.Play(ctx, 0, make([]results.League, 1), make([]bool, 2))
		if !errors.Is(err, errBoom) {
			t.Errorf("%s: %v, want the cause", transport, err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}
