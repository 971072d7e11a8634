package analysis_test

import (
	"fmt"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/strategylab/strategylab/analysis"
)

// trial is one number whose true value is known, and how often its interval
// caught it.
type trial struct {
	name    string
	truth   float64
	caught  int
	atLeast bool // the interval is meant to be no shorter than exact, but may be longer
}

// TestCoverage plays whole experiments of bots whose true values are known, and
// counts how often the 95 % intervals catch them. Bots with moods make the
// matches of a league dependent, so this also holds the league as the unit.
//
// Each number may stray from 95 % by what chance allows at one false alarm in
// 1,000 for all numbers of the test together.
func TestCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("plays 100,000 leagues")
	}
	t.Parallel()
	const perExperiment = 200
	repetitions := repeated(200)
	worlds := []*world{
		newWorld(t, "", 10, bot{even: 0.5, mood: 0.3}, bot{even: 0.6}),
		newWorld(t, "weights:1=2,2=3", 3, bot{even: 0.99}, bot{even: 0.98}, bot{even: 0.7}, bot{even: 0.5}, bot{even: 0.3}),
	}
	if os.Getenv("WHOLE_TESTS") != "" {
		worlds = append(worlds, newWorld(t, "", 10, bot{even: 0.5, mood: 0.4}, bot{even: 0.9}, bot{even: 0.5, mood: 0.4}, bot{even: 0.15}))
	}
	for _, w := range worlds {
		trials := truths(t, w)
		for rep := range repetitions {
			e := analyse(t, w.plan, w.leagues(uint64(rep), perExperiment)).Estimates(0.95)
			for k, estimate := range flattenEstimates(&e) {
				if trials[k].truth >= estimate.Low && trials[k].truth <= estimate.High {
					trials[k].caught++
				}
			}
		}
		allowance := distuv.UnitNormal.Quantile(1-1e-3/2/100) * math.Sqrt(0.95*0.05/float64(repetitions))
		sum := 0.0
		for _, tr := range trials {
			share := float64(tr.caught) / float64(repetitions)
			sum += share / float64(len(trials))
			if share < 0.95-allowance || share > 0.95+allowance && !tr.atLeast {
				t.Errorf("draw %s, %d players: %s is caught in %.1f %% of experiments, want 95 ± %.1f",
					w.plan.Draw, len(w.bots), tr.name, 100*share, 100*allowance)
			}
		}
		if sum < 0.94 {
			t.Errorf("draw %s, %d players: %.2f %% of %d intervals hold", w.plan.Draw, len(w.bots), 100*sum, len(trials))
		}
		t.Logf("draw %s, %d players: %.2f %% of %d numbers' intervals hold", w.plan.Draw, len(w.bots), 100*sum, len(trials))
	}
}

// repeated is how often a test repeats an experiment: a plain run is content with a third
// of what counts errors precisely.
func repeated(whole int) int {
	if os.Getenv("WHOLE_TESTS") != "" {
		return whole
	}
	return whole / 3
}

// flattenEstimates lists the estimates in the order of truths.
func flattenEstimates(e *analysis.Estimates) []analysis.Estimate {
	var list []analysis.Estimate
	for _, p := range e.Pairs {
		list = append(list, p.Differ)
	}
	for _, p := range e.Players {
		list = append(list, p.Differ, p.Points, p.Adjusted, p.WinRate, p.AdjustedWinRate, p.ChampionShare, p.Rank)
	}
	return list
}

// truths computes the true values from the bots: moods are independent, so what
// counts is each one's mean chance of saying even. Title share and rank have no
// such formula; they are taken from 20,000 leagues, whose own error is a
// tenth of that of an experiment's 200.
func truths(t *testing.T, w *world) []*trial {
	even, total := w.draw.EvenWeight()
	q := float64(even) / float64(total)
	long := analyse(t, w.plan, nil)
	for i := range 20_000 {
		if err := long.Add(w.league(math.MaxUint64, i)); err != nil {
			t.Fatal(err)
		}
	}
	e := long.Estimates(0.95)
	rare := func(p float64) bool { return min(p, 1-p) < 0.1 }
	var list []*trial
	for _, p := range e.Pairs {
		x, y := w.bots[p.A].even, w.bots[p.B].even
		d := x*(1-y) + y*(1-x)
		list = append(list, &trial{name: fmt.Sprintf("P(differ) of %d and %d", p.A, p.B), truth: d, atLeast: rare(d)})
	}
	for i, p := range e.Players {
		var differ, win, adjusted float64
		opponents := float64(len(w.bots) - 1)
		for j, o := range w.bots {
			if j == i {
				continue
			}
			saidEven, saidOdd := w.bots[i].even*(1-o.even), (1-w.bots[i].even)*o.even
			differ += (saidEven + saidOdd) / opponents
			win += (q*saidEven + (1-q)*saidOdd) / opponents
		}
		adjusted = 3*win + 1 - differ
		for _, tr := range []trial{
			{name: "P(differ)", truth: differ}, {name: "points", truth: adjusted}, {name: "adjusted points", truth: adjusted},
			{name: "win rate", truth: win}, {name: "adjusted win rate", truth: win},
			{name: "title share", truth: p.ChampionShare.Estimate, atLeast: true}, {name: "rank", truth: p.Rank.Estimate},
		} {
			tr.name = fmt.Sprintf("%s of %d", tr.name, i)
			list = append(list, &tr)
		}
	}
	return list
}

// TestLeagueIsTheUnit shows what the league as the unit is for: a player with
// moods, judged by its matches as if they were independent, is misjudged.
func TestLeagueIsTheUnit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", 10, bot{even: 0.5, mood: 0.5}, bot{even: 0.9})
	const repetitions = 200
	const truth = 0.5
	byMatch, byLeague := 0, 0
	for rep := range repetitions {
		d := analyse(t, w.plan, w.leagues(uint64(rep), 50)).Estimates(0.95).Pairs[0]
		p := d.Differ.Estimate
		if math.Abs(p-truth) <= 1.96*math.Sqrt(p*(1-p)/float64(d.Clean)) {
			byMatch++
		}
		if d.Differ.Low <= truth && truth <= d.Differ.High {
			byLeague++
		}
	}
	if byMatch > repetitions*70/100 {
		t.Errorf("intervals by match hold in %d of %d; the test has lost its point", byMatch, repetitions)
	}
	// 200 * 0.95 = 190, standard deviation 3.1.
	if byLeague < 176 {
		t.Errorf("intervals by league hold in %d of %d", byLeague, repetitions)
	}
}

// TestFalseDifferences plays fields in which nobody is better than anybody and
// counts the experiments in which some two are called different: at most 5 %,
// here at one false alarm in 1,000 for all fields together.
func TestFalseDifferences(t *testing.T) {
	t.Parallel()
	const perExperiment = 30
	repetitions := repeated(300)
	limit := 0
	for b := (distuv.Binomial{N: float64(repetitions), P: 0.05}); b.CDF(float64(limit)) < 1-1e-3/6; {
		limit++
	}
	for _, players := range []int{3, 6, 12} {
		bots := make([]bot, players)
		for i := range bots {
			bots[i].even = 0.5
		}
		w := newWorld(t, "", 2, bots...)
		neighbours, all := 0, 0
		for rep := range repetitions {
			acc := analyse(t, w.plan, w.leagues(uint64(rep), perExperiment))
			e := acc.Estimates(0.95)
			if different, _ := e.Distinguishable(); different > 0 {
				neighbours++
			}
			for _, c := range acc.Compare(analysis.AdjustedPoints, 0.95) {
				if c.Verdict == analysis.Different {
					all++
					break
				}
			}
		}
		t.Logf("%d players: neighbours %d, all pairs %d of %d (limit %d)", players, neighbours, all, repetitions, limit)
		if neighbours > limit || all > limit {
			t.Errorf("%d equal players: told apart among neighbours in %d, among all in %d of %d experiments, want at most %d",
				players, neighbours, all, repetitions, limit)
		}
		if players == 3 && all == 0 {
			t.Errorf("%d experiments without a single false alarm: the test is blind", repetitions)
		}
	}
}
