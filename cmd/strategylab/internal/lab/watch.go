package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"

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

// pool returns a pool of workers. log receives why they end early; nil discards it.
func (l Lab) pool(log *slog.Logger) *workers.Pool {
	isolated := l.isolation(log)
	if l.Loader != nil {
		isolated.Describe = l.Loader.Describe
	}
	return workers.NewPool(workers.Config{Command: []string{l.Exe, argLeagues}, Isolated: isolated, Env: l.env(), Log: log})
}

// serveLeagues plays leagues and watches scripts for the process that started this
// one, until that ends.
func (l Lab) serveLeagues() error {
	return workers.Serve(workers.ServerConfig{
		Formats: l.Formats(), Memory: workers.DefaultMemory,
		Tasks: map[string]workers.Task{taskCheck: l.checkTask, taskSlips: slipsTask},
	})
}

// The tasks of a worker.
const (
	taskCheck = "check"
	taskSlips = "slips"
)

type checkRequest struct {
	Script   plugins.Script
	Seed     uint64
	Isolated bool // as in Checking
}

type slipsRequest struct {
	Script   plugins.Script
	Failures bool
}

// loader loads a script into this process.
type loader = func(plugins.Script) (strategies.Factory, error)

// scriptOf returns the script of a factory that does not run it in this process, or
// nil.
func scriptOf(f strategies.Factory) *plugins.Script {
	if script, _ := workers.ScriptOf(f); script != nil {
		return script
	}
	place, _ := plugins.PlaceOf(f)
	return place.Config.Script
}

// checkTask plays a script in this process and in its own, as live leagues do. Its
// findings come from one of them, and say whether it plays the same in the other and
// what its process used.
func (l Lab) checkTask(ctx context.Context, load loader, input json.RawMessage) (any, error) {
	var r checkRequest
	if err := json.Unmarshal(input, &r); err != nil {
		return nil, err
	}
	o := l.checkConfig(r.Seed, r.Script.Limits)
	inside, err := load(r.Script)
	if err != nil {
		return nil, err
	}
	defer inside.Close()
	e := catalog.Entry{Info: inside.Info(), Factory: inside}
	outside, err := loadFormat(isolate.Formats(l.Formats(), l.isolation(nil)), r.Script.Kind, func(f catalog.Format) (strategies.Factory, error) {
		return f.Load(ctx, r.Script.Name, r.Script.Path, r.Script.Source, r.Script.Limits)
	})
	if err != nil {
		failed := strategytest.Finding{ID: "isolated", Level: strategytest.Error, Where: e.Info.Source, What: fmt.Sprintf("it does not load in its own process: %v", err)}
		return l.verdict(ctx, e, append(strategytest.Check(ctx, inside, o), failed), r.Seed)
	}
	defer outside.Close() // a worker that ends badly has failed before, which is reported
	if r.Isolated {
		e.Factory = outside
	}
	found := strategytest.Check(ctx, e.Factory, o)
	if r.Isolated {
		found = append(found, insideOnly(strategytest.Check(ctx, inside, o))...)
	}
	found = append(found, strategytest.CheckIsolated(ctx, inside, outside, o))
	return l.verdict(ctx, e, append(found, workerFinding(outside)...), r.Seed)
}

// insideOnly returns the findings that only a script in this process has: what it reads
// and how many instructions it takes.
func insideOnly(all []strategytest.Finding) (found []strategytest.Finding) {
	for _, f := range all {
		if strings.HasPrefix(f.ID, "budget-") || f.ID == "slip" || f.ID == "constant" {
			found = append(found, f)
		}
	}
	return found
}

// Slips watches scripts for a short league and returns what they read although it does
// not exist and, with failures, how they fail. Each file is watched once, by a worker
// unless it was loaded into this process.
func (l Lab) Slips(ctx context.Context, players []catalog.Player, limits budget.Limits, failures bool) []strategytest.Finding {
	var found []strategytest.Finding
	seen := make(map[string]bool)
	var own *workers.Pool // for scripts without one
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
		_, pool := workers.ScriptOf(p.Factory)
		if pool == nil {
			if own == nil {
				own = l.pool(nil)
			}
			pool = own
		}
		var slips []strategytest.Finding
		if pool.Do(ctx, taskSlips, slipsRequest{*script, failures}, &slips) == nil { // else what plays it says why
			found = append(found, slips...)
		}
	}
	return found
}

func slipsConfig(limits budget.Limits) strategytest.Config {
	return strategytest.Config{Seed: CheckSeed, Limits: limits}
}

func slipsTask(ctx context.Context, load loader, input json.RawMessage) (any, error) {
	var r slipsRequest
	if err := json.Unmarshal(input, &r); err != nil {
		return nil, err
	}
	f, err := load(r.Script)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return strategytest.Slips(ctx, f, slipsConfig(r.Script.Limits), r.Failures), nil
}
