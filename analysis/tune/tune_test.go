package tune_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/analysis/tune"
)

// world is a strategy whose expected points are a known function of its parameters: a
// league has matches in which its choice differs with that chance.
type world struct {
	space  []tune.Axis
	start  tune.Point
	differ func(tune.Point) float64
}

const matches = 60

// score returns the adjusted points of a league. Candidates that play the same league have
// half of the luck in common.
func (w world) score(p tune.Point, seed uint64, league int) float64 {
	points := 0.0
	common, own := rand.New(rand.NewPCG(seed, uint64(league))), rand.New(rand.NewPCG(seed^uint64(math.Float64bits(p[0]+7*p[len(p)-1])), uint64(league)))
	for i := range matches {
		rng := own
		if i%2 == 0 {
			rng = common
		}
		if points++; rng.Float64() < w.differ(p) {
			points += 0.5
		}
	}
	return points / matches
}

func (w world) expected(p tune.Point) float64 { return 1 + w.differ(p)/2 }

func (w world) search(t testing.TB, leagues int, seed uint64) *tune.Search {
	t.Helper()
	s := attest.Must(tune.New(tune.Config{Space: w.space, Start: w.start, Leagues: leagues, Fields: 1, Seed: seed}))
	for {
		r, ok := s.Next()
		if !ok {
			return s
		}
		scores := make([]float64, s.Config().Block)
		for i := range scores {
			scores[i] = w.score(r.Point, seed, r.Block*len(scores)+i)
		}
		attest.OK(t, s.Add(r, [][]float64{scores}))
	}
}

// confirmed reports whether fresh leagues show that a point is better than the start.
func (w world) confirmed(p tune.Point, seed uint64) bool {
	c := attest.Must(tune.NewConfirmation(1, -1))
	for i := range 2000 {
		if i%50 == 0 && c.Verdict().Decided { // which takes longer than a league
			break
		}
		c.Add([]float64{w.score(p, seed+1e9, i)}, []float64{w.score(w.start, seed+1e9, i)})
	}
	return c.Verdict().Better
}

var (
	number = tune.Axis{Name: "x", High: 1}
	whole  = tune.Axis{Name: "n", Low: 1, High: 20, Whole: true}
	words  = tune.Axis{Name: "w", High: 3, Words: 4}
)

func hill(p tune.Point) float64 {
	return 0.75 - 0.5*(p[0]-0.7)*(p[0]-0.7) - 0.0015*(p[1]-14)*(p[1]-14)
}

func TestFindsTheOptimum(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]world{
		"two numbers": {[]tune.Axis{number, whole}, tune.Point{0.2, 4}, hill},
		"words": {[]tune.Axis{words, {Name: "b", High: 1, Words: 2}}, tune.Point{0, 0}, func(p tune.Point) float64 {
			return []float64{0.5, 0.6, 0.45, 0.55}[int(p[0])] + 0.05*p[1]
		}},
	} {
		optimum := 1 + 0.75/2
		if name == "words" {
			optimum = 1 + 0.65/2
		}
		runs, good, better := attest.Repetitions(1, 2, 100), 0, 0
		for seed := range runs {
			s := w.search(t, 5000, uint64(seed))
			p := s.Candidates()[s.Best()].Point
			if gap := optimum - w.expected(w.start); w.expected(p)-w.expected(w.start) >= 0.9*gap {
				good++
			}
			better += attest.One(seed < 5 && w.confirmed(p, uint64(seed)))
		}
		t.Logf("%s: %d of %d runs close 90 %% of the gap", name, good, runs)
		if good < (runs*9+9)/10 || better < min(runs, 5) {
			t.Errorf("%s: %d of %d runs close 90 %% of the gap, %d of the first are confirmed", name, good, runs, better)
		}
	}
}

func TestUselessParameter(t *testing.T) {
	t.Parallel()
	w := world{[]tune.Axis{number}, tune.Point{0.2}, func(tune.Point) float64 { return 0.5 }}
	runs, claims := attest.Repetitions(1, 2, 100), 0
	for seed := range runs {
		s := w.search(t, 3000, uint64(seed))
		claims += attest.One(s.Best() > 0 && w.confirmed(s.Candidates()[s.Best()].Point, uint64(seed)))
	}
	t.Logf("%d of %d runs claim an improvement", claims, runs)
	if most := runs * 9 / 100; claims > most {
		t.Errorf("%d of %d runs claim an improvement, want at most %d", claims, runs, most)
	}
}

// At equal leagues the search is at least as good as points drawn at random.
func TestAgainstRandomSearch(t *testing.T) {
	t.Parallel()
	surfaces := []world{
		{[]tune.Axis{number, whole}, tune.Point{0.2, 4}, hill},
		{[]tune.Axis{number, number}, tune.Point{0.5, 0.5}, func(p tune.Point) float64 { return 0.5 + 0.2*p[0]*(1-p[1]) }},
		{[]tune.Axis{number, number, number}, tune.Point{0.5, 0.5, 0.5}, func(p tune.Point) float64 {
			return 0.7 - 0.2*math.Abs(p[0]-0.3) - 0.2*math.Abs(p[1]-0.8) - 0.1*math.Abs(p[2]-0.1)
		}},
		{[]tune.Axis{whole, words}, tune.Point{1, 0}, func(p tune.Point) float64 { return 0.5 + 0.01*p[0] - 0.04*math.Abs(p[1]-2) }},
		{[]tune.Axis{number, whole}, tune.Point{0.1, 1}, func(p tune.Point) float64 { return 0.55 + 0.1*math.Sin(6*p[0])*p[1]/20 }},
	}
	ours, theirs := 0.0, 0.0
	for i, w := range surfaces[:attest.Repetitions(3, len(surfaces), len(surfaces))] {
		for seed := range uint64(attest.Repetitions(1, 1, 100)) {
			s := w.search(t, 3000, seed)
			ours += w.expected(s.Candidates()[s.Best()].Point) - w.expected(w.start)
			theirs += w.expected(w.random(3000, 30, seed)) - w.expected(w.start)
		}
		t.Logf("surface %d: gains so far %.4f, random search %.4f, ratio %.2f", i, ours, theirs, ours/theirs)
	}
	if ours < theirs {
		t.Errorf("gains %.4f, random search %.4f", ours, theirs)
	}
}

// random is a search that plays points drawn at random in equal numbers of leagues.
func (w world) random(leagues, block int, seed uint64) tune.Point {
	rng := rand.New(rand.NewPCG(seed, 99))
	best, most := w.start, math.Inf(-1)
	for range leagues / block {
		p := make(tune.Point, len(w.space))
		for k, a := range w.space {
			p[k] = a.Low + rng.Float64()*(a.High-a.Low)
			if a.Whole || a.Words > 0 {
				p[k] = math.Round(p[k])
			}
		}
		sum := 0.0
		for i := range block {
			sum += w.score(p, seed, i)
		}
		if sum > most {
			best, most = p, sum
		}
	}
	return best
}

func TestSearchIsDeterministic(t *testing.T) {
	t.Parallel()
	w := world{[]tune.Axis{number, whole}, tune.Point{0.2, 4}, hill}
	var points [2]string
	for i := range points {
		s := w.search(t, 1000, 7)
		for _, c := range s.Candidates() {
			points[i] += fmt.Sprint(c.Point, c.Leagues())
		}
		if s.Spent() > 1000 || !slices.Contains(s.Path(), s.Best()) {
			t.Errorf("spent %d, path %v", s.Spent(), s.Path())
		}
	}
	if points[0] != points[1] {
		t.Errorf("equal seeds, and %s, %s", points[0], points[1])
	}
}

// The worst of several fields has to improve on the worst of the old values.
func TestWorstField(t *testing.T) {
	better := func(second float64) bool {
		c := attest.Must(tune.NewConfirmation(2, 0))
		rng := rand.New(rand.NewPCG(1, 2))
		for range 2000 {
			c.Add([]float64{1.25 + 0.02*rng.NormFloat64(), second + 0.02*rng.NormFloat64()}, []float64{1.2, 1.4})
		}
		return c.Verdict().Better
	}
	if better(1.19) || !better(1.3) {
		t.Errorf("a second field of 1.19 is better: %v; one of 1.3: %v", better(1.19), better(1.3))
	}
}
