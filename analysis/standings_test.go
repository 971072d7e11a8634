package analysis_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/analysis/sequential"
)

// Standings are the same numbers as estimates.
func TestStandings(t *testing.T) {
	w := newWorld("", 3, bot{even: 0.5, mood: 0.1}, bot{even: 0.9}, bot{even: 0.2, mood: 0.3})
	leagues := w.leagues(1, 80)
	acc := analyse(t, w.plan, leagues[:0])
	tracker := attest.Must(acc.Tracker(sequential.Options{Guarantee: sequential.Asymptotic, Level: 0.95, Rule: sequential.Rule{Kind: sequential.Best}}))
	for _, l := range leagues {
		attest.OK(t, acc.Add(l))
		attest.OK(t, tracker.Add(acc.Last()))
	}
	for name, tt := range map[string]struct {
		tracker *sequential.Tracker
		e       analysis.Estimates
	}{"fixed": {nil, acc.Estimates(0.95)}, "sequential": {tracker, acc.SequentialEstimates(tracker)}} {
		for k, s := range acc.Standings(0.95, tt.tracker) {
			p := tt.e.Players[tt.e.Order[k]]
			if s.Field != p.Field || s.Adjusted != p.Adjusted || s.TechnicalLosses != p.TechnicalLosses {
				t.Errorf("%s: place %d: %s", name, k+1, cmp.Diff(p, s))
			}
			if tt.tracker == nil && (s.Points != p.Points || s.Differ != p.Differ) {
				t.Errorf("place %d: %+v, want those of %+v", k+1, s, p)
			}
		}
	}
}

// TestQuickVerdicts: the short ways to the verdicts lead to those of all estimates, where
// players differ and where they do not.
func TestQuickVerdicts(t *testing.T) {
	t.Parallel()
	different, stopped := 0, 0
	for seed := range uint64(6) {
		other := bot{even: []float64{0.5, 0.545, 0.583}[seed%3]} // from whom the first differs by 0, 0.05 or 0.1 more often
		w := newWorld("", 4, bot{even: []float64{0.5, 0, 0}[seed%3]}, other, other, other, other)
		acc := analyse(t, w.plan, w.leagues(seed, 120))
		full, verdicts, points := acc.Estimates(0.95), acc.Verdicts(0.95), acc.PointVerdicts(0.95)
		for k, c := range full.Ranking.Comparisons {
			quick := verdicts.Ranking.Comparisons[k]
			if quick.Corrected != c.Corrected {
				if stopped++; quick.Corrected != 1 || c.Corrected <= 0.05 {
					t.Errorf("seed %d: corrected p-value %v, want %v", seed, quick.Corrected, c.Corrected)
				}
				quick.Corrected = c.Corrected
			}
			if quick != c {
				t.Errorf("seed %d: %+v, want %+v", seed, quick, c)
			}
			different += attest.One(c.Verdict == analysis.Different)
		}
		if !reflect.DeepEqual(points.Ranking, verdicts.Ranking) {
			t.Errorf("seed %d: of points: %+v, want %+v", seed, points.Ranking, verdicts.Ranking)
		}
		if !reflect.DeepEqual(points.Skewed, full.Skewed) || !reflect.DeepEqual(points.Order, full.Order) {
			t.Errorf("seed %d: of points: %+v", seed, points)
		}
		for i, p := range points.Players {
			if want := full.Players[i]; p.Adjusted != want.Adjusted || p.Name != want.Name || p.Kind != want.Kind || p.TechnicalLosses != want.TechnicalLosses {
				t.Errorf("seed %d: of points: %+v, want %+v", seed, p, want)
			}
		}
		verdicts.Ranking.Comparisons = full.Ranking.Comparisons
		if !reflect.DeepEqual(verdicts, full) {
			t.Errorf("seed %d: %+v, want %+v", seed, verdicts, full)
		}
	}
	if different == 0 || stopped == 0 {
		t.Errorf("%d differences, %d p-values not exact: the test sees only one case", different, stopped)
	}
}
