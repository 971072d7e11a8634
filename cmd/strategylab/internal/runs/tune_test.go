package runs

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/tune"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/params"
)

// On shipped scripts the search is at least as good as values drawn at random in as many
// leagues, by the points of both in fresh leagues.
func TestTuneAgainstRandomSearch(t *testing.T) {
	if os.Getenv("LONG_TESTS") == "" {
		t.Skip("analysis/tune compares them on known surfaces; make tune-tests shows the rest")
	}
	t.Parallel()
	cat, err := catalog.Load(t.Context(), catalog.Config{Dir: "../../../.."})
	if err != nil {
		t.Fatal(err)
	}
	defer cat.Close()
	const leagues, fresh = 2000, 2000
	ours, theirs, start := 0.0, 0.0, 0.0
	for i, name := range []string{"council", "bandit", "echo", "ledger", "drift"} {
		entry, err := cat.Resolve(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		run := &tuneRun{entry: entry}
		score := func(p tune.Point, seed uint64, n int) (list []float64) {
			t.Helper()
			refs, err := catalog.ParseRefs(params.Join(name, run.values(p)) + ",markov-2,hedge,alternate,role")
			if err != nil {
				t.Fatal(err)
			}
			field, err := cat.Field(t.Context(), refs)
			if err != nil {
				t.Fatal(err)
			}
			plan := results.Plan{Schema: results.PlanSchema, Runs: n, Legs: 10, Seed: seed, Draw: "uniform:1-10", Transport: "direct"}
			var factories []strategies.Factory
			for k, f := range field.Players {
				plan.Field, factories = append(plan.Field, results.Entrant{Name: fmt.Sprint(k)}), append(factories, f.Factory)
			}
			scorer, err := analysis.NewScorer(plan)
			if err != nil {
				t.Fatal(err)
			}
			if err := new(lab.Session).PlayUnrecorded(t.Context(), plan, factories, func(l *results.League) error {
				err := scorer.Score(l)
				part, base := scorer.Value(analysis.Adjusted, 0)
				list = append(list, float64(part)/float64(base))
				return err
			}); err != nil {
				t.Fatal(err)
			}
			return list
		}
		mean := func(list []float64) (m float64) {
			for _, x := range list {
				m += x / float64(len(list))
			}
			return m
		}
		space, present := run.space()
		s, err := tune.New(tune.Config{Space: space, Start: present, Leagues: leagues, Fields: 1, Seed: uint64(i)})
		if err != nil {
			t.Fatal(err)
		}
		block := s.Config().Block
		for r, ok := s.Next(); ok; r, ok = s.Next() {
			if err := s.Add(r, [][]float64{score(r.Point, uint64(1000*i+r.Block), block)}); err != nil {
				t.Fatal(err)
			}
		}
		rng, drawn, most := rand.New(rand.NewPCG(uint64(i), 1)), present, 0.0
		for range leagues / block {
			p := make(tune.Point, len(space))
			for k, a := range space {
				p[k] = a.Low + rng.Float64()*(a.High-a.Low)
			}
			if m := mean(score(p, uint64(1000*i), block)); m > most {
				drawn, most = p, m
			}
		}
		a, b, c := mean(score(s.Candidates()[s.Best()].Point, 1<<40, fresh)), mean(score(drawn, 1<<40, fresh)), mean(score(present, 1<<40, fresh))
		t.Logf("%s: %.4f points, random search %.4f, present values %.4f", name, a, b, c)
		ours, theirs, start = ours+a/5, theirs+b/5, start+c/5
	}
	t.Logf("on average %.4f points, random search %.4f, present values %.4f", ours, theirs, start)
	if ours < theirs-0.001 {
		t.Errorf("the search scores %.4f, random search %.4f", ours, theirs)
	}
}
