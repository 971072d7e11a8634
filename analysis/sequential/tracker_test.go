package sequential

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/strategylab/strategylab/analysis/attest"
)

// fairShape is that of a field under a fair draw.
func fairShape(players, legs int) Shape {
	k := float64(players)
	return Shape{
		Players: players, Scale: int64(2 * (players - 1) * legs), High: 3, Choices: 0.5 * (k - 2) / (k - 1),
	}
}

func newTracker(s Shape, o Options) *Tracker {
	if o.Level == 0 {
		o.Level = 0.95
	}
	if o.Guarantee == "" {
		o.Guarantee = Asymptotic
	}
	tr := attest.Must(NewTracker(s, o))
	return tr
}

// world plays leagues of players who say even with a chance that each settles on
// again in every league.
type world struct {
	players, legs int
	even          func(player int, r *rand.Rand) float64
	r             *rand.Rand
}

func (w *world) league() []int64 {
	even, points := make([]float64, w.players), make([]int64, w.players)
	for i := range even {
		even[i] = w.even(i, w.r)
	}
	for i := range points {
		for j := range i {
			for range w.legs {
				worth := int64(2)
				if (w.r.Float64() < even[i]) != (w.r.Float64() < even[j]) {
					worth = 3
				}
				points[i] += worth
				points[j] += worth
			}
		}
	}
	return points
}

// atMost is the largest count that n trials with a chance of 5 % reach with a chance
// of more than 1 in 2,000.
func atMost(n int) int {
	limit, b := 0, distuv.Binomial{N: float64(n), P: 0.05}
	for b.CDF(float64(limit)) < 1-5e-4 {
		limit++
	}
	return limit
}

// TestErrorWhileLooking looks after every league at fields of equal players, for as
// long as patience lasts, and counts experiments in which anything was ever decided.
// Few matches make differences that are far from normal; moods make the matches of a
// league dependent, and rare moods make league values skewed. Every tenth league of the first
// half it looks at the interval of a player whose points are known, too.
func TestErrorWhileLooking(t *testing.T) {
	t.Parallel()
	coin := func(int, *rand.Rand) float64 { return 0.5 }
	mood := func(_ int, r *rand.Rand) float64 { return float64(r.IntN(2)) }
	rare := func(_ int, r *rand.Rand) float64 { return math.Min(1, float64(r.IntN(10))) }
	for _, tt := range []struct {
		name          string
		players, legs int
		even          func(int, *rand.Rand) float64
		guarantee     Guarantee
		repetitions   int
	}{
		{"coins", 3, 1, coin, Asymptotic, 400},
		{"coins", 6, 1, coin, Asymptotic, 100},
		{"moods", 4, 2, mood, Asymptotic, 200},
		{"rare moods", 4, 2, rare, Asymptotic, 200},
		{"coins", 3, 1, coin, Finite, 100},
		{"rare moods", 4, 2, rare, Finite, 100},
	} {
		wrong, missed := 0, 0
		tt.repetitions /= attest.Repetitions(3, 1, 1)
		for rep := range tt.repetitions {
			w := world{tt.players, tt.legs, tt.even, rand.New(rand.NewPCG(uint64(rep), 7))}
			tr := newTracker(fairShape(tt.players, tt.legs), Options{Guarantee: tt.guarantee})
			miss := false
			for n := range 600 {
				attest.OK(t, tr.Add(w.league()))
				if tt.name == "coins" && n%10 == 0 && n < 300 && rep < 100 && !miss {
					estimate, low, high := tr.Interval(0)
					if !(0 <= low && low <= estimate && estimate <= high && high <= 3) {
						t.Fatalf("%s after %d: %v in %v to %v", tt.guarantee, n+1, estimate, low, high)
					}
					if miss = low > 1.25 || high < 1.25; miss {
						missed++
					}
				}
			}
			// Decisions use the smallest p-value of all looks; what was ever decided
			// is seen in the end, even if the order has turned.
			wrong += attest.One(everDecided(tr))
		}
		t.Logf("%s, %d players, %d legs, %s: %d of %d", tt.name, tt.players, tt.legs, tt.guarantee, wrong, tt.repetitions)
		if limit := atMost(tt.repetitions); wrong > limit || missed > atMost(100) {
			t.Errorf("%s, %d players, %d legs, %s: equal players told apart in %d of %d experiments, want at most %d; an interval misses in %d of 100",
				tt.name, tt.players, tt.legs, tt.guarantee, wrong, tt.repetitions, limit, missed)
		}
		if tt.players == 3 && tt.guarantee == Asymptotic && wrong == 0 {
			t.Error("not one false alarm: the test is blind")
		}
	}
}

func everDecided(t *Tracker) bool {
	d := t.Decisions()
	for _, row := range d.p {
		for _, p := range row {
			if p <= d.alpha {
				return true
			}
		}
	}
	return false
}

// TestConstantLeagues: where all leagues agree there is no t. Bets decide, about as soon
// as a league in which the leader forfeits everything would have turned up, and the
// interval claims no certainty.
func TestConstantLeagues(t *testing.T) {
	for g, most := range map[Guarantee]int{Asymptotic: 110, Finite: 70} {
		tr := newTracker(fairShape(3, 2), Options{Rule: Rule{Kind: Best}, Guarantee: g})
		for n := 0; !tr.Done(); n++ {
			if n > most {
				t.Fatalf("%s: not decided after %d leagues that all agree", g, n)
			}
			attest.OK(t, tr.Add([]int64{12, 10, 10}))
		}
		d := tr.Decisions()
		if !d.Better(0, 1) || !d.Better(0, 2) || d.Better(1, 2) || d.Better(2, 1) {
			t.Errorf("%s: decisions %+v", g, d)
		}
		if estimate, low, high := tr.Interval(0); estimate != 1.5 || low >= 1.5 || high <= 1.5 || high > 1.7 {
			t.Errorf("%s: %v in %v to %v", g, estimate, low, high)
		}
	}
}

// crashing is a field of three in which the last player forfeits one league in 30 as a
// whole and gains as much in the others, so that all three expect 1.275 points.
func crashing(r *rand.Rand) []int64 {
	points := []int64{12480, 12480, 13190} // in units of 1/10,000
	if r.IntN(30) == 0 {
		points = []int64{20800, 20800, 0}
	}
	for i := range points {
		points[i] += r.Int64N(201)
	}
	return points
}

// TestRareCrashes: a player that rarely fails for a whole league is ahead in all leagues
// until then. Only the finite guarantee bounds the error.
func TestRareCrashes(t *testing.T) {
	t.Parallel()
	repetitions := attest.Repetitions(100, 200, 200)
	wrong := map[Guarantee]int{}
	for _, g := range []Guarantee{Asymptotic, Finite} {
		for rep := range repetitions {
			r := rand.New(rand.NewPCG(uint64(rep), 11))
			tr := newTracker(Shape{Players: 3, Scale: 10_000, High: 3, Choices: 0.25}, Options{Rule: Rule{Kind: Best}, Guarantee: g})
			for tr.Leagues() < 400 && !tr.Done() {
				attest.OK(t, tr.Add(crashing(r)))
			}
			wrong[g] += attest.One(everDecided(tr))
		}
	}
	t.Logf("%v of %d", wrong, repetitions)
	if limit := atMost(repetitions); wrong[Finite] > limit {
		t.Errorf("the finite guarantee is wrong in %d of %d experiments, want at most %d", wrong[Finite], repetitions, limit)
	}
	if wrong[Asymptotic] < repetitions/5 {
		t.Errorf("the asymptotic one is wrong in %d of %d only; the comparison has lost its point", wrong[Asymptotic], repetitions)
	}
}

// TestDecisionsFollowTheOrder: what an early look decided is not maintained against
// the points.
func TestDecisionsFollowTheOrder(t *testing.T) {
	tr := newTracker(fairShape(3, 2), Options{Rule: Rule{Kind: Best}})
	feed := func(n int, points ...int64) {
		for range n {
			attest.OK(t, tr.Add(points))
		}
	}
	feed(110, 12, 10, 10)
	if !tr.Done() {
		t.Fatal("not decided")
	}
	feed(160, 10, 12, 10)
	d := tr.Decisions()
	if tr.Done() || d.Better(0, 1) || !d.Better(0, 2) {
		t.Errorf("done %v, first better than second %v, than third %v", tr.Done(), d.Better(0, 1), d.Better(0, 2))
	}
}

// TestMargin: equal players are ranked by a margin, and better ones are not equal.
func TestMargin(t *testing.T) {
	for _, g := range []Guarantee{Asymptotic, Finite} {
		r := rand.New(rand.NewPCG(1, 2))
		tr := newTracker(fairShape(4, 10), Options{Rule: Rule{Kind: Ranked}, Margin: 0.03, Guarantee: g})
		for n := 0; !tr.Done(); n++ {
			if n > 3000 {
				t.Fatalf("%s: not ranked after %d leagues", g, n)
			}
			points := make([]int64, 4)
			for i := range points {
				points[i] = 75 + r.Int64N(5) // of 60, in halves
			}
			points[3] += 6
			attest.OK(t, tr.Add(points))
		}
		d := tr.Decisions()
		apart, within, open := d.Counts()
		if apart != 3 || within != 3 || open != 0 || !d.Within(1, 0) || d.Within(3, 0) {
			t.Errorf("%s: %d apart, %d within, %d open", g, apart, within, open)
		}
	}
}

// TestRefusals: what cannot be tracked is refused with a reason.
func TestRefusals(t *testing.T) {
	good := Options{Rule: Rule{Kind: Best}, Guarantee: Finite, Level: 0.95}
	for want, change := range map[string]func(o *Options, s *Shape){
		"level is 1; want a number between 0 and 1": func(o *Options, _ *Shape) { o.Level = 1 },
		"level is NaN":           func(o *Options, _ *Shape) { o.Level = math.NaN() },
		"unknown guarantee \"\"": func(o *Options, _ *Shape) { o.Guarantee = "" },
		"margin is -1; want points per match, at least 0": func(o *Options, _ *Shape) { o.Margin = -1 },
		"a margin needs the rule ranked":                  func(o *Options, _ *Shape) { o.Margin = 0.1 },
		"the largest difference in this field":            func(o *Options, _ *Shape) { o.Rule.Kind, o.Margin = Ranked, 0.5 },
		"neither can be better":                           func(_ *Options, s *Shape) { *s = fairShape(2, 1) },
	} {
		o, s := good, fairShape(4, 1)
		change(&o, &s)
		_, err := NewTracker(s, o)
		attest.Fails(t, err, want, "%+v", o)
	}
	tr := newTracker(fairShape(3, 1), good)
	if err := tr.Add([]int64{1, 2}); err == nil {
		t.Error("a league of two was added to a field of three")
	}
	if tr.Done() {
		t.Error("done without a league")
	}
}

func TestParseRule(t *testing.T) {
	for _, s := range []string{"ranked", "best", "precision=0.005"} {
		if r, err := ParseRule(s); err != nil || r.String() != s {
			t.Errorf("%q is %v, %v", s, r, err)
		}
	}
	for _, s := range []string{"", "=", "Best", "best=", "precision", "precision=", "precision=0", "precision=-1", "precision=NaN", "precision=Inf", "precision=3", "ranked,best"} {
		if r, err := ParseRule(s); err == nil {
			t.Errorf("%q is %v, want an error", s, r)
		}
	}
}

// TestHolds: a value is held exactly if it lies between the bounds of the interval, for
// both guarantees, for values that differ and for values that all agree.
func TestHolds(t *testing.T) {
	t.Parallel()
	shape := fairShape(3, 4)
	for _, g := range []Guarantee{Asymptotic, Finite} {
		tracker := newTracker(shape, Options{Rule: Rule{Kind: Best}, Guarantee: g, Level: 0.95})
		if !tracker.Holds(0, 0) || !tracker.Holds(0, shape.High) || tracker.Holds(0, -0.1) || tracker.Holds(0, shape.High+0.1) {
			t.Errorf("%s: without a league, not just the whole range holds", g)
		}
		r := rand.New(rand.NewPCG(1, 2))
		inside, outside := 0, 0
		for range 200 {
			attest.OK(t, tracker.Add([]int64{shape.Scale + r.Int64N(shape.Scale/2), 2 * shape.Scale, 0}))
			for player := range 3 {
				_, low, high := tracker.Interval(player)
				for _, x := range []float64{0, low, high, shape.High, shape.High * r.Float64(), low + (high-low)*r.Float64()} {
					if bound := x == 0 || x == shape.High; !bound && (math.Abs(x-low) < 1e-6 || math.Abs(x-high) < 1e-6) {
						continue // which are rounded
					}
					within := low <= x && x <= high
					if got := tracker.Holds(player, x); got != within {
						t.Fatalf("%s, %d leagues: %v is in [%v, %v], and Holds says %v", g, tracker.Leagues(), x, low, high, got)
					}
					if within {
						inside++
					} else {
						outside++
					}
				}
			}
		}
		if inside < 100 || outside < 100 {
			t.Errorf("%s: %d values inside, %d outside", g, inside, outside)
		}
	}
}

// TestDecided: the short way says at every league whether any decision is made, with and
// without a margin.
func TestDecided(t *testing.T) {
	shape := fairShape(3, 4)
	for _, margin := range []float64{0, 0.2} {
		tracker := newTracker(shape, Options{Rule: Rule{Kind: Ranked}, Guarantee: Asymptotic, Level: 0.95, Margin: margin})
		r := rand.New(rand.NewPCG(3, 4))
		decided := 0
		for range 400 {
			spread := func(most float64) int64 { return int64(most * r.Float64() * float64(shape.Scale)) }
			points := []int64{shape.Scale + spread(0.5), shape.Scale + spread(0.5), shape.Scale + spread(0.42)}
			attest.OK(t, tracker.Add(points))
			d, want := tracker.Decisions(), false
			for i := range 3 {
				for j := range 3 {
					want = want || i != j && (d.P(i, j) <= 0.05 || margin > 0 && d.Within(i, j))
				}
			}
			if got := tracker.Decided(); got != want {
				t.Fatalf("margin %v, %d leagues: Decided is %v, want %v", margin, tracker.Leagues(), got, want)
			}
			decided += attest.One(want)
		}
		if decided == 0 || decided == 400 {
			t.Errorf("margin %v: decided after %d of 400 leagues", margin, decided)
		}
	}
}
