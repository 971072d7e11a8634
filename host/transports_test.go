package host_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
)

func planOf(transport string, legs int, draw string, field []strategies.Factory) results.Plan {
	plan := results.Plan{Schema: results.PlanSchema, Runs: 1000, Legs: legs, Seed: 42, Draw: draw, Transport: transport}
	for i := range field {
		plan.Field = append(plan.Field, results.Entrant{Name: fmt.Sprintf("player-%d", i), Kind: "builtin"})
	}
	return plan
}

func driver(t testing.TB, plan results.Plan, field []strategies.Factory) experiments.Driver {
	t.Helper()
	var d experiments.Driver
	var err error
	if plan.Transport == "direct" {
		d, err = arena.New(plan, field, arena.Config{})
	} else {
		d, err = host.NewDriver(plan, field)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// played plays leagues from the one given on.
func played(t testing.TB, d experiments.Driver, first, n int, quarantined []bool) ([]results.League, error) {
	t.Helper()
	w, err := d.NewWorker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := make([]results.League, n)
	err = w.Play(t.Context(), first, out, quarantined)
	for i := range out {
		slices.SortFunc(out[i].Notes, func(a, b results.Note) int {
			return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Fault, b.Fault))
		})
	}
	return out, errors.Join(err, w.Close())
}

func digest(t testing.TB, leagues []results.League) string {
	t.Helper()
	h := results.NewHasher()
	for i := range leagues {
		if err := h.Add(&leagues[i]); err != nil {
			t.Fatal(err)
		}
	}
	return h.Digest()
}

// sampleOrAll returns the second number if nothing is to be left out.
func sampleOrAll(sample, all int) int {
	if os.Getenv("WHOLE_TESTS") == "" {
		return sample
	}
	return all
}

// TestTransportsAgree holds the three ways to play an experiment to the same
// records, kinds of fault and notes included.
func TestTransportsAgree(t *testing.T) {
	t.Parallel()
	fair := "uniform:1-10"
	tests := []struct {
		name        string
		field       func(t *testing.T) []strategies.Factory
		legs        int
		draw        string
		runs        int
		quarantined []bool
		faults      bool // some are to be met
	}{
		{name: "built-in", runs: 6, legs: 2, field: func(t *testing.T) []strategies.Factory {
			return named(t, "random", "markov-1", "role", "frequency", "hedge")
		}},
		{name: "what is told", runs: 8, legs: 2, faults: true, field: func(t *testing.T) []strategies.Factory {
			return []strategies.Factory{foldsAll(), foldsAll(), foldsAll(), named(t, "random")[0]}
		}},
		{name: "two players", runs: 4, legs: 5, field: func(t *testing.T) []strategies.Factory { return named(t, "random", "copy-last") }},
		{name: "Lua", runs: 2, legs: 2, field: func(t *testing.T) []strategies.Factory { return scripts(t, "*.lua") }},
		{name: "JavaScript", runs: 2, legs: 2, field: func(t *testing.T) []strategies.Factory { return scripts(t, "*.js") }},
		{name: "failing scripts", runs: 4, legs: 3, faults: true, field: func(t *testing.T) []strategies.Factory {
			return append(named(t, "random"), compile(t, "mixed.lua", luaMixed), compile(t, "mixed.js", jsMixed), compile(t, "endless.lua", luaEndless))
		}},
		{name: "erratic", runs: 12, legs: 2, faults: true, field: func(t *testing.T) []strategies.Factory {
			return append(named(t, "random", "markov-2"), erratic(), erratic(), foldsAll())
		}},
		{name: "all at fault", runs: 2, legs: 1, faults: true, field: func(t *testing.T) []strategies.Factory {
			return []strategies.Factory{failing(strategies.OpStart, 0, errBoom), failing(strategies.OpStart, 0, errBoom), &native{name: "nothing", nothing: true}}
		}},
		{name: "each hook", runs: 2, legs: 2, faults: true, field: func(t *testing.T) []strategies.Factory {
			return []strategies.Factory{
				failing(strategies.OpStart, 0, errBoom), failing(strategies.OpStart, 0, strategies.ErrBudget),
				failing(strategies.OpChoose, 9, errBoom), failing(strategies.OpChoose, 9, strategies.ErrBudget),
				failing(strategies.OpObserve, 9, errBoom), failing(strategies.OpObserve, 9, strategies.ErrBudget),
				&native{name: "nothing", nothing: true},
			}
		}},
		{name: "clock and crash", runs: 1, legs: 2, faults: true, field: func(t *testing.T) []strategies.Factory {
			return []strategies.Factory{
				failing(strategies.OpChoose, 3, strategies.ErrTimeout), failing(strategies.OpObserve, 2, strategies.ErrCrashed),
				failing(strategies.OpStart, 0, strategies.ErrTimeout), &native{name: "fine"},
			}
		}},
		{name: "last observe", runs: 2, legs: 1, field: func(t *testing.T) []strategies.Factory {
			return []strategies.Factory{failing(strategies.OpObserve, 0, errBoom), &native{name: "fine"}}
		}},
		{name: "quarantined", runs: 3, legs: 2, faults: true, quarantined: []bool{true, false, true, false, false}, field: func(t *testing.T) []strategies.Factory {
			return append(named(t, "random", "role"), foldsAll(), erratic(), foldsAll())
		}},
		{name: "biased draw", runs: 4, legs: 2, faults: true, draw: "weights:1=3,2=1,9=2", field: func(t *testing.T) []strategies.Factory {
			return append(named(t, "random", "markov-1"), foldsAll())
		}},
		{name: "draw outside 1..10", runs: 4, legs: 2, draw: "uniform:1-100", faults: true, field: func(t *testing.T) []strategies.Factory {
			return append(named(t, "random", "frequency"), foldsAll(), erratic())
		}},
		{name: "draw from 0", runs: 4, legs: 2, faults: true, draw: "weights:0=1,7=1", field: func(t *testing.T) []strategies.Factory {
			return append(named(t, "random", "role"), foldsAll())
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.runs = sampleOrAll(min(test.runs, 2), test.runs)
			field := test.field(t)
			n := cmp.Or(len(test.quarantined), len(field))
			out := make([]bool, n)
			copy(out, test.quarantined)
			draw := cmp.Or(test.draw, fair)
			direct, err := played(t, driver(t, planOf("direct", test.legs, draw, field), field), 0, test.runs, out)
			if err != nil {
				t.Fatal(err)
			}
			faults := 0
			for _, l := range direct {
				for _, m := range l.Matches {
					if m.A.Fault|m.B.Fault != game.NoFault {
						faults++
					}
				}
			}
			if (faults > 0) != test.faults {
				t.Fatalf("%d matches with faults, want some: %v", faults, test.faults)
			}
			for _, transport := range []string{"loopback", "http"} {
				d := driver(t, planOf(transport, test.legs, draw, field), field)
				got, err := played(t, d, 0, test.runs, out)
				if err != nil {
					t.Fatalf("%s: %v", transport, err)
				}
				if !reflect.DeepEqual(got, direct) {
					t.Errorf("%s: %+v, want %+v", transport, got, direct)
				}
				if a, b := digest(t, direct), digest(t, got); a != b {
					t.Errorf("%s: digest %s, want %s", transport, b, a)
				}
				matches := int64(len(direct) * len(direct[0].Matches))
				if n := d.(*host.Driver).Messages(); n < 9*matches {
					t.Errorf("%s: %d messages for %d matches", transport, n, matches)
				}
			}
		})
	}
}

// TestWorkersAgree plays leagues one by one in another order, two at a time.
func TestWorkersAgree(t *testing.T) {
	t.Parallel()
	field := append(named(t, "random"), foldsAll(), erratic(), foldsAll())
	const runs = 8
	none := make([]bool, len(field))
	want, err := played(t, driver(t, planOf("loopback", 1, "", field), field), 0, runs, none)
	if err != nil {
		t.Fatal(err)
	}
	d := driver(t, planOf("loopback", 1, "", field), field)
	got := make([]results.League, runs)
	failed := make(chan error, 2)
	for half := range 2 {
		go func() {
			for i := runs - 1 - half; i >= 0; i -= 2 {
				one, err := played(t, d, i, 1, none)
				if err != nil {
					failed <- err
					return
				}
				got[i] = one[0]
			}
			failed <- nil
		}()
	}
	for range 2 {
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
	}
	if a, b := digest(t, want), digest(t, got); a != b {
		t.Errorf("digest %s, want %s", b, a)
	}
}

// meddled is a network that meddles with what passes.
type meddled struct {
	host.Network
	trip func(ctx context.Context, name string, next jsonrpc.RoundTripper, out *jsonrpc.Outgoing) (*jsonrpc.Reply, error)
}

func (n meddled) From(name string) jsonrpc.RoundTripper {
	return meddler{n.Network.From(name), n, name}
}

type meddler struct {
	jsonrpc.RoundTripper
	meddled
	name string
}

func (m meddler) RoundTrip(ctx context.Context, out *jsonrpc.Outgoing) (*jsonrpc.Reply, error) {
	return m.trip(ctx, m.name, m.RoundTripper, out)
}

func (m meddler) Close() error { return m.RoundTripper.Close() }

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
	for _, n := range []int64{1, 17, 36, 37} { // the choice that is changed
		var calls, changed atomic.Int64
		trip := func(ctx context.Context, _ string, next jsonrpc.RoundTripper, out *jsonrpc.Outgoing) (*jsonrpc.Reply, error) {
			reply, err := next.RoundTrip(ctx, out)
			if err != nil || !bytes.Contains(out.Body, []byte("CHOOSE_PARITY_CALL")) || calls.Add(1) != n {
				return reply, err
			}
			changed.Add(1)
			from, to := []byte(`"even"`), []byte(`"odd"`)
			if !bytes.Contains(reply.Body, from) {
				from, to = to, from
			}
			reply.Body = bytes.ReplaceAll(reply.Body, from, to)
			return reply, nil
		}
		d, err := host.NewDriverOver(planOf("loopback", 1, "", field), field, func() host.Network { return meddled{new(host.Memory), trip} })
		if err != nil {
			t.Fatal(err)
		}
		got, err := played(t, d, 0, 3, none)
		if err != nil {
			t.Fatal(err)
		}
		touched := n <= 36 // calls in three leagues of six matches
		if (changed.Load() == 1) != touched {
			t.Fatalf("%d messages changed", changed.Load())
		}
		if same := digest(t, want) == digest(t, got); same == touched {
			t.Errorf("choice %d changed: %v; same digest: %v", n, touched, same)
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
