package words

import (
	"slices"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/robust"
)

// fields is what other fields show of the players of shown: who is first in which share
// of them.
func fields(firsts ...float64) *robust.Robustness {
	r := &robust.Robustness{Resamples: 4000, Players: make([]robust.Player, len(firsts))}
	for i, share := range firsts {
		r.Players[i] = robust.Player{First: share, Places: [2]int{1, 3}}
	}
	return r
}

func TestRobustness(t *testing.T) {
	t.Parallel()
	e := shown(100, []int{0}, []int{1, 2, 3})
	alone := func(out, first, place int) robust.Reduced {
		return robust.Reduced{Out: []int{out}, First: first, Place: place, Ahead: place > 1, Leads: true}
	}
	steady, shaky := fields(0.9, 0.05, 0.05, 0), fields(0.43, 0.12, 0.45, 0)
	steady.Families = [][]int{{2, 3}}
	steady.Without = []robust.Reduced{alone(1, 0, 1), alone(2, 0, 1), alone(3, 0, 1), {Out: []int{2, 3}, First: 0, Place: 1, Leads: true}}
	shaky.Families = [][]int{{0, 1}, {2, 3}}
	shaky.Without = []robust.Reduced{alone(1, 2, 2), alone(2, 1, 2), alone(3, 2, 3), {Out: []int{2, 3}, First: 1, Place: 2, Ahead: true}}
	unsure := fields(0.99, 0.02, 0.01, 0)
	unsure.Without = []robust.Reduced{{Out: []int{1}, First: 2, Place: 2}, alone(2, 0, 1), {Out: []int{2, 3}, First: 1, Place: 2}}
	for _, tt := range []struct {
		r    *robust.Robustness
		want []string
	}{
		{steady, []string{
			"anna is first in about 90 % of fields resampled from these opponents (places 1-3).",
			"It stays first without any one other strategy.",
			"It stays first without the 2 that play alike (carl and dora).",
		}},
		{shaky, []string{
			"anna is first in about 45 % of fields resampled from these opponents (places 1-3); others that are often first: carl (about 45 %) and bert (about 10 %).",
			"Without any one of bert or dora, carl leads.",
			"Without carl, bert leads.",
			"Without the 2 that play alike (carl and dora), bert is ahead of anna.",
		}},
		{unsure, []string{
			"anna is first in over 95 % of fields resampled from these opponents (places 1-3).",
			"There is no evidence that another is ahead of it without any one of the others.",
		}},
	} {
		if got := Plain.Robustness(e, tt.r); !slices.Equal(got, tt.want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}
}

func TestFragile(t *testing.T) {
	t.Parallel()
	alone := compared(shown(100, []int{0}, []int{1, 2, 3}), func(i, _ int) bool { return i == 0 })
	level := compared(shown(100, []int{0, 1}, []int{2, 3}), func(i, j int) bool { return i < 2 && j > 1 })
	for _, tt := range []struct {
		e    *analysis.Estimates
		r    *robust.Robustness
		want string
	}{
		{alone, nil, ""},
		{alone, fields(0.5, 0.5, 0, 0), ""},
		{alone, fields(0.424, 0.3, 0.276, 0), "; against resampled opponents another would be first in about 60 % of fields"},
		{level, fields(0.4, 0.3, 0.3, 0), ""},
		{level, fields(0.3, 0.1, 0.6, 0), "; against resampled opponents another would be first in about 60 % of fields"},
		{shown(100, []int{0, 1, 2, 3}), fields(0.25, 0.25, 0.25, 0.25), ""},
	} {
		if got := Plain.fragile(tt.e, tt.r); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
