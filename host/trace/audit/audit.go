// Package audit checks from recorded messages whether a league followed its
// rules: results follow from choices and drawn numbers, everybody received the
// same result, standings and schedule are right, and no player who answered in
// time got a technical loss.
//
// [Leagues] divides a recording by league and collects the [Evidence] of each.
// [Evidence.Audit] makes the checks that need no statistics; package
// analysis/fairness tests the numbers of [Evidence.Draws].
//
// A player records its own matches only, a manager all of them, so each check
// counts what it could examine.
package audit

import (
	"fmt"
	"slices"
)

// Report is the outcome of all checks of one league.
type Report struct {
	League  string  `json:"league_id"`
	Matches int     `json:"matches"` // with a known result
	Checks  []Check `json:"checks"`
}

// Check is one rule and its findings.
type Check struct {
	ID   string `json:"id"`
	Rule string `json:"rule"` // as a sentence
	// Examined counts what the rule could be checked on: matches, answers or
	// rows of tables.
	Examined int `json:"examined"`
	// Broken counts violations. Findings describes the first of them.
	Broken   int      `json:"broken"`
	Findings []string `json:"findings,omitempty"`
}

// maxFindings is the largest number of findings that a check describes.
const maxFindings = 20

// Holds reports whether there are no findings. A check without anything to
// examine holds as well; see Examined.
func (c *Check) Holds() bool { return c.Broken == 0 }

// Broken returns the checks that do not hold.
func (r *Report) Broken() []Check {
	return slices.DeleteFunc(slices.Clone(r.Checks), func(c Check) bool { return c.Holds() })
}

// found counts a violation and describes it.
func (c *Check) found(format string, args ...any) {
	c.Broken++
	if len(c.Findings) < maxFindings {
		c.Findings = append(c.Findings, fmt.Sprintf(format, args...))
	}
}

// Audit makes all checks.
func (e *Evidence) Audit() Report {
	r := Report{League: e.League, Checks: []Check{
		e.choices(), e.numbers(), e.scoring(), e.sameResult(), e.offences(), e.deadlines(), e.tables(), e.champions(), e.balance(), e.unexpected(),
	}}
	for _, m := range e.Matches {
		if len(m.results) > 0 {
			r.Matches++
		}
	}
	return r
}

// Draw is one drawn number and the choices of the players; unknown choices are
// empty.
type Draw struct {
	Number  int
	Players [2]string
	Choices [2]string // "even" or "odd", of PLAYER_A and PLAYER_B
}

// Draws returns the drawn numbers in the order of the matches.
func (e *Evidence) Draws() []Draw {
	var all []Draw
	for _, m := range e.Matches {
		for _, t := range m.results {
			n, ok := t.Outcome.Drawn.Get()
			if !ok || t.Invalid != nil {
				continue
			}
			d := Draw{Number: n, Players: m.Players}
			for i, p := range m.Players {
				d.Choices[i] = string(t.Outcome.Choices[p])
			}
			all = append(all, d)
			break
		}
	}
	return all
}
