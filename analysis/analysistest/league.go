// Package analysistest plays small experiments for the examples and tests of the packages
// below analysis.
package analysistest

import (
	"math/rand/v2"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// Plan is a hundred leagues of three players: one always says even, one always odd, one
// now this and now that.
func Plan() results.Plan {
	return results.Plan{
		Schema: results.PlanSchema, Runs: 100, Legs: 2, Seed: 1, Draw: "uniform:1-10", Transport: "direct",
		Field: []results.Entrant{{Name: "even", Ref: "even"}, {Name: "odd", Ref: "odd"}, {Name: "mixed", Ref: "mixed"}},
	}
}

// League plays one league of the plan.
func League(plan results.Plan, index int) *results.League {
	return Play(plan, index, func(_ *results.League, k, field int) game.Side {
		if field == 0 || field == 2 && (index*index+3*k)%7 < 3 {
			return game.Side{Choice: game.Even}
		}
		return game.Side{Choice: game.Odd}
	}, rand.NewPCG(plan.Seed, uint64(index)))
}

// Play plays a league of a plan: side says what the player of a field index does in a match,
// by its index, and numbers are drawn for the matches that both choices decide.
func Play(plan results.Plan, index int, side func(l *results.League, match, field int) game.Side, numbers rand.Source) *results.League {
	l := &results.League{Index: index, Seats: game.Seats(plan.Seed, index, len(plan.Field))}
	draw := attest.Must(game.ParseDraw(plan.Draw))
	for k, p := range attest.Must(game.NewSchedule(len(plan.Field), plan.Legs)).Matches() {
		m := results.Match{A: side(l, k, l.Seats[p.A]), B: side(l, k, l.Seats[p.B]), Number: results.NoNumber}
		if m.A.Fault == game.NoFault && m.B.Fault == game.NoFault {
			m.Number = int32(draw.Pick(numbers.Uint64()))
		}
		l.Matches = append(l.Matches, m)
	}
	return l
}

// Estimates are those of all leagues of the plan.
func Estimates(plan results.Plan) analysis.Estimates { return Analyze(plan, plan.Runs, League) }

// Analyze returns the estimates of a number of leagues of a plan.
func Analyze(plan results.Plan, leagues int, league func(plan results.Plan, index int) *results.League) analysis.Estimates {
	acc := attest.Must(analysis.NewAccumulator(plan))
	for i := range leagues {
		if err := acc.Add(*league(plan, i)); err != nil {
			panic(err)
		}
	}
	return acc.Estimates(analysis.DefaultLevel)
}
