package catalog_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// resolves checks what targets resolve to: a kind and a source, or an error, of which a
// part counts. Errors in scripts are *strategies.Error.
func resolves(t *testing.T, c *catalog.Catalog, want map[string]string) {
	t.Helper()
	for target, want := range want {
		e, err := c.Resolve(t.Context(), target)
		got := strings.TrimSpace(fmt.Sprint(e.Info.Kind, " ", filepath.ToSlash(e.Info.Source)))
		var se *strategies.Error
		if err != nil {
			got = err.Error()
		} else if e.Factory == nil {
			got += " without a factory"
		}
		if !strings.HasPrefix(got, want) || strings.Contains(want, ": load: ") != errors.As(err, &se) {
			t.Errorf("Resolve(%q): %q, want %q", target, got, want)
		}
	}
}

func TestTwoOfOneName(t *testing.T) {
	c := load(t, options(t, map[string]string{
		"scripts/random.lua": "", "scripts/mine.js": "", "scripts/mine.lua": "broken", "scripts/sound.lua": "",
	}))
	const two = `2 strategies are called "mine": scripts/mine.js and scripts/mine.lua; rename all but one, or name one by its path`
	resolves(t, c, map[string]string{
		"random": `2 strategies are called "random": built-in and scripts/random.lua; rename all but one, or name one by its path`,
		"mine":   two,
		// They do not stand in the way of others, and a path is not ambiguous.
		"sound": "lua scripts/sound.lua", "alternate": "builtin", "scripts/random.lua": "lua scripts/random.lua", "./scripts/mine.js": "js scripts/mine.js",
		"scripts/mine.lua": "scripts/mine.lua:1: load: syntax error",
	})
	// A field of everything plays without them, and with the built-in strategy.
	got := fieldOf(t, c, "")
	if !strings.HasPrefix(got, "alternate markov-2 random sound; ") || strings.Count(got, "is left out") != 2 || !strings.Contains(got, two) {
		t.Errorf("Field(nil) is %q, want a warning for each name", got)
	}
	o := options(t, nil)
	for i := range 1000 { // the list of many is short
		o.Builtins = append(o.Builtins, &toy{info: strategies.Info{Name: "many", Source: fmt.Sprintf("p%d", i)}})
	}
	resolves(t, load(t, o), map[string]string{"many": `1000 strategies are called "many": p0, p1, p2 and 997 more; rename all but one`})
}

func TestResolveUnknown(t *testing.T) {
	c := load(t, options(t, map[string]string{"scripts/mine.lua": "", "scripts/copycat.js": "", "notes.txt": ""}))
	resolves(t, c, map[string]string{
		"markv-2":           `no strategy "markv-2"; did you mean "markov-2"?`,
		"mne":               `no strategy "mne"; did you mean "mine"?`,
		"Random":            `no strategy "Random"; did you mean "random"?`,
		"zzzzzz":            `no strategy "zzzzzz"`,
		"scripts/mien.lua":  `no script "scripts/mien.lua"; did you mean "scripts/mine.lua"?`,
		"copycat.js":        `no script "copycat.js"; did you mean "scripts/copycat.js"?`,
		"./far/zzzzzzz.lua": `no script "./far/zzzzzzz.lua"`,
		"notes.txt":         "notes.txt is not a script: want a file ending in .lua or .js",
		"scripts/":          "scripts is not a script: want a file ending in .lua or .js",
		".":                 ". is not a script: want a file ending in .lua or .js",
	})
	var unknown *catalog.UnknownError
	if _, err := c.Resolve(t.Context(), "markv-2"); !errors.As(err, &unknown) || unknown.Nearest != "markov-2" {
		t.Errorf("Resolve(markv-2): %#v, want an *UnknownError with the nearest", err)
	}
}

func TestResolvePath(t *testing.T) {
	o := options(t, map[string]string{
		"scripts/mine.lua": "", "scripts/oops.lua": "broken", "far/away.js": "", "far/markov-2.lua": "", "far/bad.js": "broken", "far/a.b.js": "",
	})
	o.Limits = budget.Limits{Time: time.Second, Instructions: 77}
	c := load(t, o)
	for target, others := range map[string][]string{
		"mine":        {"scripts/mine.lua", "./scripts/mine.lua", "scripts/../scripts/mine.lua", filepath.Join(o.Dir, "scripts", "mine.lua")},
		"far/away.js": {"far/../far/away.js"},
	} {
		first, err := c.Resolve(t.Context(), target)
		if f, ok := first.Factory.(*toy); err != nil || !ok || f.limits != o.Limits {
			t.Fatalf("Resolve(%q) = %+v, %v, want the catalogue's limits", target, first, err)
		}
		for _, same := range others {
			if e, err := c.Resolve(t.Context(), same); err != nil || e.Factory != first.Factory {
				t.Errorf("Resolve(%q) = %v, %v, want the factory of %s", same, e.Factory, err, target)
			}
		}
	}
	resolves(t, c, map[string]string{
		"far/away.js":      "js far/away.js",
		"far/markov-2.lua": "lua far/markov-2.lua", // though the name is taken
		"markov-2":         "builtin",
		"far/bad.js":       "far/bad.js:1: load: syntax error near broken",
		"scripts/oops.lua": "scripts/oops.lua:1: load: syntax error near broken",
		"oops":             "scripts/oops.lua:1: load: syntax error near broken",
		"far/a.b.js":       `far/a.b.js: load: "a.b" is not a valid strategy name`,
	})
	// What was named since stands in no list of what was found.
	if got := len(c.Entries()); got != 5 {
		t.Errorf("%d entries after resolving paths, want 5", got)
	}
}
