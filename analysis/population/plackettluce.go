package population

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// Placing is one ranking: groups of equal places, first places first. Each member
// occurs at most once. Weight is how often the ranking was seen; 0 means once.
type Placing struct {
	Groups [][]int
	Weight float64
}

// Worths is a fitted Plackett-Luce model.
type Worths struct {
	// Worth is the chance of each member to come first in a ranking of all, given that
	// it is first alone. They add up to 1; Of has intervals.
	Worth []float64
	// Covariance is that of the log-worths, that of member 0 being fixed; nil if the
	// placings do not determine it.
	Covariance [][]float64
	// Ties has by the number of members in a tie, from 2, how much ties of that size
	// are favoured: two members of equal worth tie with chance Ties[0]/(2+Ties[0]). 0
	// for sizes never seen.
	Ties          []float64
	LogLikelihood float64
}

// Errors of [PlackettLuce].
var (
	// ErrSeparated reports members of whom some always came before the others: how much
	// better they are has no finite estimate.
	ErrSeparated = errors.New("some came before the others in every placing, so there is no estimate of how much better they are")
	// ErrNoPlacings reports that nothing was ranked.
	ErrNoPlacings = errors.New("no placings of two or more members")
)

// PlackettLuce fits the model of H. L. Turner, J. van Etten, D. Firth and I. Kosmidis,
// Computational Statistics 35 (2020), 1027-1057, to the placings of n members by
// maximum likelihood: places are taken from the first to the last, and a group S is
// taken from the rest with a chance in proportion to delta(|S|) times the geometric
// mean of its members' worths. For pairs it is that of R. R. Davidson, Journal of the
// American Statistical Association 65 (1970), 317-328.
//
// Placings are treated as independent, as leagues are.
func PlackettLuce(n int, placings []Placing) (Worths, error) {
	m, err := newPlacingModel(n, placings)
	if err != nil {
		return Worths{}, fmt.Errorf("fit placings: %w", err)
	}
	problem := optimize.Problem{
		Func: func(x []float64) float64 { return -m.evaluate(x, nil) },
		Grad: func(grad, x []float64) {
			m.evaluate(x, grad)
			for i := range grad {
				grad[i] = -grad[i]
			}
		},
	}
	settings := &optimize.Settings{GradientThreshold: 1e-7 * max(1, m.total), MajorIterations: 2000, Converger: &optimize.FunctionConverge{Absolute: 1e-11, Iterations: 50}}
	r, err := optimize.Minimize(problem, make([]float64, m.n-1+len(m.ties)), settings, &optimize.BFGS{})
	if r == nil {
		return Worths{}, fmt.Errorf("fit placings: %w", err)
	}
	w := m.worths(r.X, -r.F)
	w.Covariance = m.covariance(r.X)
	return w, nil
}

// placingModel has the placings and the sizes of ties in them. Its parameters are the
// log-worths of members 1 to n-1, that of member 0 being 0, and the log of delta of
// each size of tie that was seen.
type placingModel struct {
	n        int
	placings []Placing
	ties     []int // sizes of ties, ascending
	total    float64
}

func newPlacingModel(n int, placings []Placing) (*placingModel, error) {
	m := &placingModel{n: n}
	seen := map[int]bool{}
	for k, p := range placings {
		count := make([]bool, n)
		ranked := 0
		for _, g := range p.Groups {
			for _, i := range g {
				if i < 0 || i >= n || count[i] {
					return nil, fmt.Errorf("placing %d: member %d is unknown or occurs twice", k, i)
				}
				count[i] = true
				ranked++
			}
		}
		if ranked < 2 {
			continue
		}
		p.Weight = cmp.Or(p.Weight, 1)
		for g, group := range p.Groups {
			// The last one left takes the last place for certain.
			if len(group) > 1 || g < len(p.Groups)-1 {
				seen[len(group)] = true
				m.total += p.Weight
			}
		}
		m.placings = append(m.placings, p)
	}
	if len(m.placings) == 0 {
		return nil, ErrNoPlacings
	}
	for k := range seen {
		if k > 1 {
			m.ties = append(m.ties, k)
		}
	}
	slices.Sort(m.ties)
	if !m.connected() {
		return nil, ErrSeparated
	}
	return m, nil
}

// connected reports whether every member came before, or level with, every other by
// some chain of placings. Without it the likelihood has no maximum.
func (m *placingModel) connected() bool {
	before := make([][]bool, m.n)
	for i := range before {
		before[i] = make([]bool, m.n)
	}
	for _, p := range m.placings {
		var above []int
		for _, g := range p.Groups {
			for _, i := range g {
				for _, j := range g {
					before[i][j] = true
				}
				for _, a := range above {
					before[a][i] = true
				}
			}
			above = append(above, g...)
		}
	}
	reach := func(next func(i, j int) bool) int {
		seen := make([]bool, m.n)
		seen[0] = true
		queue := []int{0}
		for k := 0; k < len(queue); k++ {
			for j := range m.n {
				if !seen[j] && next(queue[k], j) {
					seen[j] = true
					queue = append(queue, j)
				}
			}
		}
		return len(queue)
	}
	return reach(func(i, j int) bool { return before[i][j] }) == m.n && reach(func(i, j int) bool { return before[j][i] }) == m.n
}

// evaluate returns the log-likelihood, and fills in its gradient unless that is nil.
func (m *placingModel) evaluate(x, grad []float64) float64 {
	theta := append([]float64{0}, x[:m.n-1]...)
	logDelta := x[m.n-1:]
	top := slices.Max(theta)
	roots := make([][]float64, 1+len(m.ties))
	for t := range roots {
		k := 1
		if t > 0 {
			k = m.ties[t-1]
		}
		for _, v := range theta {
			roots[t] = append(roots[t], math.Exp((v-top)/float64(k)))
		}
	}
	full := make([]float64, m.n)
	ties := make([]float64, len(m.ties))
	sum := 0.0
	for _, p := range m.placings {
		var left []int
		for g := len(p.Groups) - 1; g >= 0; g-- {
			group := p.Groups[g]
			left = append(left, group...)
			if len(left) == 1 {
				continue
			}
			k := len(group)
			for _, i := range group {
				sum += p.Weight * theta[i] / float64(k)
				full[i] += p.Weight / float64(k)
			}
			if t := slices.Index(m.ties, k); t >= 0 {
				sum += p.Weight * logDelta[t]
				ties[t] += p.Weight
			}
			sum -= p.Weight * (top + m.normalise(roots, logDelta, left, p.Weight, full, ties))
		}
	}
	if grad != nil {
		copy(grad, full[1:])
		copy(grad[m.n-1:], ties)
	}
	return sum
}

// normalise returns the logarithm of the sum over all groups that could be taken from
// those left, less the largest log-worth, and subtracts the expectations from the
// gradients. roots has the roots of worths by size of tie, from 1.
func (m *placingModel) normalise(roots [][]float64, logDelta []float64, left []int, weight float64, full, ties []float64) float64 {
	total := 0.0
	expected := make([]float64, len(left))
	for j, i := range left {
		expected[j] = roots[0][i]
		total += roots[0][i]
	}
	sums := make([]float64, len(m.ties))
	z := make([]float64, len(left))
	for t, k := range m.ties {
		if k > len(left) {
			continue
		}
		for j, i := range left {
			z[j] = roots[t+1][i]
		}
		e := elementary(z, k)
		scale := math.Exp(logDelta[t])
		sums[t] = scale * e[k]
		total += sums[t]
		for j := range left {
			expected[j] += scale * z[j] * without(e, z[j], k-1) / float64(k)
		}
	}
	for j, i := range left {
		full[i] -= weight * expected[j] / total
	}
	for t := range m.ties {
		ties[t] -= weight * sums[t] / total
	}
	return math.Log(total)
}

// elementary returns the elementary symmetric polynomials of degrees 0 to most.
func elementary(z []float64, most int) []float64 {
	e := make([]float64, most+1)
	e[0] = 1
	for _, v := range z {
		for k := most; k > 0; k-- {
			e[k] += v * e[k-1]
		}
	}
	return e
}

// without returns the polynomial of a degree in all variables but v.
func without(e []float64, v float64, degree int) float64 {
	r := 1.0
	for k := 1; k <= degree; k++ {
		r = e[k] - v*r
	}
	return r
}

func (m *placingModel) worths(x []float64, logLikelihood float64) Worths {
	w := Worths{Worth: make([]float64, m.n), LogLikelihood: logLikelihood}
	theta := append([]float64{0}, x[:m.n-1]...)
	top := slices.Max(theta)
	total := 0.0
	for i, t := range theta {
		w.Worth[i] = math.Exp(t - top)
		total += w.Worth[i]
	}
	for i := range w.Worth {
		w.Worth[i] /= total
	}
	for t, k := range m.ties {
		for len(w.Ties) < k-1 {
			w.Ties = append(w.Ties, 0)
		}
		w.Ties[k-2] = math.Exp(x[m.n-1+t])
	}
	return w
}

// MostPlacings is the maximum number of placings kept: fitting takes time in proportion
// to them, and a few hundred say all that the model can use.
const MostPlacings = 300

// Placings gathers the order of the players, by raw points, in the first leagues of an
// experiment. It is for one goroutine at a time.
type Placings struct {
	schedule *game.Schedule
	players  int
	list     []Placing
}

// NewPlacings returns an empty collection for the leagues of a plan.
func NewPlacings(plan results.Plan) (*Placings, error) {
	schedule, err := game.NewSchedule(len(plan.Field), plan.Legs)
	if err != nil {
		return nil, fmt.Errorf("placings of plan: %w", err)
	}
	return &Placings{schedule: schedule, players: len(plan.Field)}, nil
}

// Leagues is the number of placings, at most MostPlacings.
func (p *Placings) Leagues() int { return len(p.list) }

// Add takes in the placing of one league. Players with equal points share a place,
// before tie-breaks.
func (p *Placings) Add(l *results.League) error {
	if len(p.list) == MostPlacings {
		return nil
	}
	matches := p.schedule.Matches()
	if len(l.Matches) != len(matches) || len(l.Seats) != p.players {
		return fmt.Errorf("placing of league %d: record has %d matches and %d seats, the plan %d and %d",
			l.Index, len(l.Matches), len(l.Seats), len(matches), p.players)
	}
	points := make([]int, p.players) // by seat
	for i, m := range l.Matches {
		v := m.Verdict()
		points[matches[i].A] += v.PointsA
		points[matches[i].B] += v.PointsB
	}
	seats := make([]int, p.players)
	for s := range seats {
		seats[s] = s
	}
	slices.SortFunc(seats, func(a, b int) int { return cmp.Or(cmp.Compare(points[b], points[a]), cmp.Compare(a, b)) })
	var placing Placing
	for k, s := range seats {
		if k == 0 || points[s] != points[seats[k-1]] {
			placing.Groups = append(placing.Groups, nil)
		}
		last := len(placing.Groups) - 1
		placing.Groups[last] = append(placing.Groups[last], l.Seats[s])
	}
	p.list = append(p.list, placing)
	return nil
}

// Fit fits the Plackett-Luce model to the placings, members by field index.
func (p *Placings) Fit() (Worths, error) { return PlackettLuce(p.players, p.list) }
