package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/strategylab/strategylab/experiments/workers"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/plugins/isolate"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

// This file has what worker processes do for the lab beside playing leagues: they
// watch scripts, which can only be done in the process that runs them.

// serveTasks plays leagues and watches scripts for the process that started this
// one, until that ends.
func (l Lab) serveTasks() error {
	tasks := workers.Tasks()
	tasks[taskCheck], tasks[taskSlips] = isolate.JSON(l.checkTask), isolate.JSON(slipsTask)
	return isolate.Serve(isolate.ServerConfig{Formats: l.Formats(), Memory: budget.Memory, Large: largePages, Tasks: tasks})
}

// The tasks of a worker.
const (
	taskCheck = "check"
	taskSlips = "slips"
)

type checkRequest struct {
	Script   plugins.Script
	Seed     uint64
	Isolated bool          // as in Checking
	Time     time.Duration // as in Checking
}

// checkReply is one answer of taskCheck: a step that begins, or the verdict.
type checkReply struct {
	Step    string   `json:",omitempty"`
	Verdict *Verdict `json:",omitempty"`
}

type slipsRequest struct {
	Script   plugins.Script
	Failures bool
}

// scriptOf returns the script of a factory that does not run it in this process, or
// nil.
func scriptOf(f strategies.Factory) *plugins.Script {
	place, _ := plugins.PlaceOf(f)
	return place.Config.Script
}

// checkTask plays a script in this process and in its own, as live leagues do. Its
// findings come from one of them, and say whether it plays the same in the other and
// what its process used.
func (l Lab) checkTask(ctx context.Context, p *isolate.Process, r checkRequest, reply func(any) error) error {
	inside, err := p.Load(r.Script, 0)
	if err != nil {
		return err
	}
	defer inside.Close()
	outside, failed := loadFormat(isolate.Formats(l.Formats(), l.worker(nil), nil), r.Script.Kind, func(f catalog.Format) (strategies.Factory, error) {
		return f.Load(ctx, r.Script.Name, r.Script.Path, r.Script.Source, r.Script.Limits)
	})
	if failed == nil {
		defer outside.Close() // a worker that ends badly has failed before, which is reported
	}
	c := Checking{Seed: r.Seed, Isolated: r.Isolated, Time: r.Time, Step: func(step string) {
		_ = reply(checkReply{Step: step}) // a host that has gone ends this process
	}}
	ctx, steps, end := c.begin(ctx)
	defer end()
	o := l.checkConfig(r.Seed, r.Script.Limits, steps)
	e := catalog.Entry{Info: inside.Info(), Factory: inside}
	var found []strategytest.Finding
	switch {
	case failed != nil:
		found = append(strategytest.Check(ctx, inside, o), strategytest.Finding{ID: "isolated", Level: strategytest.Error, Where: e.Info.Source,
			What: fmt.Sprintf("it does not load in its own process: %v", failed)})
	case r.Isolated:
		e.Factory = outside
		found = isolatedFindings(ctx, inside, outside, o)
	default:
		found = strategytest.Check(ctx, inside, o)
	}
	if failed == nil {
		steps.Do(ctx, "the same choices in a process of its own", func() {
			if f := strategytest.CheckIsolated(ctx, inside, outside, o); ctx.Err() == nil {
				found = append(found, f)
			}
		})
		found = append(found, workerFinding(outside)...)
	}
	v, err := l.verdict(ctx, e, found, c, steps)
	if err != nil {
		return err
	}
	return reply(checkReply{Verdict: &v})
}

// isolatedFindings checks a script in a process of its own, and then in this one for what
// only shows here: first what it reads that does not exist, which explains failures.
func isolatedFindings(ctx context.Context, inside, outside strategies.Factory, o strategytest.Config) []strategytest.Finding {
	found := strategytest.Check(ctx, outside, o)
	o.Steps.Do(ctx, "what it reads and uses", func() {
		quiet := o
		quiet.Steps = nil
		slips, others := insideOnly(strategytest.Check(ctx, inside, quiet))
		found = slices.Concat(slips, found, others)
	})
	return found
}

// insideOnly returns the findings that only a script in this process has: what it reads
// although it does not exist, and how many instructions it takes.
func insideOnly(all []strategytest.Finding) (slips, others []strategytest.Finding) {
	for _, f := range all {
		switch {
		case f.ID == "slip":
			slips = append(slips, f)
		case strings.HasPrefix(f.ID, "budget-") || f.ID == "constant":
			others = append(others, f)
		}
	}
	return slips, others
}

// Slips watches scripts for a short league and returns what they read although it does
// not exist and, with failures, how they fail. Each file is watched once, by a worker
// unless it was loaded into this process.
func (l Lab) Slips(ctx context.Context, players []catalog.Player, limits budget.Limits, failures bool) []strategytest.Finding {
	var found []strategytest.Finding
	seen := make(map[string]bool)
	var own *plugins.Pool // for scripts without one
	defer func() {
		if own != nil {
			_ = own.Close() // its processes have done their work
		}
	}()
	for _, p := range players {
		if !p.Info.Kind.Script() || seen[p.Info.Source] {
			continue
		}
		seen[p.Info.Source] = true
		script := scriptOf(p.Factory)
		if script == nil {
			found = append(found, strategytest.Slips(ctx, p.Factory, slipsConfig(limits), failures)...)
			continue
		}
		place, _ := plugins.PlaceOf(p.Factory)
		pool := place.Config.Workers
		if pool == nil {
			if own == nil {
				own = plugins.NewPool(l.worker(nil), 0)
			}
			pool = own
		}
		var slips []strategytest.Finding
		if pool.Do(ctx, taskSlips, slipsRequest{*script, failures}, func(body []byte) error { return json.Unmarshal(body, &slips) }) == nil { // else what plays it says why
			found = append(found, slips...)
		}
	}
	return found
}

func slipsConfig(limits budget.Limits) strategytest.Config {
	return strategytest.Config{Seed: CheckSeed, Limits: limits}
}

func slipsTask(ctx context.Context, p *isolate.Process, r slipsRequest, reply func(any) error) error {
	f, err := p.Load(r.Script, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return reply(strategytest.Slips(ctx, f, slipsConfig(r.Script.Limits), r.Failures))
}
