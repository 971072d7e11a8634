package host_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

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

func (f *native) Close() error { return nil }

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

// foldsAll folds everything that a strategy receives into its choice, so that
// whatever one transport delivers otherwise shows in the digest.
func foldsAll() *native {
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
		name: "folds-all",
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
		f, err = luascript.Compile(name, name, []byte(source), budget.Limits{Instructions: 100_000})
	} else {
		f, err = jsscript.Compile(name, name, []byte(source), budget.Limits{})
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
