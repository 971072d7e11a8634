package main

import (
	"fmt"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/plugins/isolate"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

// checkIsolated plays a script in a process of its own as well, as live leagues
// do, and tells whether that makes a difference. Where it plays there anyway,
// or cannot, there is nothing to tell.
func checkIsolated(p *process, c *cli.Context, e catalog.Entry, o strategytest.Options) []strategytest.Finding {
	if !e.Info.Kind.Script() || c.Bool(flagIsolate) || p.exe == "" || c.Context.Err() != nil {
		return nil
	}
	f, err := openIsolated(p, c, e, o)
	if err != nil {
		return []strategytest.Finding{{
			ID: "isolated", Level: strategytest.Error, Where: e.Info.Source,
			What: fmt.Sprintf("it does not load in a process of its own: %v", err),
		}}
	}
	found := strategytest.CheckIsolated(c.Context, e.Factory, f, o)
	taken := workerFinding(f)
	if err := f.Close(); err != nil && found.Level < strategytest.Warning {
		found = strategytest.Finding{
			ID: "isolated", Level: strategytest.Warning, Where: e.Info.Source,
			What: fmt.Sprintf("its process did not end well: %v", err),
		}
	}
	return append([]strategytest.Finding{found}, taken...)
}

// workerFinding says what a script's process has taken for the league it played.
func workerFinding(f strategies.Factory) []strategytest.Finding {
	m, ok := f.(plugins.Metered)
	if !ok {
		return nil
	}
	u := m.Usage()
	what := fmt.Sprintf("its process took %v of processor time", u.CPU.Round(time.Millisecond))
	if u.Peak > 0 {
		what += fmt.Sprintf(" and %d MiB of memory at its peak, start included", u.Peak>>20)
	}
	what += fmt.Sprintf("; it may take %d MiB for the script, on top of some 30 MiB for itself", u.Memory>>20)
	level := strategytest.OK
	switch {
	case u.Aside:
		level = strategytest.Error
		what += fmt.Sprintf("; it died %d times and was put aside", u.Failed)
	case u.Failed > 0:
		level = strategytest.Warning
		what += fmt.Sprintf("; it died %d times and was started again", u.Failed)
	}
	return []strategytest.Finding{{ID: "worker", Level: level, What: what}}
}

func openIsolated(p *process, c *cli.Context, e catalog.Entry, o strategytest.Options) (strategies.Factory, error) {
	source, err := os.ReadFile(p.path(e.Info.Source))
	if err != nil {
		return nil, err
	}
	options := isolate.Options{Worker: []string{p.exe, commandWorker}, Log: p.childLog(c)}
	for _, f := range isolate.Formats(catalog.Formats(), options) {
		if f.Kind == e.Info.Kind {
			return f.Load(e.Info.Name, e.Info.Source, source, o.Limits)
		}
	}
	return nil, fmt.Errorf("nothing runs a %s script", e.Info.Kind)
}
