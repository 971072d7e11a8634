package lab

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/population"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
)

// mirrorsFile keeps what the mirror leagues of a run have shown, so that its report
// can be made again without playing.
const mirrorsFile = "mirrors.json"

// Mirror leagues are a hundredth of the run's matches and no more than this.
const (
	fewestMirrors = 10
	mostMirrors   = 100
)

// playMirrors plays leagues of two copies of each strategy that the field has one
// copy of: what it scores against itself is not seen otherwise. A strategy that lost
// matches on technical grounds is left out, since its copies might take all the
// time there is. If the context ends, those are returned that are complete.
func playMirrors(ctx context.Context, run report.Run, factories []strategies.Factory) ([]population.Mirror, error) {
	copies := map[results.Entrant]int{}
	kind := func(f results.Entrant) results.Entrant { f.Name = ""; return f }
	for _, f := range run.Plan.Field {
		copies[kind(f)]++
	}
	var mirrors []population.Mirror
	for i, f := range run.Plan.Field {
		if copies[kind(f)] > 1 || run.Estimates.Players[i].TechnicalLosses > 0 {
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
	plan.Stop = nil
	plan.Seed = mirrorSeed(run.Plan.Seed, field)
	plan.Runs = min(mostMirrors, max(fewestMirrors, run.Estimates.Leagues*(len(run.Plan.Field)-1)/100))
	plan.Transport = "direct"
	one, two := f, f
	one.Name, two.Name = f.Name+"#1", f.Name+"#2"
	plan.Field = []results.Entrant{one, two}
	est, err := playInMemory(ctx, plan, []strategies.Factory{factory, factory}, run.Estimates.Level)
	if err != nil {
		return population.Mirror{}, err
	}
	return population.Mirror{Strategy: f.Name, Leagues: plan.Runs, Differ: est.Pairs[0].Differ}, nil
}

// mirrorSeed is the seed of the mirror leagues of one strategy of a run.
func mirrorSeed(seed uint64, field int) uint64 {
	text := binary.BigEndian.AppendUint64([]byte("strategylab mirror"), seed)
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(text, uint64(field)))
	return binary.BigEndian.Uint64(sum[:])
}

// mirrorRecord is a mirror as mirrors.json has it.
type mirrorRecord struct {
	Strategy string          `json:"strategy"`
	Leagues  int             `json:"leagues"`
	Differ   report.Estimate `json:"differ"`
}

// keepMirrors writes mirrors.json into the folder of a run.
func keepMirrors(dir string, mirrors []population.Mirror) error {
	records := make([]mirrorRecord, 0, len(mirrors))
	for _, m := range mirrors {
		if m.Differ.Defined() {
			records = append(records, mirrorRecord{m.Strategy, m.Leagues, report.Estimate{Estimate: m.Differ.Estimate, Low: m.Differ.Low, High: m.Differ.High}})
		}
	}
	text, err := json.MarshalIndent(records, "", "  ")
	if err == nil {
		err = disk.WriteFile(filepath.Join(dir, mirrorsFile), append(text, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("keep mirror leagues: %w", err)
	}
	return nil
}

// readMirrors reads mirrors.json from the folder of a run. A run without one has no
// mirror leagues.
func readMirrors(dir string) ([]population.Mirror, error) {
	text, err := os.ReadFile(filepath.Join(dir, mirrorsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var records []mirrorRecord
	if err == nil {
		err = json.Unmarshal(text, &records)
	}
	if err != nil {
		return nil, &InputError{fmt.Errorf("read mirror leagues: %w", err), fmt.Sprintf("remove %s: a report can do without", filepath.Join(dir, mirrorsFile))}
	}
	mirrors := make([]population.Mirror, 0, len(records))
	for _, r := range records {
		mirrors = append(mirrors, population.Mirror{
			Strategy: r.Strategy, Leagues: r.Leagues, Differ: analysis.Estimate{Estimate: r.Differ.Estimate, Low: r.Differ.Low, High: r.Differ.High},
		})
	}
	return mirrors, nil
}
