package words_test

import (
	"strings"
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/words"
)

func TestRare(t *testing.T) {
	t.Parallel()
	e := analysis.Estimates{Level: 0.95, Leagues: 100, Players: []analysis.Player{{Name: "a", Kind: "builtin"}, {Name: "b", Kind: "builtin"}}}
	if text := words.Plain.Skewed(&e) + words.Plain.Unseen(&e); text != "" {
		t.Errorf("of built-ins without skewness: %q", text)
	}
	e.Skewed = []analysis.Skewed{{Field: 0, Enough: 910}, {Field: 1, Enough: 1110, Failed: 45}}
	want := "A few of 100 leagues decide the points of a and b: with so few, intervals, places and tiers are too narrow; about 2,000 leagues would do."
	if text := words.Plain.Skewed(&e); text != want {
		t.Errorf("%q, want %q", text, want)
	}
	e.Skewed[1].Failed = 3
	want = "b had technical losses in 3 of 100 leagues: with so few, intervals, places and tiers are too narrow; about 2,000 leagues would do."
	if text := words.Plain.Skewed(&e); text != want {
		t.Errorf("%q, want %q", text, want)
	}
	e.Skewed[0].Failed = 1
	want = "a had technical losses in 1 and b in 3 of 100 leagues: with so few, intervals, places and tiers are too narrow; about 2,000 leagues would do."
	if text := words.Plain.Skewed(&e); text != want {
		t.Errorf("%q, want %q", text, want)
	}
	if text := words.Plain.Few(&e, 1); text != "" {
		t.Errorf("100 leagues are few: %q", text)
	}
	few := analysis.Estimates{Leagues: 12, Players: make([]analysis.Player, 3), Order: []int{0, 1, 2}}
	if text := words.Plain.Few(&few, 1); !strings.HasPrefix(text, "In 12 leagues of one leg, ") || words.Plain.Few(&few, 2) != "" {
		t.Errorf("%q", text)
	}
	e.Players[1].Kind = "lua"
	want = "What a script or plugin does in fewer than 3 % of leagues, such as failing, may have stayed unseen in 100 leagues; intervals and places do not allow for it."
	if text := words.Plain.Unseen(&e); text != want {
		t.Errorf("%q, want %q", text, want)
	}
	for n, share := range map[int]string{0: "", 1: "", 400: "0.75 %", 1000: "0.3 %", 20_000: "0.015 %", 2_000_000: "0.00015 %"} {
		e.Leagues = n
		if text := words.Plain.Unseen(&e); (share == "") != (text == "") || !strings.Contains(text, share) {
			t.Errorf("%d leagues: %q, want %q", n, text, share)
		}
	}
}
