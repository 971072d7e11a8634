// Package power predicts: how many leagues it takes to see a difference between
// strategies, what difference a number of leagues can see ([Setup]), and how often a
// player will answer too late ([Forecast]).
//
// The difference is one player's edge: the chance that its choice differs from an
// opponent's exceeds the chance among the others by the effect. The theory of the game
// gives the rest. Under a fair draw and without technical losses a match in which
// choices differ is worth 1.5 adjusted points to both and any other match 1. Matches
// are independent if strategies do not learn; strategies that learn make the matches of
// a league dependent, so for them the figures are a guide.
package power

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/strategylab/strategylab/analysis/sequential"
)

// Measure says which points are compared.
type Measure string

const (
	Adjusted Measure = "adjusted"
	Raw      Measure = "raw"
)

// Most is the largest number of leagues considered.
const Most = 1_000_000_000

// Setup is a field, and the error rates of an experiment with it.
type Setup struct {
	Players, Legs int
	Differ        float64 // P(differ) of equal players, in (0, 1)
	Level         float64 // 1 minus the chance of any false difference, in (0, 1)
	Chance        float64 // of seeing the edge (the power), in (0, 1)
}

// Validate reports the first mistake in a setup.
func (s Setup) Validate() error {
	switch {
	case s.Players == 2:
		return errors.New("2 players: under a fair draw both expect the same points, so there is no difference to see; want at least 3")
	case s.Players < 3 || s.Players > 1000:
		return fmt.Errorf("%d players, want 3 to 1000", s.Players)
	case s.Legs < 1 || s.Legs > 1_000_000:
		return fmt.Errorf("%d legs, want 1 to 1000000", s.Legs)
	case !(s.Differ > 0 && s.Differ < 1):
		return fmt.Errorf("P(differ) is %v, want a chance above 0 and below 1", s.Differ)
	case !(s.Level > 0 && s.Level < 1):
		return fmt.Errorf("level is %v, want a chance above 0 and below 1", s.Level)
	case !(s.Chance >= 0.01 && s.Chance <= 0.9999):
		return fmt.Errorf("chance is %v, want 0.01 to 0.9999", s.Chance)
	}
	return nil
}

// Contrast is the distribution over leagues of the difference between the player with
// the edge and one other, in points per match.
type Contrast struct {
	Mean        float64
	Deviation   float64 // standard deviation over leagues
	Correlation float64 // with the difference to a third player
}

// Contrast derives the moments of the difference in one league. If two choices differ
// with chance p, adjusted points (1, or 1.5 if they differ) have the variance p(1-p)/4,
// and raw points (3, 0 or 1) have p(10-p)/4. The match between the two players moves
// both adjusted points equally and cancels; its raw points are 3 apart if the choices
// differ. Against others, the player with the edge differs with chance p + effect. A
// match between two of the others is part of both of their differences.
func (s Setup) Contrast(m Measure, effect float64) Contrast {
	k := float64(s.Players)
	p, q := s.Differ, s.Differ+effect
	variance := func(p float64) float64 { return p * (1 - p) / 4 }
	direct, between := 0.0, variance(p) // between: covariance of the two sides of one match
	if m == Raw {
		variance = func(p float64) float64 { return p * (10 - p) / 4 }
		direct, between = 9*q, -p*(8+p)/4
	}
	total := (k-2)*(variance(q)+variance(p)) + direct
	common := (k-3)*variance(q) + direct + between
	return Contrast{
		Mean:        s.Delta(effect),
		Deviation:   math.Sqrt(total/float64(s.Legs)) / (k - 1),
		Correlation: common / total,
	}
}

// Delta is the mean difference between the player with the edge and another, in adjusted
// points per match: the unit of tables, margins and sequential tests.
func (s Setup) Delta(effect float64) float64 {
	k := float64(s.Players)
	return effect / 2 * (k - 2) / (k - 1)
}

// EffectOf is the effect that makes a difference in adjusted points per match. It is
// infinite for fewer than 3 players.
func (s Setup) EffectOf(delta float64) float64 { return delta / s.Delta(1) }

// fixed is a setup with the values that do not depend on the number of leagues.
type fixed struct {
	Setup
	all, few  float64 // critical values of the normal equivalent of t, for many and for few leagues
	student   sequential.Student
	threshold float64
}

func (s Setup) fixed() *fixed {
	student := sequential.NewStudent(sequential.BurnIn)
	return &fixed{
		Setup: s, all: s.studentizedRange() / math.Sqrt2, few: distuv.UnitNormal.Quantile(1 - s.holm()),
		student: student, threshold: student.Threshold(2 * s.holm()),
	}
}

// sees is the chance that an experiment of some leagues puts the player with the edge
// alone into tier 1: that it significantly beats all others, adjusted for all pairs.
func (s *fixed) sees(m Measure, effect float64, leagues int) float64 {
	if leagues < 2 {
		return 0
	}
	critical := s.all
	if leagues < max(100, 5*s.Players) {
		critical = s.few // as package analysis does
	}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(leagues - 1)}
	return s.beyond(m, effect, leagues, t.Quantile(distuv.UnitNormal.CDF(critical)))
}

// stops is the chance that a sequential experiment that ends with the first winner has
// ended by a number of leagues. It is slightly too small, because an experiment may have
// ended earlier and look worse by then.
func (s *fixed) stops(effect float64, leagues int) float64 {
	return s.beyond(Adjusted, effect, leagues, s.student.Critical(int64(leagues), s.threshold))
}

// beyond is the chance that all differences exceed a number of standard errors. They
// are normal with one correlation, so they are independent given their common part
// (C. W. Dunnett and M. Sobel, Biometrika 42 (1955), 258-260).
func (s *fixed) beyond(m Measure, effect float64, leagues int, critical float64) float64 {
	if math.IsInf(critical, 1) {
		return 0
	}
	c := s.Contrast(m, effect)
	mean := c.Mean/c.Deviation*math.Sqrt(float64(leagues)) - critical
	shared, own := math.Sqrt(c.Correlation), math.Sqrt(1-c.Correlation)
	return integrate(func(u float64) float64 {
		return math.Pow(distuv.UnitNormal.CDF((mean+shared*u)/own), float64(s.Players-1))
	})
}

// integrate returns the mean of a function of a standard normal variable.
func integrate(f func(u float64) float64) float64 {
	const reach, steps = 8.0, 400
	sum := 0.0
	for k := range steps {
		u := -reach + (float64(k)+0.5)*2*reach/steps
		sum += f(u) * math.Exp(-u*u/2)
	}
	return sum * 2 * reach / steps / math.Sqrt(2*math.Pi)
}

// holm is the largest one-sided p-value at which Holm's method rejects the last of the
// player's comparisons, when the others are decided.
func (s Setup) holm() float64 {
	return (1 - s.Level) / float64(s.Players*(s.Players-1)-s.Players+2)
}

// studentizedRange is the quantile, at the level, of the range of as many standard
// normal values as there are players. Divided by root two, it is the critical value of
// one comparison among all pairs (J. W. Tukey, The problem of multiple comparisons,
// 1953).
func (s Setup) studentizedRange() float64 {
	k := float64(s.Players)
	below := func(q float64) float64 {
		return k * integrate(func(u float64) float64 {
			return math.Pow(distuv.UnitNormal.CDF(u)-distuv.UnitNormal.CDF(u-q), k-1)
		})
	}
	low, high := 0.0, 20.0
	for range 50 {
		if mid := (low + high) / 2; below(mid) < s.Level {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2
}

// Leagues is the smallest number of leagues that see an effect with the chance of the
// setup.
func (s Setup) Leagues(m Measure, effect float64) (int, error) {
	if err := s.check(effect); err != nil {
		return 0, err
	}
	c := s.fixed()
	return smallest(2, effect, func(n int) float64 { return c.sees(m, effect, n) }, s.Chance)
}

// Half is the median length, in leagues, of experiments that stop as soon as one
// strategy significantly beats all others.
func (s Setup) Half(effect float64) (int, error) {
	if err := s.check(effect); err != nil {
		return 0, err
	}
	c := s.fixed()
	return smallest(2, effect, func(n int) float64 { return c.stops(effect, n) }, 0.5)
}

// Effect is the smallest effect that a number of leagues sees with the chance of the
// setup. If the leagues see no possible effect, the error is a [*TooFewError].
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

// TooFewError is a number of leagues that sees no possible effect.
type TooFewError struct {
	Leagues int
	Largest float64 // effect that is possible
}

func (e *TooFewError) Error() string {
	return fmt.Sprintf("power: %d leagues are too few to see even an effect of %.3g", e.Leagues, e.Largest)
}

func (s Setup) check(effect float64) error {
	if err := s.Validate(); err != nil {
		return fmt.Errorf("power: %w", err)
	}
	if !(effect > 0 && effect <= 1-s.Differ) {
		return fmt.Errorf("power: effect is %v, want above 0 and at most %v: P(differ) is %v without it", effect, 1-s.Differ, s.Differ)
	}
	return nil
}

// smallest finds the first number of leagues whose chance, which grows with it, is
// large enough.
func smallest(from int, effect float64, chance func(n int) float64, want float64) (int, error) {
	high := from
	for chance(high) < want {
		if high > Most/2 {
			return 0, fmt.Errorf("power: an effect of %v needs more than %d leagues", effect, Most)
		}
		high *= 2
	}
	low := max(from, high/2)
	return low + sort.Search(high-low, func(k int) bool { return chance(low+k) >= want }), nil
}

// relative is the mean of a contrast in standard deviations of one league.
func (c Contrast) relative() float64 { return c.Mean / c.Deviation }

// Ratio is how many times more leagues raw points need than adjusted points, in the
// limit of small effects.
func (s Setup) Ratio() float64 {
	const small = 1e-9
	adjusted, raw := s.Contrast(Adjusted, small).relative(), s.Contrast(Raw, small).relative()
	return math.Pow(adjusted/raw, 2)
}
