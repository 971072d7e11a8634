package words

import (
	"slices"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/analysis"
)

func TestOneLeague(t *testing.T) {
	t.Parallel()
	e := compared(shown(100, []int{0, 1}, []int{2, 3}), func(i, j int) bool { return i < 2 && j > 1 })
	for i := range e.Players {
		share := []float64{0.2, 0.35, 0.15, 0.3}[i]
		e.Players[i].ChampionShare = analysis.Estimate{Estimate: share, Low: share - 0.05, High: share + 0.05}
		for j := i + 1; j < len(e.Players); j++ {
			above := 0.5 + 0.1*float64(j-i)
			e.Odds = append(e.Odds, analysis.Odds{A: i, B: j, TitlesA: 30, TitlesB: 20, Above: analysis.Estimate{Estimate: above, Low: above - 0.1, High: above + 0.1}})
		}
	}
	plain := "anna has more points than bert in 60.0 % (50.0 to 70.0) and than dora in 80.0 % (70.0 to 90.0) of leagues, and takes the title in 20.0 % (15.0 to 25.0)."
	if got := Plain.OneLeague(e); !slices.Equal(got, []string{plain}) {
		t.Errorf("got %q", got)
	}
	if got := titlesElsewhere(e); got != "" {
		t.Errorf("got %q", got)
	}

	set := func(k int, a, b int64) {
		e.Odds[k].Titles, e.Odds[k].TitlesA, e.Odds[k].TitlesB, e.Odds[k].TitlesP = analysis.Different, a, b, 0.003
	}
	set(0, 20, 60) // bert before anna, who ties with it on points
	set(2, 20, 60) // dora before anna, who scores more
	set(1, 60, 20) // anna before carl, as by points
	want := []string{plain,
		"bert takes more titles than anna (35.0 % against 20.0 %, p 0.0030), though it does not score more.",
		"dora takes more titles than anna (30.0 % against 20.0 %, p 0.0030), though it scores less.",
	}
	if got := Plain.OneLeague(e); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := titlesElsewhere(e); got != "; bert takes more titles" {
		t.Errorf("got %q", got)
	}
	set(3, 20, 60)
	set(4, 20, 60)
	set(5, 60, 20)
	if got := Plain.OneLeague(e); len(got) != 5 || got[4] != "The same holds for 2 other pairs." {
		t.Errorf("got %q", got)
	}
}
