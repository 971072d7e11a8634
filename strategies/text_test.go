package strategies_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                          "",
		"plain":                     "plain",
		" two\nlines\tand\r a tab ": "two lines and  a tab",
		"bell \a and \x1b[31mred":   "bell \uFFFD and \uFFFD[31m...",
		"grün":                      "grün",
		strings.Repeat("a", 30):     strings.Repeat("a", 20) + "...",
		strings.Repeat("é", 30):     strings.Repeat("é", 10) + "...",
	} {
		if got := strategies.OneLine(in, 20); got != want {
			t.Errorf("OneLine(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestErrorSaysWhereAndWhat(t *testing.T) {
	cause := errors.New("attempt to index nil")
	e := &strategies.Error{Source: "scripts/x.lua", Line: 12, Op: strategies.OpChoose, Err: cause, Hint: "look before you use it"}
	if got, want := e.Error(), "scripts/x.lua:12: choose: attempt to index nil (look before you use it)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if e.Line, e.Hint = 0, ""; e.Error() != "scripts/x.lua: choose: attempt to index nil" || !errors.Is(e, cause) {
		t.Errorf("without line and hint: %q", e.Error())
	}
}

func TestFaults(t *testing.T) {
	for _, tc := range []struct {
		err  error
		op   strategies.Op
		want game.Fault
		ends bool
	}{
		{nil, strategies.OpObserve, game.NoFault, false},
		{strategies.InvalidChoice("nil"), strategies.OpChoose, game.FaultInvalid, false},
		{errors.New("thrown"), strategies.OpChoose, game.FaultError, false},
		{errors.New("thrown"), strategies.OpStart, game.FaultError, true},
		{errors.New("thrown"), strategies.OpObserve, game.FaultError, true},
		{strategies.ErrTimeout, strategies.OpChoose, game.FaultTimeout, true},
		{strategies.ErrBudget, strategies.OpChoose, game.FaultBudget, true},
		{strategies.ErrCrashed, strategies.OpChoose, game.FaultCrash, true},
		{t.Context().Err(), strategies.OpChoose, game.NoFault, false},
	} {
		f := strategies.FaultOf(tc.err)
		if f != tc.want || strategies.EndsSeat(tc.op, f) != tc.ends {
			t.Errorf("%v in %s: %s, ends %v; want %s, %v", tc.err, tc.op, f, strategies.EndsSeat(tc.op, f), tc.want, tc.ends)
		}
	}
}

func TestChoice(t *testing.T) {
	coin := game.NewRand(game.Key{1, 2})
	evens := 0
	const throws = 10_000
	for i := range throws {
		coin.Rekey(uint64(i))
		if strategies.Choice(0.25).Resolve(coin) == game.Even {
			evens++
		}
	}
	// Five standard deviations of a binomial with p = 1/4 are 217.
	if evens < throws/4-217 || evens > throws/4+217 {
		t.Errorf("%d of %d throws of a coin of 1/4 were even", evens, throws)
	}
}
