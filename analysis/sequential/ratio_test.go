package sequential

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/strategylab/strategylab/analysis/attest"
)

// TestCorridor compares with what is known in closed form: the gambler's ruin, the
// three chances adding up, and a barrier so far off that only one is left (inverse
// Gaussian distribution).
func TestCorridor(t *testing.T) {
	for _, c := range []corridor{{1, 2, 0.3}, {3, 1, -0.7}, {11.5, 11.5, 0.128}, {11.5, 11.5, -3}, {2, 30, 1.5}, {5, 4, 1e-9}} {
		ruin := -math.Expm1(-2*c.drift*c.down) / -math.Expm1(-2*c.drift*(c.up+c.down))
		attest.Near(t, c.leavesUp(1e6), ruin, 1e-6, "%+v leaves up in the end", c)
		for _, time := range []float64{0.01, 1, 30, 1000} {
			attest.Near(t, c.leavesUp(time)+c.leavesDown(time)+c.staysAbove(-c.down, time), 1, 1e-9, "sum of the chances of %+v after %v", c, time)
		}
	}
	far := corridor{2, 500, 0.4}
	phi := func(z float64) float64 { return math.Exp(logNormal(z)) }
	root := math.Sqrt(6)
	attest.Near(t, far.leavesUp(6), phi((0.4*6-2)/root)+math.Exp(2*0.4*2)*phi((-2-0.4*6)/root), 1e-12, "one barrier is reached")
	for _, z := range []float64{-60, -37, -35.99, -36.01, -5, 0, 3} {
		// R: pnorm(z, log.p = TRUE)
		want := map[float64]float64{-60: -1805.013560681, -37: -689.0305855769, -35.99: -652.1430002046, -36.01: -652.8635549062, -5: -15.06499839399, 0: -math.Ln2, 3: -0.001350809964748}[z]
		if got := logNormal(z); !near(got, want, 1e-8) {
			t.Errorf("log of the normal distribution at %v is %v, R has %v", z, got, want)
		}
	}
}

func ratioTest(t *testing.T, h Hypotheses, mean float64, most int, r *rand.Rand) *Ratio {
	t.Helper()
	return playRatio(h, Asymptotic, most, func() float64 { return mean + 0.039*r.NormFloat64() })
}

// playRatio tests differences in points per match.
func playRatio(h Hypotheses, g Guarantee, most int, difference func() float64) *Ratio {
	q := attest.Must(NewRatio(h, g, Shape{Players: 8, Scale: 1_000_000, High: 3, Choices: 0.43}))
	for q.Decision() == Open && q.n < int64(most) {
		q.Add(int64(math.Round(1e6 * difference())))
	}
	return q
}

// TestRatioOfRareFailures: a player that loses 1.2 points per match in 3 % of leagues,
// and else has the edge that makes up for it, is no better than the other, or better by
// delta. Without a finite guarantee 4 of 10 tests accept it; with one, no more than alpha
// do, nor reject it more often than beta, and estimates and their intervals hold.
func TestRatioOfRareFailures(t *testing.T) {
	t.Parallel()
	repetitions := attest.Repetitions(16, 40, 600)
	const fails, loss = 0.03, 1.2
	h := Hypotheses{0.05, 0.05, 0.05}
	play := func(g Guarantee, truth float64, rep int) *Ratio {
		r := rand.New(rand.NewPCG(uint64(rep), 71))
		return playRatio(h, g, 6000, func() float64 {
			if r.Float64() < fails {
				return truth - loss
			}
			return truth + loss*fails/(1-fails) + 0.039*r.NormFloat64()
		})
	}
	naive, accepted, rejected, missed, decided := 0, 0, 0, 0, 0
	for rep := range repetitions {
		naive += attest.One(play(Asymptotic, 0, rep).Decision() == Accepted)
		for _, truth := range []float64{0, h.Delta} {
			q := play(Finite, truth, rep)
			p := q.Report(0.95)
			switch {
			case p.Decision == Accepted && truth == 0:
				accepted++
			case p.Decision == Rejected && truth > 0:
				rejected++
			}
			decided += attest.One(p.Decision != Open)
			missed += attest.One(truth < p.EstimateLow || truth > p.EstimateHigh)
			if p.Decision == Accepted && !(p.Bound > 0 && p.EstimateLow < p.Bound && p.Bound < p.Estimate) ||
				p.Decision == Rejected && !(p.Bound < h.Delta && p.Estimate < p.Bound && p.Bound < p.EstimateHigh) {
				t.Errorf("the decision and its bound contradict each other: %+v", p)
			}
		}
	}
	n := float64(repetitions)
	t.Logf("of %d: accepted without the guarantee %d, with it %d; rejected %d, interval missed %d, decided %d of %d", repetitions, naive, accepted, rejected, missed, decided, 2*repetitions)
	if most := n*h.Alpha + 2*math.Sqrt(n*h.Alpha*(1-h.Alpha)); float64(accepted) > most || float64(rejected) > most || float64(missed) > 2*most {
		t.Errorf("wrong more often than in %v", most)
	}
	if naive < repetitions/4 || decided < 2*repetitions*9/10 {
		t.Error("these leagues do not test the guarantee")
	}
}

// TestRatioErrors plays tests whose answer is known, thousands of them, and compares
// the shares of wrong ones with what was asked for.
func TestRatioErrors(t *testing.T) {
	t.Parallel()
	for _, h := range []Hypotheses{{0.008, 0.05, 0.05}, {0.01, 0.02, 0.1}} {
		repetitions := attest.Repetitions(1000, 3000, 3000)
		wrong := [2]int{}
		for rep := range repetitions {
			r := rand.New(rand.NewPCG(uint64(rep), 17))
			wrong[0] += attest.One(ratioTest(t, h, 0, 1e6, r).Decision() == Accepted)
			wrong[1] += attest.One(ratioTest(t, h, h.Delta, 1e6, r).Decision() == Rejected)
		}
		for k, chance := range []float64{h.Alpha, h.Beta} {
			n := float64(repetitions)
			share, slack := float64(wrong[k])/n, 3.3*math.Sqrt(chance*(1-chance)/n)
			t.Logf("%+v: error %d in %.4f", h, k, share)
			if share > chance+slack || share < 0.7*chance-slack {
				t.Errorf("%+v: wrong in %.4f, want about %v", h, share, chance)
			}
		}
	}
}

// TestEstimateAfterStopping: the estimate is above the truth as often as below,
// unlike the mean at the end, and the interval holds. Tests that are cut off are
// among them.
func TestEstimateAfterStopping(t *testing.T) {
	t.Parallel()
	repetitions := attest.Repetitions(8, 20, 60)
	h := Hypotheses{0.01, 0.05, 0.05}
	below, meanBelow, held, all, open, contradicts := 0, 0, 0, 0, 0, 0
	for _, truth := range []float64{0, 0.005, 0.01, 0.015} {
		for rep := range repetitions {
			q := ratioTest(t, h, truth, 150, rand.New(rand.NewPCG(uint64(rep), math.Float64bits(truth))))
			p := q.Report(0.95)
			all++
			open += attest.One(q.Decision() == Open)
			below += attest.One(p.Estimate < truth)
			meanBelow += attest.One(truth >= 0.01 && p.Mean < truth)
			held += attest.One(p.EstimateLow <= truth && truth <= p.EstimateHigh)
			if !(p.EstimateLow < p.Estimate && p.Estimate < p.EstimateHigh) {
				t.Fatalf("%+v", p)
			}
			// What the test says and its bound never contradict each other.
			if p.Decision == Accepted && !(p.Bound > 0 && p.EstimateLow < p.Bound && p.Bound < p.Estimate) ||
				p.Decision == Rejected && !(p.Bound < 0.01 && p.Estimate < p.Bound && p.Bound < p.EstimateHigh) ||
				p.Decision == Open && !math.IsNaN(p.Bound) {
				contradicts++
				t.Logf("%+v", p)
			}
		}
	}
	t.Logf("below %d of %d, held %d, mean below %d of %d, open %d", below, all, held, meanBelow, all/2, open)
	sd := math.Sqrt(float64(all)) / 2
	if math.Abs(float64(below)-float64(all)/2) > 3.3*sd {
		t.Errorf("the estimate is below the truth in %d of %d", below, all)
	}
	if float64(held) < 0.95*float64(all)-3.3*math.Sqrt(0.05*0.95*float64(all)) {
		t.Errorf("the interval holds in %d of %d", held, all)
	}
	if float64(meanBelow) > 0.45*float64(all/2) {
		t.Errorf("the mean at the end is below the truth in %d of %d; the estimate has lost its point", meanBelow, all/2)
	}
	if contradicts > 0 {
		t.Errorf("decision and one-sided bound contradict each other in %d of %d", contradicts, all)
	}
	if open == 0 {
		t.Error("no test was cut off")
	}
}

// TestRatioOfConstantLeagues decides in reasonable time and claims no certainty.
func TestRatioOfConstantLeagues(t *testing.T) {
	q := attest.Must(NewRatio(Hypotheses{0.01, 0.05, 0.05}, Asymptotic, Shape{Players: 8, Scale: 100, High: 3, Choices: 0.43}))
	if p := q.Report(0.95); p.Decision != Open || !math.IsNaN(p.Estimate) || p.EstimateLow != -3 {
		t.Errorf("without a league: %+v", p)
	}
	for n := 0; q.Decision() == Open; n++ {
		if n > 200 {
			t.Fatal("not decided after 200 leagues that all agree")
		}
		q.Add(10)
	}
	if p := q.Report(0.95); p.Decision != Accepted || p.EstimateLow >= 0.1 || math.Abs(p.Mean-0.1) > 1e-12 || p.Leagues < BurnIn {
		t.Errorf("%+v", p)
	}
	for name, h := range map[string]Hypotheses{"delta 0": {0, 0.05, 0.05}, "delta NaN": {math.NaN(), 0.05, 0.05}, "alpha 0": {0.01, 0, 0.05},
		"alpha half": {0.01, 0.5, 0.05}, "beta 1": {0.01, 0.05, 1}, "delta beyond the bound": {0.5, 0.05, 0.05}} {
		if _, err := NewRatio(h, Finite, Shape{Players: 8, Scale: 100, High: 3, Choices: 0.43}); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}
