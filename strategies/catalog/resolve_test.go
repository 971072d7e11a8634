package catalog_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
)

func TestTwoOfOneName(t *testing.T) {
	c := load(t, options(t, map[string]string{
		"scripts/random.lua": "", "scripts/mine.js": "", "scripts/mine.lua": "broken", "scripts/sound.lua": "",
	}))
	for target, want := range map[string]string{
		"random": `2 strategies are called "random": built-in and scripts/random.lua; rename all but one, or name one by its path`,
		"mine":   `2 strategies are called "mine": scripts/mine.js and scripts/mine.lua; rename all but one, or name one by its path`,
	} {
		_, err := c.Resolve(t.Context(), target)
		if err == nil || err.Error() != want {
			t.Errorf("Resolve(%q): %v, want %q", target, err, want)
		}
	}
	// They do not stand in the way of others, and a path is not ambiguous.
	for target, kind := range map[string]strategies.Kind{
		"sound": "lua", "alternate": strategies.Builtin, "scripts/random.lua": "lua", "./scripts/mine.js": "js",
	} {
		if e, err := c.Resolve(t.Context(), target); err != nil || e.Info.Kind != kind || e.Factory == nil {
			t.Errorf("Resolve(%q) = %+v, %v, want a strategy of kind %s", target, e, err, kind)
		}
	}
	var se *strategies.Error
	if _, err := c.Resolve(t.Context(), "scripts/mine.lua"); !errors.As(err, &se) || se.Line != 1 {
		t.Errorf("Resolve of the broken one by path: %v, want why it does not load", err)
	}
	// A field of everything plays without them, and with the built-in strategy.
	f, err := c.Field(t.Context(), nil)
	if err != nil || len(f.Warnings) != 2 || !strings.Contains(f.Warnings[0]+f.Warnings[1], "scripts/mine.js and scripts/mine.lua") {
		t.Errorf("Field(nil): %v, warnings %q, want one for each name", err, f.Warnings)
	}
	if all := players(f); strings.Contains(all, "mine") || strings.Count(all, "random") != 1 {
		t.Errorf("Field(nil) is %q", all)
	}
}

func TestResolveUnknown(t *testing.T) {
	c := load(t, options(t, map[string]string{"scripts/mine.lua": "", "scripts/copycat.js": "", "notes.txt": ""}))
	for target, want := range map[string]string{
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
	} {
		if e, err := c.Resolve(t.Context(), target); err == nil || err.Error() != want {
			t.Errorf("Resolve(%q) = %+v, %v, want %q", target, e, err, want)
		}
	}
	var unknown *catalog.UnknownError
	if _, err := c.Resolve(t.Context(), "markv-2"); !errors.As(err, &unknown) || unknown.Nearest != "markov-2" {
		t.Errorf("Resolve(markv-2): %#v, want an *UnknownError with the nearest", err)
	}
}

func TestResolvePath(t *testing.T) {
	o := options(t, map[string]string{
		"scripts/mine.lua": "", "scripts/oops.lua": "broken", "far/away.js": "", "far/markov-2.lua": "", "far/bad.js": "broken",
		"far/a.b.js": "",
	})
	o.Limits = budget.Limits{Time: time.Second, Instructions: 77}
	c := load(t, o)
	byName, err := c.Resolve(t.Context(), "mine")
	if err != nil {
		t.Fatal(err)
	}
	for _, same := range []string{"scripts/mine.lua", "./scripts/mine.lua", "scripts/../scripts/mine.lua", filepath.Join(o.Dir, "scripts", "mine.lua")} {
		if e, err := c.Resolve(t.Context(), same); err != nil || e.Factory != byName.Factory {
			t.Errorf("Resolve(%q) = %v, %v, want the factory of mine", same, e.Factory, err)
		}
	}
	away, err := c.Resolve(t.Context(), "far/away.js")
	if err != nil {
		t.Fatal(err)
	}
	if f := away.Factory.(*toy); f.limits != o.Limits || away.Info.Name != "away" || away.Info.Source != filepath.FromSlash("far/away.js") {
		t.Errorf("far/away.js: limits %v, %+v, want the catalogue's limits and its own name and path", f.limits, away.Info)
	}
	if again, err := c.Resolve(t.Context(), "far/../far/away.js"); err != nil || again.Factory != away.Factory {
		t.Errorf("a second Resolve loaded it again: %v, %v", again.Factory, err)
	}
	if e, err := c.Resolve(t.Context(), "far/markov-2.lua"); err != nil || e.Info.Kind != "lua" {
		t.Errorf("a path whose name is taken: %+v, %v, want the script", e, err)
	}
	if e, err := c.Resolve(t.Context(), "markov-2"); err != nil || e.Info.Kind != strategies.Builtin {
		t.Errorf("the name after that: %+v, %v, want the built-in", e, err)
	}
	for target, want := range map[string]string{
		"far/bad.js":       "far/bad.js:1: load: syntax error near broken",
		"scripts/oops.lua": "scripts/oops.lua:1: load: syntax error near broken",
		"oops":             "scripts/oops.lua:1: load: syntax error near broken",
		"far/a.b.js":       `far/a.b.js: load: "a.b" is not a valid strategy name`,
	} {
		var se *strategies.Error
		if _, err := c.Resolve(t.Context(), target); !errors.As(err, &se) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Resolve(%q): %v, want %q", target, err, want)
		}
	}
	// What was named since stands in no list of what was found.
	if got := len(c.Entries()); got != 5 {
		t.Errorf("%d entries after resolving paths, want 5", got)
	}
}
