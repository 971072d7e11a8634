package workers_test

import (
	"context"
	"fmt"
	"os"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/workers"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/plugins/isolate"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

// Example plays leagues of a script against itself in two worker processes. The
// workers are this test binary: its TestMain calls isolate.Serve with workers.Tasks.
func Example() {
	config := plugins.Config{Command: []string{os.Args[0], "worker"}}
	config.Workers = plugins.NewPool(config, 0)
	defer config.Workers.Close()
	lua := isolate.Formats(languages(), config, nil)[0]
	f, err := lua.Load(context.Background(), "stubborn", "stubborn.lua", []byte(`function choose() return "odd" end`), budget.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	plan := results.Plan{
		Schema: results.PlanSchema, Runs: 100, Legs: 2, Draw: "uniform:1-10", Transport: "direct",
		Field: []results.Entrant{{Name: "one"}, {Name: "two"}},
	}
	driver, err := workers.NewDriver(plan, []strategies.Factory{f, f})
	if err != nil {
		fmt.Println(err)
		return
	}
	played, err := experiments.Run(context.Background(), plan, driver, experiments.Tee(), experiments.Config{Workers: 2})
	fmt.Println(played.Leagues, played.Matches, err)
	// Output: 100 200 <nil>
}
