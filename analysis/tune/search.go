package tune

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/strategylab/strategylab/analysis/sequential"
)

// Config is a search.
type Config struct {
	Space   []Axis
	Start   Point // the present values
	Leagues int   // to play in all, those of every field counted
	Block   int   // leagues of an evaluation in each field; 0 picks a number
	Fields  int   // fields in which a candidate plays
	Worst   bool  // the score is that in the worst field instead of the mean over all
	Seed    uint64
}

// mostRacing is the largest number of candidates that race.
const mostRacing = 24

// Request is an evaluation that a search asks for.
type Request struct {
	Candidate int
	Point     Point
	Block     int // of leagues, from 0: equal for all candidates
}

// Candidate is what is known of some values.
type Candidate struct {
	Point Point
	Out   bool // of the race

	fields [][]float64 // scores by field and league
	series []float64   // scores by league, over the fields
}

// Leagues is the number of leagues of a candidate in each field.
func (c *Candidate) Leagues() int { return len(c.series) }

// Mean is its mean score: adjusted points per match.
func (c *Candidate) Mean() float64 { return stat.Mean(c.series, nil) }

// Error is the standard error of the mean, from two leagues on.
func (c *Candidate) Error() float64 {
	return stat.StdErr(stat.StdDev(c.series, nil), float64(len(c.series)))
}

// Gain is what one candidate has scored more than another, in the leagues of both.
func (s *Search) Gain(i, j int) float64 {
	a, b := s.candidates[i].series, s.candidates[j].series
	n := min(len(a), len(b))
	return stat.Mean(a[:n], nil) - stat.Mean(b[:n], nil)
}

// Search looks for the best values. It is for one goroutine at a time.
type Search struct {
	config     Config
	rng        *rand.Rand
	candidates []*Candidate
	racing     bool
	spent      int
	pending    int // candidates that the design has not played yet
	best       int
	path       []int // best candidate after each evaluation
	model      *model
	fitted     int // evaluations when the kernel was fitted
}

// New returns a search. The start must lie in the space.
func New(c Config) (*Search, error) {
	if len(c.Space) == 0 || len(c.Start) != len(c.Space) || c.Fields < 1 {
		return nil, fmt.Errorf("tune: %d parameters, %d values and %d fields, want at least one of each", len(c.Space), len(c.Start), c.Fields)
	}
	if c.Block == 0 {
		c.Block = min(max(c.Leagues/100/c.Fields, 20), 1000)
	}
	s := &Search{config: c, rng: rand.New(rand.NewPCG(c.Seed, 0x74756e65))}
	evaluations := c.Leagues / (c.Block * c.Fields)
	points := few(c.Space, c.Start, min(mostRacing, evaluations/3))
	if s.racing = points != nil; !s.racing {
		points = append([]Point{c.Start}, spread(c.Space, min(4+4*len(c.Space), evaluations/3), s.rng)...)
	}
	for _, p := range points {
		s.add(p)
	}
	s.pending = len(s.candidates)
	if evaluations < len(s.candidates)+1 {
		return nil, fmt.Errorf("tune: %d leagues are too few for a search; want at least %d", c.Leagues, 6*c.Block*c.Fields)
	}
	return s, nil
}

// Config returns the configuration, with the block that was picked.
func (s *Search) Config() Config { return s.config }

// Racing reports whether all values race.
func (s *Search) Racing() bool { return s.racing }

// Candidates returns all candidates so far, the present values first.
func (s *Search) Candidates() []*Candidate { return s.candidates }

// Best returns the index of the best candidate so far.
func (s *Search) Best() int { return s.best }

// Path returns the best candidate after each evaluation.
func (s *Search) Path() []int { return s.path }

// Spent is the number of leagues so far.
func (s *Search) Spent() int { return s.spent }

// add returns the candidate with a point, which may be new.
func (s *Search) add(p Point) int {
	if i := slices.IndexFunc(s.candidates, func(c *Candidate) bool { return slices.Equal(c.Point, p) }); i >= 0 {
		return i
	}
	s.candidates = append(s.candidates, &Candidate{Point: p, fields: make([][]float64, s.config.Fields)})
	return len(s.candidates) - 1
}

// Next returns the next evaluation; false if the search is over.
func (s *Search) Next() (Request, bool) {
	if s.spent+s.config.Block*s.config.Fields > s.config.Leagues {
		return Request{}, false
	}
	next := -1
	switch {
	case s.pending > 0:
		next = len(s.candidates) - s.pending
	case s.racing:
		alive := 0
		for i, c := range s.candidates {
			if c.Out {
				continue
			}
			if alive++; next < 0 || c.Leagues() < s.candidates[next].Leagues() {
				next = i
			}
		}
		if alive == 1 {
			return Request{}, false
		}
	default:
		next = s.promising()
	}
	c := s.candidates[next]
	return Request{next, c.Point, c.Leagues() / s.config.Block}, true
}

// Add takes the scores of the last request, by field and league.
func (s *Search) Add(r Request, scores [][]float64) error {
	c := s.candidates[r.Candidate]
	for f, list := range scores {
		if len(list) != s.config.Block || len(scores) != s.config.Fields {
			return fmt.Errorf("tune: scores of %d fields and %d leagues, want %d and %d", len(scores), len(list), s.config.Fields, s.config.Block)
		}
		c.fields[f] = append(c.fields[f], list...)
	}
	c.series = combined(c.fields, s.config.Worst)
	s.spent += s.config.Block * s.config.Fields
	s.pending = max(0, s.pending-1)
	if s.racing {
		s.eliminate()
	} else if s.pending == 0 {
		s.fit()
	}
	s.choose()
	s.path = append(s.path, s.best)
	return nil
}

// combined returns the scores over fields: their mean, or those in the worst field.
func combined(fields [][]float64, worst bool) []float64 {
	if worst {
		return fields[WorstOf(fields)]
	}
	series := make([]float64, len(fields[0]))
	for i := range series {
		for _, f := range fields {
			series[i] += f[i] / float64(len(fields))
		}
	}
	return series
}

// WorstOf returns the field with the lowest mean.
func WorstOf(fields [][]float64) int {
	worst := 0
	for f := range fields {
		if stat.Mean(fields[f], nil) < stat.Mean(fields[worst], nil) {
			worst = f
		}
	}
	return worst
}

// WorstField returns the field in which a candidate has scored least.
func (s *Search) WorstField(candidate int) int { return WorstOf(s.candidates[candidate].fields) }

// wrong is the chance that a race ever drops the best candidate.
const wrong = 0.05

// eliminate drops, after each round, the candidates that are shown to be worse than the
// leader: by the t sequence of their differences, which holds at all looks at once.
func (s *Search) eliminate() {
	leader, rounds := -1, s.candidates[s.best].Leagues()
	for i, c := range s.candidates {
		if c.Out {
			continue
		}
		if leader >= 0 && c.Leagues() != rounds {
			return // the round goes on
		}
		if rounds = c.Leagues(); leader < 0 || c.Mean() > s.candidates[leader].Mean() {
			leader = i
		}
	}
	if rounds < sequential.BurnIn {
		return
	}
	student := sequential.NewStudent(sequential.BurnIn)
	for _, c := range s.candidates {
		if c.Out || c == s.candidates[leader] {
			continue
		}
		difference := make([]float64, rounds)
		for i := range difference {
			difference[i] = s.candidates[leader].series[i] - c.series[i]
		}
		mean, variance := stat.MeanVariance(difference, nil)
		if variance == 0 {
			continue // they play alike, or nearly
		}
		evidence := student.Evidence(int64(rounds), mean*mean*float64(rounds)/(variance*float64(rounds-1)))
		c.Out = student.P(evidence) <= wrong/float64(len(s.candidates)-1)
	}
}

// choose sets the best candidate: by its mean in a race, else by the model. One of the same
// score as the present values is not better.
func (s *Search) choose() {
	s.best = 0
	score := s.scorer()
	for i, c := range s.candidates {
		if c.Leagues() > 0 && !c.Out && (s.candidates[s.best].Out || score(i) > score(s.best)) {
			s.best = i
		}
	}
}

func (s *Search) scorer() func(i int) float64 {
	if s.racing || s.model == nil {
		return func(i int) float64 { return s.candidates[i].Mean() }
	}
	known := make(map[int]float64)
	return func(i int) float64 {
		if _, ok := known[i]; !ok {
			known[i], _ = s.model.predict(s.candidates[i].Point)
		}
		return known[i]
	}
}

// noise estimates the error of the scores from all candidates.
func (s *Search) noise() noise {
	var e noise
	freedom, pairs := 0.0, 0.0
	first := s.candidates[0].series
	for i, c := range s.candidates {
		n := len(c.series)
		if n < 2 {
			continue
		}
		e.variance += stat.Variance(c.series, nil) * float64(n-1)
		freedom += float64(n - 1)
		if both := min(n, len(first)); i > 0 && both > 2 {
			e.common += stat.Covariance(c.series[:both], first[:both], nil) * float64(both-1)
			pairs += float64(both - 1)
		}
	}
	e.variance = max(e.variance/max(1, freedom), 1e-12)
	e.common = min(max(e.common/max(1, pairs)/e.variance, 0), 0.95)
	return e
}

// fit conditions the model on all scores. The kernel changes when a tenth of them is new.
func (s *Search) fit() {
	var points []Point
	var scores []float64
	var leagues []int
	for _, c := range s.candidates {
		if c.Leagues() > 0 {
			points, scores, leagues = append(points, c.Point), append(scores, c.Mean()), append(leagues, c.Leagues())
		}
	}
	evaluations := len(s.path) + 1
	if s.model == nil {
		s.model = &model{space: s.config.Space}
	} else if evaluations < s.fitted+max(3, s.fitted/10) {
		s.model.condition(s.model.theta, points, scores, leagues, s.noise())
		return
	}
	s.model.fit(s.model.theta, points, scores, leagues, s.noise())
	s.fitted = evaluations
}

// promising returns the candidate to play next, which may be new.
func (s *Search) promising() int {
	const wide, around, leaders = 200, 30, 4
	e := s.noise()
	errorOf := math.Sqrt((1 - e.common) * e.variance / float64(s.config.Block))
	score := s.scorer()
	order := make([]int, len(s.candidates))
	var points []Point
	for i, c := range s.candidates {
		order[i], points = i, append(points, c.Point)
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch a, b := score(i), score(j); {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
	for range wide {
		p := make(Point, len(s.config.Space))
		for k, a := range s.config.Space {
			p[k] = a.at(s.rng.Float64())
		}
		points = append(points, p)
	}
	for _, i := range order[:min(leaders, len(order))] {
		for range around {
			points = append(points, near(s.config.Space, s.candidates[i].Point, s.rng))
		}
	}
	best, most := 0, math.Inf(-1)
	for i, p := range points {
		mean, deviation := s.model.predict(p)
		if gain := improvement(mean, deviation, score(order[0]), errorOf); gain > most {
			best, most = i, gain
		}
	}
	return s.add(points[best])
}

// Surface returns the expected score at points and its standard deviation, as a model of
// all scores has it.
func (s *Search) Surface() func(Point) (mean, deviation float64) {
	if s.model == nil {
		s.fit()
	}
	return s.model.predict
}

// Flat returns the values of an axis around the best candidate, the others being its own,
// whose expected score is at most a tolerance below.
func (s *Search) Flat(axis int, tolerance float64) (low, high float64) {
	surface, a := s.Surface(), s.config.Space[axis]
	p := slices.Clone(s.candidates[s.best].Point)
	x := p[axis]
	top, _ := surface(p)
	reach := func(to float64) float64 {
		const steps = 100
		edge := x
		for i := range steps {
			p[axis] = a.at(a.share(x + (to-x)*float64(i+1)/steps))
			if mean, _ := surface(p); mean < top-tolerance {
				break
			}
			edge = p[axis]
		}
		return edge
	}
	return reach(a.Low), reach(a.High)
}
