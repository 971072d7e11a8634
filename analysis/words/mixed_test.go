package words_test

import (
	"strings"
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/host/game"
)

func TestMixed(t *testing.T) {
	t.Parallel()
	e := analysis.Estimates{Players: []analysis.Player{{Name: "a"}, {Name: "my b"}, {Name: "c"}, {Name: "d"}, {Name: "e"}}}
	if text := words.Plain.Mixed(&e, nil); text != "" {
		t.Errorf("nobody was quarantined: %q", text)
	}
	quarantined := func(i, from int, count int64) {
		e.Players[i].Matches, e.Players[i].Faults = 100, []analysis.Fault{{Kind: game.FaultQuarantined, Count: count, League: from}}
	}
	quarantined(4, 0, 100)
	if text := words.Plain.Mixed(&e, nil); text != "" {
		t.Errorf("e never played: %q", text)
	}
	quarantined(1, 1200, 40)
	want := "Quarantined: my b from league 1,200 on. So points and places of all leagues mix fields with and without it, however many follow; --without 'my b' plays one field."
	if text := words.Plain.Mixed(&e, nil); text != want {
		t.Errorf("%q, want %q", text, want)
	}
	quarantined(0, 16, 80)
	points := func(name string, x float64) analysis.Player {
		return analysis.Player{Name: name, Adjusted: analysis.Estimate{Estimate: x, Low: x - 0.01, High: x + 0.01}}
	}
	since := analysis.Estimates{Leagues: 300, Order: []int{1, 0}, Players: []analysis.Player{points("c", 1.2), points("d", 1.3)}}
	since.Ranking.Places = [][2]int{{1, 2}, {1, 1}}
	text := words.Plain.Mixed(&e, &since)
	for _, want := range []string{"Quarantined: a from league 16 on and my b from league 1,200 on.", "without them", "--without 'a,my b' ",
		" The 300 leagues since then rank the others by points per match: d 1.300 ±0.010 and c 1.200 ±0.010 (1st to 2nd)."} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
}
