package main

import (
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
)

// processesOf says what the processes of a field's plugins and isolated scripts
// have taken, and how they have fared.
func processesOf(plan results.Plan, factories []strategies.Factory) []report.Process {
	var list []report.Process
	at := make(map[any]int) // in list
	for i, f := range factories {
		m, ok := f.(plugins.Metered)
		if !ok {
			continue
		}
		u, info := m.Usage(), f.Info()
		var who any = f // several players may be copies of one script
		p := report.Process{
			Name: info.Name, Kind: string(info.Kind), CPUSeconds: u.CPU.Seconds(), CapBytes: u.Memory,
			Starts: u.Starts, Failures: u.Failed, PutAside: u.Aside,
		}
		if info.Kind == strategies.Plugin {
			who, p.Name = u.Process, u.Process // and several strategies may be one plugin's
		}
		if u.Peak > 0 {
			p.PeakBytes = &u.Peak
		}
		if u.Starts == 0 && u.Failed == 0 {
			continue
		}
		k, known := at[who]
		if !known {
			k = len(list)
			at[who], list = k, append(list, p)
		}
		list[k].Players = append(list[k].Players, plan.Field[i].Name)
	}
	return list
}

// noteUsage says what the processes have taken where the output has no place
// for that.
func (e *experimentRun) noteUsage(run *report.Run) {
	if e.format != "csv" {
		return
	}
	for _, p := range run.Facts.Processes {
		e.note("%s", p)
	}
}
