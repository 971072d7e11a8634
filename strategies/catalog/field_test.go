package catalog_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// fieldOf shows the field of references on one line: its players and its warnings, or the
// error.
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
