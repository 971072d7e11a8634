package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

// checkIsolated plays a script in this process and in one of its own, as live
// leagues do, and tells whether that makes a difference, and what the other
// process took. What cannot play there has nothing to tell.
func checkIsolated(p *process, c *cli.Context, e catalog.Entry, o strategytest.Config) []strategytest.Finding {
	if !e.Info.Kind.Script() || p.exe == "" || c.Context.Err() != nil {
		return nil
	}
	var found []strategytest.Finding
	inside, outside := e.Factory, e.Factory
	if c.Bool(flagIsolate) { // what it is has been checked from outside, which does not see instructions
		f, err := loadAgain(p, e, o, catalog.Formats())
		if err != nil {
			return []strategytest.Finding{loadsNot(e, "in this process", err)}
		}
		defer f.Close()
		inside, found = f, instructionsOf(strategytest.Check(c.Context, f, o))
	} else {
		f, err := loadAgain(p, e, o, p.apart(p.childLog(c)))
		if err != nil {
			return []strategytest.Finding{loadsNot(e, "in a process of its own", err)}
		}
		defer f.Close() // what ends badly has failed before, which is told
		outside = f
	}
	found = append(found, strategytest.CheckIsolated(c.Context, inside, outside, o))
	return append(found, workerFinding(outside)...)
}

func loadsNot(e catalog.Entry, where string, err error) strategytest.Finding {
	return strategytest.Finding{
		ID: "isolated", Level: strategytest.Error, Where: e.Info.Source, What: fmt.Sprintf("it does not load %s: %v", where, err),
	}
}

// instructionsOf returns the findings that count instructions.
func instructionsOf(all []strategytest.Finding) (found []strategytest.Finding) {
	for _, f := range all {
		if strings.HasPrefix(f.ID, "budget-") {
			found = append(found, f)
		}
	}
	return found
}

// loadAgain loads the script of an entry by some formats.
func loadAgain(p *process, e catalog.Entry, o strategytest.Config, formats []catalog.Format) (strategies.Factory, error) {
	source, err := os.ReadFile(p.path(e.Info.Source))
	if err != nil {
		return nil, err
	}
	for _, f := range formats {
		if f.Kind == e.Info.Kind {
			return f.Load(e.Info.Name, e.Info.Source, source, o.Limits)
		}
	}
	return nil, fmt.Errorf("nothing runs a %s script", e.Info.Kind)
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
