// Package wire translates between strategies.Step and the columns of the plugin
// protocol, for both ends.
//
// Both ends remember the same few facts about every open seat: its players, the
// match it was last asked about, and its standing. So most entries of a step
// take a few bytes. Neither end trusts the other: invalid input is an error and
// ends the group.
package wire

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/plugins/internal/strategypb"
	"github.com/strategylab/strategylab/strategies"
)

// MostMessage bounds one message between host and plugin, in bytes.
const MostMessage = 16 << 20

// ErrProtocol is wrapped by all errors about invalid input from the other end.
var ErrProtocol = errors.New("protocol violation")

func broken(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrProtocol}, args...)...)
}

// memory is what both ends remember about one seat.
type memory struct {
	roster *roster
	turn   strategies.Turn // with the standing after the outcomes since
}

// seats is what one end remembers about the open seats of a group.
type seats map[strategies.SeatID]*memory

// get returns the seat of a number from the other end, or from the user of this one.
func (s seats) get(number int64) (strategies.SeatID, *memory, error) {
	if number >= 0 && number <= math.MaxUint32 {
		if m := s[strategies.SeatID(number)]; m != nil {
			return strategies.SeatID(number), m, nil
		}
	}
	return 0, nil, broken("seat %d is not open", number)
}

// roster is the players of a league; seats share it.
type roster struct {
	players []string
	index   map[string]uint32 // from 1
}

func newRoster(players []string) *roster {
	r := &roster{players: players, index: make(map[string]uint32, len(players))}
	for i, p := range players {
		r.index[p] = uint32(i + 1)
	}
	return r
}

// The bits of Outcomes.how.
const (
	parityMask  = 3
	theirsShift = 2
	resultShift = 4
	resultMask  = 7
	drewBit     = 0x80
)

// The bytes of StepReply.choices.
const (
	answerOdd = iota
	answerEven
	answerProbability
	answerFailed
)

// scored are the points of a result in league.v2.
var scored = [...]int{game.Win: game.WinPoints, game.Tie: game.TiePoints, game.TechnicalLoss: 0}

// maxText is the longest text of a failure, in bytes.
const maxText = 1000

// mostSpent is the largest share that is believed.
const mostSpent = 1 << 30

// Reply writes the results of a step.
func (d *Decoder) Reply(s *strategies.Step, out *strategypb.StepReply) {
	out.Choices = make([]byte, len(s.Choices))
	for _, f := range s.Failed {
		out.Failed = append(out.Failed, EncodeFailure(f))
		if f.Op == strategies.OpChoose && f.Index < len(out.Choices) {
			out.Choices[f.Index] = answerFailed
		}
		if strategies.EndsSeat(f.Op, strategies.FaultOf(f.Err)) {
			delete(d.seats, f.Seat)
		}
	}
	for _, x := range s.Spent {
		out.Spent = append(out.Spent, &strategypb.Spent{Seat: uint32(x.Seat), Share: uint64(x.Share), Exact: x.Exact})
	}
	for i, c := range s.Choices {
		switch {
		case out.Choices[i] == answerFailed:
		case c == strategies.Even:
			out.Choices[i] = answerEven
		case c == strategies.Odd:
			out.Choices[i] = answerOdd
		default:
			out.Choices[i] = answerProbability
			out.Probability = append(out.Probability, float64(c))
		}
	}
}

// EncodeFailure writes the failure of one seat.
func EncodeFailure(f strategies.SeatError) *strategypb.Failure {
	out := &strategypb.Failure{Seat: uint32(f.Seat), Entry: uint32(f.Index), Op: strategypb.Failure_CHOOSE}
	if code := slices.Index(ops[:], f.Op); code >= 0 {
		out.Op = strategypb.Failure_Op(code)
	}
	if code := slices.Index(faults[:], strategies.FaultOf(f.Err)); code >= 0 {
		out.Cause = strategypb.Failure_Cause(code)
	}
	cause := f.Err
	var typed *strategies.Error
	if errors.As(f.Err, &typed) {
		out.Source, out.Line, out.Hint = typed.Source, uint32(max(typed.Line, 0)), strategies.OneLine(typed.Hint, maxText)
		cause = typed.Err
	}
	out.Text = strategies.OneLine(cause.Error(), maxText)
	return out
}

// The operations of failures, and their causes as faults and as kinds of error, by code.
var (
	ops = [...]strategies.Op{
		strategypb.Failure_START: strategies.OpStart, strategypb.Failure_OBSERVE: strategies.OpObserve,
		strategypb.Failure_CHOOSE: strategies.OpChoose, strategypb.Failure_LOAD: strategies.OpLoad,
	}
	faults = [...]game.Fault{
		strategypb.Failure_ERROR: game.FaultError, strategypb.Failure_INVALID_CHOICE: game.FaultInvalid,
		strategypb.Failure_TIMEOUT: game.FaultTimeout, strategypb.Failure_BUDGET: game.FaultBudget,
	}
	kinds = [...]error{
		strategypb.Failure_INVALID_CHOICE: strategies.ErrInvalidChoice,
		strategypb.Failure_TIMEOUT:        strategies.ErrTimeout, strategypb.Failure_BUDGET: strategies.ErrBudget,
	}
)

// remoteError is an error from another process: its text and its kind.
type remoteError struct {
	text string
	kind error // for errors.Is; may be nil
}

func (t *remoteError) Error() string { return t.text }
func (t *remoteError) Unwrap() error { return t.kind }

// DecodeFailure reads the failure of one seat; source is the default source of
// its error.
func DecodeFailure(f *strategypb.Failure, source string) (strategies.SeatError, error) {
	op, cause := int(f.GetOp()), int(f.GetCause())
	if op < 0 || op >= len(ops) || cause < 0 || cause >= len(kinds) {
		return strategies.SeatError{}, broken("failure of operation %d and cause %d", op, cause)
	}
	why := &remoteError{cmp.Or(strategies.OneLine(f.GetText(), maxText), "failed without a reason"), kinds[cause]}
	e := &strategies.Error{Source: source, Op: ops[op], Err: why, Hint: strategies.OneLine(f.GetHint(), maxText)}
	if f.GetSource() != "" {
		e.Source, e.Line = strategies.OneLine(f.GetSource(), maxText), int(f.GetLine())
	}
	return strategies.SeatError{Seat: strategies.SeatID(f.GetSeat()), Op: ops[op], Index: int(f.GetEntry()), Err: e}, nil
}

// Decode reads the answer to an encoded step into s.Choices and s.Failed.
func (e *Encoder) Decode(in *strategypb.StepReply, s *strategies.Step, source string) error {
	if in.Lost != "" {
		return fmt.Errorf("plugin ended the group: %s", strategies.OneLine(in.Lost, maxText))
	}
	if len(in.Choices) != len(s.Choose) {
		return broken("%d choices, want %d", len(in.Choices), len(s.Choose))
	}
	for _, x := range in.Spent {
		spent := strategies.Spent{Share: int64(min(x.GetShare(), mostSpent)), Exact: x.GetExact()}
		s.Spent = append(s.Spent, strategies.SeatSpent{Seat: strategies.SeatID(x.GetSeat()), Spent: spent})
	}
	failed := 0
	probability := in.Probability
	for _, b := range in.Choices {
		c := strategies.Odd
		switch b {
		case answerOdd, answerFailed:
			failed += int(b) / answerFailed
		case answerEven:
			c = strategies.Even
		case answerProbability:
			if len(probability) == 0 {
				return broken("too few probabilities")
			}
			c, probability = strategies.Choice(probability[0]), probability[1:]
		default:
			return broken("choice %d", b)
		}
		s.Choices = append(s.Choices, c)
	}
	return e.failures(in, s, source, failed)
}

// failures reads the failures and forgets the seats that they end.
func (e *Encoder) failures(in *strategypb.StepReply, s *strategies.Step, source string, expected int) error {
	for _, f := range in.Failed {
		se, err := DecodeFailure(f, source)
		if err != nil {
			return err
		}
		if se.Op == strategies.OpChoose {
			if se.Index >= len(s.Choose) || s.Choose[se.Index].Seat != se.Seat || in.Choices[se.Index] != answerFailed {
				return broken("failure of choice %d of seat %d, which was not requested", se.Index, se.Seat)
			}
			expected--
		} else if e.seats[se.Seat] == nil && !slices.Contains(s.Close, se.Seat) {
			return broken("failure of seat %d, which is not open", se.Seat)
		}
		if strategies.EndsSeat(se.Op, strategies.FaultOf(se.Err)) {
			delete(e.seats, se.Seat)
		}
		s.Failed = append(s.Failed, se)
	}
	if expected > 0 { // marked as failed without a Failure
		return broken("%d failed choices without a reason", expected)
	}
	return nil
}
