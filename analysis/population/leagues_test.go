package population

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/analysistest"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// moodyPlan has players 0 to 3; see moodyLeague.
func moodyPlan() results.Plan {
	plan := results.Plan{Schema: results.PlanSchema, Runs: 400, Legs: 4, Seed: 7, Draw: "uniform:1-10", Transport: "direct"}
	for _, name := range []string{"moody", "even", "same", "coin"} {
		plan.Field = append(plan.Field, results.Entrant{Name: name, Kind: "builtin", Ref: name})
	}
	return plan
}

// moodyLeague: player 0 says even or odd throughout a league, players 1 and 2 always say
// even, and player 3 now this and now that.
func moodyLeague(plan results.Plan, index int) *results.League {
	chance := game.NewRand(game.StrategyKey(plan.Seed, index, 0))
	coin := func() game.Side {
		if chance.Bernoulli(0.5) {
			return game.Side{Choice: game.Odd}
		}
		return game.Side{Choice: game.Even}
	}
	mood := coin()
	return analysistest.Play(plan, index, func(_ *results.League, _, field int) game.Side {
		switch field {
		case 0:
			return mood
		case 3:
			return coin()
		}
		return game.Side{Choice: game.Even}
	}, rand.NewPCG(1, uint64(index)))
}

func moodyLeagues(t *testing.T, backwards bool) *Leagues {
	t.Helper()
	plan := moodyPlan()
	l := attest.Must(NewLeagues(plan))
	for k := range plan.Runs {
		if backwards {
			k = plan.Runs - 1 - k
		}
		attest.OK(t, l.Add(moodyLeague(plan, k)))
	}
	return l
}

func moodyEstimates() analysis.Estimates {
	plan := moodyPlan()
	return analysistest.Analyze(plan, plan.Runs, moodyLeague)
}

func correlation(x, y []float64) float64 {
	sum := 0.0
	for k := range x {
		sum += x[k] * y[k]
	}
	return sum / float64(len(x)-1)
}

// TestLeaguesVaryTogether: payoffs that the same moods move are moved alike by resamples,
// those of unrelated pairs are not, and of those on which all leagues agree nothing is
// known. The order of the leagues does not matter.
func TestLeaguesVaryTogether(t *testing.T) {
	z := moodyLeagues(t, false).deviations([]int{0, 1, 2, 3}, 4)
	if z[1][2] != nil {
		t.Error("two that always agree vary")
	}
	attest.Near(t, correlation(z[0][1], z[0][2]), 1, 1e-9, "correlation of two pairs that are always alike")
	attest.Near(t, correlation(z[0][1], z[1][3]), 0, 0.35, "correlation of two pairs that have nothing to do with each other") // 3.8 standard errors
	for _, list := range [][]float64{z[0][1], z[0][3], z[1][3]} {
		mean := 0.0
		for _, x := range list {
			mean += x
		}
		if len(list) != resamples || math.Abs(mean) > 1e-9 || math.Abs(correlation(list, list)-1) > 1e-9 {
			t.Errorf("%d resamples are not standardized: mean %v", len(list), mean)
		}
	}
	again := moodyLeagues(t, true).deviations([]int{0, 1, 2, 3}, 4)
	if !slices.Equal(z[0][3], again[0][3]) {
		t.Error("the order of the leagues matters")
	}
	// As copies of one strategy, 1 and 2 are one opponent, whose pairs are averaged.
	if copies := moodyLeagues(t, false).deviations([]int{0, 1, 1, 2}, 3); math.Abs(correlation(copies[0][1], z[0][1])-1) > 1e-9 || copies[1][1] != nil {
		t.Error("copies are not averaged")
	}
	if none := (*Leagues)(nil).deviations([]int{0, 1}, 2); none[0][1] != nil {
		t.Error("no leagues vary")
	}
}

// TestResampledErrors: before they are standardized, resamples spread as the standard
// error of the leagues says.
func TestResampledErrors(t *testing.T) {
	e, l := moodyEstimates(), moodyLeagues(t, false)
	for _, p := range e.Pairs {
		at := l.pair(p.A, p.B)
		if !l.varies[at] {
			continue
		}
		var sum, squares float64
		for r := range resamples {
			x := float64(l.differ[at*resamples+r])/float64(l.clean[at*resamples+r]) - p.Differ.Estimate
			sum, squares = sum+x, squares+x*x
		}
		spread, want := math.Sqrt(squares/resamples), p.Differ.Width()/2/1.96
		if ratio := spread / want; ratio < 0.75 || ratio > 1.25 { // 3.8 standard errors
			t.Errorf("players %d and %d: spread %v in resamples, standard error %v", p.A, p.B, spread, want)
		}
		attest.Near(t, sum/resamples, 0, 0.4*want, "error of resamples of %d and %d", p.A, p.B)
	}
}

// TestRangesUseLeagues: two strategies whose payoffs rise and fall together are compared
// by their difference, which does not vary; taken as independent, they change places.
func TestRangesUseLeagues(t *testing.T) {
	plan, e := moodyPlan(), moodyEstimates()
	apart := func(leagues *Leagues) (ties int) {
		g := attest.Must(NewGame(plan, &e, nil, leagues))
		source := rand.NewPCG(g.seed, 1)
		for r := range resamples {
			m := g.resampled(r, source)
			ties += attest.One(math.Abs(m[0][1]-m[0][2]) < 1e-9)
			for i := range m {
				for j := range m {
					if m[i][j] != m[j][i] || m[i][j] < 0 || m[i][j] > 1 {
						if !math.IsNaN(m[i][j]) {
							t.Fatalf("resample %d: chance %v to differ, %v the other way", r, m[i][j], m[j][i])
						}
					}
				}
			}
		}
		return ties
	}
	if n := apart(moodyLeagues(t, false)); n != resamples {
		t.Errorf("two that score the same in every league score the same in %d of %d resamples", n, resamples)
	}
	if n := apart(nil); n > 5 {
		t.Errorf("drawn independently they score the same in %d of %d resamples", n, resamples)
	}
}

// TestLeaguesRefuse: a record that does not fit the plan is an error, and above 200
// players nothing is kept.
func TestLeaguesRefuse(t *testing.T) {
	plan := moodyPlan()
	l := attest.Must(NewLeagues(plan))
	rec := moodyLeague(plan, 0)
	rec.Matches = rec.Matches[1:]
	if err := l.Add(rec); err == nil {
		t.Error("a league without its first match was taken")
	}
	plan.Legs = 0
	if _, err := NewLeagues(plan); err == nil {
		t.Error("a plan of no legs was taken")
	}
	many := moodyPlan()
	many.Field = slices.Repeat(many.Field[:1], mostPlayers+1)
	many.Legs = 1
	if l := attest.Must(NewLeagues(many)); l.clean != nil {
		t.Errorf("%d counts of %d players", len(l.clean), mostPlayers+1)
	}
}
