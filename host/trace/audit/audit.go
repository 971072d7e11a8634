// Package audit checks from recorded messages whether a league followed its
// rules: results follow from choices and drawn numbers, everybody received the
// same result, standings and schedule are right, and no player who answered in
// time got a technical loss.
//
// [Leagues] divides a recording by league and collects the [Evidence] of each.
// [Evidence.Audit] makes the checks that need no statistics; package
// analysis/fairness tests the numbers of [Evidence.Draws].
//
// A player records its own matches only, a manager all of them, and some programs
// leave out to whom a message goes or who chose what. So each check counts what
// it could examine and what cannot be judged: a finding can be pointed to in the
// messages, and nothing is held against anybody that they do not hold.
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
	// Unknown counts what cannot be judged, since the recording does not hold what
	// it takes; Missing names that, each once.
	Unknown int      `json:"unknown,omitempty"`
	Missing []string `json:"missing,omitempty"`
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

// unknown counts what cannot be judged without something that the recording lacks.
func (c *Check) unknown(missing string) {
	c.Unknown++
	if !slices.Contains(c.Missing, missing) {
		c.Missing = append(c.Missing, missing)
	}
}

// Audit makes all checks.
func (e *Evidence) Audit() Report {
	r := Report{League: e.League, Checks: []Check{
		e.choices(), e.numbers(), e.scoring(), e.sameResult(), e.offences(), e.deadlines(), e.tables(), e.champions(), e.balance(), e.unexpected(), e.commitments(),
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
			n, ok := t.Drawn.Get()
			if !ok || t.Conflict != "" {
				continue
			}
			d := Draw{Number: n, Players: m.Players}
			for i, p := range m.Players {
				d.Choices[i] = string(t.Choices[p])
			}
			all = append(all, d)
			break
		}
	}
	return all
}
