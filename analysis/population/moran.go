package population

import "math"

// Moran returns the chance that a single mutant takes over a population of size n,
// at least 2, in the frequency-dependent Moran process: in each step one individual,
// drawn by fitness, is copied in place of one drawn at random. A mutant scores a
// against a mutant and b against a resident, a resident c and d; nobody plays
// himself. Fitness is 1 - w + w * payoff, with w in [0, 1], and must be positive.
//
// The formula is exact: 1 / (1 + sum over k of prod for i to k of g(i)/f(i)), with k
// from 1 to n-1 and fitnesses f of mutants and g of residents when there are i
// mutants (M. A. Nowak, A. Sasaki, C. Taylor and D. Fudenberg, Nature 428 (2004),
// 646-650). Without selection it is 1/n.
func Moran(a, b, c, d float64, n int, w float64) float64 {
	return fixation(n, func(i int) float64 {
		f, g := paired(a, b, c, d, i, n)
		return math.Log((1 - w + w*g) / (1 - w + w*f))
	})
}

// Fermi returns the same chance for the pairwise comparison process: one individual
// takes over what another does with probability 1 / (1 + exp(-s (payoff of the other
// - own payoff))), where s is the intensity of selection (A. Traulsen, M. A. Nowak
// and J. M. Pacheco, Physical Review E 74 (2006), 011909).
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

// fixation sums the chance for a birth-death chain from the logarithms of the
// ratios of going back to going on. It never overflows, and is never 0.
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
