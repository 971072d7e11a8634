package analysis

// AfterLooks returns the confidence level of a run that was looked at some number of
// times before and then extended: level itself if looks is 0.
//
// With a = 1-level, the first look errs with a chance of a, and look k = 2, 3, ... with
// one of a/(5k(k-1)). These add up to less than a/5, however often the run is
// extended, so that the chance of an error at any look is at most [ErrorOfLooks]
// (alpha spending, K. K. G. Lan and D. L. DeMets, "Discrete sequential boundaries for
// clinical trials", Biometrika 70, 1983, by the union bound, since the correlation of
// the looks is not used).
func AfterLooks(level float64, looks int) float64 {
	if looks < 1 {
		return level
	}
	return 1 - (1-level)/lookShare(looks)
}

// ErrorOfLooks bounds the chance of an error at any look at a run, given the level of
// the last look and the number of looks before.
func ErrorOfLooks(level float64, looks int) float64 {
	if looks < 1 {
		return 1 - level
	}
	const all = 1.2
	return all * (1 - level) * lookShare(looks)
}

func lookShare(looks int) float64 { return 5 * float64(looks+1) * float64(looks) }
