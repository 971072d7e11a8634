package audit

import "fmt"

// Report is the outcome of all checks of one league.
type Report struct {
	League  string  `json:"league_id"`
	Matches int     `json:"matches"` // whose result is known
	Checks  []Check `json:"checks"`
}

// Check is one rule, and what was found.
type Check struct {
	ID   string `json:"id"`
	Rule string `json:"rule"` // as a sentence
	// Examined is how many times the rule could be checked, of whatever it is
	// about: matches, answers, rows of tables.
	Examined int `json:"examined"`
	// Broken is how many times it did not hold. Findings tells of the first.
	Broken   int      `json:"broken"`
	Findings []string `json:"findings,omitempty"`
}

// maxFindings bounds how many findings a check tells in words.
const maxFindings = 20

// Holds reports whether nothing was found. A check that could not be made
// holds as well; see Examined.
func (c *Check) Holds() bool { return c.Broken == 0 }

// Broken returns the checks that found something.
func (r *Report) Broken() []Check {
	var broken []Check
	for _, c := range r.Checks {
		if !c.Holds() {
			broken = append(broken, c)
		}
	}
	return broken
}

// found takes down that the rule does not hold.
func (c *Check) found(format string, args ...any) {
	c.Broken++
	if len(c.Findings) < maxFindings {
		c.Findings = append(c.Findings, fmt.Sprintf(format, args...))
	}
}

// Audit makes every check that needs no statistics.
func (e *Evidence) Audit() Report {
	r := Report{League: e.League, Checks: []Check{
		e.choices(), e.numbers(), e.scoring(), e.sameResult(), e.offences(), e.deadlines(), e.tables(), e.champions(), e.balance(), e.unexpected(),
	}}
	for _, m := range e.Matches {
		if len(m.told) > 0 {
			r.Matches++
		}
	}
	return r
}

// Draw is one number that was drawn, and what the players had chosen; a choice
// that is not known is empty.
type Draw struct {
	Match   string
	Number  int
	Players [2]string
	Choices [2]string // "even" or "odd", of PLAYER_A and PLAYER_B
}

// Draws returns the numbers that were drawn, in the order of the matches.
func (e *Evidence) Draws() []Draw {
	var all []Draw
	for _, m := range e.Matches {
		for _, t := range m.told {
			n, ok := t.Outcome.Drawn.Get()
			if !ok || t.Wrong != nil {
				continue
			}
			d := Draw{Match: m.ID, Number: n, Players: m.Players}
			for i, p := range m.Players {
				d.Choices[i] = string(t.Outcome.Choices[p])
			}
			all = append(all, d)
			break
		}
	}
	return all
}
