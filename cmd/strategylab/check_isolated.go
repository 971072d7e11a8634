package main

import (
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

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
	if err := f.Close(); err != nil && found.Level < strategytest.Warning {
		found = strategytest.Finding{
			ID: "isolated", Level: strategytest.Warning, Where: e.Info.Source,
			What: fmt.Sprintf("its process did not end well: %v", err),
		}
	}
	return []strategytest.Finding{found}
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
