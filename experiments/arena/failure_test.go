package arena_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
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

// tapped is a Batcher that a test can watch and spoil.
type tapped struct {
	strategies.Batcher
	spoil func(step int, s *strategies.Step) error // instead of the result of the step, counted from 0
	open  func() error                             // before a batch is made

	mu      sync.Mutex
	batches int
	closed  int
	steps   []int // choices asked for in each
}

func (b *tapped) NewBatch(ctx context.Context) (strategies.Batch, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open != nil {
		if err := b.open(); err != nil {
			return nil, err
		}
	}
	b.batches++
	inner, err := b.Batcher.NewBatch(ctx)
	return &tappedBatch{Batch: inner, b: b}, err
}

type tappedBatch struct {
	strategies.Batch
	b *tapped
}

func (t *tappedBatch) Step(ctx context.Context, s *strategies.Step) error {
	t.b.mu.Lock()
	step := len(t.b.steps)
	t.b.steps = append(t.b.steps, len(s.Choose))
	t.b.mu.Unlock()
	if err := t.Batch.Step(ctx, s); err != nil || t.b.spoil == nil {
		return err
	}
	return t.b.spoil(step, s)
}

func (t *tappedBatch) Close() error {
	t.b.mu.Lock()
	t.b.closed++
	t.b.mu.Unlock()
	return t.Batch.Close()
}

// TestOneStepARound counts the exchanges of four blocks of five leagues in which
// one strategy has two of four seats.
func TestOneStepARound(t *testing.T) {
	t.Parallel()
	b := &tapped{Batcher: batch.Of(&script{})}
	a := newArena(t, planOf(4, 2, 20), arena.Config{Block: 5}, b, &script{}, b, &script{})
	playInBlocks(t, a, 4, 20)
	// Four calls of Play; 6 rounds, and one step to close.
	if len(b.steps) != 4*7 {
		t.Errorf("%d steps, want %d", len(b.steps), 4*7)
	}
	asked := 0
	for _, n := range b.steps {
		if n != 0 && n != 10 {
			t.Errorf("a step asks for %d choices, want 10", n)
		}
		asked += n
	}
	if want := 20 * 6 * 2; asked != want {
		t.Errorf("%d choices asked for, want %d", asked, want)
	}
	if b.batches != 1 || b.closed != 1 {
		t.Errorf("%d batches made and %d closed, want one for the worker", b.batches, b.closed)
	}
}

// TestLostBatches spoils one step of a league in which one strategy has two of
// four seats. Both seats forfeit from that round on, everybody else plays on,
// and the next leagues have a fresh batch.
func TestLostBatches(t *testing.T) {
	t.Parallel()
	stray := func(f func(s *strategies.Step) strategies.SeatError) func(*strategies.Step) error {
		return func(s *strategies.Step) error {
			s.Failed = append(s.Failed, f(s))
			return nil
		}
	}
	for name, tc := range map[string]struct {
		spoil func(s *strategies.Step) error
		fault game.Fault
		note  string
	}{
		"process dies": {func(*strategies.Step) error { return fmt.Errorf("plugin: %w", strategies.ErrCrashed) },
			game.FaultCrash, "plugin: process exited"},
		"process hangs": {func(*strategies.Step) error { return context.DeadlineExceeded },
			game.FaultTimeout, "deadline exceeded"},
		"says much": {func(*strategies.Step) error { return errors.New(strings.Repeat("much ", results.MaxNoteText)) },
			game.FaultError, "much much"},
		"cost of a stranger": {func(s *strategies.Step) error {
			s.Spent = append(s.Spent, strategies.SeatSpent{Seat: 999})
			return nil
		}, game.FaultError, "cost of unknown seat 999"},
		"something else": {func(*strategies.Step) error { return errBoom }, game.FaultError, "boom"},
		"panics":         {func(*strategies.Step) error { panic("ouch") }, game.FaultError, "panic: ouch"},
		"too few choices": {func(s *strategies.Step) error { s.Choices = s.Choices[:1]; return nil },
			game.FaultError, "returned 1 choices, want 2"},
		"failure of a stranger": {stray(func(*strategies.Step) strategies.SeatError {
			return strategies.SeatError{Seat: 999, Op: strategies.OpObserve, Err: errBoom}
		}), game.FaultError, "unknown seat 999"},
		"failure of nothing": {stray(func(s *strategies.Step) strategies.SeatError {
			return strategies.SeatError{Seat: s.Choose[0].Seat, Op: strategies.OpObserve}
		}), game.FaultError, "with a nil error"},
		"failure of no operation": {stray(func(s *strategies.Step) strategies.SeatError {
			return strategies.SeatError{Seat: s.Choose[0].Seat, Op: "dance", Err: errBoom}
		}), game.FaultError, `unknown operation "dance"`},
		"failure of a choice not asked for": {stray(func(s *strategies.Step) strategies.SeatError {
			return strategies.SeatError{Seat: s.Choose[0].Seat, Op: strategies.OpChoose, Index: 1, Err: errBoom}
		}), game.FaultError, "that was not requested"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkLost(t, tc.spoil, tc.fault, tc.note)
		})
	}
}

// checkLost spoils the step that asks for the third round of league 0.
func checkLost(t *testing.T, spoil func(*strategies.Step) error, f game.Fault, note string) {
	t.Helper()
	const strike = 2
	inner, calm := &script{}, &script{}
	b := &tapped{Batcher: batch.Of(inner), spoil: func(step int, s *strategies.Step) error {
		if step == strike {
			return spoil(s)
		}
		return nil
	}}
	plan := planOf(4, 2, 8)
	w, err := newArena(t, plan, arena.Config{}, b, b, calm, calm).NewWorker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first := make([]results.League, 1)
	if err := w.Play(t.Context(), 0, first, make([]bool, 4)); err != nil {
		t.Fatal(err)
	}
	wantLost(t, plan, first[0], strike, f, note)
	rest := make([]results.League, 7)
	if err := w.Play(t.Context(), 1, rest, make([]bool, 4)); err != nil {
		t.Fatal(err)
	}
	for _, l := range rest {
		for field := range 4 {
			if sides := sidesOf(plan, l, field); !slices.Equal(sides, slices.Repeat([]game.Side{{Choice: game.Even}}, 6)) {
				t.Errorf("league %d: player %d: %v, but the batch is a fresh one", l.Index, field, sides)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if b.batches != 2 || b.closed != 2 || calm.open != 0 || inner.open != 0 {
		t.Errorf("%d batches made, %d closed, %d and %d seats open; want 2, 2, 0, 0",
			b.batches, b.closed, calm.open, inner.open)
	}
}

// wantLost checks a league in which players 0 and 1 were lost in a round,
// counted from 0.
func wantLost(t *testing.T, plan results.Plan, l results.League, round int, f game.Fault, note string) {
	t.Helper()
	for field := range 4 {
		for i, side := range sidesOf(plan, l, field) {
			want := game.Side{Choice: game.Even}
			switch {
			case field > 1 || i < round:
			case i == round:
				want = game.Side{Fault: f}
			default:
				want = game.Side{Fault: game.FaultForfeit}
			}
			if side != want {
				t.Errorf("player %d, round %d: %v, want %v", field, i+1, side, want)
			}
		}
	}
	if len(l.Notes) != 2 {
		t.Fatalf("notes %+v, want two", l.Notes)
	}
	for _, n := range l.Notes {
		if n.Field > 1 || n.Fault != f || !strings.Contains(n.Text, note) || len(n.Text) > results.MaxNoteText {
			t.Errorf("note %+v, want one on %v that says %q", n, f, note)
		}
	}
}

// A batch that reports the costs of others is believed about its own seats only, once.
func TestCostsOfOthers(t *testing.T) {
	t.Parallel()
	b := &tapped{Batcher: batch.Of(&script{}), spoil: func(_ int, s *strategies.Step) error {
		for id := range strategies.SeatID(4) {
			s.Spent = append(s.Spent, strategies.SeatSpent{Seat: id, Spent: strategies.Spent{Share: 2 * strategies.FullShare}})
		}
		return nil
	}}
	l := play(t, newArena(t, planOf(4, 2, 1), arena.Config{}, b, &script{}, &script{}, &script{}), 4, 1)[0]
	if len(l.Costs) != 1 || l.Costs[0].Field != 0 {
		t.Errorf("costs %v, want one of the first player", l.Costs)
	}
}

func TestBatchThatDoesNotStart(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func() error{
		"error": func() error { return errBoom },
		"panic": func() error { panic("boom") },
	} {
		b := &tapped{Batcher: batch.Of(&script{}), open: open}
		plan := planOf(4, 2, 1)
		l := play(t, newArena(t, plan, arena.Config{}, b, b, &script{}, &script{}), 4, 1)[0]
		wantLost(t, plan, l, 0, game.FaultError, "start: ")
		if b.batches != 0 || b.closed != 0 {
			t.Errorf("%s: %d batches made and %d closed, want none", name, b.batches, b.closed)
		}
	}
	nothing := noBatch{&script{}}
	plan := planOf(4, 2, 1)
	l := play(t, newArena(t, plan, arena.Config{}, nothing, nothing, &script{}, &script{}), 4, 1)[0]
	wantLost(t, plan, l, 0, game.FaultError, "factory returned neither a batch nor an error")
}

// noBatch makes no batches and says nothing.
type noBatch struct{ *script }

func (noBatch) NewBatch(context.Context) (strategies.Batch, error) { return nil, nil }
