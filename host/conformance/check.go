package conformance

import (
	"context"
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

// A part is what there is for one role: the checks, in the order in which they
// are made, and the counterpart that an agent of the role has to do with.
type part struct {
	role   Role
	checks func() []Check
	open   func(context.Context, *counterpart) (side, error)
}

// A side is the counterpart of an agent of one role. A check finds it in T.
type side interface {
	// describe adds what has become known of the agent.
	describe(*Report)
	// close ends what the side has opened.
	close() error
}

func parts() []part {
	return []part{
		{Player, playerChecks, openPlayerSide},
		{Referee, refereeChecks, openRefereeSide},
		{Manager, managerChecks, openManagerSide},
	}
}

func partOf(role Role) (part, error) {
	var known []string
	for _, p := range parts() {
		if p.role == role {
			return p, nil
		}
		known = append(known, string(p.role))
	}
	return part{}, fmt.Errorf("there are no checks for %q; there are some for %s", role, strings.Join(known, ", "))
}

// Roles returns the roles for which there are checks.
func Roles() []Role {
	var roles []Role
	for _, p := range parts() {
		roles = append(roles, p.role)
	}
	return roles
}

// ParseRole reads a role. The error names those that there are.
func ParseRole(s string) (Role, error) {
	p, err := partOf(Role(s))
	return p.role, err
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
	// Needs are the ids of checks that come before this one and without which
	// it would only find once more what they have found: where one of them
	// failed, this one is skipped.
	Needs []string

	run func(*T)
}

// Checks returns the checks of a role, in the order in which they are made.
func Checks(role Role) []Check {
	p, err := partOf(role)
	if err != nil {
		return nil
	}
	return p.checks()
}

// Select returns the checks whose ids are given, or begin with one that is
// given and a dot: "player.join" stands for all that begin so. The error names
// the first that stands for none.
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
