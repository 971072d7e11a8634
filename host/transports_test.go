package host_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/builtin"
	"github.com/strategylab/strategylab/strategies/jsscript"
	"github.com/strategylab/strategylab/strategies/luascript"
)

// native is a strategy made of functions; a nil one plays even and succeeds.
type native struct {
	name    string
	start   func(strategies.Setup) error
	choose  func(strategies.Setup, *strategies.Turn) (strategies.Choice, error)
	observe func(strategies.Setup, *strategies.Outcome) error
	nothing bool // New makes neither a seat nor an error
	end     func() error
}

func (f *native) Info() strategies.Info { return strategies.Info{Name: f.name} }
func (f *native) Close() error          { return nil }

func (f *native) New(_ context.Context, s strategies.Setup) (strategies.Strategy, error) {
	if f.nothing {
		return nil, nil
	}
	if f.start != nil {
		if err := f.start(s); err != nil {
			return nil, err
		}
	}
	return &nativeSeat{f, s}, nil
}

type nativeSeat struct {
	f     *native
	setup strategies.Setup
}

func (s *nativeSeat) Choose(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
	if s.f.choose == nil {
		return strategies.Even, nil
	}
	return s.f.choose(s.setup, t)
}

func (s *nativeSeat) Observe(_ context.Context, o *strategies.Outcome) error {
	if s.f.observe == nil {
		return nil
	}
	return s.f.observe(s.setup, o)
}

func (s *nativeSeat) Close() error {
	if s.f.end == nil {
		return nil
	}
	return s.f.end()
}

var errBoom = errors.New("boom")

// told folds everything that a strategy is told into its choice, so that
// whatever one transport tells otherwise shows in the digest.
func told() *native {
	seats := func(s strategies.Setup) uint64 {
		h := uint64(len(s.Field)) + uint64(s.Rounds)<<8 + uint64(s.Legs)<<16
		for _, r := range s.ID + "/" + s.Name + "/" + strings.Join(s.Field, ",") {
			h = h*31 + uint64(r)
		}
		return h ^ s.Rand.Uint64()
	}
	fold := func(h uint64, v any) uint64 {
		for _, r := range fmt.Sprintf("%+v", v) {
			h = h*1099511628211 + uint64(r)
		}
		return h
	}
	return &native{
		name: "told",
		choose: func(s strategies.Setup, t *strategies.Turn) (strategies.Choice, error) {
			h := fold(seats(s), *t)
			return strategies.Choice(float64(h>>40) / (1 << 24)), nil
		},
		observe: func(s strategies.Setup, o *strategies.Outcome) error {
			if fold(seats(s), *o)%11 == 0 {
				return errBoom
			}
			return nil
		},
	}
}

// erratic fails in every reproducible way now and then, by its own randomness.
func erratic() *native {
	fail := func(s strategies.Setup) error {
		switch s.Rand.IntN(30) {
		case 0:
			return errBoom
		case 1:
			return fmt.Errorf("wrapped: %w", strategies.ErrBudget)
		case 2:
			panic("ouch")
		case 3:
			return &strategies.Error{Source: "erratic.go", Line: 7, Op: strategies.OpChoose, Err: errBoom}
		}
		return nil
	}
	return &native{
		name: "erratic", start: fail,
		choose: func(s strategies.Setup, _ *strategies.Turn) (strategies.Choice, error) {
			return strategies.Choice(s.Rand.Float64() * 1.1), fail(s)
		},
		observe: func(s strategies.Setup, _ *strategies.Outcome) error { return fail(s) },
		end:     func() error { return errBoom },
	}
}

// failing fails in one hook, in the way that is given, once a match has the
// index.
func failing(op strategies.Op, from uint64, err error) *native {
	f := &native{name: "fails in " + string(op)}
	switch op {
	case strategies.OpStart:
		f.start = func(strategies.Setup) error { return err }
	case strategies.OpChoose:
		f.choose = func(_ strategies.Setup, t *strategies.Turn) (strategies.Choice, error) {
			if t.Match >= from {
				return strategies.Even, err
			}
			return 0.25, nil
		}
	case strategies.OpObserve:
		f.observe = func(_ strategies.Setup, o *strategies.Outcome) error {
			if o.Match >= from {
				return err
			}
			return nil
		}
	}
	return f
}

const luaMixed = `
local seen = 0
function choose(turn)
  seen = seen + turn.points
  if turn.round == 2 then return 0.35 end
  if turn.round == 3 then return "both" end
  return math.random() < 0.5 and "even" or "odd"
end
function observe(o)
  if o.round == 4 then error("enough") end
end`

const luaEndless = `
function choose(turn)
  if turn.round > 1 then while true do end end
  return 0.5
end`

const jsMixed = `
let n = 0;
function choose(turn) {
  n++;
  if (turn.round === 2) return 0.8;
  if (turn.round === 3) throw new Error("no");
  return Math.random() < 0.5 ? "even" : "odd";
}
function observe(o) { if (o.round === 5) null.x; }`

func compile(t testing.TB, name, source string) strategies.Factory {
	t.Helper()
	var f strategies.Factory
	var err error
	if strings.HasSuffix(name, ".lua") {
		f, err = luascript.Compile(name, name, []byte(source), luascript.Options{Limits: budget.Limits{Instructions: 100_000}})
	} else {
		f, err = jsscript.Compile(name, name, []byte(source), jsscript.Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func named(t testing.TB, names ...string) []strategies.Factory {
	t.Helper()
	var out []strategies.Factory
	for _, name := range names {
		f, ok := builtin.Find(name)
		if !ok {
			t.Fatalf("no strategy %s", name)
		}
		out = append(out, f)
	}
	return out
}

// scripts are the scripts that users find in the lab.
func scripts(t testing.TB, pattern string) []strategies.Factory {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "scripts", pattern))
	if err != nil || len(files) < 2 {
		t.Fatalf("%s: %v, %v", pattern, files, err)
	}
	var out []strategies.Factory
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, compile(t, filepath.Base(file), string(source)))
	}
	return out
}

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
		d, err = arena.New(plan, field, arena.Options{})
	} else {
		d, err = host.NewDriver(plan, field)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// played plays leagues from the one given on.
func played(t testing.TB, d experiments.Driver, first, n int, barred []bool) ([]results.League, error) {
	t.Helper()
	w, err := d.NewWorker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := make([]results.League, n)
	err = w.Play(t.Context(), first, out, barred)
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

// TestTransportsAgree holds the three ways to play an experiment to the same
// records, kinds of fault and notes included.
func TestTransportsAgree(t *testing.T) {
	t.Parallel()
	fair := "uniform:1-10"
	tests := []struct {
		name   string
		field  func(t *testing.T) []strategies.Factory
		legs   int
		draw   string
		runs   int
		barred []bool
		faults bool // some are to be met
	}{
		{name: "built-in", runs: 6, legs: 2, field: func(t *testing.T) []strategies.Factory {
			return named(t, "random", "markov-1", "role", "frequency", "hedge")
		}},
		{name: "what is told", runs: 8, legs: 2, faults: true, field: func(t *testing.T) []strategies.Factory {
			return []strategies.Factory{told(), told(), told(), named(t, "random")[0]}
		}},
		{name: "two players", runs: 4, legs: 5, field: func(t *testing.T) []strategies.Factory { return named(t, "random", "copy-last") }},
		{name: "Lua", runs: 2, legs: 2, field: func(t *testing.T) []strategies.Factory { return scripts(t, "*.lua") }},
		{name: "JavaScript", runs: 2, legs: 2, field: func(t *testing.T) []strategies.Factory { return scripts(t, "*.js") }},
		{name: "failing scripts", runs: 4, legs: 3, faults: true, field: func(t *testing.T) []strategies.Factory {
			return append(named(t, "random"), compile(t, "mixed.lua", luaMixed), compile(t, "mixed.js", jsMixed), compile(t, "endless.lua", luaEndless))
		}},
		{name: "erratic", runs: 12, legs: 2, faults: true, field: func(t *testing.T) []strategies.Factory {
			return append(named(t, "random", "markov-2"), erratic(), erratic(), told())
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
		{name: "barred", runs: 3, legs: 2, faults: true, barred: []bool{true, false, true, false, false}, field: func(t *testing.T) []strategies.Factory {
			return append(named(t, "random", "role"), told(), erratic(), told())
		}},
		{name: "biased draw", runs: 4, legs: 2, faults: true, draw: "weights:1=3,2=1,9=2", field: func(t *testing.T) []strategies.Factory {
			return append(named(t, "random", "markov-1"), told())
		}},
		{name: "draw outside 1..10", runs: 4, legs: 2, draw: "uniform:1-100", faults: true, field: func(t *testing.T) []strategies.Factory {
			return append(named(t, "random", "frequency"), told(), erratic())
		}},
		{name: "draw from 0", runs: 4, legs: 2, faults: true, draw: "weights:0=1,7=1", field: func(t *testing.T) []strategies.Factory {
			return append(named(t, "random", "role"), told())
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			field := test.field(t)
			barred := cmp.Or(len(test.barred), len(field))
			out := make([]bool, barred)
			copy(out, test.barred)
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
				compare(t, transport, direct, got)
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

func compare(t *testing.T, transport string, want, got []results.League) {
	t.Helper()
	for i := range want {
		for m := range want[i].Matches {
			if want[i].Matches[m] != got[i].Matches[m] {
				t.Errorf("%s: league %d match %d: %+v, want %+v", transport, i, m, got[i].Matches[m], want[i].Matches[m])
			}
		}
		if !slices.Equal(want[i].Notes, got[i].Notes) {
			t.Errorf("%s: league %d: notes\n%+v\nwant\n%+v", transport, i, got[i].Notes, want[i].Notes)
		}
		if !slices.Equal(want[i].Seats, got[i].Seats) {
			t.Errorf("%s: league %d: seats %v, want %v", transport, i, got[i].Seats, want[i].Seats)
		}
	}
}

// TestWorkersAgree plays leagues one by one in another order, two at a time.
func TestWorkersAgree(t *testing.T) {
	t.Parallel()
	field := append(named(t, "random"), told(), erratic(), told())
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
