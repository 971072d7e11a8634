package population

import (
	"math"
)

// AlphaRank returns the share of time that a finite population spends with each
// strategy alone, when mutants are rare: the stationary distribution of the chain that
// goes from strategy s to r with chance 1/(k-1) times the fixation probability of one r
// among m-1 of s, under pairwise comparison with selection intensity alpha (S.
// Omidshafiei et al., Scientific Reports 9 (2019), 9937; single population).
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
				// Strong selection makes steps impossible in float64; the chain must
				// stay connected.
				chain[s][r] = max(rho, smallestStep) / float64(k-1)
			}
		}
	}
	return stationary(chain)
}

const smallestStep = 1e-150

// stationary returns the stationary distribution of a Markov chain, of which only the
// steps to other states are read. It overwrites the chain. The elimination never
// subtracts, so small probabilities keep their digits (W. K. Grassmann, M. I. Taksar
// and D. P. Heyman, Operations Research 33 (1985), 1107-1116).
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

// Moran returns the chance that a single mutant takes over a population of size n, at
// least 2, in the frequency-dependent Moran process: in each step one individual, drawn
// by fitness, replaces one drawn at random. A mutant scores a against a
// mutant and b against a resident, a resident c and d; nobody plays itself. Fitness is
// 1 - w + w * payoff, with w in [0, 1], and must be positive.
//
// The formula is exact: 1 / (1 + sum over k of prod for i to k of g(i)/f(i)), with k
// from 1 to n-1 and fitnesses f of mutants and g of residents when there are i mutants
// (M. A. Nowak, A. Sasaki, C. Taylor and D. Fudenberg, Nature 428 (2004), 646-650).
// Without selection it is 1/n.
func Moran(a, b, c, d float64, n int, w float64) float64 {
	return fixation(n, func(i int) float64 {
		f, g := paired(a, b, c, d, i, n)
		return math.Log((1 - w + w*g) / (1 - w + w*f))
	})
}

// Fermi returns the same chance for the pairwise comparison process: one individual
// adopts the strategy of another with probability 1 / (1 + exp(-s (payoff of the other
// - own payoff))), where s is the intensity of selection (A. Traulsen, M. A. Nowak and
// J. M. Pacheco, Physical Review E 74 (2006), 011909).
func Fermi(a, b, c, d float64, n int, s float64) float64 {
	return fixation(n, func(i int) float64 {
		f, g := paired(a, b, c, d, i, n)
		return s * (g - f)
	})
}

// paired returns the mean payoffs of mutants and residents when there are i mutants
// among n.
func paired(a, b, c, d float64, i, n int) (mutant, resident float64) {
	others := float64(n - 1)
	mutant = (float64(i-1)*a + float64(n-i)*b) / others
	resident = (float64(i)*c + float64(n-i-1)*d) / others
	return mutant, resident
}

// fixation sums the chance for a birth-death chain from the logarithms of the ratios of
// going back to going on. It never overflows, and is never 0.
func fixation(n int, logRatio func(i int) float64) float64 {
	logs := make([]float64, n) // of the products; that of none is 1
	most := 0.0
	for k := 1; k < n; k++ {
		logs[k] = logs[k-1] + logRatio(k)
		most = max(most, logs[k])
	}
	sum := 0.0
	for _, l := range logs {
		sum += math.Exp(l - most)
	}
	return max(math.Exp(-most)/sum, math.SmallestNonzeroFloat64)
}
