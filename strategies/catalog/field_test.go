package catalog_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/strategies"
)

func TestFieldOfEverything(t *testing.T) {
	c := load(t, options(t, map[string]string{
		"scripts/mine.lua": "", "scripts/apart.js": "", "scripts/oops.js": "broken", "scripts/no name.js": "",
	}))
	f, err := c.Field(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := players(f), "alternate markov-2 random apart mine"; got != want {
		t.Errorf("players %q, want %q", got, want)
	}
	want := []string{
		`"no name" is left out: scripts/no name.js: load: "no name" is not a valid strategy name ` +
			`(use at most 40 of a-z, A-Z, 0-9, - and _, starting with a letter or digit)`,
		`"oops" is left out: scripts/oops.js:1: load: syntax error near broken`,
	}
	if diff := cmp.Diff(want, f.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestFieldOfReferences(t *testing.T) {
	c := load(t, options(t, map[string]string{"scripts/mine.lua": "", "scripts/oops.js": "broken", "far/away.js": ""}))
	for in, want := range map[string]string{
		"random":                         "random",
		"random,alternate":               "random alternate",
		"random*1,alternate":             "random alternate",
		"mine*2, random , far/away.js*3": "mine#1 mine#2 random away#1 away#2 away#3",
		"./scripts/mine.lua,markov-2":    "mine markov-2",
		"random*8":                       "random#1 random#2 random#3 random#4 random#5 random#6 random#7 random#8",
	} {
		f, err := c.Field(t.Context(), refs(t, in))
		if err != nil || players(f) != want || len(f.Warnings) > 0 {
			t.Errorf("Field(%q) = %q, warnings %q, %v, want %q", in, players(f), f.Warnings, err, want)
		}
	}
}

func TestFieldRefuses(t *testing.T) {
	c := load(t, options(t, map[string]string{
		"scripts/mine.lua": "", "scripts/oops.js": "broken", "far/mine.js": "", "far/random.js": "",
	}))
	for in, want := range map[string]string{
		"random,markv-2":        `no strategy "markv-2"; did you mean "markov-2"?`,
		"random,oops":           "scripts/oops.js:1: load: syntax error near broken",
		"random,./gone.lua":     `no script "./gone.lua"`,
		"random,random":         `strategy random is named twice, as "random" and "random"; write random*2 for several copies`,
		"random*2,random":       `strategy random is named twice, as "random*2" and "random"; write random*3 for several copies`,
		"mine,scripts/mine.lua": `strategy mine is named twice, as "mine" and "scripts/mine.lua"; write scripts/mine.lua*2 for several copies`,
		"mine,far/mine.js": `2 strategies are called "mine": scripts/mine.lua and far/mine.js; ` +
			`rename all but one, or name one by its path`,
		"random,far/random.js*4": `2 strategies are called "random": built-in and far/random.js; ` +
			`rename all but one, or name one by its path`,
		"clasics,random": `no strategy "clasics"; did you mean "classics"?`,
		"script":         `no strategy "script"; did you mean "scripts"?`,
		"randm":          `no strategy "randm"; did you mean "random"?`,
	} {
		if f, err := c.Field(t.Context(), refs(t, in)); err == nil || err.Error() != want {
			t.Errorf("Field(%q) = %q, %v, want %q", in, players(f), err, want)
		}
	}
	// What is the script's fault can be told from what is the caller's.
	var se *strategies.Error
	if _, err := c.Field(t.Context(), refs(t, "oops")); !errors.As(err, &se) {
		t.Errorf("Field(oops): %T, want a *strategies.Error", err)
	}
	if _, err := c.Field(t.Context(), refs(t, "random,random")); errors.As(err, &se) || err == nil {
		t.Errorf("Field(random,random): %v, want no *strategies.Error", err)
	}
}
