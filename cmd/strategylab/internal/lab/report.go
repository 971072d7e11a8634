package lab

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/analysis/population"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
)

// PlotsFolder holds the plots of a page as PNG, in the folder of the run.
const PlotsFolder = "plots"

// WritePage writes report.html and, if wanted, its plots as PNG into a folder.
func WritePage(dir string, in page.Input, png bool) error {
	var buf bytes.Buffer
	if err := page.Write(&buf, in); err != nil {
		return err
	}
	if err := disk.WriteFile(filepath.Join(dir, page.File), buf.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if !png {
		return nil
	}
	if err := writePlots(filepath.Join(dir, PlotsFolder), in); err != nil {
		return fmt.Errorf("write plots: %w", err)
	}
	return nil
}

func writePlots(dir string, in page.Input) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	list, err := page.Plots(in)
	if err != nil {
		return err
	}
	for _, p := range list {
		var buf bytes.Buffer
		if err := p.PNG(&buf); err != nil {
			return err
		}
		if err := disk.WriteFile(filepath.Join(dir, p.Name+".png"), buf.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// worths fits the model of the placings; nil without ratings. A model that does
// not fit is a warning, not an error: the report stands without it.
func (c *collectors) worths(warn func(format string, args ...any)) (w *population.Worths, leagues int, err error) {
	if c.placings == nil {
		return nil, 0, nil
	}
	fitted, err := c.placings.Fit()
	if errors.Is(err, population.ErrSeparated) || errors.Is(err, population.ErrNoPlacings) {
		warn("no worths: %v", err)
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	return &fitted, c.placings.Leagues(), nil
}

// processesOf reports what the processes of a field's plugins and isolated
// scripts used, and how they fared.
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
