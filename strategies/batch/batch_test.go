package batch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/batch"
)

var errBoom = errors.New("boom")

// diary is a factory whose seats write down their calls with the first number
// of their stream, and fail where fail says so.
type diary struct {
	fail  func(call string) error
	lines []string
}

func (d *diary) Info() strategies.Info { return strategies.Info{Name: "diary"} }
func (d *diary) Close() error          { d.lines = append(d.lines, "factory closed"); return nil }

func (d *diary) write(s strategies.Setup, call string) error {
	call = s.ID + " " + call
	d.lines = append(d.lines, fmt.Sprintf("%s %x", call, s.Rand.Uint64()))
	if d.fail == nil {
		return nil
	}
	return d.fail(call)
}

func (d *diary) New(_ context.Context, s strategies.Setup) (strategies.Strategy, error) {
	if err := d.write(s, "start"); err != nil {
		return nil, err
	}
	return &page{d, s}, nil
}

type page struct {
	d *diary
	s strategies.Setup
}

func (p *page) Choose(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
	return 0.25, p.d.write(p.s, fmt.Sprint("choose ", t.Match))
}

func (p *page) Observe(_ context.Context, o *strategies.Outcome) error {
	return p.d.write(p.s, fmt.Sprint("observe ", o.Match))
}

func (p *page) Close() error {
	p.d.lines = append(p.d.lines, p.s.ID+" close")
	if p.d.fail != nil {
		return p.d.fail(p.s.ID + " close")
	}
	return nil
}

func setup(id string) strategies.Setup {
	key := game.Key{uint64(len(id)), uint64(id[0])}
	return strategies.Setup{ID: id, Key: key, Rand: game.NewRand(key)}
}

// line is what a diary holds of a call if its stream stood where it should.
func line(id, call string, position uint64) string {
	rnd := setup(id).Rand
	rnd.Rekey(position)
	return fmt.Sprintf("%s %s %x", id, call, rnd.Uint64())
}

func opened(ids ...string) *strategies.Step {
	s := new(strategies.Step)
	for i, id := range ids {
		s.Open = append(s.Open, strategies.OpenSeat{Seat: strategies.SeatID(i), Setup: setup(id)})
	}
	return s
}

func newBatch(t *testing.T, f strategies.Factory) strategies.Batch {
	t.Helper()
	b, err := batch.Of(f).NewBatch(t.Context())
	must(t, err)
	return b
}

func wantLines(t *testing.T, d *diary, want ...string) {
	t.Helper()
	if !slices.Equal(d.lines, want) {
		t.Errorf("calls:\n%q\nwant\n%q", d.lines, want)
	}
}

func TestStepKeepsItsOrder(t *testing.T) {
	d := &diary{}
	b := newBatch(t, d)
	s := opened("A", "B")
	s.Close = []strategies.SeatID{0}
	for _, match := range []uint64{4, 5} {
		s.Choose = append(s.Choose, strategies.SeatTurn{Seat: 1, Turn: strategies.Turn{Match: match}})
		s.Observe = append(s.Observe, strategies.SeatOutcome{Seat: 0, Outcome: strategies.Outcome{Match: match}})
	}
	must(t, b.Step(t.Context(), s))
	if !slices.Equal(s.Choices, []strategies.Choice{0.25, 0.25}) || len(s.Failed) != 0 {
		t.Errorf("choices %v, failed %v", s.Choices, s.Failed)
	}
	must(t, b.Close())
	wantLines(t, d,
		line("A", "start", 0), line("B", "start", 0), line("A", "observe 4", 10), line("A", "observe 5", 12),
		line("B", "choose 4", 9), line("B", "choose 5", 11), "A close", "B close")
}

// TestFailures follows a seat that fails in each operation, and its neighbour. What a failure
// costs is up to package seat.
func TestFailures(t *testing.T) {
	for at, want := range map[string]struct {
		err  error
		says strategies.SeatError
		ends bool
	}{
		"A start":     {errBoom, strategies.SeatError{Op: strategies.OpStart}, true},
		"A observe 1": {errBoom, strategies.SeatError{Op: strategies.OpObserve}, true},
		"A choose 2":  {errBoom, strategies.SeatError{Op: strategies.OpChoose, Index: 1}, false},
		"B choose 2":  {strategies.ErrTimeout, strategies.SeatError{Seat: 1, Op: strategies.OpChoose}, true},
	} {
		d := &diary{fail: func(call string) error {
			if call == at {
				return want.err
			}
			return nil
		}}
		b := newBatch(t, d)
		s := opened("A", "B")
		s.Observe = []strategies.SeatOutcome{{Seat: 0, Outcome: strategies.Outcome{Match: 1}}}
		s.Choose = []strategies.SeatTurn{{Seat: 1, Turn: strategies.Turn{Match: 2}}, {Seat: 0, Turn: strategies.Turn{Match: 2}}}
		must(t, b.Step(t.Context(), s))
		want.says.Err = want.err
		if !slices.Equal(s.Failed, []strategies.SeatError{want.says}) || len(s.Choices) != 2 {
			t.Errorf("%s: failed %+v, choices %v", at, s.Failed, s.Choices)
		}
		closed := slices.Contains(d.lines, at[:1]+" close")
		must(t, b.Close())
		if closes := strings.Count(fmt.Sprint(d.lines), "close"); closed != (want.ends && want.says.Op != strategies.OpStart) || closes > 2 {
			t.Errorf("%s: closed %v: %q", at, closed, d.lines)
		}
	}
}

func TestClose(t *testing.T) {
	d := &diary{fail: func(call string) error {
		switch call {
		case "A close":
			return errBoom
		case "B close":
			panic("ouch")
		}
		return nil
	}}
	b := newBatch(t, d)
	must(t, b.Step(t.Context(), opened("A", "B", "C")))
	err := b.Close()
	if !errors.Is(err, errBoom) || len(d.lines) != 6 {
		t.Errorf("error %v, calls %q; want boom and three seats closed", err, d.lines)
	}
	if err := b.Close(); err != nil || len(d.lines) != 6 {
		t.Errorf("closed twice: error %v, calls %q", err, d.lines)
	}
}

func TestStepFailsAsAWhole(t *testing.T) {
	b := newBatch(t, &diary{})
	first, second := b.Step(t.Context(), opened("A")), b.Step(t.Context(), opened("A"))
	if first != nil || second == nil {
		t.Errorf("one seat was opened: %v; and twice: %v", first, second)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errBoom)
	if err := b.Step(ctx, new(strategies.Step)); !errors.Is(err, errBoom) {
		t.Errorf("after the end: %v, want the context's cause", err)
	}
}

func TestFactoryThatMakesNothing(t *testing.T) {
	s := opened("A")
	must(t, newBatch(t, empty{}).Step(t.Context(), s))
	if len(s.Failed) != 1 || s.Failed[0].Op != strategies.OpStart {
		t.Errorf("failed %+v", s.Failed)
	}
}

// empty makes no seat and says nothing.
type empty struct{ strategies.Factory }

func (empty) New(context.Context, strategies.Setup) (strategies.Strategy, error) { return nil, nil }

// must ends a test at the first of some errors.
func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
