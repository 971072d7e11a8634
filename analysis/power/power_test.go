package power

import (
	"errors"
	"math"
	"testing"
)

var usual = Setup{Players: 8, Legs: 10, Differ: 0.5, Level: 0.95, Chance: 0.9}

// TestStudentizedRange compares with R: qtukey(0.95, k, Inf).
func TestStudentizedRange(t *testing.T) {
	t.Parallel()
	for players, want := range map[int]float64{3: 3.3144932, 4: 3.6331596, 8: 4.2863095, 20: 5.0116888, 100: 6.0846377} {
		s := usual
		s.Players = players
		if got := s.studentizedRange(); math.Abs(got-want) > 1e-6 {
			t.Errorf("range of %d: %v, R has %v", players, got, want)
		}
	}
}

// TestThereAndBack: the leagues for an effect see that effect, and one league less
// does not.
func TestThereAndBack(t *testing.T) {
	t.Parallel()
	for _, m := range []Measure{Adjusted, Raw} {
		for _, effect := range []float64{0.003, 0.02, 0.2} {
			n, err := usual.Leagues(m, effect)
			if err != nil {
				t.Fatal(err)
			}
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
	t.Parallel()
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
