package strategies_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// Only probabilities are choices: what lies outside [0, 1], and NaN, is refused before
// it could reach the coin.
func TestOnlyProbabilitiesAreChoices(t *testing.T) {
	for c, want := range map[strategies.Choice]bool{
		0: true, 1: true, 0.5: true, math.SmallestNonzeroFloat64: true, strategies.Choice(math.Nextafter(1, 0)): true,
		strategies.Choice(math.Nextafter(1, 2)): false, -math.SmallestNonzeroFloat64: false, 2: false, -1: false,
		strategies.Choice(math.Inf(1)): false, strategies.Choice(math.Inf(-1)): false,
	} {
		if got := c.Valid(); got != want {
			t.Errorf("%v is valid: %t", c, got)
		}
	}
	if strategies.Choice(math.NaN()).Valid() {
		t.Error("NaN is a choice")
	}
	if c := strategies.Choice(math.Copysign(0, -1)); !c.Valid() || c.Resolve(nil) != game.Odd {
		t.Error("minus zero is not odd")
	}
}

// The certain choices need no coin, so that a strategy without chance leaves the coin
// of its match untouched.
func TestCertainChoices(t *testing.T) {
	for _, p := range []game.Parity{game.Even, game.Odd} {
		if got := strategies.Play(p).Resolve(nil); got != p {
			t.Errorf("%v is played as %v", p, got)
		}
	}
	defer func() {
		if v := recover(); v == nil || !strings.Contains(v.(string), "no parity") {
			t.Errorf("playing nothing: %v", v)
		}
	}()
	strategies.Play(game.NoParity)
}

// A record counts each result once, and a technical loss as a loss.
func TestStandingAdds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s, want strategies.Standing
		for _, r := range rapid.SliceOf(rapid.SampledFrom([]game.Result{game.Win, game.Tie, game.Loss, game.TechnicalLoss})).Draw(t, "results") {
			points := map[game.Result]int{game.Win: game.WinPoints, game.Tie: game.TiePoints}[r]
			s.Add(r, points)
			want.Played++
			want.Points += points
			switch r {
			case game.Win:
				want.Wins++
			case game.Tie:
				want.Draws++
			default:
				want.Losses++
			}
		}
		if s != want || s.Wins+s.Draws+s.Losses != s.Played || s.Points != 3*s.Wins+s.Draws {
			t.Errorf("%+v, want %+v", s, want)
		}
	})
}

// A strategy that panics fails like any other, whatever it panics with.
func TestRescue(t *testing.T) {
	call := func(f func() error) (err error) {
		defer strategies.Rescue(&err)
		return f()
	}
	failed := errors.New("out of ideas")
	if err := call(func() error { return failed }); err != failed {
		t.Errorf("an error became %v", err)
	}
	if err := call(func() error { return nil }); err != nil {
		t.Errorf("success became %v", err)
	}
	var empty []int
	for want, f := range map[string]func() error{
		"panic: boom":               func() error { panic("boom") },
		"panic: out of ideas":       func() error { panic(failed) },
		"index out of range [0]":    func() error { _ = empty[0]; return nil },
		"panic: {3}":                func() error { panic(struct{ n int }{3}) },
		"called with nil argument":  func() error { panic(nil) },
		"nil pointer dereference":   func() error { var s *strategies.Standing; s.Add(game.Win, 3); return nil },
		"strategies: Play of no pa": func() error { strategies.Play(0); return nil },
	} {
		if err := call(f); err == nil || !strings.Contains(err.Error(), want) || strategies.FaultOf(err) != game.FaultError {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// A text that is cut stays valid, and no longer than it may be, but for the dots.
func TestClipKeepsLetters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, n := rapid.String().Draw(t, "text"), rapid.IntRange(0, 40).Draw(t, "bytes")
		got := strategies.Clip(s, n)
		if len(s) <= n {
			if got != s {
				t.Errorf("%q became %q", s, got)
			}
			return
		}
		kept, cut := strings.CutSuffix(got, "...")
		if !cut || len(kept) > n || !strings.HasPrefix(s, kept) || !utf8.ValidString(kept) || n-len(kept) >= utf8.UTFMax {
			t.Errorf("%q cut to %d bytes is %q", s, n, got)
		}
	})
}

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
