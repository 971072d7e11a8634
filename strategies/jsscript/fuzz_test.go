package jsscript_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/jsscript"
)

// vandal and memory are seeds of FuzzScript.
const vandal = `function wreck(o) {
  for (const k of Object.getOwnPropertyNames(o)) {
    if (typeof o[k] === "object" && o[k] !== null) wreck(o[k]);
    try { o[k] = "wrecked" } catch {}
    try { delete o[k] } catch {}
  }
}
function start(setup) { wreck(setup) }
function choose(turn) { wreck(turn); return "even" }
function observe(outcome) { wreck(outcome) }`

const memory = `let here = 0;
class Box { static n = 0 }
function remembered() {
  const n = here + Box.n + (globalThis.n ?? 0) + (Array.prototype.n ?? 0) + (Math.n ?? 0) + (choose.n ?? 0);
  here++; Box.n++;
  globalThis.n = Array.prototype.n = Math.n = choose.n = Object.prototype.hidden = 1;
  return n;
}
function choose() { return remembered() === 0 ? "even" : "odd" }`

// FuzzScript compiles any text, and if it is a script plays some matches with
// it. It must not panic, not outlive its budgets by much, and report all that
// goes wrong as errors of the contract.
func FuzzScript(f *testing.F) {
	for _, script := range scripts(f) {
		f.Add(script)
	}
	f.Add(learner)
	for _, a := range attempts {
		f.Add(body("return " + a))
	}
	for _, b := range bombs {
		f.Add(body(b.body))
	}
	f.Add(vandal)
	f.Add(memory)
	f.Fuzz(func(t *testing.T, script string) {
		const most = 20 * time.Millisecond
		began := time.Now()
		defer func() {
			if d := time.Since(began); d > hang {
				t.Errorf("it took %v", d)
			}
		}()
		factory, err := jsscript.Compile("fuzz", source, []byte(script), jsscript.Config{Limits: budget.Limits{Time: most}})
		if err != nil {
			mustBeOfTheContract(t, err, strategies.OpLoad)
			return
		}
		defer factory.Close()
		s, err := factory.New(t.Context(), setup(game.Key{1, 2}))
		if err != nil {
			mustBeOfTheContract(t, err, strategies.OpLoad, strategies.OpStart)
			return
		}
		defer s.Close()
		for n := range 3 {
			c, err := s.Choose(t.Context(), turn(n))
			if err == nil && !c.Valid() {
				t.Errorf("choice %v without an error", c)
			}
			mustBeOfTheContract(t, err, strategies.OpLoad, strategies.OpStart, strategies.OpChoose, strategies.OpObserve)
			err = s.Observe(t.Context(), outcome(n))
			mustBeOfTheContract(t, err, strategies.OpLoad, strategies.OpStart, strategies.OpChoose, strategies.OpObserve)
		}
	})
}

func mustBeOfTheContract(t *testing.T, err error, ops ...strategies.Op) {
	t.Helper()
	if err == nil {
		return
	}
	var se *strategies.Error
	if !errors.As(err, &se) {
		t.Errorf("error %q is a %T", err, err)
		return
	}
	for _, op := range ops {
		if se.Op == op {
			if len(err.Error()) > 1000 || errors.Is(err, context.Canceled) {
				t.Errorf("error %q", err)
			}
			return
		}
	}
	t.Errorf("error %q is of %s", err, se.Op)
}
