package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/served"
)

// addAgents adds the agents of a supply to the options of a catalog, which closes them.
func (l Lab) addAgents(s Supply, o *catalog.Config) error {
	s.Serving.Dir, s.Serving.Cassette, s.Serving.Log = l.Dir, l.Path(s.Serving.Cassette), s.Log
	for _, spec := range s.Agents {
		f, err := served.Open(spec, s.Serving)
		if err != nil {
			return &InputError{err, ""}
		}
		o.Builtins = append(o.Builtins, f)
	}
	return nil
}

// ready starts the agents of a field, so that one that cannot play is noticed before
// anything is played.
func ready(ctx context.Context, factories []strategies.Factory) error {
	for _, f := range factories {
		a, ok := f.(*served.Factory)
		if !ok {
			continue
		}
		if err := a.Ready(ctx); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return &InputError{err, "strategylab strategies check " + a.Info().Name + " with the same flags shows more"}
		}
	}
	return nil
}

// lockstep returns how many leagues a worker plays at once.
func lockstep(factories []strategies.Factory) int {
	n := arena.Lockstep(scriptsOf(factories))
	for _, f := range factories {
		if a, ok := f.(*served.Factory); ok {
			n = min(n, a.Lockstep())
		}
	}
	return n
}

// agentsOf reports how the agents of a field fared.
func agentsOf(plan results.Plan, factories []strategies.Factory) []report.Agent {
	var list []report.Agent
	at := make(map[*served.Factory]int)
	for i, f := range factories {
		a, ok := f.(*served.Factory)
		if !ok {
			continue
		}
		k, known := at[a]
		if !known {
			k = len(list)
			at[a], list = k, append(list, agentOf(a))
		}
		list[k].Players = append(list[k].Players, plan.Field[i].Name)
	}
	return list
}

func agentOf(a *served.Factory) report.Agent {
	u := a.Usage()
	milliseconds := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	r := report.Agent{
		Name: a.Info().Name, Restart: served.Never, Asked: u.Asked, Replayed: u.Replayed, Missing: u.Missing,
		Messages: u.Messages, Retries: u.Retries, Starts: u.Starts, MedianMS: milliseconds(u.Median), P99MS: milliseconds(u.P99), Log: u.Log,
	}
	if u.Restarts {
		r.Restart = served.League
	}
	for _, x := range u.Faults {
		r.Faults = append(r.Faults, report.AgentFault(x))
	}
	return r
}

// errClusterAgent refuses agents on a cluster, whose machines cannot reach them.
func errClusterAgent(name string) error {
	return &InputError{fmt.Errorf("%s: %w", name, errors.New("an agent plays on the machine of the experiment only")), "leave --cluster out"}
}
