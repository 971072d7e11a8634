// Package fairness tests whether the draws of a referee follow the rules: the numbers
// distributed as announced, and no player favoured.
//
// Every test says how large a deviation a sample of its size would have shown. A small
// sample is consistent with almost anything, so "nothing found" means little without
// that.
package fairness

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/host/game"
)

// Power is the probability of finding a deviation as large as Test.Detectable at the
// level Alpha.
const (
	Power = 0.8
	Alpha = 0.05
)

// Method is how a p-value was computed.
type Method string

const (
	Exact     Method = "exact"
	ChiSquare Method = "chi-square"
	TooFew    Method = "too few draws" // for this test; P is 1
)

// Test is one question about the draws, and its answer.
type Test struct {
	Question string  `json:"question"`
	N        int     `json:"n"` // draws that the question is about
	P        float64 `json:"p"` // two-sided; 1 if nothing can be said
	// Corrected is P adjusted by Holm's method if the question is about several
	// players, else P.
	Corrected float64 `json:"p_corrected"`
	Method    Method  `json:"method"`
	Observed  float64 `json:"-"` // the share that the question is about, or the statistic
	Expected  float64 `json:"-"`
	// Detectable is the deviation from Expected that a sample of this size finds with
	// probability Power: in percentage points of a share, or, for all numbers together,
	// in percent by which one number would have to come too often. It is infinite if no
	// deviation would be found.
	Detectable float64 `json:"-"`

	cells bool // Detectable is about one number of many
}

// Visible says in words what Detectable means.
func (t *Test) Visible() string {
	switch {
	case math.IsInf(t.Detectable, 1):
		return "so few would show no deviation"
	case t.cells:
		return fmt.Sprintf("one number coming %.0f %% too often would be seen four times in five", t.Detectable)
	}
	return fmt.Sprintf("a share that is %.0f percentage points off would be seen four times in five", t.Detectable)
}

// exactMost is the largest sample for which the distribution of the statistic is
// enumerated; beyond it the chi-square approximation holds.
const exactMost = 60

// Uniform tests whether the numbers follow the probabilities of a draw, by Pearson's
// statistic: exactly for small samples of a uniform draw, otherwise by the chi-square
// distribution if every number is expected at least five times (Cochran, Biometrics 10
// (1954), 417-451). Numbers that the draw cannot give have p = 0.
func Uniform(draw game.Draw, numbers []int) Test {
	k, n := draw.Size(), len(numbers)
	t := Test{
		Question: fmt.Sprintf("Do the numbers come as often as %s says?", draw), N: n,
		P: 1, Corrected: 1, Method: TooFew, Expected: float64(k - 1), Detectable: math.Inf(1), cells: true,
	}
	counts, total, least := make([]int, k), 0, math.MaxInt
	for i := range k {
		total += draw.Weight(i)
		least = min(least, draw.Weight(i))
	}
	for _, number := range numbers {
		i, ok := draw.Index(number)
		if !ok {
			t.P, t.Corrected, t.Method = 0, 0, Exact
			return t
		}
		counts[i]++
	}
	if n == 0 || k < 2 {
		return t
	}
	for i, c := range counts {
		e := float64(n) * float64(draw.Weight(i)) / float64(total)
		t.Observed += (float64(c) - e) * (float64(c) - e) / e
	}
	uniform := least*k == total
	switch {
	case uniform && n <= exactMost:
		t.P, t.Method = equalCells(counts, n), Exact
	case float64(n)*float64(least)/float64(total) >= 5:
		t.P, t.Method = distuv.ChiSquared{K: float64(k - 1)}.Survival(t.Observed), ChiSquare
	default:
		return t
	}
	t.Corrected = t.P
	p0 := 1 / float64(k)
	t.Detectable = 100 * math.Sqrt(noncentrality(k-1)/float64(n)*(1-p0)/p0)
	return t
}

// equalCells returns the probability that n draws from equally likely cells give a
// Pearson statistic at least as large as these counts do. For equal cells the statistic
// grows with the sum of squared counts, an integer, so its distribution is built cell
// by cell.
func equalCells(counts []int, n int) float64 {
	squares := 0
	for _, c := range counts {
		squares += c * c
	}
	// ways[m][s] is the number of ways, over m!, to put m draws into the cells so far
	// with a sum of squares of s; dividing keeps it within range.
	ways := make([][]float64, n+1)
	for m := range ways {
		ways[m] = make([]float64, m*m+1)
	}
	ways[0][0] = 1
	for range counts {
		next := make([][]float64, n+1)
		for m := range next {
			next[m] = make([]float64, m*m+1)
		}
		for m, row := range ways {
			for s, w := range row {
				if w == 0 {
					continue
				}
				f := 1.0
				for c := 0; m+c <= n; c++ {
					if c > 0 {
						f /= float64(c)
					}
					next[m+c][s+c*c] += float64(w * f)
				}
			}
		}
		ways = next
	}
	tail, all := 0.0, 0.0
	for s, w := range ways[n] {
		all += w
		if s >= squares {
			tail += w
		}
	}
	return tail / all
}

// Even tests whether even numbers come as often as the draw says.
func Even(draw game.Draw, numbers []int) Test {
	k := 0
	for _, number := range numbers {
		if game.ParityOf(number) == game.Even {
			k++
		}
	}
	weight, total := draw.EvenWeight()
	t := binomial(k, len(numbers), float64(weight)/float64(total))
	t.Question = "Do even numbers come as often as they should?"
	return t
}

// Contest is a match with different choices, as one of its players saw it.
type Contest struct {
	Player string
	Choice game.Parity // the player's
	Won    bool
}

// Favoured tests for each player, in the order of their names, whether it wins as often
// as the draw says when the choices differ. The p-values are adjusted for the number of
// players.
func Favoured(draw game.Draw, contests []Contest) []Test {
	weight, total := draw.EvenWeight()
	even := float64(weight) / float64(total)
	type record struct{ won, saidEven, saidOdd int }
	records := map[string]*record{}
	var names []string
	for _, c := range contests {
		r := records[c.Player]
		if r == nil {
			r = &record{}
			records[c.Player] = r
			names = append(names, c.Player)
		}
		if c.Won {
			r.won++
		}
		if c.Choice == game.Even {
			r.saidEven++
		} else {
			r.saidOdd++
		}
	}
	slices.Sort(names)
	tests, p := make([]Test, len(names)), make([]float64, len(names))
	for i, name := range names {
		r := records[name]
		tests[i] = twoBinomials(r.won, r.saidEven, r.saidOdd, even)
		tests[i].Question = fmt.Sprintf("Does %s win as often as it should when the choices differ?", name)
		p[i] = tests[i].P
	}
	for i, corrected := range analysis.Holm(p) {
		tests[i].Corrected = corrected
	}
	return tests
}
