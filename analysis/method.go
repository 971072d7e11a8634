package analysis

// Method is how an interval or a p-value was made; docs/statistics-methods.md has the
// sources. What a method with "sequence" in its name makes holds after every league at
// once, however often somebody looked.
type Method string

// The methods. Where a rare event or a single value leaves too little to estimate a
// variance from, the interval of a mean is not Student's.
const (
	ByRange    Method = "range"           // the whole range: too few leagues
	ByStudent  Method = "student-t"       // Student's t on the league values; for p of the paired differences
	ByWelch    Method = "welch-t"         // Welch's t, of two independent runs
	ByParts    Method = "bonferroni"      // of two independent runs, from the interval of each at half the error
	ByUnseen   Method = "unseen"          // all leagues agree: what n leagues may have left out
	ByEvents   Method = "korn-graubard"   // Clopper and Pearson's with the effective number of trials
	ByExact    Method = "clopper-pearson" // leagues are trials
	ByWilson   Method = "wilson"          // leagues are trials
	ByDrawing  Method = "bootstrap"       // range of what follows from numbers that vary within their intervals
	ByResample Method = "bootstrap-t"     // studentised bootstrap of the leagues
	BySelected Method = "hybrid"          // corrected for having been selected as the best
	ByStopped  Method = "median-unbiased" // corrected for how a sequential test stopped

	ByStepDown Method = "romano-wolf" // p-values corrected by the step-down method on the largest statistic
	ByHolm     Method = "holm"        // p-values corrected by Holm's method
	BySigns    Method = "sign-holm"   // p-values of exact sign tests over leagues, corrected by Holm's method

	BySignsSequence Method = "sign-holm-sequence" // the same against a mixture of chances

	ByMixture Method = "t-mixture-sequence" // the t statistic against a mixture of alternatives
	ByBetting Method = "betting-sequence"   // betting against bounded means; needs no approximation

	// ByEventsSequence is ByEvents with the quantiles of the mixture.
	ByEventsSequence Method = "korn-graubard-sequence"
	// ByTrialsSequence takes leagues as trials, against a mixture of chances; it needs no
	// approximation.
	ByTrialsSequence Method = "beta-binomial-sequence"
	ByUnseenSequence Method = "unseen-sequence" // ByUnseen with one twentieth of the error
)

var inSequence = map[Method]Method{ByStudent: ByMixture, ByEvents: ByEventsSequence, ByUnseen: ByUnseenSequence}

// by makes an estimate of the level of c.
func (c *intervals) by(m Method, estimate, low, high float64) Estimate {
	if also, is := inSequence[m]; is && c.sequence != nil {
		m = also
	}
	return Estimate{Estimate: estimate, Low: low, High: high, Level: c.level, Method: m}
}
