package population

import "math"

// Shares is a population at one time.
type Shares struct {
	Generation int       `json:"generation"`
	Payoff     float64   `json:"payoff"` // mean points per match, 1 to 1.5
	Share      []float64 `json:"shares"` // by strategy; they add up to 1
}

// Trajectory is how a population changes under replicator dynamics.
type Trajectory struct {
	// Settled reports an equilibrium: no strategy would gain more than Gap, at most
	// SettledGap, over the mean of the last population.
	Settled bool    `json:"settled"`
	Gap     float64 `json:"gap"` // points per match
	// Steps has the population at generation 0, at generations ever farther apart, and
	// at the last one. Payoffs never fall.
	Steps []Shares `json:"steps"`
}

// SettledGap is the gain, in points per match, below which no strategy counts as better
// than the population; it is far below what experiments resolve.
const SettledGap = 1e-4

const (
	maxGenerations = 50_000
	// resampledGenerations, of which a view has some hundreds of thousands, leave shares
	// that no longer matter.
	resampledGenerations = 2_000
)

// Last is the population at the end of the trajectory.
func (t *Trajectory) Last() Shares { return t.Steps[len(t.Steps)-1] }

// Replicate runs at most some generations of replicator dynamics from equal shares: in every generation a
// strategy's share is multiplied by its fitness over the mean fitness. Fitness is the
// chance to differ from a random member of the population, that is, twice the points
// above the one point of a tie. (P. D. Taylor and L. B. Jonker, Mathematical
// Biosciences 40 (1978), 145-156, in the discrete form.)
//
// differ is the symmetric matrix of chances to differ. Because it is symmetric and not
// negative, the mean payoff never falls (L. E. Baum and J. A. Eagon, Bulletin of the
// AMS 73 (1967), 360-363).
func Replicate(differ [][]float64, generations int) Trajectory {
	n := len(differ)
	x := make([]float64, n)
	for i := range x {
		x[i] = 1 / float64(n)
	}
	fitness := make([]float64, n)
	var t Trajectory
	for generation, next := 0, 0; ; generation++ {
		mean, best := 0.0, math.Inf(-1)
		for i, row := range differ {
			f := 0.0
			for j, p := range row {
				f += float64(p * x[j])
			}
			fitness[i] = f
			mean += float64(f * x[i])
			best = max(best, f)
		}
		t.Gap = max(0, (best-mean)/2)
		t.Settled = t.Gap <= SettledGap
		over := t.Settled || generation == generations || mean == 0
		if generation == next || over {
			t.Steps = append(t.Steps, Shares{generation, 1 + mean/2, append([]float64(nil), x...)})
			next = max(generation+1, generation*6/5)
		}
		if over {
			return t
		}
		total := 0.0
		for i, f := range fitness {
			x[i] *= f / mean
			total += x[i]
		}
		for i := range x {
			x[i] /= total // against accumulated rounding
		}
	}
}
