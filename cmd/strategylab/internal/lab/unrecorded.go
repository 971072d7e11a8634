package lab

import (
	"cmp"
	"context"
	"errors"
	"runtime"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/cluster"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
)

// PlayUnrecorded plays the leagues of a plan as Play does, but without a folder: it passes
// each to add, in order.
func (s Session) PlayUnrecorded(ctx context.Context, plan results.Plan, factories []strategies.Factory, add func(*results.League) error) (err error) {
	driver, _, err := driverOf(plan, factories)
	if err != nil {
		return err
	}
	sinks := []experiments.Sink{sinkFunc(add)}
	config := experiments.Config{Workers: cmp.Or(s.workersFor(plan, factories, driver), runtime.GOMAXPROCS(0))}
	if s.Cluster != nil {
		co, end, err2 := s.Cluster.coordinate(ctx, plan, factories, driver, nil)
		if err2 != nil {
			return err2
		}
		defer func() { err = errors.Join(err, end()) }()
		driver, config.Workers = co, cluster.MaxChunks
		sinks = append([]experiments.Sink{sinkFunc(func(l *results.League) error { return co.Record(l.Index) })}, sinks...)
	}
	_, err = experiments.Run(ctx, plan, driver, experiments.Tee(sinks...), config)
	return err
}
