package analysis_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/analysis/sequential"
)

// Standings are the same numbers as estimates.
func TestStandings(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", 3, bot{even: 0.5, mood: 0.1}, bot{even: 0.9}, bot{even: 0.2, mood: 0.3})
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
