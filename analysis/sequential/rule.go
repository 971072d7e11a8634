package sequential

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Kind says when an experiment has shown enough.
type Kind string

// The kinds of rules.
const (
	None      Kind = ""          // never
	Ranked    Kind = "ranked"    // every two players are told apart, or equal within the margin
	Best      Kind = "best"      // somebody is better than all the others
	Precision Kind = "precision" // everybody's adjusted points are known to a given precision
)

// Rule says when to stop.
type Rule struct {
	Kind Kind
	// Width is for Precision: the longer half of every player's interval is at most
	// this many points per match.
	Width float64
}

// ParseRule reads "ranked", "best" or "precision=0.005".
func ParseRule(s string) (Rule, error) {
	name, value, valued := strings.Cut(s, "=")
	switch kind := Kind(name); kind {
	case Ranked, Best:
		if valued {
			return Rule{}, fmt.Errorf("%q takes no value, and was given %q", name, value)
		}
		return Rule{Kind: kind}, nil
	case Precision:
		width, err := strconv.ParseFloat(value, 64)
		if err != nil || !(width > 0 && width < 3) {
			return Rule{}, fmt.Errorf("precision is %q, want points per match above 0 and below 3, as in precision=0.005", value)
		}
		return Rule{Kind: kind, Width: width}, nil
	}
	return Rule{}, fmt.Errorf("there is no rule %q; want ranked, best or precision=0.005", s)
}

// String returns what ParseRule reads.
// It is empty for the rule that is never met.
func (r Rule) String() string {
	if r.Kind == Precision {
		return string(r.Kind) + "=" + strconv.FormatFloat(r.Width, 'g', -1, 64)
	}
	return string(r.Kind)
}

// Guarantee says what the error bound rests on.
type Guarantee string

// The guarantees.
const (
	// Asymptotic takes league differences for nearly normal after the burn-in.
	Asymptotic Guarantee = "asymptotic"
	// Finite assumes only that league values are independent, alike, and within the
	// bounds of the game. As long as nobody had a technical loss the bounds are
	// those that choices leave; with the first one everything is judged again from
	// the first league by the bounds that technical losses leave.
	Finite Guarantee = "finite"
)

// ParseGuarantee reads "asymptotic" or "finite".
func ParseGuarantee(s string) (Guarantee, error) {
	switch g := Guarantee(s); g {
	case Asymptotic, Finite:
		return g, nil
	}
	return "", fmt.Errorf("there is no guarantee %q; want asymptotic or finite", s)
}

// Options of a tracker.
type Options struct {
	Rule      Rule
	Guarantee Guarantee
	// Margin of indifference, in adjusted points per match: for Ranked, two players
	// who are shown to differ by less count as decided. 0 is none.
	Margin float64
	// Level is 1 minus the chance that anything is ever wrongly decided, and that
	// of each interval to hold at all leagues; for example 0.95.
	Level float64
}

func (o Options) validate(s Shape) error {
	switch {
	case !(o.Level > 0 && o.Level < 1):
		return fmt.Errorf("level %v is not in (0, 1)", o.Level)
	case o.Guarantee != Asymptotic && o.Guarantee != Finite:
		return fmt.Errorf("there is no guarantee %q", o.Guarantee)
	case !(o.Margin >= 0) || math.IsInf(o.Margin, 1):
		return fmt.Errorf("margin %v is not a number of points from 0", o.Margin)
	case o.Margin > 0 && o.Rule.Kind != Ranked:
		return fmt.Errorf("a margin goes with the rule ranked, not with %s", o.Rule)
	case o.Margin > 0 && o.Margin >= s.Choices.Difference:
		return fmt.Errorf("margin %v: no two players can differ by more than %.4g points per match, so all would be equal",
			o.Margin, s.Choices.Difference)
	case o.Rule.Kind != Precision && s.Choices.Difference == 0:
		return errors.New("two players and a fair draw: what one gains the other gains too, so nobody can be better")
	}
	return nil
}
