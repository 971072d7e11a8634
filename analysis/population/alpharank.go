package population

import "math"

// AlphaRank returns the share of time that a finite population spends playing each
// strategy alone, when mutants are rare: the stationary distribution of the chain
// that goes from strategy s to r with chance 1/(k-1) times the fixation probability
// of one r among m-1 of s, under pairwise comparison with selection intensity alpha
// (S. Omidshafiei et al., Scientific Reports 9 (2019), 9937; single population).
//
// payoff[i][j] is what i scores against j; m is at least 2.
func AlphaRank(payoff [][]float64, m int, alpha float64) []float64 {
	k := len(payoff)
	if k == 1 {
		return []float64{1}
	}
	chain := make([][]float64, k)
	for s := range chain {
		chain[s] = make([]float64, k)
		for r := range chain[s] {
			if r != s {
				rho := Fermi(payoff[r][r], payoff[r][s], payoff[s][r], payoff[s][s], m, alpha)
				// Strong selection makes steps impossible in float64; the chain
				// must stay connected.
				chain[s][r] = max(rho, smallestStep) / float64(k-1)
			}
		}
	}
	return stationary(chain)
}

const smallestStep = 1e-150

// stationary returns the stationary distribution of a Markov chain, of which only
// the steps to other states are read. It overwrites the chain. The elimination never
// subtracts, so that small probabilities keep their digits (W. K. Grassmann,
// M. I. Taksar and D. P. Heyman, Operations Research 33 (1985), 1107-1116).
func stationary(chain [][]float64) []float64 {
	k := len(chain)
	for n := k - 1; n > 0; n-- {
		out := 0.0
		for j := range n {
			out += chain[n][j]
		}
		for i := range n {
			chain[i][n] /= out
		}
		for i := range n {
			for j := range n {
				if i != j {
					chain[i][j] += chain[i][n] * chain[n][j]
				}
			}
		}
	}
	pi := make([]float64, k)
	pi[0] = 1
	total := 1.0
	for n := 1; n < k; n++ {
		for i := range n {
			pi[n] += pi[i] * chain[i][n]
		}
		total += pi[n]
	}
	for i := range pi {
		pi[i] /= total
		if math.IsNaN(pi[i]) {
			panic("population: the chain is not connected")
		}
	}
	return pi
}
