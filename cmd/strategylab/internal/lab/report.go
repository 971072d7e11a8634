package lab

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"

	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/analysis/population"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/workers"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
)

// PlotsFolder holds the plots of a page as SVG files, in the folder of the run.
const PlotsFolder = "plots"

// Dated returns the input of a page with the version of this program, and the time at
// which a run got its plan.
func Dated(run string, in page.Input) page.Input {
	if plan, err := os.Stat(filepath.Join(run, results.PlanFile)); err == nil {
		in.Begun = plan.ModTime()
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		in.Version = info.Main.Version
	}
	return in
}

// WritePage writes report.html and, if wanted, its plots as SVG files into a folder.
func WritePage(dir string, in page.Input, plots bool) error {
	var buf bytes.Buffer
	if err := page.Write(&buf, in); err != nil {
		return err
	}
	if err := disk.WriteFile(filepath.Join(dir, page.File), buf.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if !plots {
		return nil
	}
	dir = filepath.Join(dir, PlotsFolder)
	err := os.MkdirAll(dir, 0o755)
	for _, p := range page.Plots(in) {
		err = errors.Join(err, disk.WriteFile(filepath.Join(dir, p.Name+".svg"), []byte(p.SVG), 0o644))
	}
	if err != nil {
		return fmt.Errorf("write plots: %w", err)
	}
	return nil
}

// user is what uses the processors: a script with its copies, or the process of a plugin with
// its strategies.
type user struct {
	plugins.Usage
	name    string
	kind    strategies.Kind
	players []string
}

// usersOf returns the users of a field, in its order.
func usersOf(plan results.Plan, factories []strategies.Factory, driver experiments.Driver) (list []user) {
	at := make(map[any]int) // in list
	for i, u := range usageOf(factories, driver) {
		info := factories[i].Info()
		var who any = factories[i]
		name := info.Name
		if info.Kind == strategies.Plugin {
			who, name = u.Process, u.Process
		}
		k, known := at[who]
		if !known {
			k = len(list)
			at[who], list = k, append(list, user{u, name, info.Kind, nil})
		}
		list[k].players = append(list[k].players, plan.Field[i].Name)
	}
	return list
}

// processesOf reports what the processes of a field's plugins and isolated
// scripts used, and how they fared.
func processesOf(plan results.Plan, factories []strategies.Factory, driver experiments.Driver) (list []report.Process) {
	for _, u := range usersOf(plan, factories, driver) {
		if u.Starts == 0 && u.Failed == 0 {
			continue
		}
		p := report.Process{
			Name: u.name, Kind: string(u.kind), Players: u.players, CPUSeconds: u.CPU.Seconds(), CapBytes: u.Memory,
			Starts: u.Starts, Failures: u.Failed, PutAside: u.Aside,
		}
		if u.Peak > 0 {
			p.PeakBytes = &u.Peak
		}
		list = append(list, p)
	}
	return list
}

// usageOf returns what the processes of each player used, also those of worker
// processes.
func usageOf(factories []strategies.Factory, driver experiments.Driver) []plugins.Usage {
	if d, ok := driver.(*workers.Driver); ok {
		return d.Usage()
	}
	all := make([]plugins.Usage, len(factories))
	for i, f := range factories {
		all[i] = plugins.UsageOf(f)
	}
	return all
}

// spendersOf reports whose calls took the processors' time, the most first. Built-in
// strategies are not measured.
func spendersOf(plan results.Plan, factories []strategies.Factory, driver experiments.Driver) (list []report.Spender) {
	var all float64
	for _, u := range usersOf(plan, factories, driver) {
		seconds, name := (u.CPU + u.Busy).Seconds(), u.players[0]
		if seconds <= 0 {
			continue
		}
		if u.kind == strategies.Plugin {
			name = u.name
		}
		all += seconds
		list = append(list, report.Spender{Name: name, Kind: string(u.kind), CPUSeconds: seconds})
	}
	for i := range list {
		list[i].Share = list[i].CPUSeconds / all
	}
	slices.SortStableFunc(list, func(a, b report.Spender) int { return cmp.Compare(b.CPUSeconds, a.CPUSeconds) })
	return list
}

// mirrorsFile keeps the results of the mirror leagues of a run, so that its report
// can be regenerated without playing.
const mirrorsFile = "mirrors.json"

// Mirror leagues have a hundredth of the run's matches, within these bounds.
const (
	fewestMirrors = 10
	mostMirrors   = 100
)

// playMirrors plays leagues between two copies of each strategy that the field has
// once, whose score against itself is unknown otherwise. It skips agents, each of which is
// one player, and strategies with technical losses, because their copies might use up all
// time limits. When the
// context ends it returns what is complete.
func playMirrors(ctx context.Context, run report.Run, factories []strategies.Factory) ([]population.Mirror, error) {
	copies := map[results.Entrant]int{}
	kind := func(f results.Entrant) results.Entrant { f.Name = ""; return f }
	for _, f := range run.Plan.Field {
		copies[kind(f)]++
	}
	var mirrors []population.Mirror
	for i, f := range run.Plan.Field {
		if copies[kind(f)] > 1 || f.Kind == string(strategies.Agent) || run.Estimates.Players[i].TechnicalLosses > 0 {
			continue
		}
		m, err := playMirror(ctx, run, i, factories[i])
		if ctx.Err() != nil {
			return mirrors, nil
		}
		if err != nil {
			return nil, fmt.Errorf("play %s against its copy: %w", f.Name, err)
		}
		mirrors = append(mirrors, m)
	}
	return mirrors, nil
}

func playMirror(ctx context.Context, run report.Run, field int, factory strategies.Factory) (population.Mirror, error) {
	f := run.Plan.Field[field]
	plan := run.Plan
	plan = plan.ForLeagues()
	plan.Seed = mirrorSeed(run.Plan.Seed, field)
	plan.Runs = min(mostMirrors, max(fewestMirrors, run.Estimates.Leagues*(len(run.Plan.Field)-1)/100))
	plan.Transport = "direct"
	one, two := f, f
	one.Name, two.Name = f.Name+"#1", f.Name+"#2"
	plan.Field = []results.Entrant{one, two}
	est, err := PlayInMemory(ctx, plan, []strategies.Factory{factory, factory}, run.Estimates.Level)
	if err != nil {
		return population.Mirror{}, err
	}
	return population.Mirror{Strategy: f.Name, Leagues: plan.Runs, Differ: est.Pairs[0].Differ}, nil
}

func mirrorSeed(seed uint64, field int) uint64 {
	text := binary.BigEndian.AppendUint64([]byte("strategylab mirror"), seed)
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(text, uint64(field)))
	return binary.BigEndian.Uint64(sum[:])
}

func keepMirrors(dir string, mirrors []population.Mirror) error {
	known := slices.DeleteFunc(append([]population.Mirror{}, mirrors...), func(m population.Mirror) bool { return !m.Differ.Defined() })
	if err := disk.WriteJSON(filepath.Join(dir, mirrorsFile), known, 0o644); err != nil {
		return fmt.Errorf("keep mirror leagues: %w", err)
	}
	return nil
}

// readMirrors reads mirrors.json. A run without it has no mirror leagues.
func readMirrors(dir string) ([]population.Mirror, error) {
	var mirrors []population.Mirror
	err := disk.ReadJSON(filepath.Join(dir, mirrorsFile), mostSummary, &mirrors)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &InputError{fmt.Errorf("read mirror leagues: %w", err), fmt.Sprintf("remove %s; the report works without it", filepath.Join(dir, mirrorsFile))}
	}
	return mirrors, nil
}
