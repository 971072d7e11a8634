package analysis_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/host/game"
)

// The hours of sleep gained by ten patients under two drugs (Student, Biometrika
// 6 (1908), 1-25), in tenths and raised by 100 to be positive. R has them as
// "sleep"; the results below are what its documentation prints for
// t.test(extra ~ group) and t.test(Pair(extra.1, extra.2) ~ 1).
var (
	drug1 = []int64{107, 84, 98, 88, 99, 134, 137, 108, 100, 120}
	drug2 = []int64{119, 108, 111, 101, 99, 144, 155, 116, 146, 134}
)

const ten = 10 // the base that makes tenths hours

func columns(lists ...[]int64) *analysis.Joint {
	j := analysis.NewJoint(len(lists) + 1)
	for i := range lists[0] {
		row := make([]int64, 0, len(lists)+1)
		for _, l := range lists {
			row = append(row, l[i])
		}
		j.Add(append(row, ten))
	}
	return j
}

func TestPairedAgainstStudent(t *testing.T) {
	t.Parallel()
	j := columns(drug1, drug2)
	s := j.Combine(
		analysis.Term{Coefficient: big.NewRat(1, 1), Part: 0, Base: 2},
		analysis.Term{Coefficient: big.NewRat(-1, 1), Part: 1, Base: 2},
	)
	e := s.Interval(0.95, -100, 100)
	attest.Near(t, e.Estimate, -1.58, 1e-12, "mean difference")
	attest.Near(t, s.Mean/s.StandardError(), -4.0621, 5e-5, "t")
	attest.Near(t, s.Zero(100), 0.002833, 5e-7, "p")
	attest.Near(t, e.Low, -2.4598858, 5e-8, "low")
	attest.Near(t, e.High, -0.7001142, 5e-8, "high")
}

func TestWelchAgainstStudentsData(t *testing.T) {
	one := func(values []int64) analysis.Sample {
		return columns(values).Combine(analysis.Term{Coefficient: big.NewRat(1, 1), Part: 0, Base: 1})
	}
	e, p := analysis.Welch(one(drug2), one(drug1), 0.95, -100, 100)
	attest.Near(t, e.Estimate, -1.58, 1e-12, "difference")
	attest.Near(t, p, 0.07939, 5e-6, "p")
	attest.Near(t, e.Low, -3.3654832, 5e-8, "low")
	attest.Near(t, e.High, 0.2054832, 5e-8, "high")
}

func TestWelchWhereNothingVaries(t *testing.T) {
	constant := func(mean float64, leagues int64) analysis.Sample {
		return analysis.Sample{Leagues: leagues, Mean: mean, Constant: true}
	}
	for _, c := range []struct {
		name    string
		a, b    analysis.Sample
		evident bool
	}{
		{"equal", constant(0.5, 1000), constant(0.5, 1000), false},
		{"far apart, many leagues", constant(0, 1000), constant(1, 1000), true},
		{"apart, two leagues", constant(0.4, 2), constant(0.6, 2), false},
		{"one varies", constant(0.5, 1000), analysis.Sample{Leagues: 1000, Mean: 0.9, Variance: 0.01}, true},
		{"one league", constant(0, 1), constant(1, 1000), false},
		{"no league", analysis.Sample{Mean: math.NaN()}, constant(1, 1000), false},
	} {
		e, p := analysis.Welch(c.a, c.b, 0.95, 0, 1)
		excludes := e.Low > 0 || e.High < 0
		if excludes != c.evident || (p <= 0.05) != c.evident {
			t.Errorf("%s: interval %v to %v, p %v", c.name, e.Low, e.High, p)
		}
		if p < 0 || p > 1 || e.Low < -1 || e.High > 1 {
			t.Errorf("%s: out of range: %v, p %v", c.name, e, p)
		}
	}
}

// What a scorer says of single leagues has the accumulator's estimates as means.
func TestScorerAgreesWithTheEstimates(t *testing.T) {
	t.Parallel()
	for _, fault := range []float64{0, 0.05} {
		bots := []bot{{even: 0.5, mood: 0.1}, {even: 0.9}, {even: 0.2, fault: fault, kind: game.FaultError}, {even: 0.5}, {even: 0.5}}
		w := newWorld("", 3, bots...)
		leagues := w.leagues(7, 300)
		e := analyse(t, w.plan, leagues).Estimates(0.95)
		scorer := attest.Must(analysis.NewScorer(w.plan))
		for _, q := range analysis.Quantities() {
			for i := range e.Players {
				j := analysis.NewJoint(2)
				for k := range leagues {
					attest.OK(t, scorer.Score(&leagues[k]))
					part, base := scorer.Value(q, i)
					j.Add([]int64{part, base})
				}
				s := j.Combine(analysis.Term{Coefficient: big.NewRat(1, 1), Part: 0, Base: 1})
				attest.Near(t, s.Mean, q.Of(&e.Players[i]).Estimate, 1e-9, "%s", q)
			}
		}
	}
}

// Points against all opponents are all points, and points against each of them
// are those of the pairs.
func TestAgainst(t *testing.T) {
	for _, draw := range []string{"", "weights:1=1,2=3"} {
		w := newWorld(draw, 3, bot{even: 0.5}, bot{even: 0.9}, bot{even: 0.2, fault: 0.1, kind: game.FaultError}, bot{even: 0.5})
		leagues := w.leagues(9, 50)
		e := analyse(t, w.plan, leagues).Estimates(0.95)
		scorer := attest.Must(analysis.NewScorer(w.plan))
		all := []bool{true, true, true, true}
		var part, base [4][4]int64
		for k := range leagues {
			attest.OK(t, scorer.Score(&leagues[k]))
			for i := range all {
				whole, wholeBase := scorer.Value(analysis.Adjusted, i)
				if p, b := scorer.Against(i, all); p != whole || b != wholeBase {
					t.Fatalf("against all: %d/%d, want %d/%d", p, b, whole, wholeBase)
				}
				for j := range all {
					one := make([]bool, 4)
					one[j] = true
					p, b := scorer.Against(i, one)
					part[i][j] += p
					base[i][j] += b
				}
			}
		}
		for _, p := range e.Pairs {
			attest.Near(t, float64(part[p.A][p.B])/float64(base[p.A][p.B]), p.AdjustedA, 1e-12, "a against b")
			attest.Near(t, float64(part[p.B][p.A])/float64(base[p.B][p.A]), p.AdjustedB, 1e-12, "b against a")
		}
		if part[1][1] != 0 || base[1][1] != 0 {
			t.Error("a player is its own opponent", "b against a")
		}
	}
}
