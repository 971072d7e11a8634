package wire_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/plugins/internal/strategypb"
	"github.com/strategylab/strategylab/plugins/internal/wire"
	"github.com/strategylab/strategylab/strategies"
)

func opened(id strategies.SeatID, setup strategies.Setup) strategies.OpenSeat {
	setup.Rand = game.NewRand(setup.Key)
	return strategies.OpenSeat{Seat: id, Setup: setup}
}

// story is steps with everything in them that is out of the ordinary.
func story() []strategies.Step {
	field := []string{"P01", "P02", "P03"}
	setup := strategies.Setup{ID: "P02", Name: "P02", Field: field, Rounds: 6, Legs: 2, Key: game.Key{1, 1 << 63}}
	named := strategies.Setup{ID: "someone", Name: "Some One", Key: game.Key{3, 4}}
	turn := strategies.Turn{Match: 5, MatchID: "R2M1", Round: 2, Opponent: "P03", Role: game.RoleB}
	foreign := strategies.Turn{Match: 1 << 40, MatchID: "final", Round: 0, Opponent: "stranger"}
	outcome := strategies.Outcome{
		Match: 5, MatchID: "R2M1", Round: 2, Opponent: "P03", Role: game.RoleB, Choice: game.Even, OpponentChoice: game.Odd,
		Number: 7, Drew: true, Result: game.Loss,
	}
	odd := strategies.Outcome{Match: 9, MatchID: "R02M1", Round: 2, Result: game.Tie, Points: -4, Number: -3, Drew: true}
	after := turn
	after.Match, after.MatchID, after.Round = 6, "R3M1", 3
	after.Standing = strategies.Standing{Played: 1, Losses: 1}
	recovered := foreign
	recovered.Standing = strategies.Standing{Played: 9, Wins: 2, Draws: 3, Losses: 4, Points: 9}
	return []strategies.Step{
		{
			Open:   []strategies.OpenSeat{opened(7, setup), opened(0, named), opened(1<<32-1, setup)},
			Choose: []strategies.SeatTurn{{Seat: 7, Turn: turn}, {Seat: 0, Turn: foreign}},
		},
		{
			Observe: []strategies.SeatOutcome{{Seat: 7, Outcome: outcome}},
			Choose:  []strategies.SeatTurn{{Seat: 7, Turn: after}},
			Close:   []strategies.SeatID{1<<32 - 1},
		},
		{
			Observe: []strategies.SeatOutcome{{Seat: 0, Outcome: odd}},
			Choose:  []strategies.SeatTurn{{Seat: 0, Turn: recovered}},
			Close:   []strategies.SeatID{7, 0},
		},
		{Open: []strategies.OpenSeat{opened(7, setup)}},
	}
}

func TestStepsArriveAsTheyWere(t *testing.T) {
	t.Parallel()
	e, d := wire.NewEncoder(), wire.NewDecoder(nil)
	for i, want := range story() {
		var sent, came strategypb.Step
		if err := e.Encode(&want, &sent); err != nil {
			t.Fatal(err)
		}
		data, err := proto.Marshal(&sent)
		if err != nil {
			t.Fatal(err)
		}
		if err := proto.Unmarshal(data, &came); err != nil {
			t.Fatal(err)
		}
		var got strategies.Step
		if err := d.Decode(&came, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(game.Rand{}), cmp.FilterPath(func(p cmp.Path) bool {
			return p.Last().String() == ".Rand"
		}, cmp.Ignore())); diff != "" {
			t.Errorf("step %d (-sent +came):\n%s", i, diff)
		}
	}
}

func TestAnswersArriveAsTheyWere(t *testing.T) {
	t.Parallel()
	e, d := wire.NewEncoder(), wire.NewDecoder(nil)
	steps := story()
	ask := steps[0]
	for range 2 {
		ask.Choose = append(ask.Choose, ask.Choose...)
	}
	var sent strategypb.Step
	if err := e.Encode(&ask, &sent); err != nil {
		t.Fatal(err)
	}
	var there strategies.Step
	if err := d.Decode(&sent, &there); err != nil {
		t.Fatal(err)
	}
	there.Choices = []strategies.Choice{1, 0, 0.25, 0, 1, 1, 0, 0.5}
	at := &strategies.Error{Source: "a.lua", Line: 3, Op: strategies.OpChoose, Err: strategies.InvalidChoice("7"), Hint: "say even"}
	there.Failed = []strategies.SeatError{
		{Seat: there.Choose[3].Seat, Op: strategies.OpChoose, Index: 3, Err: at},
		{Seat: 1<<32 - 1, Op: strategies.OpStart, Err: strategies.ErrBudget},
	}
	var reply strategypb.StepReply
	d.Reply(&there, &reply)
	if err := e.Decode(&reply, &ask, "plugin"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(there.Choices, ask.Choices); diff != "" {
		t.Errorf("choices (-made +came):\n%s", diff)
	}
	if len(ask.Failed) != 2 || ask.Failed[0].Index != 3 || ask.Failed[0].Err.Error() != at.Error() ||
		!errors.Is(ask.Failed[0].Err, strategies.ErrInvalidChoice) || !errors.Is(ask.Failed[1].Err, strategies.ErrBudget) {
		t.Errorf("failed %v", ask.Failed)
	}
}

// An entry of a usual step takes a few bytes.
func TestBytesOfADecision(t *testing.T) {
	t.Parallel()
	e := wire.NewEncoder()
	field := []string{"P01", "P02", "P03", "P04", "P05", "P06"}
	const leagues = 64
	var first, second strategies.Step
	for i := range leagues {
		id := strategies.SeatID(6*i + i%6)
		first.Open = append(first.Open, opened(id, strategies.Setup{ID: field[i%6], Name: field[i%6], Field: field}))
		turn := strategies.Turn{Match: 150, MatchID: "R50M1", Round: 50, Opponent: "P05", Role: game.RoleA}
		first.Choose = append(first.Choose, strategies.SeatTurn{Seat: id, Turn: turn})
		second.Observe = append(second.Observe, strategies.SeatOutcome{Seat: id, Outcome: strategies.Outcome{
			Match: 150, MatchID: "R50M1", Round: 50, Opponent: "P05", Role: game.RoleA, Choice: game.Odd,
			OpponentChoice: game.Odd, Number: 4, Drew: true, Result: game.Tie, Points: 1,
		}})
		turn.Match, turn.MatchID, turn.Round, turn.Standing = 153, "R51M1", 51, strategies.Standing{Played: 1, Draws: 1, Points: 1}
		second.Choose = append(second.Choose, strategies.SeatTurn{Seat: id, Turn: turn})
	}
	if err := e.Encode(&first, new(strategypb.Step)); err != nil {
		t.Fatal(err)
	}
	var out strategypb.Step
	if err := e.Encode(&second, &out); err != nil {
		t.Fatal(err)
	}
	if n := float64(proto.Size(&out)) / leagues; n > 12 {
		t.Errorf("%.1f bytes an outcome with a turn, want at most 12", n)
	}
	// A host may leave out usual points, and give one round for all.
	var start strategypb.Step
	d := wire.NewDecoder(nil)
	if err := errors.Join(wire.NewEncoder().Encode(&first, &start), d.Decode(&start, new(strategies.Step))); err != nil {
		t.Fatal(err)
	}
	var got strategies.Step
	out.Observe.Points, out.Choose.Round = nil, out.Choose.Round[:1]
	if err := d.Decode(&out, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(second, got); diff != "" {
		t.Errorf("left out (-meant +came):\n%s", diff)
	}
}

// FuzzDecode sends a plugin anything at all.
func FuzzDecode(f *testing.F) {
	e := wire.NewEncoder()
	for _, s := range story() {
		var out strategypb.Step
		if err := e.Encode(&s, &out); err != nil {
			f.Fatal(err)
		}
		data, err := proto.Marshal(&out)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, data)
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		d := wire.NewDecoder(nil)
		for _, data := range [][]byte{first, second} {
			var in strategypb.Step
			if proto.Unmarshal(data, &in) != nil {
				return
			}
			var s strategies.Step
			if err := d.Decode(&in, &s); err != nil {
				if !errors.Is(err, wire.ErrProtocol) {
					t.Errorf("error %v", err)
				}
				return
			}
		}
	})
}

// FuzzAnswer answers a host anything at all.
func FuzzAnswer(f *testing.F) {
	for _, r := range []*strategypb.StepReply{
		{Choices: []byte{0, 1}}, {Choices: []byte{2, 3}, Probability: []float64{0.5}}, {Lost: "boom"},
		{Choices: []byte{0, 3}, Failed: []*strategypb.Failure{{Op: strategypb.Failure_CHOOSE, Entry: 1}}},
	} {
		data, err := proto.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var in strategypb.StepReply
		if proto.Unmarshal(data, &in) != nil {
			return
		}
		e, s := wire.NewEncoder(), story()[0]
		if err := e.Encode(&s, new(strategypb.Step)); err != nil {
			t.Fatal(err)
		}
		if err := e.Decode(&in, &s, "plugin"); err != nil {
			return
		}
		if len(s.Choices) != len(s.Choose) {
			t.Errorf("%d choices of %d", len(s.Choices), len(s.Choose))
		}
		for _, x := range s.Failed {
			if x.Err == nil || x.Op == strategies.OpChoose && s.Choose[x.Index].Seat != x.Seat {
				t.Errorf("failure %+v", x)
			}
		}
	})
}

// TestFailureKeepsOperationAndCause: a failure arrives with its seat, operation, cause
// and place, whatever operation failed and why.
func TestFailureKeepsOperationAndCause(t *testing.T) {
	t.Parallel()
	for _, op := range []strategies.Op{strategies.OpLoad, strategies.OpStart, strategies.OpChoose, strategies.OpObserve} {
		for _, kind := range []error{strategies.ErrInvalidChoice, strategies.ErrTimeout, strategies.ErrBudget, nil} {
			sent := strategies.SeatError{Seat: 7, Op: op, Index: 3, Err: &strategies.Error{
				Source: "mine.lua", Line: 12, Op: op, Hint: "look\nhere", Err: errors.New("broken"),
			}}
			if kind != nil {
				sent.Err = &strategies.Error{Source: "mine.lua", Line: 12, Op: op, Hint: "look\nhere", Err: fmt.Errorf("%w: broken", kind)}
			}
			got, err := wire.DecodeFailure(wire.EncodeFailure(sent), "default.lua")
			if err != nil {
				t.Fatal(err)
			}
			var typed *strategies.Error
			if !errors.As(got.Err, &typed) || typed.Source != "mine.lua" || typed.Line != 12 || typed.Op != op || typed.Hint != "look here" {
				t.Errorf("%s, %v: error %+v", op, kind, got.Err)
			}
			if got.Seat != 7 || got.Op != op || got.Index != 3 || strategies.FaultOf(got.Err) != strategies.FaultOf(sent.Err) {
				t.Errorf("%s, %v: arrived as %+v", op, kind, got)
			}
		}
	}
}

// TestFailureWithoutPlace: an error without a source gets the default, and one without
// words says so; a batch that names an operation of its own is taken to have failed a
// choice.
func TestFailureWithoutPlace(t *testing.T) {
	t.Parallel()
	f := wire.EncodeFailure(strategies.SeatError{Seat: 1, Op: "dance", Err: errors.New(" \n")})
	if f.GetOp() != strategypb.Failure_CHOOSE {
		t.Errorf("operation %v, want that of a choice", f.GetOp())
	}
	got, err := wire.DecodeFailure(f, "default.lua")
	if err != nil {
		t.Fatal(err)
	}
	if text := got.Err.Error(); !strings.Contains(text, "default.lua") || !strings.Contains(text, "failed without a reason") {
		t.Errorf("error %q", text)
	}
}

// TestFailureOfUnknownCode: codes that the protocol does not have are refused.
func TestFailureOfUnknownCode(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]*strategypb.Failure{
		"operation": {Op: 99}, "cause": {Cause: 99},
	} {
		if _, err := wire.DecodeFailure(f, "x"); !errors.Is(err, wire.ErrProtocol) || !strings.Contains(fmt.Sprint(err), name) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
