package jsscript_test

import (
	"fmt"
	"testing"

	"github.com/dop251/goja"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// learner is a script of the usual size: it looks at what it is handed, and
// keeps a count.
const learner = `
const seen = new Map();
function choose(turn) {
  const counts = seen.get(turn.opponent);
  if (counts === undefined || turn.history.length < 2) return "even";
  return counts.even > counts.odd ? "odd" : "even";
}
function observe(outcome) {
  let counts = seen.get(outcome.opponent);
  if (counts === undefined) seen.set(outcome.opponent, counts = { even: 0, odd: 0 });
  if (outcome.opponent_choice === "even") counts.even++;
  else if (outcome.opponent_choice === "odd") counts.odd++;
}`

// matchesPerLeague is how many matches the benchmarks play before they start
// afresh, so that histories do not grow for ever.
const matchesPerLeague = 150

// fixture is a league's worth of what one seat receives.
type fixture struct {
	turns    [matchesPerLeague]strategies.Turn
	outcomes [matchesPerLeague]strategies.Outcome
}

func newFixture() *fixture {
	f := new(fixture)
	var standing strategies.Standing
	for i := range f.turns {
		opponent := game.PlayerID(i%15 + 2)
		id := fmt.Sprintf("R%dM%d", i+1, i%8+1)
		role, choice, other := game.RoleA, game.Even, game.Even
		if i%2 == 1 {
			role = game.RoleB
		}
		if i%3 == 1 {
			other = game.Odd
		}
		verdict := game.Judge(game.Side{Choice: choice}, game.Side{Choice: other}, i%10+1)
		f.turns[i] = strategies.Turn{
			Match: uint64(i), MatchID: id, Round: i + 1, Opponent: opponent, Role: role, Standing: standing,
		}
		f.outcomes[i] = strategies.Outcome{
			Match: uint64(i), MatchID: id, Round: i + 1, Opponent: opponent, Role: role, Choice: choice,
			OpponentChoice: other, Number: i%10 + 1, Drew: true, Result: verdict.ResultA, Points: verdict.PointsA,
		}
		standing.Add(verdict.ResultA, verdict.PointsA)
	}
	return f
}

// BenchmarkDecision is choose and observe of one match. "bare" is goja alone,
// called in the best way known for it: the fields that have changed are
// written into one object, and the entry of the history is made by a literal
// in the runtime and appended there, in the same call as observe. "seat" is
// the whole of a strategy's seat. Their ratio is what this package costs.
func BenchmarkDecision(b *testing.B) {
	decisions(b, learner)
}

// BenchmarkScripts is BenchmarkDecision for the scripts that come with the
// lab.
func BenchmarkScripts(b *testing.B) {
	for name, source := range scripts(b) {
		b.Run(name, func(b *testing.B) { decisions(b, source) })
	}
}

func decisions(b *testing.B, source string) {
	fix := newFixture()
	b.Run("bare", func(b *testing.B) {
		b.ReportAllocs()
		var vm *bareVM
		for i := 0; b.Loop(); i++ {
			m := i % matchesPerLeague
			if m == 0 {
				b.StopTimer()
				vm = newBareVM(b, source)
				b.StartTimer()
			}
			vm.decide(b, &fix.turns[m], &fix.outcomes[m])
		}
	})
	b.Run("seat", func(b *testing.B) {
		b.ReportAllocs()
		f := compile(b, source)
		var s strategies.Strategy
		for i := 0; b.Loop(); i++ {
			m := i % matchesPerLeague
			if m == 0 {
				b.StopTimer()
				if s != nil {
					_ = s.Close()
				}
				s = sit(b, f, game.Key{1, 2})
				b.StartTimer()
			}
			if _, err := s.Choose(b.Context(), &fix.turns[m]); err != nil {
				b.Fatal(err)
			}
			if err := s.Observe(b.Context(), &fix.outcomes[m]); err != nil {
				b.Fatal(err)
			}
		}
		_ = s.Close()
	})
}

// bareVM is goja without any of this package.
type bareVM struct {
	vm           *goja.Runtime
	turn         *goja.Object
	choose, tell goja.Callable
	wrote        strategies.Turn
	words        map[string]goja.Value
	histories    map[string]*goja.Object
	asked        []goja.Value
	args         [10]goja.Value
}

func newBareVM(b *testing.B, script string) *bareVM {
	b.Helper()
	v := &bareVM{vm: goja.New(), words: make(map[string]goja.Value), histories: make(map[string]*goja.Object)}
	rng := game.NewRand(game.Key{1, 2})
	v.vm.SetRandSource(rng.Float64)
	for _, source := range []string{script, `
		if (!globalThis.observe) globalThis.observe = () => {};
		function tell(history, match_id, round, opponent, role, choice, opponent_choice, drawn_number, result, points) {
			const outcome = { match_id, round, opponent, role, choice, opponent_choice, drawn_number, result, points };
			history[history.length] = outcome;
			observe(outcome);
		}`} {
		if _, err := v.vm.RunString(source); err != nil {
			b.Fatal(err)
		}
	}
	v.choose, _ = goja.AssertFunction(v.vm.Get("choose"))
	v.tell, _ = goja.AssertFunction(v.vm.Get("tell"))
	v.turn = v.vm.NewObject()
	for _, field := range []string{
		"match_id", "round", "opponent", "role", "played", "wins", "draws", "losses", "points", "history",
	} {
		_ = v.turn.Set(field, 0)
	}
	v.asked = []goja.Value{v.turn}
	return v
}

// word returns the value of a text that comes again and again.
func (v *bareVM) word(s string) goja.Value {
	w, ok := v.words[s]
	if !ok {
		w = v.vm.ToValue(s)
		v.words[s] = w
	}
	return w
}

func (v *bareVM) history(opponent string) *goja.Object {
	h, ok := v.histories[opponent]
	if !ok {
		h = v.vm.NewArray()
		v.histories[opponent] = h
	}
	return h
}

func (v *bareVM) decide(b *testing.B, t *strategies.Turn, o *strategies.Outcome) {
	id := v.vm.ToValue(t.MatchID)
	_ = v.turn.Set("match_id", id)
	_ = v.turn.Set("opponent", v.word(t.Opponent))
	_ = v.turn.Set("history", v.history(t.Opponent))
	_ = v.turn.Set("role", v.word(t.Role.String()))
	for _, n := range [...]struct {
		field    string
		was, now int
	}{
		{"round", v.wrote.Round, t.Round}, {"played", v.wrote.Played, t.Played}, {"wins", v.wrote.Wins, t.Wins},
		{"draws", v.wrote.Draws, t.Draws}, {"losses", v.wrote.Losses, t.Losses}, {"points", v.wrote.Points, t.Points},
	} {
		if n.was != n.now {
			_ = v.turn.Set(n.field, n.now)
		}
	}
	v.wrote = *t
	answer, err := v.choose(goja.Undefined(), v.asked...)
	if err != nil || answer.String() == "" {
		b.Fatal(answer, err)
	}
	v.args = [...]goja.Value{
		v.history(o.Opponent), id, v.vm.ToValue(o.Round), v.word(o.Opponent), v.word(o.Role.String()),
		v.word(o.Choice.String()), v.word(o.OpponentChoice.String()), v.vm.ToValue(o.Number),
		v.word(o.Result.String()), v.vm.ToValue(o.Points),
	}
	if _, err := v.tell(goja.Undefined(), v.args[:]...); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkSeat is making and closing a seat.
func BenchmarkSeat(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		b.ReportAllocs()
		prg := goja.MustCompile("", learner, false)
		for b.Loop() {
			vm := goja.New()
			if _, err := vm.RunProgram(prg); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("seat", func(b *testing.B) {
		b.ReportAllocs()
		f := compile(b, learner)
		for b.Loop() {
			_ = sit(b, f, game.Key{1, 2}).Close()
		}
	})
}
