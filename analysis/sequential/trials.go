package sequential

import "math"

// TrialsInterval is the interval for the chance of an event that occurred in hits of hits
// plus misses independent trials. The chance that the true value is ever outside of it,
// at any number of trials, is at most 1 minus the level. It needs no approximation.
//
// It has the chances p of which the trials do not give too much evidence: their
// likelihood averaged over all chances, by Jeffreys' prior, over that of p. If p is true,
// this ratio is a martingale that begins at 1 (H. Robbins, Annals of Mathematical
// Statistics 41 (1970), 1397-1409), so it ever reaches c with a chance of at most 1/c (J.
// Ville, 1939).
func TrialsInterval(hits, misses int64, level float64) (low, high float64) {
	most := -math.Log1p(-level)
	share := float64(hits) / float64(max(1, hits+misses))
	bound := func(stands, end float64) float64 {
		if trialsEvidence(hits, misses, end) <= most {
			return end
		}
		out := end
		for range 50 {
			if mid := stands + (out-stands)/2; trialsEvidence(hits, misses, mid) > most {
				out = mid
			} else {
				stands = mid
			}
		}
		return Rounded(out)
	}
	return min(share, bound(share, 0)), max(share, bound(share, 1))
}

// SignsP is a p-value of the hypothesis that of two events either is as likely, whenever
// exactly one of them occurs. It is valid at all numbers of trials at once.
func SignsP(first, second int64) float64 {
	return Rounded(min(1, math.Exp(-trialsEvidence(first, second, 0.5))))
}

// trialsEvidence is the logarithm of the likelihood of the trials averaged over all
// chances, by the prior Beta(1/2, 1/2), over that of one chance. It is infinite if the
// chance could not have given them.
func trialsEvidence(hits, misses int64, chance float64) float64 {
	if hits > 0 && chance == 0 || misses > 0 && chance == 1 {
		return math.Inf(1)
	}
	x, y := float64(hits), float64(misses)
	up, _ := math.Lgamma(x + 0.5)
	down, _ := math.Lgamma(y + 0.5)
	all, _ := math.Lgamma(x + y + 1)
	e := up + down - all - math.Log(math.Pi)
	if hits > 0 {
		e -= float64(x * math.Log(chance))
	}
	if misses > 0 {
		e -= float64(y * math.Log1p(-chance))
	}
	return e
}
