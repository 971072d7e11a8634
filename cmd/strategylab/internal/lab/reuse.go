package lab

import (
	"fmt"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
)

// reusing returns a driver that takes leagues over from the former run, and counts
// them. Without a former run that gives the same leagues it is the driver itself.
func (s Session) reusing(plan results.Plan, factories []strategies.Factory, driver experiments.Driver) (_ experiments.Driver, kept func() int, err error) {
	kept = func() int { return 0 }
	if s.Former == "" {
		return driver, kept, nil
	}
	open := func() (*results.Reader, error) { return results.OpenReader(s.Former) }
	reader, err := open()
	if err != nil {
		return nil, kept, err
	}
	changed, same := arena.Changed(reader.Plan(), plan)
	if err := reader.Close(); err != nil {
		return nil, kept, err
	}
	if !same {
		return driver, kept, nil
	}
	reuse, err := arena.NewReuse(driver, plan, factories, changed, open, arena.Config{})
	if err != nil {
		return nil, kept, fmt.Errorf("take over leagues of the run before: %w", err)
	}
	return reuse, func() int {
		probed, differ := reuse.Probed()
		return probed - differ
	}, nil
}
