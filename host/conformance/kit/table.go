package kit

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/strategylab/strategylab/host/protocol"
)

//go:embed checks.json
var common []byte

// Checks returns the checks of a role in the order of its table, with the functions that
// test them, by id. It panics if a row has no function, or a function no row.
//
// A table is a JSON list of checks; ids and needs are without the role. A row without a level is
// the row of the same id, or of its last word, in the table that all roles share; in that, {role}
// stands for the role, {type} for the type of message that the row is about, and {answer} for
// that of its answer.
func Checks(role Role, table []byte, tests ...map[string]func(*T)) []Check {
	run := map[string]func(*T){}
	for _, some := range tests {
		maps.Copy(run, some)
	}
	shared := map[string]Check{}
	for _, r := range rows(common) {
		shared[r.ID] = r.Check
	}
	var checks []Check
	for _, r := range rows(table) {
		c := r.Check
		if c.Level == "" {
			_, last, _ := strings.Cut(c.ID, ".")
			like, exact := shared[c.ID]
			if !exact {
				like = shared[last]
			}
			text := strings.NewReplacer("{role}", string(role), "{type}", string(r.About), "{answer}", string(r.About.Answer()))
			c.Level, c.Rule, c.Advice = like.Level, text.Replace(like.Rule), text.Replace(like.Advice)
			c.Needs = append(c.Needs, like.Needs...)
		}
		if c.Run = run[c.ID]; c.Run == nil {
			panic(fmt.Sprintf("nothing tests %s.%s", role, c.ID))
		}
		delete(run, c.ID)
		c.ID = fmt.Sprintf("%s.%s", role, c.ID)
		for i, id := range c.Needs {
			c.Needs[i] = fmt.Sprintf("%s.%s", role, id)
		}
		checks = append(checks, c)
	}
	for id := range run {
		panic(fmt.Sprintf("the table of the %s has no row %s", role, id))
	}
	return checks
}

type row struct {
	Check
	About protocol.Type
}

func rows(table []byte) (all []row) {
	if err := json.Unmarshal(table, &all); err != nil {
		panic(err) // the tables are ours
	}
	return all
}

// For returns tests of a role for the handle of a running check that its package has.
func For[H any](with func(*T) H, tests ...map[string]func(H)) map[string]func(*T) {
	all := map[string]func(*T){}
	for _, some := range tests {
		for id, test := range some {
			all[id] = func(t *T) { test(with(t)) }
		}
	}
	return all
}

// Script returns a test that consists of steps, by the same handle.
func Script[H any](steps ...func(H)) func(H) {
	return func(t H) {
		for _, next := range steps {
			next(t)
		}
	}
}
