// Package kit is what the checks of all roles share: sending requests, reading
// answers, endpoints for the suite's own agents, registration, the rules about
// headers, and hostile input.
package kit

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Role is what the agent under test is.
type Role string

// The roles.
const (
	Player  Role = "player"
	Referee Role = "referee"
	Manager Role = "manager"
)

// Level says how serious it is to break a rule.
type Level string

// The levels, most serious first.
const (
	Must   Level = "must"   // a league will break
	Should Level = "should" // the protocol asks for it; a league may break
	Wild   Level = "wild"   // it deviates, but known peers cope
)

// Levels returns all levels, most serious first.
func Levels() []Level { return []Level{Must, Should, Wild} }

// Check is one rule of the protocol and how it is tested.
type Check struct {
	ID    string // role, subject and rule: "player.join.accept"
	Level Level
	Rule  string // one sentence, with the part of the protocol it comes from
	// Advice says what to change in an agent that fails.
	Advice string
	// Needs lists earlier checks. If one of them did not pass, this check could
	// only repeat its finding and is skipped.
	Needs []string
	// Run tests the rule. It ends the check through its T, or returns if the
	// agent follows the rule.
	Run func(*T)
}

// Needing returns the check with more ids in Needs.
func (c Check) Needing(ids ...string) Check {
	c.Needs = append(slices.Clone(c.Needs), ids...)
	return c
}

func (c Check) named(id string) bool { return c.ID == id || strings.HasPrefix(c.ID, id+".") }

// Select returns the checks with the given ids. An id also selects all checks
// below it: "player.join" selects "player.join.answer". No ids select all
// checks. It returns an error for an id that selects nothing.
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

// Status is how a check ended.
type Status string

// The ways a check can end.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Skipped Status = "skipped" // it could not be tested; Detail says why, and what to do
)

// Outcome is the result of one check.
type Outcome struct {
	ID     string `json:"id"`
	Level  Level  `json:"level"`
	Rule   string `json:"rule"`
	Status Status `json:"status"`
	// Detail says what was wrong, why the check was skipped or, if it passed,
	// what was measured.
	Detail string `json:"detail,omitempty"`
	// Advice says what to change. It is set only if the check failed.
	Advice string `json:"advice,omitempty"`
	// Evidence holds the exchanges before the failure, the decisive one last.
	Evidence []Evidence    `json:"evidence,omitempty"`
	Took     time.Duration `json:"-"`
	Seconds  float64       `json:"seconds"`
}

// Evidence is one exchange with the agent, byte for byte. Long messages are
// cut, and say so.
type Evidence struct {
	To      string  `json:"to,omitempty"`   // the agent's URL, for a request to the agent
	From    string  `json:"from,omitempty"` // the sender, for a request from the agent
	Request string  `json:"request"`
	Status  int     `json:"status,omitempty"` // HTTP
	Answer  string  `json:"answer,omitempty"`
	Error   string  `json:"error,omitempty"` // why no answer arrived
	TookMS  float64 `json:"took_ms"`
}
