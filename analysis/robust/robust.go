// Package robust asks how much the order of an experiment depends on its field: what
// the places would be against other opponents of the same sort, and without one
// strategy or one family of strategies that play alike.
//
// Intervals and places of package analysis hold for exactly the field that played. Here
// the opponents are varied instead, and the points of each pair are taken as they were
// measured, with their error: strategies that the leagues do not tell apart share a place.
// What is left out is that the points of two strategies may depend on the others in the
// field, because a strategy can carry what it learns from one opponent to the next.
package robust

import (
	"cmp"
	"math"
	"slices"

	"github.com/strategylab/strategylab/analysis"
)

// fewest is the number of strategies below which there are too few opponents to vary.
const fewest = 4

// Robustness is what the order of a field rests on. Places are by adjusted points.
type Robustness struct {
	Resamples int      // fields that were resampled
	Players   []Player // by field index
	// Families has the field indices of strategies that play alike, two or more in each,
	// in field order.
	Families [][]int
	// Without has the fields without one strategy, in field order, and then those
	// without one family, which leave out two or more. The first of the experiment is in
	// all of them, even if its family is not.
	Without []Reduced
}

// Player is how one strategy does in other fields.
type Player struct {
	// First is the share of the resampled fields in which it has the most points, divided
	// among all whom the leagues do not tell apart from the one that has.
	First         float64 `json:"first"`
	Places        [2]int  `json:"places"`                // best and worst possible place in the resampled fields, without the extremes beyond the level
	Error         float64 `json:"standard_error"`        // standard deviation of its points over resampled fields and leagues
	WithoutOne    [2]int  `json:"places_without_one"`    // places with at most one other strategy left out
	WithoutFamily [2]int  `json:"places_without_family"` // places with the others of at most one family left out
}

// Reduced is a field without some strategies.
type Reduced struct {
	Out   []int // field indices of those that are not in it
	First int   // field index of the one with the most points; the first of the experiment if several have them
	Place int   // of the first of the experiment
	Ahead bool  // First is another, and significantly ahead of the first of the experiment
	Leads bool  // First is significantly ahead of all others
	// Points are the adjusted points per match by field index; NaN for those in Out.
	Points []float64
}

// Of computes the robustness of an order from the points of its pairs, with resamples
// seeded by the seed of the plan. It is nil if there are too few strategies or leagues
// for an order, or if quarantine changed the field: the points of a pair then mix matches
// that were played with forfeits.
func Of(e *analysis.Estimates, seed uint64) *Robustness {
	n := len(e.Players)
	if n < fewest || e.Leagues < 2 || len(e.Pairs) != n*(n-1)/2 || len(e.Absences()) > 0 {
		return nil
	}
	m := newMatrix(e)
	r := &Robustness{Players: make([]Player, n), Families: m.families()}
	r.resample(m, newGaps(e, n-1), e.Level, seed)
	for i := range e.Players {
		ofLeagues := halfWidth(e.Players[i].Adjusted) / normal((1-e.Level)/2)
		r.Players[i].Error = math.Hypot(r.Players[i].Error, ofLeagues)
	}
	all, g := m.without(nil), newGaps(e, n*(n-1)/2)
	for i := range r.Players {
		at := g.places(all, 1, i)
		r.Players[i].WithoutOne, r.Players[i].WithoutFamily = at, at
	}
	for j := range n {
		r.reduce(m, g, e.Order[0], []int{j}, func(p *Player) *[2]int { return &p.WithoutOne })
	}
	for _, family := range r.Families {
		r.reduce(m, g, e.Order[0], family, func(p *Player) *[2]int { return &p.WithoutFamily })
	}
	return r
}

// reduce leaves some strategies out. Each of them is put back alone for its own place,
// which is kept in the range that to returns. The error of the mean over fewer opponents
// is at most what it was with all, times the ratio of their numbers.
func (r *Robustness) reduce(m matrix, g gaps, first int, out []int, to func(*Player) *[2]int) {
	gone := slices.DeleteFunc(slices.Clone(out), func(i int) bool { return i == first })
	if len(gone) > 0 && (len(out) == 1 || len(gone) > 1) { // not twice without the same one
		reduced := Reduced{Out: gone, Points: m.without(gone)}
		reduced.Place = place(reduced.Points, first)
		reduced.First = first
		for i, x := range reduced.Points {
			if x > reduced.Points[reduced.First]+same {
				reduced.First = i
			}
		}
		wider := fewer(m, gone)
		reduced.Ahead = reduced.First != first && g.apart(reduced.Points, wider, reduced.First, first)
		reduced.Leads = g.places(reduced.Points, wider, reduced.First)[1] == 1
		r.Without = append(r.Without, reduced)
	}
	points, wider := m.without(out), fewer(m, out)
	for i := range r.Players {
		in := points
		if slices.Contains(out, i) {
			in = m.without(slices.DeleteFunc(slices.Clone(out), func(j int) bool { return j == i }))
		}
		at, p := g.places(in, wider, i), to(&r.Players[i])
		p[0], p[1] = min(p[0], at[0]), max(p[1], at[1])
	}
}

func fewer(m matrix, out []int) float64 { return float64(len(m)-1) / float64(len(m)-1-len(out)) }

// gaps has, by player and player, the difference of points in the field of the experiment
// up to which the leagues do not tell the two apart.
type gaps [][]float64

// newGaps takes the error of each difference from its interval, and widens it for a number
// of comparisons, in both directions each, by Bonferroni's inequality.
func newGaps(e *analysis.Estimates, comparisons int) gaps {
	g := make(gaps, len(e.Players))
	for i := range g {
		g[i] = make([]float64, len(g))
	}
	alpha := 1 - e.Level
	wider := normal(alpha/2/float64(comparisons)) / normal(alpha/2)
	for _, c := range e.Ranking.Comparisons {
		gap := wider * halfWidth(c.Difference)
		g[c.A][c.B], g[c.B][c.A] = gap, gap
	}
	return g
}

func halfWidth(x analysis.Estimate) float64 {
	if !x.Defined() {
		return 0
	}
	return max(x.High-x.Estimate, x.Estimate-x.Low)
}

// normal is the value that a normal one exceeds with a chance, rounded to what does not
// depend on the architecture.
func normal(chance float64) float64 { return math.Round(1e8*math.Sqrt2*math.Erfinv(1-2*chance)) / 1e8 }

// apart reports whether player i has significantly more points than player j, in a field
// in which differences have so many times the error.
func (g gaps) apart(points []float64, wider float64, i, j int) bool {
	return points[i]-points[j] > float64(wider*g[i][j])+same
}

// places returns the best and the worst place of player i among those with points.
func (g gaps) places(points []float64, wider float64, i int) [2]int {
	at := [2]int{1, 0}
	for j, x := range points {
		if math.IsNaN(x) {
			continue
		}
		if !g.apart(points, wider, i, j) { // also itself
			at[1]++
		}
		if g.apart(points, wider, j, i) {
			at[0]++
		}
	}
	return at
}

// same is the difference of points below which two are equal: the last bits of sums in
// another order.
const same = 1e-12

// place is one more than the number of players with more points.
func place(points []float64, i int) int {
	at := 1
	for _, x := range points {
		if x > points[i]+same {
			at++
		}
	}
	return at
}

// matrix has the adjusted points per match by player and opponent; the diagonal is 0 and
// not used.
type matrix [][]float64

func newMatrix(e *analysis.Estimates) matrix {
	m := make(matrix, len(e.Players))
	for i := range m {
		m[i] = make([]float64, len(m))
	}
	for _, p := range e.Pairs {
		m[p.A][p.B], m[p.B][p.A] = p.AdjustedA, p.AdjustedB
	}
	return m
}

// without returns the mean points of each player against the others if some are not
// there; NaN for these.
func (m matrix) without(out []int) []float64 {
	weight := make([]float64, len(m))
	for j := range weight {
		weight[j] = 1
	}
	for _, j := range out {
		weight[j] = 0
	}
	points := make([]float64, len(m))
	m.weighted(weight, points)
	for _, j := range out {
		points[j] = math.NaN()
	}
	return points
}

// weighted computes the mean points of each player against opponents that count as often
// as their weights say, itself left out.
func (m matrix) weighted(weight, points []float64) {
	all := 0.0
	for _, w := range weight {
		all += w
	}
	for i, row := range m {
		sum := 0.0
		for j, w := range weight {
			sum += float64(w * row[j])
		}
		points[i] = sum / (all - weight[i])
	}
}

// families groups the strategies that play alike: those whose points against the same
// opponents are close. They are joined by average linkage (R. R. Sokal and C. D.
// Michener, University of Kansas Science Bulletin 38 (1958), 1409-1438) as long as they
// are less than half as far from each other as two strategies of the field on average.
func (m matrix) families() [][]int {
	distance := m.distances()
	sum := 0.0
	for i, row := range distance {
		for _, d := range row[:i] {
			sum += d
		}
	}
	limit := sum / float64(len(m)*(len(m)-1)/2) / 2
	groups := make([][]int, len(m))
	for i := range groups {
		groups[i] = []int{i}
	}
	for len(groups) > 1 {
		a, b := nearest(distance)
		if !(distance[a][b] < limit) {
			break
		}
		join(distance, a, b, float64(len(groups[a])), float64(len(groups[b])))
		groups[a] = append(groups[a], groups[b]...)
		groups = slices.Delete(groups, b, b+1)
		distance = slices.Delete(distance, b, b+1)
		for i := range distance {
			distance[i] = slices.Delete(distance[i], b, b+1)
		}
	}
	groups = slices.DeleteFunc(groups, func(g []int) bool { return len(g) < 2 })
	for _, g := range groups {
		slices.Sort(g)
	}
	slices.SortFunc(groups, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	return groups
}

// distances are the root mean squares of the differences between two players' points
// against the same opponents.
func (m matrix) distances() [][]float64 {
	list := make([][]float64, len(m))
	for i := range list {
		list[i] = make([]float64, len(m))
	}
	for i, a := range m {
		for j, b := range m[:i] {
			sum := 0.0
			for k := range a {
				if k != i && k != j {
					d := a[k] - b[k]
					sum += float64(d * d)
				}
			}
			list[i][j] = math.Sqrt(sum / float64(len(m)-2))
			list[j][i] = list[i][j]
		}
	}
	return list
}

// nearest returns the two groups with the smallest distance, a before b; of several the
// first.
func nearest(distance [][]float64) (a, b int) {
	a, b = 0, 1
	for i, row := range distance {
		for j := i + 1; j < len(row); j++ {
			if row[j] < distance[a][b]-same {
				a, b = i, j
			}
		}
	}
	return a, b
}

// join gives group a the mean distances of the members of a and b.
func join(distance [][]float64, a, b int, sizeA, sizeB float64) {
	for k, row := range distance {
		if k != a && k != b {
			d := (float64(sizeA*row[a]) + float64(sizeB*row[b])) / (sizeA + sizeB)
			row[a], distance[a][k] = d, d
		}
	}
}
