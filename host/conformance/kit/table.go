package kit

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/protocol"
)

//go:embed checks.txt
var common string

// Checks returns the checks of a role in the order of its table, with the functions that
// test them, by id. It panics if a row has no function, or a function no row.
//
// A row is a line with the id, without the role, and the level; the rule and the advice stand below
// it, indented. The words after "needs" are the ids of checks that it needs. They follow the level
// or, for all rows below it, stand in a line of their own that begins with "=" and may also say
// "recorded". In the place of the level, "common" refers to the row of the same id, or of its last
// word, in the table that all roles share; in that, {role} stands for the role, {type} for the type
// of message that is named, and {answer} for that of its answer.
func Checks(role Role, table string, tests ...map[string]func(*T)) []Check {
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
		if c.Level == "common" {
			_, last, _ := strings.Cut(c.ID, ".")
			like, exact := shared[c.ID]
			if !exact {
				like = shared[last]
			}
			text := strings.NewReplacer("{role}", string(role), "{type}", string(r.about), "{answer}", string(r.about.Answer()))
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
	about protocol.Type
}

func rows(table string) (all []row) {
	var needs []string
	recorded := false
	for line := range strings.Lines(table) {
		line = strings.TrimSuffix(line, "\n")
		head, needed, _ := strings.Cut(line, "needs ")
		words, more := strings.Fields(head), strings.Fields(needed)
		switch last := len(all) - 1; {
		case line == "":
		case words[0] == "=":
			needs, recorded = more, len(words) > 1
		case line[0] != '\t':
			r := row{Check: Check{ID: words[0], Level: Level(words[1]), Needs: slices.Concat(needs, more), Recorded: recorded}}
			if len(words) > 2 {
				r.about = protocol.Type(words[2])
			}
			all = append(all, r)
		case all[last].Rule == "":
			all[last].Rule = line[1:]
		default:
			all[last].Advice = line[1:]
		}
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
