package power

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/strategylab/strategylab/analysis/attest"
)

var usual = Setup{Players: 8, Legs: 10, Differ: 0.5, Level: 0.95, Chance: 0.9}

// TestStudentizedRange compares with R: qtukey(0.95, k, Inf).
func TestStudentizedRange(t *testing.T) {
	for players, want := range map[int]float64{3: 3.3144932, 4: 3.6331596, 8: 4.2863095, 20: 5.0116888, 100: 6.0846377} {
		s := usual
		s.Players = players
		attest.Near(t, s.studentizedRange(), want, 1e-6, "range of %d", players)
	}
}

// TestThereAndBack: the leagues for an effect see that effect, and one league less
// does not.
func TestThereAndBack(t *testing.T) {
	t.Parallel()
	for _, m := range []Measure{Adjusted, Raw} {
		for _, effect := range []float64{0.003, 0.02, 0.2} {
			n := attest.Must(usual.Leagues(m, effect))
			if usual.fixed().sees(m, effect, n) < usual.Chance || usual.fixed().sees(m, effect, n-1) >= usual.Chance {
				t.Errorf("%s, %v: %d leagues see it with %v, one less with %v", m, effect, n, usual.fixed().sees(m, effect, n), usual.fixed().sees(m, effect, n-1))
			}
			back, err := usual.Effect(m, n)
			if err != nil || back > effect || back < 0.94*effect {
				t.Errorf("%s: %d leagues see %v, %v; they are for %v", m, n, back, err, effect)
			}
		}
	}
}

func TestMistakes(t *testing.T) {
	for name, change := range map[string]func(s *Setup, effect *float64){
		"two players": func(s *Setup, _ *float64) { s.Players = 2 },
		"one player":  func(s *Setup, _ *float64) { s.Players = 1 },
		"no legs":     func(s *Setup, _ *float64) { s.Legs = 0 },
		"differ 1":    func(s *Setup, _ *float64) { s.Differ = 1 },
		"differ NaN":  func(s *Setup, _ *float64) { s.Differ = math.NaN() },
		"chance 1":    func(s *Setup, _ *float64) { s.Chance = 1 },
		"level 0":     func(s *Setup, _ *float64) { s.Level = 0 },
		"effect 0":    func(_ *Setup, e *float64) { *e = 0 },
		"effect 0.6":  func(_ *Setup, e *float64) { *e = 0.6 },
		"effect NaN":  func(_ *Setup, e *float64) { *e = math.NaN() },
		"effect tiny": func(_ *Setup, e *float64) { *e = 1e-9 },
	} {
		s, effect := usual, 0.01
		change(&s, &effect)
		if n, err := s.Leagues(Raw, effect); err == nil {
			t.Errorf("%s: %d leagues", name, n)
		}
	}
	var few *TooFewError
	if _, err := usual.Effect(Raw, 3); !errors.As(err, &few) {
		t.Errorf("3 leagues: %v", err)
	}
	for _, n := range []int{-1, 0, 1, Most + 1} {
		if _, err := usual.Effect(Adjusted, n); err == nil {
			t.Errorf("%d leagues were accepted", n)
		}
	}
}

// TestContrastAgainstSimulation plays matches by the rules and compares the moments of
// the differences with the formulas.
func TestContrastAgainstSimulation(t *testing.T) {
	const leagues = 40_000
	for _, s := range []Setup{
		{Players: 3, Legs: 1, Differ: 0.3, Level: 0.95, Chance: 0.9},
		{Players: 5, Legs: 3, Differ: 0.5, Level: 0.95, Chance: 0.9},
	} {
		const effect = 0.2
		r := rand.New(rand.NewPCG(1, uint64(s.Players)))
		first := map[Measure][]float64{} // the first player's points minus the second's
		second := map[Measure][]float64{}
		for range leagues {
			adjusted, raw := make([]float64, s.Players), make([]float64, s.Players)
			for range s.Legs {
				for i := range s.Players {
					for j := i + 1; j < s.Players; j++ {
						p := s.Differ
						if i == 0 {
							p += effect
						}
						if r.Float64() >= p {
							adjusted[i], adjusted[j], raw[i], raw[j] = adjusted[i]+1, adjusted[j]+1, raw[i]+1, raw[j]+1
							continue
						}
						adjusted[i], adjusted[j] = adjusted[i]+1.5, adjusted[j]+1.5
						if r.Float64() < 0.5 {
							raw[i] += 3
						} else {
							raw[j] += 3
						}
					}
				}
			}
			matches := float64(s.Legs * (s.Players - 1))
			for m, points := range map[Measure][]float64{Adjusted: adjusted, Raw: raw} {
				first[m] = append(first[m], (points[0]-points[1])/matches)
				second[m] = append(second[m], (points[0]-points[2])/matches)
			}
		}
		for _, m := range []Measure{Adjusted, Raw} {
			c := s.Contrast(m, effect)
			mean, deviation := stat.MeanStdDev(first[m], nil)
			attest.Near(t, c.Mean, mean, 5*deviation/math.Sqrt(leagues), "%d players, %s: mean", s.Players, m)
			attest.Near(t, deviation/c.Deviation, 1, 5/math.Sqrt(2*leagues)*1.5, "%d players, %s: simulated deviation", s.Players, m)
			attest.Near(t, c.Correlation, stat.Correlation(first[m], second[m], nil), 5/math.Sqrt(leagues), "%d players, %s: correlation", s.Players, m)
		}
	}
}

// TestBeyond: the chance that all of k-1 equicorrelated normal differences exceed a
// bound agrees with drawing them.
func TestBeyond(t *testing.T) {
	const draws = 200_000
	s := Setup{Players: 6, Legs: 4, Differ: 0.5, Level: 0.95, Chance: 0.9}
	f, r := s.fixed(), rand.New(rand.NewPCG(7, 8))
	for _, critical := range []float64{0, 1.5, 3} {
		c := s.Contrast(Adjusted, 0.05)
		mean := c.relative() * math.Sqrt(60)
		exceeded := 0
		for range draws {
			shared, all := r.NormFloat64(), true
			for range s.Players - 1 {
				z := mean + math.Sqrt(c.Correlation)*shared + math.Sqrt(1-c.Correlation)*r.NormFloat64()
				all = all && z > critical
			}
			exceeded += attest.One(all)
		}
		want := float64(exceeded) / draws
		attest.Near(t, f.beyond(Adjusted, 0.05, 60, critical), want, 5*math.Sqrt(want*(1-want)/draws)+1e-4, "beyond %v", critical)
	}
	if got := f.beyond(Adjusted, 0.05, 60, math.Inf(1)); got != 0 {
		t.Errorf("beyond infinity: %v", got)
	}
}

// TestMore: looking until somebody is best takes longer than knowing when.
func TestMore(t *testing.T) {
	if usual.fixed().sees(Adjusted, 0.1, 1) != 0 {
		t.Error("one league sees something")
	}
	half := attest.Must(usual.Half(0.02))
	median := usual
	median.Chance = 0.5
	if fixed, err := median.Leagues(Adjusted, 0.02); err != nil || half <= fixed {
		t.Errorf("half of the sequential experiments stop by %d leagues, a fixed number needs %d (%v)", half, fixed, err)
	}
}

// TestRatio: in the limit of many players raw points need 1 + 9/(1-p) times as many
// leagues; with few, the direct match adds to that.
func TestRatio(t *testing.T) {
	for _, p := range []float64{0.2, 0.5, 0.8} {
		last := math.Inf(1)
		for _, players := range []int{3, 8, 50, 1000} {
			s := Setup{Players: players, Legs: 10, Differ: p, Level: 0.95, Chance: 0.9}
			ratio := s.Ratio()
			if ratio >= last {
				t.Errorf("p %v: ratio %v with %d players, not below %v", p, ratio, players, last)
			}
			last = ratio
		}
		attest.Near(t, last*(1-p)/(10-p), 1, 0.03, "p %v: ratio with 1000 players, of what is expected", p)
	}
}
