package words

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/analysis/explain"
	"github.com/strategylab/strategylab/analysis/population"
	"github.com/strategylab/strategylab/analysis/robust"
	"github.com/strategylab/strategylab/analysis/sequential"
	"github.com/strategylab/strategylab/host/game"
)

// shown is what 100 leagues of four players have shown, with these tiers. The players
// stand in the order of the field.
func shown(leagues int, tiers ...[]int) *analysis.Estimates {
	e := &analysis.Estimates{Leagues: leagues, Level: 0.95, Fair: true, VarianceRatio: 25}
	e.Ranking.Level, e.Ranking.Tiers = 0.95, tiers
	for i, name := range []string{"anna", "bert", "carl", "dora"} {
		mean := 1.3 - float64(i)/50
		e.Order = append(e.Order, i)
		e.Players = append(e.Players, analysis.Player{Field: i, Name: name, Adjusted: analysis.Estimate{Estimate: mean, Low: mean - 0.01, High: mean + 0.01}})
		e.Ranking.Places = append(e.Ranking.Places, [2]int{1, 4})
	}
	return e
}

// compared gives a shown experiment the verdicts that go with its tiers, and pairs in
// which everybody scores least against dora, and dora against carl.
func compared(e *analysis.Estimates, different func(i, j int) bool) *analysis.Estimates {
	for i := range e.Players {
		behind, ahead := 0, 0
		for j := range e.Players {
			ahead += attest.One(i < j && different(i, j))
			behind += attest.One(j < i && different(j, i))
			if i >= j {
				continue
			}
			c := analysis.Comparison{A: i, B: j}
			if different(i, j) {
				c.Verdict = analysis.Different
			}
			e.Ranking.Comparisons = append(e.Ranking.Comparisons, c)
			differ := 0.9 - float64(i+j)/10 // most alike are those with a high index
			e.Pairs = append(e.Pairs, analysis.Pair{A: i, B: j, Differ: analysis.Estimate{Estimate: differ, Low: differ - 0.01, High: differ + 0.01}})
		}
		e.Ranking.Places[i] = [2]int{1 + behind, len(e.Players) - ahead}
	}
	return e
}

func TestAnswer(t *testing.T) {
	clear := compared(shown(100, []int{0}, []int{1, 2}, []int{3}), func(i, j int) bool { return i == 0 || j == 3 })
	level := compared(shown(100, []int{0, 1, 2, 3}), func(int, int) bool { return false })
	pair := compared(shown(100, []int{0, 1}, []int{2, 3}), func(i, j int) bool { return i < 2 && j > 1 })
	copies, same, gone := *pair, *clear, *clear
	gone.Players = slices.Clone(clear.Players)
	gone.Players[3].Matches, gone.Players[3].Faults = 100, []analysis.Fault{{Kind: game.FaultQuarantined, Count: 40, League: 60}}
	copies.Copies, same.Copies = []int{0, 0, 2, 3}, []int{0, 0, 0, 0}
	two := shown(100, []int{0, 1})
	two.Players, two.Order = two.Players[:2], two.Order[:2]
	two.Pairs = []analysis.Pair{{B: 1, Differ: analysis.Estimate{Estimate: 0.61, Low: 0.6, High: 0.62}}}
	const first = "anna scores most against these opponents: 1.30 points a match (95 % interval 1.29 to 1.31), ahead of all 3 others."
	const together = "anna scores most against these opponents: 1.30 points a match (95 % interval 1.29 to 1.31), ahead of 2 of 3 others, with no evidence of a difference from bert"
	const elsewhere = "; against resampled opponents another would be first in about 60 % of fields."
	for name, tt := range map[string]struct {
		e      *analysis.Estimates
		yours  []int
		want   []string
		fields *robust.Robustness
	}{
		"nobody's":  {clear, nil, []string{first}, nil},
		"yours":     {clear, []int{2}, []string{first, "Yours, carl, is 3rd (2nd to 3rd): level with 1 other; it scores least against dora."}, nil},
		"the first": {clear, []int{0}, []string{first, "Yours, anna, is 1st: ahead of all 3 others; it scores least against dora."}, nil},
		"the last":  {clear, []int{3}, []string{first, "Yours, dora, is 4th: behind all 3 others; it scores least against carl."}, nil},
		"by place": {clear, []int{3, 1}, []string{first, "Yours, bert, is 2nd (2nd to 3rd): level with 1 other; it scores least against dora.",
			"Yours, dora, is 4th: behind all 3 others; it scores least against carl."}, nil},
		"all": {clear, []int{0, 1, 2, 3}, []string{first, "Yours, anna, is 1st: ahead of all 3 others; it scores least against dora.",
			"Yours, bert, is 2nd (2nd to 3rd): level with 1 other; it scores least against dora.",
			"Yours, carl, is 3rd (2nd to 3rd): level with 1 other; it scores least against dora.",
			"The table marks 1 other strategy of yours."}, nil},
		"together": {pair, nil, []string{together + "."}, nil},
		"copies": {&copies, nil, []string{"anna scores most against these opponents: 1.30 points a match (95 % interval 1.29 to 1.31), " +
			"ahead of both others; only chance separates it from bert, the same strategy."}, nil},
		"quarantine":   {&gone, nil, []string{"anna scores most over fields that quarantine changed: ahead of all 3 others."}, nil},
		"all the same": {&same, nil, []string{"All are one strategy, so there is nothing to rank."}, nil},
		"level": {level, []int{1}, []string{"These leagues do not tell the strategies apart: 1.30 to 1.24 points a match, and no difference is significant; " +
			"more leagues may show one.", "Yours, bert, is 2nd (1st to 4th): level with 3 others; it scores least against dora."}, nil},
		"one league": {shown(1, []int{0, 1, 2, 3}), []int{0}, []string{"Too few leagues to compare strategies."}, nil},
		"two":        {two, []int{0}, []string{"Two players and a fair draw: there is nothing to rank. Their choices differ in 61.0 % of matches (95 % interval 60.0 to 62.0)."}, nil},
		"steady":     {clear, nil, []string{first}, fields(0.5, 0.5, 0, 0)},
		"fragile":    {clear, nil, []string{strings.TrimSuffix(first, ".") + elsewhere}, fields(0.424, 0.3, 0.276, 0)},
		"or bert":    {pair, nil, []string{together + "."}, fields(0.4, 0.3, 0.3, 0)},
		"nor bert":   {pair, nil, []string{together + elsewhere}, fields(0.3, 0.1, 0.6, 0)},
		"all level":  {level, nil, []string{"These leagues do not tell the strategies apart: 1.30 to 1.24 points a match, and no difference is significant; more leagues may show one."}, fields(0.25, 0.25, 0.25, 0.25)},
	} {
		if diff := cmp.Diff(tt.want, Plain.Answer(tt.e, tt.fields, tt.yours)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestShortSentences(t *testing.T) {
	confirmed := func(name string, place, best, worst int) string {
		return Plain.Say("confirmed", struct {
			First  string
			Place  int
			Places [2]int
		}{name, place, [2]int{best, worst}})[0]
	}
	narrower := func(ratio, differences float64) string {
		return Plain.Say("narrower", &analysis.Estimates{VarianceRatio: ratio, DifferenceRatio: differences, Players: make([]analysis.Player, 3)})[0]
	}
	const other = "; a strategy that fails or changes for a whole league now and then breaks that, and "
	texts(t, [][2]string{
		{Plain.Say("all", 1)[0], "the other"}, {Plain.Say("all", 2)[0], "both others"}, {Plain.Say("all", 3)[0], "all 3 others"},
		{confirmed("anna", 1, 1, 1), "anna, first there, is significantly first here, too, which confirms it"},
		{confirmed("bert", 2, 2, 3), "bert, first there, is 2nd (2nd to 3rd) here, which refutes it"},
		{confirmed("carl", 3, 1, 3), "carl, first there, is 3rd (1st to 3rd) here, which neither confirms nor refutes it"},
		{confirmed("anna", 1, 1, 2), "anna, first there, is first here, too (1st to 2nd), which is no proof that it is best"},
		{narrower(25, 0), "adjusted intervals are 5.0 times narrower than raw ones (variance ratio 25.0)"},
		{narrower(0.25, 0), "adjusted intervals are not narrower than raw ones here (variance ratio 0.25)"},
		{narrower(math.NaN(), 0), "adjusted points do not vary from league to league"},
		{narrower(4, 9), "adjusted intervals are 2.0 times narrower than raw ones (variance ratio 4.0), those of differences 3.0 times (9.0)"},
		{doubt("asymptotic", doubts{Test: true, Ended: true}), "The test takes the differences of leagues as nearly normal" + other + "the run may have ended too early. --guarantee finite holds without it."},
		{doubt("asymptotic", doubts{}), "--until takes the differences of leagues as nearly normal" + other + "intervals and tiers may be too narrow. --guarantee finite holds without it."},
	}...)
	for f, want := range map[game.Fault]string{
		game.FaultError: "error", game.FaultInvalid: "an invalid choice", game.FaultTimeout: "timeout", game.FaultBudget: "too many instructions",
		game.FaultCrash: "crash", game.FaultForfeit: "forfeit", game.FaultQuarantined: "quarantine", game.FaultNoJoin: "not joining",
		game.FaultDeclined: "declining", game.FaultNoAnswer: "no answer", game.FaultDisconnect: "a lost connection", game.FaultConnect: "no connection",
	} {
		texts(t, [2]string{Cause(f), want})
	}
}

// doubts are what warnings are about.
type doubts struct {
	*analysis.Estimates
	All, Since   *analysis.Estimates
	Looks        []int
	Legs, Enough int
	Test, Ended  bool
}

func doubt(kind string, about doubts) string { return strings.Join(Plain.Say(kind, about), "\n") }

// The first look spends the 5 % that were given, all later ones together 1 % more.
func TestExtended(t *testing.T) {
	for want, looks := range map[string][]int{"100 of its leagues had": {100}, "100 and 200 of its leagues had": {100, 200}, "100, 200 and 1,600 of its leagues had": {100, 200, 1600}} {
		got := doubt("extended", doubts{All: &analysis.Estimates{Level: analysis.AfterLooks(0.95, len(looks))}, Looks: looks})
		if !strings.HasPrefix(got, "Extended when "+want) || !strings.Contains(got, "with a chance of at most 6.0 % a place") {
			t.Errorf("%v: %q, want %q", looks, got, want)
		}
	}
	texts(t, [2]string{doubt("extended", doubts{}), ""})
}

// The answer of a test is as certain as what its decision rests on.
func TestTested(t *testing.T) {
	q := sequential.Report{Hypotheses: sequential.Hypotheses{Delta: 0.01, Alpha: 0.05, Beta: 0.05}, Decision: sequential.Accepted,
		Estimate: 0.02, EstimateLow: 0.002, EstimateHigh: 0.038, Bound: 0.005}
	tested := func(doubt, mixed bool) string {
		return Plain.Say("tested", struct {
			New, Old string
			sequential.Report
			Doubt, Mixed bool
		}{"new", "old", q, doubt, mixed})[0]
	}
	plain := tested(false, false)
	if !strings.HasPrefix(plain, "new is better than old: by 0.02") {
		t.Error(plain)
	}
	const mixed = "Over fields that quarantine changed, "
	texts(t, [][2]string{{tested(true, false), "If the differences of leagues are nearly normal, " + plain},
		{tested(true, true), mixed + "and if the differences of leagues are nearly normal, " + plain}}...)
	q.Guarantee = sequential.Finite
	texts(t, [][2]string{{tested(true, false), plain}, {tested(false, true), mixed + plain}}...)
}

func TestSigns(t *testing.T) {
	e := compared(shown(100, []int{0}, []int{1, 2, 3}), func(i, _ int) bool { return i == 0 })
	e.Ranking.Comparisons[5].Verdict = analysis.Equal // carl and dora
	verdict := func(v analysis.Verdict, difference float64) string {
		c := analysis.Comparison{A: 1, B: 2, Verdict: v, Difference: analysis.Estimate{Estimate: difference}}
		texts(t, [2]string{Verdict(e, c.Reversed()), Verdict(e, c)})
		return Mark(v) + " " + Verdict(e, c)
	}
	sign := func(v analysis.Verdict, first, second int64) string {
		return Sign(v, first, second) + " " + Titles(e, analysis.Odds{A: 0, B: 1, Titles: v, TitlesA: first, TitlesB: second})
	}
	texts(t, [][2]string{
		{Against(e, 0, 1), "+"}, {Against(e, 1, 0), "-"}, {Against(e, 1, 2), "~"}, {Against(e, 2, 3), "="}, {Against(e, 3, 2), "="}, {Against(e, 0, 0), "~"},
		{sign(analysis.Different, 2, 1), "> anna takes more titles"}, {sign(analysis.Different, 1, 2), "< bert takes more titles"},
		{sign(analysis.Undecided, 9, 1), "~ no evidence that one takes more titles"}, {sign(analysis.Equal, 9, 1), "~ no evidence that one takes more titles"},
		{verdict(analysis.Different, 0.1), "> bert is better"}, {verdict(analysis.Different, -0.1), "> carl is better"},
		{verdict(analysis.Equal, 0), "= both scored the same in every league"}, {verdict(analysis.Undecided, 0.1), "~ no evidence that these differ"},
	}...)
}

func TestFaults(t *testing.T) {
	p := analysis.Player{Name: "slow", Faults: []analysis.Fault{
		{Kind: game.FaultTimeout, Count: 1200, League: 3, Match: "R1M2", Where: "scripts/slow.lua:12: choose took\x1b too long\nstack"},
		{Kind: game.FaultError, Count: 1, Match: "R2M1"},
		{Kind: game.FaultForfeit, Count: 40, League: 3, Match: "R2M1"},
		{Kind: game.FaultQuarantined, Count: 800, Where: "failed in every match"},
		{Kind: game.FaultBudget, Count: 2, Match: "R1M1"},
	}}
	want := []string{
		"slow: 1,200 technical losses by timeout, first in league 3, match R1M2",
		"  scripts/slow.lua:12: choose t…",
		"  strategylab replay 'my runs/it'\\''s' --league 3 --match R1M2",
		"slow: 1 technical loss by error, first in league 0, match R2M1",
		"  strategylab replay 'my runs/it'\\''s' --league 0 --match R2M1",
		"slow: 40 technical losses by forfeit",
		"slow: 800 technical losses by quarantine: failed in every match",
		"slow: 2 technical losses by too many instructions, first in league 0, match R1M1",
		"  strategylab replay 'my runs/it'\\''s' --league 0 --match R1M1",
	}
	if diff := cmp.Diff(want, Plain.Faults(&p, "my runs/it's", 30)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if got := Plain.Faults(&p, "", 30); len(got) != 6 || strings.Contains(strings.Join(got, ""), "replay") {
		t.Errorf("without a folder: %q", got)
	}
	if got := Plain.Faults(&analysis.Player{}, "run", 30); got != nil {
		t.Errorf("without faults: %q", got)
	}
}

func TestMixed(t *testing.T) {
	e := analysis.Estimates{Players: []analysis.Player{{Name: "a"}, {Name: "my b"}, {Name: "c"}, {Name: "d"}, {Name: "e"}}}
	mixed := func(since *analysis.Estimates, player, from int, count int64) string {
		e.Players[player].Matches, e.Players[player].Faults = 100, []analysis.Fault{{Kind: game.FaultQuarantined, Count: count, League: from}}
		return doubt("mixed", doubts{All: &e, Since: since})
	}
	points := func(name string, x float64) analysis.Player {
		return analysis.Player{Name: name, Adjusted: analysis.Estimate{Estimate: x, Low: x - 0.01, High: x + 0.01}}
	}
	since := analysis.Estimates{Leagues: 300, Order: []int{1, 0}, Players: []analysis.Player{points("c", 1.2), points("d", 1.3)}}
	since.Ranking.Places = [][2]int{{1, 2}, {1, 1}}
	const most = " So points and places of all leagues mix fields with and without "
	texts(t, [][2]string{
		{doubt("mixed", doubts{All: &e}), ""}, {mixed(nil, 4, 0, 100), ""}, // nobody, and one that never played
		{mixed(nil, 1, 1200, 40), "Quarantined: my b from league 1,200 on." + most + "it, however many follow; --without 'my b' plays one field."},
		{mixed(&since, 0, 16, 80), "Quarantined: a from league 16 on and my b from league 1,200 on." + most + "them, however many follow; --without 'a,my b' plays one field." +
			" The 300 leagues since then rank the others by points per match: d 1.300 ±0.010 and c 1.200 ±0.010 (1st to 2nd)."},
	}...)
}

func TestRare(t *testing.T) {
	e := analysis.Estimates{Level: 0.95, Leagues: 100, Players: []analysis.Player{{Name: "a", Kind: "builtin"}, {Name: "b", Kind: "builtin"}}}
	skewed := func(list ...analysis.Skewed) string {
		e.Skewed = list
		return doubt("skewed", doubts{Estimates: &e, Enough: 1110})
	}
	unseen := func(kind string, leagues int) string {
		e.Players[1].Kind, e.Leagues = kind, leagues
		share, _, _ := strings.Cut(strings.TrimPrefix(doubt("unseen", doubts{Estimates: &e}), "What a script or plugin does in fewer than "), " of leagues, such as failing, may have stayed unseen in ")
		return share
	}
	few := analysis.Estimates{Leagues: 12, Players: make([]analysis.Player, 3)}
	const narrow = "100 leagues: with so few, intervals, places and tiers are too narrow; about 2,000 leagues would do, if these are typical."
	texts(t, [][2]string{
		{skewed(), ""},
		{skewed(analysis.Skewed{Field: 0, Enough: 910}, analysis.Skewed{Field: 1, Enough: 1110, Failed: 45}),
			strings.Replace("A few of "+narrow, ":", " decide the points of a and b:", 1)},
		{skewed(analysis.Skewed{Field: 0, Enough: 910}, analysis.Skewed{Field: 1, Enough: 1110, Failed: 3}), "b had technical losses in 3 of " + narrow},
		{skewed(analysis.Skewed{Field: 0, Enough: 910, Failed: 1}, analysis.Skewed{Field: 1, Enough: 1110, Failed: 3}), "a had technical losses in 1 and b in 3 of " + narrow},
		{doubt("few", doubts{Estimates: &e, Legs: 1}), ""}, {doubt("few", doubts{Estimates: &few, Legs: 2}), ""},
		{doubt("few", doubts{Estimates: &few, Legs: 1}), "In 12 leagues of one leg, differences take few values: equal strategies are found different in up to 7 % of such runs instead of 5 %."},
		{unseen("builtin", 100), ""}, {unseen("lua", 100), "3 %"}, {unseen("lua", 0), ""}, {unseen("lua", 1), ""}, {unseen("lua", 400), "0.75 %"},
		{unseen("lua", 1000), "0.3 %"}, {unseen("lua", 20_000), "0.015 %"}, {unseen("lua", 2_000_000), "0.00015 %"},
	}...)
}

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
	unsure.Players[0].Places = [2]int{1, 1}
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
			"anna is first in over 95 % of fields resampled from these opponents (place 1).",
			"Without any one of the others, there is no evidence that another is ahead of it.",
		}},
	} {
		if got := Plain.Robustness(e, tt.r); !slices.Equal(got, tt.want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}
}

func TestOneLeague(t *testing.T) {
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
	if got := Plain.Say("one league", e); !slices.Equal(got, []string{plain}) {
		t.Errorf("got %q", got)
	}
	if got := newLead(e, nil).Titled; got != "" {
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
	if got := Plain.Say("one league", e); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := newLead(e, nil).Titled; got != "bert" {
		t.Errorf("got %q", got)
	}
	set(3, 20, 60)
	set(4, 20, 60)
	set(5, 60, 20)
	if got := Plain.Say("one league", e); len(got) != 5 || got[4] != "The same holds for 2 other pairs." {
		t.Errorf("got %q", got)
	}
}

func around(x float64) analysis.Estimate {
	return analysis.Estimate{Estimate: x, Low: x - 0.02, High: x + 0.02}
}

func TestExplanation(t *testing.T) {
	interval := func(x float64) explain.Interval { return explain.Interval(around(x)) }
	p := explain.Player{
		Even: around(0.5), Studied: &explain.Prediction{Interval: interval(0.8), Order: new(2), Bits: 0.72},
		Met: &explain.Prediction{Interval: interval(0.51), Predictor: "it repeats itself"}, Regret: &explain.Regret{Interval: interval(0.15), Hindsight: around(0.66), Predictor: "it alternates"},
		Best: &explain.Opponent{Name: "bert", Differ: around(0.7), Rivals: 1}, Worst: &explain.Opponent{Name: "dora", Differ: around(0.4)},
	}
	explained := func() string { return strings.Join(Plain.Say("explanation", p), "\n") }
	const want = `Says even: 50.0 % (48.0 to 52.0)
From earlier leagues: predicted in 80.0 % (78.0 to 82.0) from the last 2 matches of both; a choice carries 0.72 bits (1 is a coin, 0 is certain)
From this league only: no better than a coin: predicted in 51.0 % (49.0 to 53.0) by the rule "it repeats itself"
With hindsight: answering "it alternates" with the opposite would have differed in 66.0 % (64.0 to 68.0), 15.0 percentage points more than it did (13.0 to 17.0)
Best opponent: bert, differs in 70.0 % (68.0 to 72.0); the evidence also allows 1 other
Worst opponent: dora, differs in 40.0 % (38.0 to 42.0)`
	texts(t, [2]string{explained(), want})
	for want, change := range map[string]func(){ // every form of a sentence
		"predicted in only 30.0 % (28.0 to 32.0), worse than a coin, from the role alone": func() {
			p.Studied.Interval, p.Studied.Order = interval(0.3), new(0)
		},
		"from the last match of both":                                                                     func() { p.Studied.Order = new(1) },
		"not significantly different from what it did (regret -2.0 to 2.0)":                               func() { p.Regret.Interval = interval(0) },
		"10.0 percentage points less than it did: it reads its opponents better than every built-in rule": func() { p.Regret.Interval = interval(-0.1) },
	} {
		if change(); !strings.Contains(explained(), want) {
			t.Errorf("want %q in\n%s", want, explained())
		}
	}
	if lines := Plain.Say("explanation", explain.Player{Even: none}); lines != nil {
		t.Errorf("of a player without choices: %v", lines)
	}
	p.Studied = nil
	if lines := Plain.Say("explanation", p); len(lines) != 3 {
		t.Errorf("without predictions: %v", lines)
	}
	texts(t, [2]string{Plain.Say("sample", &explain.Explanations{Level: 0.95, Leagues: 1000, Learnt: 501, Judged: 1})[0],
		"Predictors were chosen on 501 leagues and tested on 1 other, of 1,000; opponents and learning curves use all leagues."})
}

// view is a population of three of whom the second is largest at the end.
func view(settled bool) *population.View {
	return &population.View{
		Members: []population.Member{
			{Name: "anna", Share: analysis.Estimate{Estimate: 0.3, Low: 0, High: 0.4}, Borda: analysis.Estimate{Estimate: 0.2}},
			{Name: "bert", Share: analysis.Estimate{Estimate: 0.699, Low: 0.6, High: 1}, Borda: analysis.Estimate{Estimate: 0.1}},
			{Name: "carl", Share: analysis.Estimate{Estimate: 0.001}},
		},
		Trajectory: &population.Trajectory{Settled: settled, Gap: 0.00123, Steps: []population.Shares{
			{Generation: 0, Payoff: 1.25}, {Generation: 1234, Payoff: 1.4567},
		}},
	}
}

func TestPopulation(t *testing.T) {
	for name, tt := range map[string]struct{ got, want string }{
		"settled": {Plain.Population(view(true), 3, 0), "From equal shares the mean payoff rises from 1.250 to 1.457 points per match. " +
			"After 1,234 generations these are left: bert 69.9 % (60.0 to 100.0) and anna 30.0 % (0.0 to 40.0). No strategy would gain more than 0.0001 points by switching: an equilibrium."},
		"moving": {Plain.Population(view(false), 4, 0), "From equal shares the mean payoff rises from 1.2500 to 1.4567 points per match. " +
			"After 1,234 generations these are left: bert 69.9 % (60.0 to 100.0) and anna 30.0 % (0.0 to 40.0). It has not settled: the best strategy would still gain 0.00123 points per match."},
		"one missing": {Plain.Population(&population.View{Missing: []string{"anna"}}, 3, 0), "How the population evolves is unknown: anna never met a copy of itself."},
		"two missing": {Plain.Population(&population.View{Missing: []string{"anna", "bert"}}, 3, 0), "How the population evolves is unknown: anna and bert never met copies of themselves."},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %q, want %q", name, tt.got, tt.want)
		}
	}
}

func TestBySize(t *testing.T) {
	v := view(true)
	if got := BySize(v); got[0] != 1 || got[1] != 0 || got[2] != 2 {
		t.Errorf("by share: %v", got)
	}
	for i := range v.Members {
		v.Members[i].Share.Estimate = none.Estimate
	}
	if got := BySize(v); got[0] != 0 || got[1] != 1 || got[2] != 2 {
		t.Errorf("by Borda score: %v", got)
	}
}
