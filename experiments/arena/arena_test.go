package arena_test

import (
	"fmt"

	"github.com/strategylab/strategylab/host/results"
)

func planOf(players, legs, runs int) results.Plan {
	p := results.Plan{Schema: results.PlanSchema, Runs: runs, Legs: legs, Seed: 11, Transport: "direct"}
	for i := range players {
		p.Field = append(p.Field, results.Entrant{Name: fmt.Sprintf("player-%d", i), Kind: "builtin"})
	}
	return p
}
