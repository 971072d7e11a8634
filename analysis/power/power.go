// Package power plans experiments: how many leagues it takes to see a difference
// between strategies, and what difference so many leagues can see.
//
// The difference is one player's edge: its choices differ from every opponent's with
// a chance that is higher by the effect than that with which the others differ from
// each other. The theory of the game gives the rest. Under a fair draw and without
// technical losses a match that differs is worth 1.5 adjusted points to both and any
// other 1, and matches are independent if strategies do not learn; strategies that
// learn make the matches of a league dependent, so that the figures are a guide.
package power

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/strategylab/strategylab/analysis/sequential"
)

// Measure says which points are compared.
type Measure string

// The measures.
const (
	Adjusted Measure = "adjusted"
	Raw      Measure = "raw"
)

// Most is the largest number of leagues that is considered.
const Most = 1_000_000_000

// Setup is a field and what is asked of an experiment with it.
type Setup struct {
	Players, Legs int
	Differ        float64 // P(differ) of equal players, in (0, 1)
	Level         float64 // 1 minus the chance of any false difference, in (0, 1)
	Chance        float64 // with which the edge is to be seen, in (0, 1)
}

// Validate reports what is wrong with a setup.
func (s Setup) Validate() error {
	switch {
	case s.Players == 2:
		return errors.New("2 players: what moves one's points under a fair draw moves the other's as much, so there is nothing to see; want at least 3")
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

func (s Setup) validEffect(effect float64) error {
	if !(effect > 0 && effect <= 1-s.Differ) {
		return fmt.Errorf("effect is %v, want above 0 and at most %v: P(differ) is %v without it", effect, 1-s.Differ, s.Differ)
	}
	return nil
}

// Contrast is what one league says of the difference between the player with the
// edge and one other, in points per match.
type Contrast struct {
	Mean        float64
	Deviation   float64 // standard deviation over leagues
	Correlation float64 // with the difference to a third player
}

// Contrast derives the moments of the difference in one league. Let D be whether two
// choices differ, with chance p; adjusted points 1 + D/2 have the variance p(1-p)/4,
// and raw points, 3 or 0 or 1, have p(10-p)/4. The match between the two moves both
// adjusted points equally and cancels; its raw points are 3 apart if it differs. Of
// the matches with others, the player with the edge has those with chance p + effect,
// and the matches that two of the others play with each other are in both of their
// differences.
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
	if m == Adjusted {
		common = (k-3)*variance(q) + between
	}
	return Contrast{
		Mean:        effect / 2 * (k - 2) / (k - 1),
		Deviation:   math.Sqrt(total/float64(s.Legs)) / (k - 1),
		Correlation: common / total,
	}
}

// Sees is the chance that an experiment of so many leagues puts the player with the
// edge alone into the first tier: that it is significantly better than all the
// others, corrected for comparing all pairs.
func (s Setup) Sees(m Measure, effect float64, leagues int) float64 {
	return s.fixed().sees(m, effect, leagues)
}

// fixed is a setup with what does not depend on the number of leagues.
type fixed struct {
	Setup
	all, few  float64 // what the normal equivalent of t has to exceed
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

func (s *fixed) sees(m Measure, effect float64, leagues int) float64 {
	if leagues < 2 {
		return 0
	}
	critical := s.all
	if leagues < max(100, 5*s.Players) {
		critical = s.few // as the estimates of an experiment do it
	}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(leagues - 1)}
	return s.beyond(m, effect, leagues, t.Quantile(distuv.UnitNormal.CDF(critical)))
}

// stops is the chance that a sequential experiment until somebody is the best has
// stopped by so many leagues, or little less, since it could also have stopped
// earlier and looked worse afterwards.
func (s *fixed) stops(effect float64, leagues int) float64 {
	return s.beyond(Adjusted, effect, leagues, s.student.Critical(int64(leagues), s.threshold))
}

// beyond is the chance that all differences exceed so many standard errors. They are
// normal with one correlation, so given what they share they are independent (C. W.
// Dunnett and M. Sobel, Biometrika 42 (1955), 258-260).
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

// holm is what the one-sided p-value of the last of the player's comparisons must
// not exceed, when the others are decided.
func (s Setup) holm() float64 {
	return (1 - s.Level) / float64(s.Players*(s.Players-1)-s.Players+2)
}

// studentizedRange is the quantile at the level of the range of so many standard
// normal values: over root two, what one comparison has to exceed where all pairs
// are compared at once (J. W. Tukey, The problem of multiple comparisons, 1953).
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
