package wire_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/plugins/internal/strategypb"
	"github.com/strategylab/strategylab/plugins/internal/wire"
	"github.com/strategylab/strategylab/strategies"
)

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
