package page_test

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

func ExampleWrite() {
	plan := results.Plan{
		Schema: results.PlanSchema, Runs: 40, Legs: 1, Seed: 1, Draw: "uniform:1-10", Transport: "direct",
		Field: []results.Entrant{{Name: "even"}, {Name: "odd"}, {Name: "odd-too"}},
	}
	acc, err := analysis.NewAccumulator(plan)
	if err != nil {
		panic(err)
	}
	schedule, err := game.NewSchedule(len(plan.Field), plan.Legs)
	if err != nil {
		panic(err)
	}
	for i := range plan.Runs {
		l := results.League{Index: i, Seats: game.Seats(plan.Seed, i, len(plan.Field))}
		for k, m := range schedule.Matches() {
			side := func(seat int) game.Side {
				if l.Seats[seat] == 0 {
					return game.Side{Choice: game.Even}
				}
				return game.Side{Choice: game.Odd}
			}
			l.Matches = append(l.Matches, results.Match{A: side(m.A), B: side(m.B), Number: int32(1 + (i+k)%10)})
		}
		if err := acc.Add(l); err != nil {
			panic(err)
		}
	}
	var html bytes.Buffer
	run := report.Run{Plan: plan, Estimates: acc.Estimates(analysis.DefaultLevel), Facts: report.Facts{Reproducible: true}}
	if err := page.Write(&html, page.Input{Document: report.New(run)}); err != nil {
		panic(err)
	}
	_, rest, _ := strings.Cut(html.String(), "<h1>")
	headline, _, _ := strings.Cut(rest, "</h1>")
	fmt.Println(headline)
	// Output:
	// even scores most against these opponents
}
