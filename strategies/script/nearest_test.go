package script

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDistance(t *testing.T) {
	t.Parallel()
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

func TestDistanceProperties(t *testing.T) {
	t.Parallel()
	word := rapid.StringOfN(rapid.RuneFrom([]rune("abc-")), 0, 8, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		d := distance(a, b)
		if d != distance(b, a) {
			t.Errorf("distance(%q, %q) = %d, the other way round %d", a, b, d, distance(b, a))
		}
		if (d == 0) != (a == b) || d > max(len(a), len(b)) || d < max(len(a), len(b))-min(len(a), len(b)) {
			t.Errorf("distance(%q, %q) = %d, out of its bounds", a, b, d)
		}
		// One edit more is at most one more.
		if e := distance(a+"x", b); e > d+1 || e < d-1 {
			t.Errorf("distance(%q, %q) = %d, but %d with an x at the end", a, b, d, e)
		}
	})
}

func TestNearest(t *testing.T) {
	t.Parallel()
	names := strings.Fields("alternate always-even always-odd markov-1 markov-2 random")
	for in, want := range map[string]string{
		"markv-2":     "markov-2",
		"markov":      "markov-1", // as near as markov-2, and first
		"Random":      "random",
		"radnom":      "random",
		"always_odd":  "always-odd",
		"alwayseven":  "always-even",
		"zzz":         "",
		"rock-paper":  "",
		"":            "",
		"rand":        "random",
		"alternating": "alternate",
	} {
		if got := Nearest(in, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", in, got, want)
		}
	}
	if got := Nearest("random", nil); got != "" {
		t.Errorf("Nearest of nothing = %q, want nothing", got)
	}
}
