package analysis_test

import (
	"math"
	"slices"
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/host/game"
)

// TestVarianceRatio compares with theory: players that throw a coin differ in
// half of their matches, independently, so raw points vary 1 + 9/(1-p) = 19
// times as much as adjusted ones at p = 0.5. With 8,000 leagues of eight such
// players the ratio is known to about 1 %; 6 % is more than five of those.
func TestVarianceRatio(t *testing.T) {
	t.Parallel()
	bots := make([]bot, 8)
	for i := range bots {
		bots[i].even = 0.5
	}
	w := newWorld("", 2, bots...)
	e := analyse(t, w.plan, w.leagues(4, 8000)).Estimates(0.95)
	attest.Near(t, e.VarianceRatio, 19, 0.06*19, "variance ratio")
	// Of a difference, the 2(n-2) matches against others have variances of 19/16 and 1/16,
	// and the one between the two adds 9/2 to the raw one alone: 19 + 36/(n-2) = 25.
	attest.Near(t, e.DifferenceRatio, 25, 0.06*25, "variance ratio of differences")
}

// TestFaults: counts by kind, the earliest note whatever the order of leagues, and a run
// that another machine need not repeat marked as such.
func TestFaults(t *testing.T) {
	w := newWorld("", 3, bot{even: 0.5}, bot{even: 1, fault: 0.2, kind: game.FaultInvalid}, bot{even: 1, fault: 1, kind: game.FaultForfeit})
	leagues := w.leagues(6, 40)
	for i, j := 0, len(leagues)-1; i < j; i, j = i+1, j-1 {
		leagues[i], leagues[j] = leagues[j], leagues[i]
	}
	e := analyse(t, w.plan, leagues).Estimates(0.95)
	if !e.Reproducible {
		t.Error("invalid choices are the same on every machine")
	}
	f := e.Players[2].Faults
	schedule := attest.Must(game.NewSchedule(3, w.plan.Legs))
	seat := slices.Index(leagues[len(leagues)-1].Seats, 2)
	at := slices.IndexFunc(schedule.Matches(), func(m game.Match) bool { return m.A == seat || m.B == seat })
	first := schedule.Matches()[at].ID
	if len(f) != 1 || f[0] != (analysis.Fault{Kind: game.FaultForfeit, Name: "forfeit", Count: 40 * 2 * 3, Match: first, Where: "bot3.lua:0: broke"}) {
		t.Errorf("the player that always fails has %+v", f)
	}
	if len(e.Players[0].Faults) != 0 || len(e.Players[1].Faults) != 1 {
		t.Errorf("faults %+v and %+v", e.Players[0].Faults, e.Players[1].Faults)
	}
	w.bots[1].kind = game.FaultTimeout
	if analyse(t, w.plan, w.leagues(6, 40)).Estimates(0.95).Reproducible {
		t.Error("timeouts need not happen on another machine")
	}
}

// TestWinner: where nobody can be selected there is no correction; a clear winner
// keeps its estimate, and one of many equal players loses by it.
func TestWinner(t *testing.T) {
	coin, even, odd := bot{even: 0.5}, bot{even: 1}, bot{even: 0}
	for _, tt := range []struct {
		name    string
		w       *world
		leagues int
		want    bool
	}{
		{"no league", newWorld("", 2, coin, coin, coin), 0, false},
		{"few leagues", newWorld("", 2, coin, coin, coin), 29, false},
		{"leagues enough", newWorld("", 2, coin, coin, coin), 30, true},
		{"two and a fair draw", newWorld("", 2, coin, even), 100, false},
		{"two and a biased draw", newWorld("weights:1=1,2=2", 2, coin, even), 100, true},
		{"two and a fault", newWorld("", 2, coin, bot{even: 0.5, fault: 0.1, kind: game.FaultError}), 100, true},
		{"nothing varies", newWorld("", 2, even, even, odd), 100, false},
	} {
		e := analyse(t, tt.w.plan, tt.w.leagues(2, tt.leagues)).Estimates(0.95)
		if (e.Winner != nil) != tt.want {
			t.Errorf("%s: winner %+v", tt.name, e.Winner)
		}
		// A field of two under a fair draw: both gain alike, always.
		if nothing := tt.name == "two and a fair draw"; e.NothingToRank() != nothing || nothing && e.Neighbours()[0].Verdict != analysis.Equal {
			t.Errorf("%s: nothing to rank %v, %+v", tt.name, e.NothingToRank(), e.Neighbours())
		}
		if w := e.Winner; w != nil && (w.Field != e.Order[0] || !(w.Adjusted.Low <= w.Adjusted.Estimate && w.Adjusted.Estimate <= w.Adjusted.High)) {
			t.Errorf("%s: %+v, order %v", tt.name, w, e.Order)
		}
	}

	// Far ahead: the t interval, but for the tenth of the error that the hybrid pays.
	w := newWorld("", 10, odd, bot{even: 0.9}, bot{even: 0.9}, bot{even: 0.9})
	e := analyse(t, w.plan, w.leagues(1, 400)).Estimates(0.95)
	naive := e.Players[0].Adjusted
	if e.Winner.Field != 0 || math.Abs(e.Winner.Adjusted.Estimate-naive.Estimate) > 1e-6 ||
		math.Abs(e.Winner.Adjusted.Width()/naive.Width()-1) > 0.02 {
		t.Errorf("a clear winner has %v, corrected %v", naive, e.Winner)
	}
}
