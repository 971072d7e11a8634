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

// fieldOf shows the field of references on one line: its players and its warnings, or the error.
func fieldOf(t *testing.T, c *catalog.Catalog, in string) string {
	t.Helper()
	f, err := c.Field(t.Context(), refs(t, in))
	if err != nil {
		return err.Error()
	}
	return strings.Join(append([]string{players(f)}, f.Warnings...), "; ")
}

func TestField(t *testing.T) {
	c := load(t, options(t, map[string]string{
		"scripts/mine.lua": "", "scripts/apart.js": "", "scripts/oops.js": "broken", "scripts/no name.js": "",
		"far/away.js": "", "far/mine.js": "", "far/random.js": "",
	}))
	c.SetMine([]string{"apart", "far/away.js", "scripts/oops.js"})
	const left = `; "no name" is left out: scripts/no name.js: load: "no name" is not a valid strategy name ` +
		`(use at most 40 of a-z, A-Z, 0-9, - and _, starting with a letter or digit)` +
		`; "oops" is left out: scripts/oops.js:1: load: syntax error near broken`
	for in, want := range map[string]string{
		"":                               "alternate markov-2 random apart mine" + left,
		"all":                            "alternate markov-2 random apart mine" + left,
		"builtins,apart":                 "alternate markov-2 random apart",
		"apart,scripts":                  "apart mine" + left,
		"scripts,random*2":               "apart mine random#1 random#2" + left,
		"classics,random*2":              "alternate markov-2 random#1 random#2",
		"scripts*2":                      "apart#1 apart#2 mine#1 mine#2" + left,
		"scripts,builtins,all":           "apart mine alternate markov-2 random" + left,
		"plugins,random,apart":           "random apart",
		"mine,random":                    "mine random", // the strategy, not the group
		"random*1,alternate":             "random alternate",
		"mine*2, random , far/away.js*3": "mine#1 mine#2 random away#1 away#2 away#3",
		"./scripts/mine.lua,markov-2":    "mine markov-2",
		"random*8":                       "random#1 random#2 random#3 random#4 random#5 random#6 random#7 random#8",

		"random,markv-2":         `no strategy "markv-2"; did you mean "markov-2"?`,
		"random,oops":            "scripts/oops.js:1: load: syntax error near broken",
		"random,./gone.lua":      `no script "./gone.lua"`,
		"random,random":          `strategy random is named twice, as "random" and "random"; write random*2 for several copies`,
		"random*2,random":        `strategy random is named twice, as "random*2" and "random"; write random*3 for several copies`,
		"mine,scripts/mine.lua":  `strategy mine is named twice, as "mine" and "scripts/mine.lua"; write scripts/mine.lua*2 for several copies`,
		"mine,far/mine.js":       `2 strategies are called "mine": scripts/mine.lua and far/mine.js; rename all but one, or name one by its path`,
		"random,far/random.js*4": `2 strategies are called "random": built-in and far/random.js; rename all but one, or name one by its path`,
		"clasics,random":         `no strategy "clasics"; did you mean "classics"?`,
		"script":                 `no strategy "script"; did you mean "scripts"?`,
		"randm":                  `no strategy "randm"; did you mean "random"?`,
	} {
		if got := fieldOf(t, c, in); got != want {
			t.Errorf("Field(%q):\n %q\n want %q", in, got, want)
		}
	}
	// What is the script's fault can be told from what is the caller's.
	var se *strategies.Error
	_, theirs := c.Field(t.Context(), refs(t, "oops"))
	if _, ours := c.Field(t.Context(), refs(t, "random,random")); !errors.As(theirs, &se) || errors.As(ours, &se) {
		t.Errorf("Field(oops): %T, Field(random,random): %T; want a *strategies.Error of the first only", theirs, ours)
	}
}

func TestGroupMine(t *testing.T) {
	c := load(t, options(t, map[string]string{"scripts/apart.js": "", "scripts/oops.js": "broken", "far/away.js": ""}))
	if got := fieldOf(t, c, "mine,random"); got != `no strategy "mine"` {
		t.Errorf("Field(mine) without SetMine: %q", got)
	}
	c.SetMine(nil)
	if _, err := c.Field(t.Context(), refs(t, "mine,random")); !errors.Is(err, catalog.ErrEmptyGroup) || err.Error() != `group "mine" is empty: no script is yours` {
		t.Errorf("Field(mine) of nothing: %v, want ErrEmptyGroup", err)
	}
	c.SetMine([]string{"apart", "far/away.js", "scripts/oops.js"})
	f, err := c.Field(t.Context(), refs(t, "mine*2,random"))
	if err != nil || players(f) != "apart#1 apart#2 away#1 away#2 random" || len(f.Warnings) != 1 {
		t.Errorf("Field(mine*2,random) = %q, warnings %q, %v", players(f), f.Warnings, err)
	}
	if n := c.Missing(f); n != 2 { // alternate and markov-2; oops does not load
		t.Errorf("Missing = %d, want 2", n)
	}
}

func TestFind(t *testing.T) {
	player := func(name, target, source string) catalog.Player {
		info := strategies.Info{Name: strings.TrimSuffix(name, "#1"), Source: source}
		return catalog.Player{Name: name, Target: target, Info: info}
	}
	field := catalog.Field{Players: []catalog.Player{
		player("mine", "scripts/mine.lua", "scripts/mine.lua"), player("random#1", "random", ""), player("random#2", "random", ""),
	}}
	for target, want := range map[string]string{"mine": "mine", "./scripts/mine.lua": "mine", "random#2": "random#2"} {
		if got, err := field.Find(target); err != nil || got != want {
			t.Errorf("%q stands for %q, %v; want %q", target, got, err, want)
		}
	}
	if _, err := field.Find("random"); err == nil || !strings.HasSuffix(err.Error(), "several players: name one of random#1, random#2") {
		t.Errorf("random: %v", err)
	}
	_, err := field.Find("nobody")
	if missing := new(catalog.MissingError); !errors.As(err, &missing) || missing.Target != "nobody" {
		t.Errorf("nobody: %v", err)
	}
}

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
