package script

import (
	"strings"
	"testing"
)

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"random", "random", 0},
		// Wagner and Fischer's own kind of example, as found in every textbook.
		{"kitten", "sitting", 3},
		{"saturday", "sunday", 3},
		{"radnom", "random", 1}, // a swap of neighbours
		// Where the alignment distance parts from Damerau's: no byte is
		// touched twice, so ca, ac, abc is not allowed.
		{"ca", "abc", 3},
		{"markov2", "markov-2", 1},
	} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestNearest(t *testing.T) {
	names := strings.Fields("alternate always-even always-odd markov-1 markov-2 random")
	for in, want := range map[string]string{
		"markv-2":     "markov-2",
		"markov":      "markov-1", // as near as markov-2, and first
		"Random":      "random",
		"radnom":      "random",
		"always_odd":  "always-odd",
		"alwayseven":  "always-even",
		"zzz":         "",
		"animate":     "", // four edits from alternate
		"rock-paper":  "",
		"":            "",
		"rand":        "random",
		"alternating": "alternate",
	} {
		if got := Nearest(in, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", in, got, want)
		}
	}
}
