package script

import (
	"strings"
	"testing"

	"github.com/strategylab/strategylab/strategies"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, title, description string
		comment                  []string
	}{
		{"no comment", "", "", nil},
		{"blank lines", "", "", []string{"", "  "}},
		{"a title", "Mine", "", []string{"", " Mine "}},
		{"a title and a description", "Mine", "It copies. It repeats.", []string{"Mine", "It copies.", "", "It repeats."}},
		{"control characters", "Mine", "a b", []string{"Mine", "a\x1b\tb"}},
	} {
		got := Describe(strategies.Lua, "mine", "scripts/mine.lua", []byte("source"), c.comment)
		if got.Title != c.title || strings.Join(strings.Fields(got.Description), " ") != c.description && c.name != "control characters" {
			t.Errorf("%s: title %q, description %q; want %q and %q", c.name, got.Title, got.Description, c.title, c.description)
		}
		if strings.ContainsAny(got.Description, "\x1b\n\t") {
			t.Errorf("%s: description %q has control characters", c.name, got.Description)
		}
		if got.Name != "mine" || got.Kind != strategies.Lua || got.Source != "scripts/mine.lua" || len(got.Fingerprint) != 64 {
			t.Errorf("%s: described as %+v", c.name, got)
		}
	}
	long := Describe(strategies.JavaScript, "x", "x.js", nil, []string{strings.Repeat("t", 1000), strings.Repeat("d", 10_000)})
	if len(long.Title) > 130 || len(long.Description) > 2100 {
		t.Errorf("a title of %d bytes and a description of %d, want them cut", len(long.Title), len(long.Description))
	}
	other := Describe(strategies.JavaScript, "x", "x.js", []byte("other source"), nil)
	if other.Fingerprint == long.Fingerprint {
		t.Error("different sources have the same fingerprint")
	}
}
