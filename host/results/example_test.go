package results_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// Example writes a run of one league and reads it back.
func Example() {
	temp, err := os.MkdirTemp("", "run")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(temp)
	dir := filepath.Join(temp, "first")
	run, err := results.Create(dir, results.Plan{
		Schema: results.PlanSchema, Runs: 1, Legs: 1, Seed: 1, Draw: "uniform:1-10", Transport: "direct",
		Field: []results.Entrant{{Name: "a"}, {Name: "b"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	match := results.Match{A: game.Side{Choice: game.Even}, B: game.Side{Choice: game.Odd}, Number: 4}
	err = errors.Join(run.Append(&results.League{Seats: []int{1, 0}, Matches: []results.Match{match}}), run.Close())
	read, opened := results.OpenReader(dir)
	if err = errors.Join(err, opened); err != nil {
		fmt.Println(err)
		return
	}
	defer read.Close()
	for league, err := range read.Leagues() {
		if err == nil {
			winner := league.Seats[0] // seat 0 played side A and won
			fmt.Println(read.Plan().Field[winner].Name, league.Matches[0].Verdict().PointsA)
		}
	}
	// Output: b 3
}
