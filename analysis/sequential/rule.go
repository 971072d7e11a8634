package sequential

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Kind is a kind of stopping rule.
type Kind string

const (
	None      Kind = ""          // never
	Ranked    Kind = "ranked"    // every pair is significantly different, or equal within the margin
	Best      Kind = "best"      // one player is significantly better than all others
	Precision Kind = "precision" // all adjusted points are known to a precision
)

// Rule is a stopping rule.
type Rule struct {
	Kind Kind
	// Width is for Precision: the longest half of an interval, in points per match.
	Width float64
}

// ParseRule parses "ranked", "best" or "precision=0.005".
func ParseRule(s string) (Rule, error) {
	name, value, valued := strings.Cut(s, "=")
	switch kind := Kind(name); kind {
	case Ranked, Best:
		if valued {
			return Rule{}, fmt.Errorf("%q takes no value, got %q", name, value)
		}
		return Rule{Kind: kind}, nil
	case Precision:
		width, err := strconv.ParseFloat(value, 64)
		if err != nil || !(width > 0 && width < 3) {
			return Rule{}, fmt.Errorf("precision is %q, want points per match above 0 and below 3, as in precision=0.005", value)
		}
		return Rule{Kind: kind, Width: width}, nil
	}
	return Rule{}, fmt.Errorf("unknown rule %q; want ranked, best or precision=0.005", s)
}

// String returns the form that ParseRule parses; empty for None.
func (r Rule) String() string {
	if r.Kind == Precision {
		return string(r.Kind) + "=" + strconv.FormatFloat(r.Width, 'g', -1, 64)
	}
	return string(r.Kind)
}

// Guarantee is what the error bound rests on.
type Guarantee string

const (
	// Asymptotic assumes that league differences are nearly normal after the burn-in.
	Asymptotic Guarantee = "asymptotic"
	// Finite assumes only that leagues are independent and alike, and league values
	// within the bounds of the game, technical losses included.
	Finite Guarantee = "finite"
)

// ParseGuarantee parses "asymptotic" or "finite".
func ParseGuarantee(s string) (Guarantee, error) {
	switch g := Guarantee(s); g {
	case Asymptotic, Finite:
		return g, nil
	}
	return "", fmt.Errorf("unknown guarantee %q; want asymptotic or finite", s)
}

// Options of a tracker.
type Options struct {
	Rule      Rule
	Guarantee Guarantee
	// Margin of indifference, in adjusted points per match: for Ranked, two players
	// that are shown to differ by less count as decided; 0 turns that off.
	Margin float64
	// Level is 1 minus the chance that any decision is ever wrong, and the level of
	// each interval at all leagues at once; for example 0.95.
	Level float64
}

func (o Options) validate(s Shape) error {
	switch {
	case !(o.Level > 0 && o.Level < 1):
		return fmt.Errorf("level is %v; want a number between 0 and 1", o.Level)
	case o.Guarantee != Asymptotic && o.Guarantee != Finite:
		return fmt.Errorf("unknown guarantee %q; want asymptotic or finite", o.Guarantee)
	case !(o.Margin >= 0) || math.IsInf(o.Margin, 1):
		return fmt.Errorf("margin is %v; want points per match, at least 0", o.Margin)
	case o.Margin > 0 && o.Rule.Kind != Ranked:
		return fmt.Errorf("a margin needs the rule ranked, not %s", o.Rule)
	case o.Margin > 0 && o.Margin >= s.Choices:
		return fmt.Errorf("margin is %v; want less than %.4g points per match, the largest difference in this field",
			o.Margin, s.Choices)
	case o.Rule.Kind != Precision && s.Choices == 0:
		return errors.New("two players and a fair draw: both expect the same points, so neither can be better")
	}
	return nil
}
