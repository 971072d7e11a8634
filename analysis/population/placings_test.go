package population_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/analysis/population"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// TestPlacings holds placings to raw points: in every league two players say even and
// one says odd, and the number decides between them.
func TestPlacings(t *testing.T) {
	t.Parallel()
	p := plan("a", "b", "c")
	list, err := population.NewPlacings(p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := list.Fit(); err == nil {
		t.Error("nothing was fitted")
	}
	schedule, err := game.NewSchedule(3, 1)
	if err != nil {
		t.Fatal(err)
	}
	choice := []game.Parity{game.Even, game.Even, game.Odd}
	for i := range population.MostPlacings + 10 {
		l := results.League{Index: i, Seats: game.Seats(1, i, 3)}
		// With an odd number c wins twice, and a and b have one point; with an even
		// one a and b win and have four.
		number := int32(1)
		if i%3 == 0 {
			number = 2
		}
		for _, m := range schedule.Matches() {
			l.Matches = append(l.Matches, results.Match{
				A: game.Side{Choice: choice[l.Seats[m.A]]}, B: game.Side{Choice: choice[l.Seats[m.B]]}, Number: number,
			})
		}
		if err := list.Add(&l); err != nil {
			t.Fatal(err)
		}
	}
	if list.Leagues() != population.MostPlacings {
		t.Errorf("%d placings are kept", list.Leagues())
	}
	w, err := list.Fit()
	if err != nil {
		t.Fatal(err)
	}
	// c comes first in two leagues of three; a and b, always level, in the others.
	if !(w.Worth[2] > w.Worth[0]) || fmt.Sprintf("%.6f", w.Worth[0]) != fmt.Sprintf("%.6f", w.Worth[1]) || len(w.Ties) != 1 {
		t.Errorf("worths %v, ties %v", w.Worth, w.Ties)
	}
	list, _ = population.NewPlacings(p)
	if err := list.Add(&results.League{Index: 4}); err == nil || !strings.Contains(err.Error(), "league 4") {
		t.Errorf("a bad record gives %v", err)
	}
}
