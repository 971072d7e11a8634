package sequential

import (
	"fmt"
	"math"
)

// Hypotheses are what a ratio test decides between: a mean difference of zero or less,
// and one of Delta or more.
type Hypotheses struct {
	Delta float64 `json:"delta"` // points per match, above zero
	Alpha float64 `json:"alpha"` // chance of accepting Delta where the difference is zero
	Beta  float64 `json:"beta"`  // chance of accepting zero where the difference is Delta
}

// Validate reports the first mistake in the hypotheses.
func (h Hypotheses) Validate() error {
	switch {
	case !(h.Delta > 0) || math.IsInf(h.Delta, 1):
		return fmt.Errorf("delta is %v, want points per match above 0", h.Delta)
	case !(h.Alpha > 0 && h.Alpha < 0.5):
		return fmt.Errorf("alpha is %v, want a chance of error above 0 and below 0.5", h.Alpha)
	case !(h.Beta > 0 && h.Beta < 0.5):
		return fmt.Errorf("beta is %v, want a chance of error above 0 and below 0.5", h.Beta)
	}
	return nil
}

// Decision is the result of a ratio test so far.
type Decision string

const (
	Open     Decision = "open"
	Accepted Decision = "accepted" // at least Delta
	Rejected Decision = "rejected" // not better
)

// overshoot is by how much a normal random walk exceeds a far barrier on average when
// it first does, in standard deviations of a step: -zeta(1/2)/sqrt(2 pi), D. Siegmund,
// Corrected diffusion approximations in certain random walk problems, Advances in
// Applied Probability 11 (1979), 701-719.
const overshoot = 0.5825971579

// Ratio is the sequential probability ratio test of A. Wald (Annals of Mathematical
// Statistics 16 (1945), 117-186) for the mean of paired league differences, checked
// after every league from the burn-in on. The variance is estimated along the way, so
// that the likelihood ratio is that of the generalized test:
//
//	LLR = n (mean - Delta/2) Delta / variance
//
// Wald's bounds are for a test that stops exactly on them and knows the variance. A
// random walk jumps over them, so they are moved inwards by the mean overshoot, and a
// little outwards for the estimated variance; see limits. Then the errors are close to
// Alpha and Beta instead of well below.
//
// With a [Finite] guarantee there is no likelihood, and no burn-in: two capitals bet on
// "above zero" and on "below Delta", as those of a [Tracker] do, and the test ends when
// one has grown to 1/Alpha or the other to 1/Beta. By Ville's inequality the errors are
// at most that, for all differences within the bounds of the game.
//
// Use [NewRatio] to make one. It is for one goroutine at a time.
type Ratio struct {
	hypotheses Hypotheses
	scale      float64
	bound      float64 // differences cannot exceed it
	mean
	finite       bool
	above, below capital // bets on "above zero" and "below Delta", if finite
	decision     Decision
}

// NewRatio returns an empty test of the difference between two players.
func NewRatio(h Hypotheses, g Guarantee, s Shape) (*Ratio, error) {
	if err := h.Validate(); err != nil {
		return nil, fmt.Errorf("ratio test: %w", err)
	}
	if h.Delta >= s.Choices {
		return nil, fmt.Errorf("ratio test: delta is %v; want less than %.4g points per match, the largest difference in this field",
			h.Delta, s.Choices)
	}
	return &Ratio{hypotheses: h, scale: float64(s.Scale), bound: s.High, mean: mean{count: map[int64]int64{}},
		finite: g == Finite, above: newCapital(), below: newCapital(), decision: Open}, nil
}

// Add takes in the difference of the next league. After a decision it has no effect.
func (r *Ratio) Add(difference int64) {
	if r.decision != Open {
		return
	}
	r.mean.add(difference)
	if r.finite {
		x, delta := float64(difference)/r.scale, r.hypotheses.Delta
		r.above.bet(x / r.bound)
		r.below.bet((delta - x) / (r.bound - delta))
	}
	llr, low, high, ok := r.Evidence()
	switch {
	case !ok:
	case llr >= high:
		r.decision = Accepted
	case llr <= low:
		r.decision = Rejected
	}
}

// Decision returns the decision so far.
func (r *Ratio) Decision() Decision { return r.decision }

// Evidence returns the logarithm of the likelihood ratio so far, or with a finite
// guarantee that of the capital that is nearer to a decision, negative for "below
// Delta", and the bounds outside of which it decides. It is not ok before the burn-in,
// when nothing can be decided.
func (r *Ratio) Evidence() (llr, low, high float64, ok bool) {
	if r.n < BurnIn && !r.finite {
		return 0, 0, 0, false
	}
	low, high = r.limits()
	return r.llr(), low, high, true
}

// deviation is the standard deviation of a league difference, in points per match.
// Differences that nearly always agree do not show their variance: one league at the
// bound may have stayed unseen.
func (r *Ratio) deviation() float64 {
	variance := r.spread() / float64(r.n-1) / (r.scale * r.scale)
	if r.changes < settled {
		variance += float64(r.bound*r.bound) / float64(r.n)
	}
	return math.Sqrt(variance)
}

func (r *Ratio) llr() float64 {
	if r.finite {
		low, high := r.limits()
		above, below := max(0, r.above.evidence()), max(0, r.below.evidence())
		if above/high >= below/-low {
			return Rounded(above)
		}
		return -Rounded(below)
	}
	s, delta := r.deviation(), r.hypotheses.Delta
	return Rounded(float64(r.n) * (r.average()/r.scale - delta/2) * delta / (s * s))
}

// limits are the bounds that decide. They begin at -log(Alpha) and log(Beta), which J.
// Ville's inequality gives, a little outside of Wald's. They are moved inwards for the
// overshoot, and outwards because the likelihood ratio is divided by an estimated
// variance, whose inverse is too large by a factor with mean 1 + 2/n and variance 2/n.
// To second order that makes crossing a bound A more likely by exp((2A + A^2)/n) at
// most.
func (r *Ratio) limits() (low, high float64) {
	low, high = r.hypotheses.corridor()
	if r.finite {
		return low, high
	}
	step := overshoot * r.hypotheses.Delta / r.deviation()
	moved := func(bound float64) float64 {
		return Rounded(bound - min(step, bound/2) + float64(bound*(2+bound))/float64(r.n))
	}
	return -moved(-low), moved(high)
}

// Bounds are Wald's bounds for the logarithm of the likelihood ratio.
func (h Hypotheses) Bounds() (low, high float64) {
	return math.Log(h.Beta / (1 - h.Alpha)), math.Log((1 - h.Beta) / h.Alpha)
}

func (h Hypotheses) corridor() (low, high float64) { return math.Log(h.Beta), -math.Log(h.Alpha) }

// Report is the state of a ratio test.
type Report struct {
	Hypotheses
	Guarantee Guarantee  `json:"-"`
	Leagues   int        `json:"-"`
	Decision  Decision   `json:"decision"`
	LLR       float64    `json:"llr"`    // see [Ratio.Evidence]; 0 before there are two leagues
	Bounds    [2]float64 `json:"bounds"` // Wald's
	// Deciding are the bounds that decide, for the likelihood ratio corrected by the
	// variance so far; Wald's before there are two leagues.
	Deciding [2]float64 `json:"deciding_bounds"`
	Mean     float64    `json:"-"` // of the differences, in points per match; NaN without a league
	// Estimate is the median-unbiased estimate of the true difference, given how the
	// test stopped, with its interval. NaN and the whole range before the burn-in. With a
	// finite guarantee it is the mean, with an interval that holds after every league.
	Estimate     float64 `json:"-"`
	EstimateLow  float64 `json:"-"`
	EstimateHigh float64 `json:"-"`
	// Bound is what the decision says about the difference, at its own one-sided level:
	// if accepted, it is at least Bound at 1-Alpha; if rejected, at most Bound at 1-Beta.
	// NaN without a decision.
	Bound float64 `json:"-"`
}

// Report computes the state of the test. The level of the interval is in (0, 1).
func (r *Ratio) Report(level float64) Report {
	low, high := r.hypotheses.Bounds()
	rep := Report{
		Hypotheses: r.hypotheses, Guarantee: Asymptotic, Leagues: int(r.n), Decision: r.decision, Mean: math.NaN(),
		Bounds: [2]float64{low, high}, Deciding: [2]float64{low, high},
		Estimate: math.NaN(), EstimateLow: -r.bound, EstimateHigh: r.bound, Bound: math.NaN(),
	}
	if r.n > 0 {
		rep.Mean = r.average() / r.scale
	}
	if r.finite {
		rep.Guarantee = Finite
	}
	if r.n < 2 {
		return rep
	}
	rep.LLR = r.llr()
	rep.Deciding[0], rep.Deciding[1] = r.limits()
	switch {
	case r.finite:
		rep.Estimate = rep.Mean
		rep.EstimateLow, rep.EstimateHigh = r.holds(-1, math.Log(2/(1-level))), r.holds(1, math.Log(2/(1-level)))
		switch r.decision {
		case Accepted:
			rep.Bound = r.holds(-1, -math.Log(r.hypotheses.Alpha))
		case Rejected:
			rep.Bound = r.holds(1, -math.Log(r.hypotheses.Beta))
		}
	case r.n >= BurnIn:
		s := r.stopping()
		rep.Estimate = s.quantile(0.5)
		rep.EstimateLow = max(-r.bound, s.quantile((1-level)/2))
		rep.EstimateHigh = min(r.bound, s.quantile((1+level)/2))
		switch r.decision {
		case Accepted:
			rep.Bound = s.quantile(r.hypotheses.Alpha)
		case Rejected:
			rep.Bound = s.quantile(1 - r.hypotheses.Beta)
		}
	}
	return rep
}

// holds returns the last difference on one side of the mean, in points, against which
// the bets have less than some evidence.
func (r *Ratio) holds(side, evidence float64) float64 {
	bound := side * r.bound
	return bisect(r.average()/r.scale, bound, func(x float64) bool { return r.refutes(x, bound, r.scale, evidence) })
}
