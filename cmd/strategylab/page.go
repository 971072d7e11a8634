package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/strategylab/strategylab/analysis/explain"
	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/analysis/population"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
)

const (
	flagNoReport = "no-report"
	flagPNG      = "png"
)

// reportFile is what the report is called in the folder of its run.
const reportFile = page.File

// plotsFolder holds the plots of a report as PNG, in the folder of the run.
const plotsFolder = "plots"

// explained feeds a collector of explanations as a sink.
type explained struct{ *explain.Collector }

func (x explained) Append(l *results.League) error { return x.Add(l) }

// writePage writes report.html, and its plots as PNG if they are asked for, into the
// folder of a run.
func writePage(dir string, in page.Input, png bool) error {
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
	return writePlots(filepath.Join(dir, plotsFolder), in)
}

// reportMaker makes the page of an experiment that is being played.
type reportMaker struct {
	collector *explain.Collector
	mirrors   func(context.Context, report.Run) ([]population.Mirror, error)
	png       bool
	ratings   *ratings // nil if none was asked for
	note      func(format string, args ...any)
}

func (m *reportMaker) warn(format string, args ...any) {
	m.note("strategylab: warning: "+format, args...)
}

// write makes the page of a run from what was collected. The diagonal of the pair
// matrix is played for it, unless the run was stopped.
func (m *reportMaker) write(ctx context.Context, dir string, run report.Run) error {
	mirrors, err := m.mirrors(ctx, run)
	if err != nil {
		return err
	}
	if err := keepMirrors(dir, mirrors); err != nil {
		return err
	}
	in := page.Input{Run: run, Explanations: m.collector.Explanations(run.Estimates.Level), Mirrors: mirrors}
	if in.Worths, in.WorthLeagues, err = m.ratings.worths(m.warn); err != nil {
		return err
	}
	return writePage(dir, in, m.png)
}

// writePlots writes the plots of a report as PNG images into a folder.
func writePlots(dir string, in page.Input) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write plots: %w", err)
	}
	list, err := page.Plots(in)
	if err != nil {
		return fmt.Errorf("write plots: %w", err)
	}
	for _, p := range list {
		var buf bytes.Buffer
		if err := p.PNG(&buf); err != nil {
			return fmt.Errorf("write plots: %w", err)
		}
		if err := disk.WriteFile(filepath.Join(dir, p.Name+".png"), buf.Bytes(), 0o644); err != nil {
			return fmt.Errorf("write plots: %w", err)
		}
	}
	return nil
}

// newReport prepares the page of an experiment; nil if none is wanted.
func (e *experimentRun) newReport(plan results.Plan, factories []strategies.Factory) (*reportMaker, error) {
	if e.c.Bool(flagNoReport) {
		return nil, nil
	}
	c, err := explain.NewCollector(plan, explain.Options{})
	if err != nil {
		return nil, err
	}
	r, err := newRatings(e.c, plan)
	if err != nil {
		return nil, err
	}
	return &reportMaker{
		collector: c, png: e.c.Bool(flagPNG), ratings: r, note: e.note,
		mirrors: func(ctx context.Context, run report.Run) ([]population.Mirror, error) {
			return playMirrors(ctx, run, factories)
		},
	}, nil
}

// sink is where the leagues of a run are to go besides.
func (m *reportMaker) sink(s experiments.Sink) experiments.Sink {
	if m == nil {
		return s
	}
	s = experiments.Tee(s, explained{m.collector})
	if m.ratings != nil {
		s = experiments.Tee(s, m.ratings)
	}
	return s
}
