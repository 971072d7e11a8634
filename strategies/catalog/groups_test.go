package catalog_test

import (
	"errors"
	"testing"

	"github.com/strategylab/strategylab/strategies/catalog"
)

func TestGroupsInFields(t *testing.T) {
	c := load(t, options(t, map[string]string{"scripts/mine.lua": "", "scripts/apart.js": "", "scripts/oops.js": "broken", "far/away.js": ""}))
	c.SetMine([]string{"apart", "far/away.js", "scripts/oops.js"})
	for in, want := range map[string]string{
		"all":                   "alternate markov-2 random apart mine",
		"builtins,apart":        "alternate markov-2 random apart",
		"apart,scripts":         "apart mine",
		"scripts,random*2":      "apart mine random#1 random#2",
		"classics,random*2":     "alternate markov-2 random#1 random#2",
		"scripts*2":             "apart#1 apart#2 mine#1 mine#2",
		"scripts,builtins,all":  "apart mine alternate markov-2 random",
		"plugins,random,apart":  "random apart",
		"mine,random":           "mine random", // the strategy, not the group
		"classics,scripts,mine": "alternate markov-2 random apart mine",
	} {
		f, err := c.Field(t.Context(), refs(t, in))
		if err != nil || players(f) != want {
			t.Errorf("Field(%q) = %q, %v, want %q", in, players(f), err, want)
		}
	}
}

func TestGroupMine(t *testing.T) {
	c := load(t, options(t, map[string]string{"scripts/apart.js": "", "scripts/oops.js": "broken", "far/away.js": ""}))
	var unknown *catalog.UnknownError
	if _, err := c.Field(t.Context(), refs(t, "mine,random")); !errors.As(err, &unknown) {
		t.Errorf("Field(mine) without SetMine: %v, want an *UnknownError", err)
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
