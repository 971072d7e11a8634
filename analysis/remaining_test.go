package analysis_test

import (
	"math"
	"slices"
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/analysis/sequential"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// aside makes a player lose every match of a league, as one that is quarantined does.
func aside(w *world, l *results.League, player int, first bool) {
	for k, m := range w.schedule.Matches() {
		for seat, side := range map[int]*game.Side{m.A: &l.Matches[k].A, m.B: &l.Matches[k].B} {
			if l.Seats[seat] == player {
				*side, l.Matches[k].Number = game.Side{Fault: game.FaultQuarantined}, results.NoNumber
			}
		}
	}
	if first {
		l.Notes = append(l.Notes, results.Note{Field: player, Fault: game.FaultQuarantined, Text: "quarantined"})
	}
}

// TestRemaining: the leagues since the last quarantine say about the players that are
// left what those leagues say about each pair of them, whoever had which seat.
func TestRemaining(t *testing.T) {
	w := newWorld("weights:1=1,2=3", 3, bot{even: 0.5}, bot{even: 0.2}, bot{even: 0.9, fault: 0.1, kind: game.FaultError}, bot{even: 0.7}, bot{even: 0.4})
	r := attest.Must(analysis.NewRemaining(w.plan, nil))
	all := w.leagues(4, 60)
	for k := range all {
		if k >= 16 {
			aside(w, &all[k], 1, k == 16)
		}
		if k >= 20 {
			aside(w, &all[k], 3, k == 20)
		}
		attest.OK(t, r.Add(&all[k]))
		if k < 16 && r.Estimates(0.95) != nil {
			t.Fatalf("after %d leagues nobody was quarantined", k+1)
		}
	}
	whole := analyse(t, w.plan, all).Estimates(0.95)
	if got := whole.Absences(); !slices.Equal(got, []analysis.Absence{{Field: 1, From: 16}, {Field: 3, From: 20}}) {
		t.Errorf("absences %+v", got)
	}
	tail := analyse(t, w.plan, all[20:]).Estimates(0.95)
	if got := tail.Absences(); got != nil {
		t.Errorf("of leagues without them: %+v", got)
	}
	left := []int{0, 2, 4}
	e := r.Estimates(0.95)
	if e.Leagues != 40 || !slices.Equal(e.Names([]int{0, 1, 2}), tail.Names(left)) {
		t.Fatalf("%d leagues of %v", e.Leagues, e.Names([]int{0, 1, 2}))
	}
	for _, p := range e.Pairs {
		want := tail.Pairs[slices.IndexFunc(tail.Pairs, func(q analysis.Pair) bool { return q.A == left[p.A] && q.B == left[p.B] })]
		want.A, want.B = p.A, p.B
		if p != want {
			t.Errorf("pair %+v, want %+v", p, want)
		}
	}
}

// TestRemainingErrors: among equal players one of which is quarantined, the leagues since
// then find false differences as rarely as they promise, and their intervals hold; those
// of all leagues together say what holds in neither field.
func TestRemainingErrors(t *testing.T) {
	t.Parallel()
	repetitions := attest.Repetitions(20, 60, 600)
	equal := bot{even: 0.5}
	w := newWorld("uniform:1-10", 2, equal, equal, equal, equal, bot{even: 0.5})
	for name, options := range map[string]*sequential.Options{"fixed": nil, "until": {Guarantee: sequential.Asymptotic, Level: 0.95}} {
		wrong, missed, mixed := 0, 0, 0
		for rep := range repetitions {
			r := attest.Must(analysis.NewRemaining(w.plan, options))
			all := w.leagues(uint64(rep), 160)
			for k := range all {
				if k >= 16 {
					aside(w, &all[k], 4, k == 16)
				}
				attest.OK(t, r.Add(&all[k]))
			}
			e := r.Estimates(0.95)
			wrong += attest.One(slices.ContainsFunc(e.Ranking.Comparisons, func(c analysis.Comparison) bool { return c.Verdict == analysis.Different }))
			holds := func(p analysis.Estimate) bool { return p.Low <= 1.25 && 1.25 <= p.High }
			missed += attest.One(!holds(e.Players[0].Adjusted))
			mixed += attest.One(!holds(analyse(t, w.plan, all).PointVerdicts(0.95).Players[0].Adjusted))
		}
		n := float64(repetitions)
		t.Logf("%s, of %d: false differences %d, interval missed %d, that of all leagues %d", name, repetitions, wrong, missed, mixed)
		if most := n*0.05 + 2*math.Sqrt(n*0.05*0.95); float64(wrong) > most || float64(missed) > most {
			t.Errorf("%s: wrong more often than in %v", name, most)
		}
		if mixed < repetitions*9/10 {
			t.Errorf("%s: all leagues together are not wrong", name)
		}
	}
}
