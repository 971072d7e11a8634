package power

import (
	"fmt"
	"math"
	"sort"
)

// Leagues is the smallest number of leagues that see an effect with the chance that
// is asked for.
func (s Setup) Leagues(m Measure, effect float64) (int, error) {
	if err := s.check(effect); err != nil {
		return 0, err
	}
	c := s.fixed()
	return smallest(2, effect, func(n int) float64 { return c.sees(m, effect, n) }, s.Chance)
}

// Half is the number of leagues by which half of the sequential experiments have
// stopped that go on until somebody is the best.
func (s Setup) Half(effect float64) (int, error) {
	if err := s.check(effect); err != nil {
		return 0, err
	}
	c := s.fixed()
	return smallest(2, effect, func(n int) float64 { return c.stops(effect, n) }, 0.5)
}

// Effect is the smallest effect that so many leagues see with the chance that is
// asked for.
func (s Setup) Effect(m Measure, leagues int) (float64, error) {
	if err := s.Validate(); err != nil {
		return 0, fmt.Errorf("power: %w", err)
	}
	if leagues < 2 || leagues > Most {
		return 0, fmt.Errorf("power: %d leagues, want 2 to %d", leagues, Most)
	}
	c := s.fixed()
	low, high := 0.0, 1-s.Differ
	if c.sees(m, high, leagues) < s.Chance {
		return 0, &TooFewError{Leagues: leagues, Largest: high}
	}
	for range 50 {
		if mid := (low + high) / 2; c.sees(m, mid, leagues) < s.Chance {
			low = mid
		} else {
			high = mid
		}
	}
	return high, nil
}

// TooFewError is a number of leagues that sees no effect at all.
type TooFewError struct {
	Leagues int
	Largest float64 // effect that is possible
}

func (e *TooFewError) Error() string {
	return fmt.Sprintf("power: %d leagues are too few to see even an effect of %.3g", e.Leagues, e.Largest)
}

func (s Setup) check(effect float64) error {
	err := s.Validate()
	if err == nil {
		err = s.validEffect(effect)
	}
	if err != nil {
		return fmt.Errorf("power: %w", err)
	}
	return nil
}

// smallest finds the first number of leagues with a chance that grows with it.
func smallest(from int, effect float64, chance func(n int) float64, want float64) (int, error) {
	high := from
	for chance(high) < want {
		if high > Most/2 {
			return 0, fmt.Errorf("power: an effect of %v takes more than %d leagues", effect, Most)
		}
		high *= 2
	}
	low := max(from, high/2)
	return low + sort.Search(high-low, func(k int) bool { return chance(low+k) >= want }), nil
}

// relative is the mean of a contrast in standard deviations, by which one league
// tells how much an effect stands out.
func (c Contrast) relative() float64 { return c.Mean / c.Deviation }

// Ratio is how many times more leagues raw points take than adjusted ones, for
// however small an effect.
func (s Setup) Ratio() float64 {
	const small = 1e-9
	adjusted, raw := s.Contrast(Adjusted, small).relative(), s.Contrast(Raw, small).relative()
	return math.Pow(adjusted/raw, 2)
}
