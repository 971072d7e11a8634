package robust_test

import (
	"math"
	"slices"
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/analysis/calibration"
	"github.com/strategylab/strategylab/analysis/robust"
	"github.com/strategylab/strategylab/host/results"
)

// tossers plays leagues of players that say even with these chances.
func tossers(t *testing.T, chances []float64, leagues int, seed uint64) analysis.Estimates {
	t.Helper()
	f := calibration.Field{Legs: 2, Leagues: leagues}
	for _, p := range chances {
		f.Players = append(f.Players, calibration.Player{Even: p})
	}
	plan := f.Plan(seed)
	acc, err := analysis.NewAccumulator(plan)
	if err == nil {
		err = f.Play(t.Context(), plan, func(l *results.League) error { return acc.Add(*l) })
	}
	if err != nil {
		t.Fatal(err)
	}
	return acc.Verdicts(0.95)
}

// TestOtherFieldsErrors: among eight equal players the first of a run is first in few more
// than an eighth of other fields, and who leads without some is said with evidence only.
func TestOtherFieldsErrors(t *testing.T) {
	t.Parallel()
	repetitions := attest.Repetitions(15, 30, 500)
	equal := slices.Repeat([]float64{0.5}, 8)
	for name, chances := range map[string][]float64{"equal": equal, "unlike": {0.1, 0.12, 0.15, 0.35, 0.6, 0.75, 0.8, 0.9}} {
		truth := func(i int, out []int) float64 {
			sum, n := 0.0, 0.0
			for j, q := range chances {
				if j != i && !slices.Contains(out, j) {
					sum, n = sum+1+(chances[i]*(1-q)+q*(1-chances[i]))/2, n+1
				}
			}
			return sum / n
		}
		wrong, naive, said, share := 0, 0, 0, 0.0
		for rep := range repetitions {
			e := tossers(t, chances, 100, uint64(rep)+1)
			r := robust.Of(&e, uint64(rep))
			first := e.Order[0]
			share += r.Players[first].First
			anyWrong, anyNaive := false, false
			for _, x := range r.Without {
				leads := true
				for j := range chances {
					leads = leads && (j == x.First || slices.Contains(x.Out, j) || truth(x.First, x.Out) > truth(j, x.Out)+1e-9)
				}
				anyNaive = anyNaive || x.First != first && !leads
				if x.Ahead || x.Leads {
					said++
				}
				anyWrong = anyWrong || x.Leads && !leads || x.Ahead && !(truth(x.First, x.Out) > truth(first, x.Out)+1e-9)
			}
			if anyWrong {
				wrong++
			}
			if anyNaive {
				naive++
			}
		}
		n := float64(repetitions)
		t.Logf("%s, of %d: share of the first %.3f; wrong %d, without evidence %d, said %d", name, repetitions, share/n, wrong, naive, said)
		if most := n*0.05 + 2*math.Sqrt(n*0.05*0.95); float64(wrong) > most {
			t.Errorf("%s: a wrong leader in %d of %d", name, wrong, repetitions)
		}
		if name == "equal" && share/n > 0.2 {
			t.Errorf("the first of equals is first in %.3f of other fields", share/n)
		}
		if name == "unlike" && said == 0 {
			t.Error("nothing is ever said")
		}
	}
}
