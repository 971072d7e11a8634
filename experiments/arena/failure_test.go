package arena_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/batch"
)

var errBoom = errors.New("boom")

// at makes a choose that fails in one match only.
func at(match uint64, c strategies.Choice, err error) func(context.Context, strategies.Setup, *strategies.Turn) (strategies.Choice, error) {
	return func(_ context.Context, _ strategies.Setup, t *strategies.Turn) (strategies.Choice, error) {
		if t.Match == match {
			if err == errPanic {
				panic("ouch")
			}
			return c, err
		}
		return strategies.Even, nil
	}
}

func after(match uint64, err error) func(context.Context, strategies.Setup, *strategies.Outcome) error {
	return func(_ context.Context, _ strategies.Setup, o *strategies.Outcome) error {
		if o.Match != match {
			return nil
		}
		if err == errPanic {
			panic("ouch")
		}
		return err
	}
}

// errPanic stands for a panic in the tables below.
var errPanic = errors.New("panic")

// failure is one way to fail in a league of four matches with one opponent.
type failure struct {
	script *script
	sides  []game.Side // what the player brought to each
	calls  []string    // that it got
	fault  game.Fault  // of the note
	note   string
}

// What a seat is called when nothing goes wrong, and when something does in the
// second match.
var (
	begin       = []string{"start", "open", "choose 0", "observe 0", "choose 1"}
	whole       = append(slices.Clone(begin), "observe 1", "choose 2", "observe 2", "choose 3", "observe 3", "close")
	stays       = append(slices.Clone(begin), "observe 1 technical_loss", "choose 2", "observe 2", "choose 3", "observe 3", "close")
	leaves      = append(slices.Clone(begin), "close")
	leavesLater = append(slices.Clone(begin), "observe 1", "close")

	ok      = game.Side{Choice: game.Even}
	forfeit = game.Side{Fault: game.FaultForfeit}
)

func allForfeit(f game.Fault) []game.Side { return []game.Side{{Fault: f}, forfeit, forfeit, forfeit} }
func chooseOnce(f game.Fault) []game.Side { return []game.Side{ok, {Fault: f}, ok, ok} }
func chooseOut(f game.Fault) []game.Side  { return []game.Side{ok, {Fault: f}, forfeit, forfeit} }
func observeOut(f game.Fault) []game.Side { return []game.Side{ok, ok, {Fault: f}, forfeit} }

// failures are all ways to fail, in every hook.
func failures() map[string]failure {
	typed := &strategies.Error{Source: "mine.lua", Line: 3, Op: strategies.OpChoose, Err: strategies.ErrBudget, Hint: "do less"}
	return map[string]failure{
		"start fails": {&script{start: func(strategies.Setup) error { return errBoom }},
			allForfeit(game.FaultError), []string{"start"}, game.FaultError, "bad: start: boom"},
		"start overruns": {&script{start: func(strategies.Setup) error { return fmt.Errorf("x: %w", context.DeadlineExceeded) }},
			allForfeit(game.FaultTimeout), []string{"start"}, game.FaultTimeout, "bad: start: x: context deadline exceeded"},
		"start panics": {&script{start: func(strategies.Setup) error { panic("ouch") }},
			allForfeit(game.FaultError), []string{"start"}, game.FaultError, "bad: start: panic: ouch"},
		"choose fails": {&script{choose: at(1, 0, errBoom)},
			chooseOnce(game.FaultError), stays, game.FaultError, "bad: choose: boom"},
		"choose panics": {&script{choose: at(1, 0, errPanic)},
			chooseOnce(game.FaultError), stays, game.FaultError, "bad: choose: panic: ouch"},
		"choose answers 2": {&script{choose: at(1, 2, nil)},
			chooseOnce(game.FaultInvalid), stays, game.FaultInvalid,
			`bad: choose: invalid choice: answered 2, want "even", "odd" or a probability of even in [0, 1]`},
		"choose answers below 0": {&script{choose: at(1, -0.25, nil)},
			chooseOnce(game.FaultInvalid), stays, game.FaultInvalid,
			`bad: choose: invalid choice: answered -0.25, want "even", "odd" or a probability of even in [0, 1]`},
		"choose answers NaN": {&script{choose: at(1, strategies.Choice(math.NaN()), nil)},
			chooseOnce(game.FaultInvalid), stays, game.FaultInvalid,
			`bad: choose: invalid choice: answered NaN, want "even", "odd" or a probability of even in [0, 1]`},
		"choose says the answer is invalid": {&script{choose: at(1, 0, strategies.InvalidChoice("nil"))},
			chooseOnce(game.FaultInvalid), stays, game.FaultInvalid,
			`bad: choose: invalid choice: answered nil, want "even", "odd" or a probability of even in [0, 1]`},
		"choose overruns its time": {&script{choose: at(1, 0, strategies.ErrTimeout)},
			chooseOut(game.FaultTimeout), leaves, game.FaultTimeout, "bad: choose: exceeded its time limit"},
		"choose overruns its budget": {&script{choose: at(1, 0, typed)},
			chooseOut(game.FaultBudget), leaves, game.FaultBudget, "mine.lua:3: choose: exceeded its budget (do less)"},
		"choose loses its process": {&script{choose: at(1, 0, strategies.ErrCrashed)},
			chooseOut(game.FaultCrash), leaves, game.FaultCrash, "bad: choose: process exited"},
		"observe fails": {&script{observe: after(1, errBoom)},
			observeOut(game.FaultError), leavesLater, game.FaultError, "bad: observe: boom"},
		"observe panics": {&script{observe: after(1, errPanic)},
			observeOut(game.FaultError), leavesLater, game.FaultError, "bad: observe: panic: ouch"},
		"observe overruns": {&script{observe: after(1, strategies.ErrBudget)},
			observeOut(game.FaultBudget), leavesLater, game.FaultBudget, "bad: observe: exceeded its budget"},
		"observe fails at the end": {&script{observe: after(3, errBoom)},
			[]game.Side{ok, ok, ok, ok}, whole, game.FaultError, "bad: observe: boom"},
		"observe panics at the end": {&script{observe: after(3, errPanic)},
			[]game.Side{ok, ok, ok, ok}, whole, game.FaultError, "bad: observe: panic: ouch"},
		"close fails": {&script{end: func() error { return errBoom }},
			[]game.Side{ok, ok, ok, ok}, whole, game.NoFault, ""},
		"close panics": {&script{end: func() error { panic("ouch") }},
			[]game.Side{ok, ok, ok, ok}, whole, game.NoFault, ""},
	}
}

// TestFailures holds every way to fail to the records and the calls that follow
// from package strategies: without batches, in one, and in lockstep with one.
func TestFailures(t *testing.T) {
	t.Parallel()
	for name, tc := range failures() {
		for _, batched := range [][2]bool{{false, false}, {true, false}, {false, true}} {
			t.Run(fmt.Sprintf("%s, batched %v", name, batched), func(t *testing.T) {
				t.Parallel()
				tc.check(t, batched)
			})
		}
	}
}

// check plays a league between the failing player and one that does not, of which either
// may be batched.
func (tc failure) check(t *testing.T, batched [2]bool) {
	bad := &script{
		start: tc.script.start, choose: tc.script.choose, observe: tc.script.observe, end: tc.script.end,
		source: "bad",
	}
	plan := planOf(2, 4, 1)
	good := &script{}
	field := []strategies.Factory{bad, good}
	for i, is := range batched {
		if is {
			field[i] = batch.Of(field[i])
		}
	}
	l := play(t, newArena(t, plan, arena.Config{}, field...), 2, 1)[0]

	if diff := cmp.Diff(tc.sides, sidesOf(plan, l, 0)); diff != "" {
		t.Errorf("sides (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]game.Side{ok, ok, ok, ok}, sidesOf(plan, l, 1)); diff != "" {
		t.Errorf("the opponent's sides (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(tc.calls, bad.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if !slices.Equal(good.calls, whole) {
		t.Errorf("the opponent's calls: %q, want %q", good.calls, whole)
	}
	if bad.open != 0 || good.open != 0 {
		t.Errorf("%d and %d seats were not closed once", bad.open, good.open)
	}
	var want []results.Note
	if tc.note != "" {
		want = append(want, results.Note{Field: 0, Fault: tc.fault, Text: tc.note})
	}
	if diff := cmp.Diff(want, slices.Clone(l.Notes)); diff != "" && len(want)+len(l.Notes) > 0 {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	for i, m := range l.Matches {
		if (m.Number == results.NoNumber) != (m.A.Fault|m.B.Fault != game.NoFault) {
			t.Errorf("match %d: %+v: a number is drawn exactly without a fault", i, m)
		}
	}
}
