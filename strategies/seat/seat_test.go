package seat_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/seat"
)

var errBoom = errors.New("boom")

// scripted is a factory of one strategy whose calls fail as its functions say,
// and which lists its calls with the first number of the stream.
type scripted struct {
	new     func() (strategies.Strategy, error) // nil returns the strategy
	choose  func(match uint64) (strategies.Choice, error)
	observe func(match uint64) error
	close   func() error

	setup strategies.Setup
	calls []string
}

func (s *scripted) Info() strategies.Info { return strategies.Info{Name: "scripted"} }
func (s *scripted) Close() error          { return s.close() }

func (s *scripted) call(format string, args ...any) {
	s.calls = append(s.calls, fmt.Sprintf(format, args...)+fmt.Sprintf(" %x", s.setup.Rand.Uint64()))
}

func (s *scripted) New(_ context.Context, setup strategies.Setup) (strategies.Strategy, error) {
	s.setup = setup
	s.call("start %s", setup.ID)
	if s.new != nil {
		return s.new()
	}
	return player{s}, nil
}

type player struct{ s *scripted }

func (p player) Choose(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
	p.s.call("choose %d", t.Match)
	if p.s.choose == nil {
		return strategies.Even, nil
	}
	return p.s.choose(t.Match)
}

func (p player) Observe(_ context.Context, o *strategies.Outcome) error {
	p.s.call("observe %d", o.Match)
	if p.s.observe == nil {
		return nil
	}
	return p.s.observe(o.Match)
}

func (p player) Close() error {
	p.s.calls = append(p.s.calls, "close")
	if p.s.close == nil {
		return nil
	}
	return p.s.close()
}

var key, coin = game.Key{1, 2}, game.Key{3, 4}

func newSeat(s *scripted) *seat.Seat {
	return &seat.Seat{
		Factory: s, Setup: strategies.Setup{ID: "P01", Key: key, Rand: game.NewRand(key)}, Coin: coin,
	}
}

// first returns the first number of the seat's stream at a position.
func first(position uint64) string {
	r := game.NewRand(key)
	r.Rekey(position)
	return fmt.Sprintf("%x", r.Uint64())
}

func TestCallsInOrder(t *testing.T) {
	f := &scripted{}
	s := newSeat(f)
	if s.Strategy() != nil {
		t.Error("there is a strategy before Start")
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	turn := strategies.Turn{Match: 7, MatchID: "R1M1"}
	if c, err := s.Choose(t.Context(), &turn); c != strategies.Even || err != nil {
		t.Errorf("choice %v, %v", c, err)
	}
	if err := s.Observe(t.Context(), &strategies.Outcome{Match: 7, Result: game.Win, Points: 3}); err != nil {
		t.Error(err)
	}
	if got, want := s.Standing(), (strategies.Standing{Played: 1, Wins: 1, Points: 3}); got != want {
		t.Errorf("standing %+v, want %+v", got, want)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil || s.Strategy() != nil {
		t.Errorf("closed: %v, strategy %v", err, s.Strategy())
	}
	if _, err := s.Choose(t.Context(), &turn); err == nil {
		t.Error("a closed seat chooses")
	}
	want := fmt.Sprint([]string{
		"start P01 " + first(game.StartPosition), "choose 7 " + first(game.ChoosePosition(7)),
		"observe 7 " + first(game.ObservePosition(7)), "close",
	})
	if got := fmt.Sprint(f.calls); got != want {
		t.Errorf("calls %s\nwant  %s", got, want)
	}
}

// TestFailures plays three matches, each with a choice and an outcome, against
// strategies that fail in every way.
func TestFailures(t *testing.T) {
	overrun := fmt.Errorf("x: %w", strategies.ErrTimeout)
	const none, forfeit = game.NoFault, game.FaultForfeit
	in := func(match uint64, err error) func(uint64) error {
		return func(m uint64) error {
			if m == match {
				return err
			}
			return nil
		}
	}
	chooses := func(c strategies.Choice, err error) func(uint64) (strategies.Choice, error) {
		return func(m uint64) (strategies.Choice, error) {
			if m == 1 {
				return c, err
			}
			return strategies.Odd, nil
		}
	}
	for name, tc := range map[string]struct {
		f     scripted
		want  [3]game.Fault
		calls int
	}{
		"nothing":                  {scripted{}, [3]game.Fault{}, 7},
		"start":                    {scripted{new: func() (strategies.Strategy, error) { return nil, errBoom }}, [3]game.Fault{game.FaultError, forfeit, forfeit}, 1},
		"start panics":             {scripted{new: func() (strategies.Strategy, error) { panic("boom") }}, [3]game.Fault{game.FaultError, forfeit, forfeit}, 1},
		"start returns nothing":    {scripted{new: func() (strategies.Strategy, error) { return nil, nil }}, [3]game.Fault{game.FaultError, forfeit, forfeit}, 1},
		"start crashes":            {scripted{new: func() (strategies.Strategy, error) { return nil, strategies.ErrCrashed }}, [3]game.Fault{game.FaultCrash, forfeit, forfeit}, 1},
		"choose":                   {scripted{choose: chooses(0, errBoom)}, [3]game.Fault{none, game.FaultError, none}, 7},
		"choose panics":            {scripted{choose: func(uint64) (strategies.Choice, error) { panic("boom") }}, [3]game.Fault{game.FaultError, game.FaultError, game.FaultError}, 7},
		"choose 2":                 {scripted{choose: chooses(2, nil)}, [3]game.Fault{none, game.FaultInvalid, none}, 7},
		"choose NaN":               {scripted{choose: chooses(strategies.Choice(math.NaN()), nil)}, [3]game.Fault{none, game.FaultInvalid, none}, 7},
		"choose exceeds its time":  {scripted{choose: chooses(0, overrun)}, [3]game.Fault{none, game.FaultTimeout, forfeit}, 4},
		"choose exceeds a budget":  {scripted{choose: chooses(0, strategies.ErrBudget)}, [3]game.Fault{none, game.FaultBudget, forfeit}, 4},
		"choose crashes":           {scripted{choose: chooses(0, strategies.ErrCrashed)}, [3]game.Fault{none, game.FaultCrash, forfeit}, 4},
		"observe":                  {scripted{observe: in(0, errBoom)}, [3]game.Fault{none, game.FaultError, forfeit}, 3},
		"observe panics":           {scripted{observe: func(uint64) error { panic("boom") }}, [3]game.Fault{none, game.FaultError, forfeit}, 3},
		"observe exceeds its time": {scripted{observe: in(1, overrun)}, [3]game.Fault{none, none, game.FaultTimeout}, 5},
	} {
		f := tc.f
		s := newSeat(&f)
		_ = s.Start(t.Context())
		for match, want := range tc.want {
			a := s.Answer(t.Context(), &strategies.Turn{Match: uint64(match)})
			if a.Fault != want || (a.Choice == game.NoParity) != (want != none) || (a.Err != nil) != (want != none && want != forfeit) {
				t.Errorf("%s, match %d: answer %+v, want fault %v", name, match, a, want)
			}
			_ = s.Observe(t.Context(), &strategies.Outcome{Match: uint64(match), Result: game.Loss})
		}
		if s.Standing().Losses != 3 || len(f.calls) != tc.calls { // outcomes count after the seat is out, too
			t.Errorf("%s: standing %+v, calls %q, want %d", name, s.Standing(), f.calls, tc.calls)
		}
	}
}

func TestOut(t *testing.T) {
	s := newSeat(&scripted{new: func() (strategies.Strategy, error) { return nil, errBoom }})
	before, _ := s.Out()
	err := s.Start(t.Context())
	after, why := s.Out()
	if before != game.NoFault || !errors.Is(err, errBoom) || after != game.FaultError || !errors.Is(why, errBoom) {
		t.Errorf("%v before start, which fails with %v; then %v, %v", before, err, after, why)
	}
	if _, err := s.Choose(t.Context(), &strategies.Turn{}); err == nil || s.Close() != nil {
		t.Errorf("a seat that is out chooses, or does not close: %v", err)
	}
}

func TestQuarantine(t *testing.T) {
	f := &scripted{}
	s := newSeat(f)
	s.Quarantine()
	for match := range uint64(3) {
		if a := s.Answer(t.Context(), &strategies.Turn{Match: match}); a != (seat.Answer{Fault: game.FaultQuarantined}) {
			t.Errorf("match %d: %+v", match, a)
		}
		if err := s.Observe(t.Context(), &strategies.Outcome{Match: match}); err != nil {
			t.Error(err)
		}
	}
	if len(f.calls) != 0 {
		t.Errorf("calls %q", f.calls)
	}
}

// TestProbability holds the coin to its key: the same match gives the same parity, whatever
// was drawn before.
func TestProbability(t *testing.T) {
	for _, matches := range [][]uint64{{0, 1, 2, 3, 4, 5, 6, 7}, {6}} {
		s := newSeat(&scripted{choose: func(uint64) (strategies.Choice, error) { return 0.5, nil }})
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, m := range matches {
			stream := game.NewRand(coin)
			stream.Rekey(m)
			a := s.Answer(t.Context(), &strategies.Turn{Match: m})
			if want := strategies.Choice(0.5).Resolve(stream); a.Choice != want || a.Err != nil {
				t.Errorf("match %d: %+v, want %v", m, a, want)
			}
		}
	}
}

func TestCloseFails(t *testing.T) {
	for _, end := range []func() error{func() error { return errBoom }, func() error { panic("boom") }} {
		s := newSeat(&scripted{close: end})
		if err := s.Start(t.Context()); err != nil || s.Close() == nil {
			t.Errorf("%v, or no error of Close", err)
		}
	}
}
