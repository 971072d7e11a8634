package conformance

import (
	"fmt"
	"slices"
	"strings"
)

// Role is what the agent under test is.
type Role string

// The roles.
const (
	Player  Role = "player"
	Referee Role = "referee"
	Manager Role = "manager"
)

// Roles returns all roles.
func Roles() []Role { return []Role{Player, Referee, Manager} }

// ParseRole reads a role.
func ParseRole(s string) (Role, error) {
	if r := Role(s); slices.Contains(Roles(), r) {
		return r, nil
	}
	return "", fmt.Errorf("%q is none of player, referee and manager", s)
}

// Level says what depends on a rule.
type Level string

// The levels, from the gravest.
const (
	Must   Level = "must"   // a league will break
	Should Level = "should" // the protocol asks for it; a league may break
	Wild   Level = "wild"   // it deviates, but peers cope
)

// Levels returns all levels, gravest first.
func Levels() []Level { return []Level{Must, Should, Wild} }

// Check is one rule of the protocol and how it is tried.
type Check struct {
	ID    string // "player.join.accept": role, subject, rule
	Level Level
	Rule  string // as a sentence, with where it stands in the protocol
	// Advice says what to change in an agent that fails.
	Advice string

	run func(*T)
}

// Checks returns the checks of a role, in the order in which they are made.
func Checks(role Role) []Check {
	switch role {
	case Player:
		return playerChecks()
	case Referee:
		return refereeChecks()
	case Manager:
		return managerChecks()
	}
	return nil
}

// Select returns the checks whose ids are given, or begin with one that is
// given and a dot: "player.join" stands for all that begin so. The error names
// the first that stands for none, and the nearest.
func Select(checks []Check, only []string) ([]Check, error) {
	if len(only) == 0 {
		return checks, nil
	}
	for _, want := range only {
		if !slices.ContainsFunc(checks, func(c Check) bool { return c.named(want) }) {
			return nil, fmt.Errorf("no check is called %q", want)
		}
	}
	return slices.DeleteFunc(slices.Clone(checks), func(c Check) bool {
		return !slices.ContainsFunc(only, c.named)
	}), nil
}

func (c Check) named(id string) bool { return c.ID == id || strings.HasPrefix(c.ID, id+".") }
