package lab

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"github.com/strategylab/strategylab/host/disk"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// mostRuns is how many runs Edited looks at, so that a folder of thousands does not
// delay an experiment.
const mostRuns = 100

// Edited returns the sources of the scripts and plugins that changed since the last
// run in a folder of run folders; if none did, those that changed before it, and so
// on. Without a run, and where nothing ever changed, it is those that do not come with the
// program.
//
// A strategy has changed if its fingerprint in the run differs, or if it did not play
// and its file is newer than the run.
func (l Lab) Edited(runs string, entries []catalog.Entry) []string {
	codes := map[string]code{}
	var sources []string
	var own []string
	for _, e := range entries {
		if c, ok := l.codeOf(e); ok {
			source := filepath.Clean(e.Info.Source)
			codes[source] = c
			sources = append(sources, source)
			if !catalog.Shipped(e.Info.Kind, e.Info.Name, c.fingerprint) {
				own = append(own, source)
			}
		}
	}
	for _, run := range l.recentRuns(runs) {
		plan, err := readRunPlan(run.plan)
		if err != nil {
			continue // another program's, or one that is being written
		}
		edited := slices.DeleteFunc(slices.Clone(sources), func(source string) bool {
			return !codes[source].changed(source, plan, run.written)
		})
		if len(edited) > 0 {
			return edited
		}
	}
	return own
}

// code is what identifies the code of a strategy.
type code struct {
	fingerprint string
	modified    time.Time
}

// codeOf reads the code of a script or a plugin. A script need not load.
func (l Lab) codeOf(e catalog.Entry) (code, bool) {
	if e.Info.Source == "" {
		return code{}, false
	}
	file := l.Path(e.Info.Source)
	info, err := os.Stat(file)
	if err != nil {
		return code{}, false
	}
	c := code{fingerprint: e.Info.Fingerprint, modified: info.ModTime()}
	if e.Info.Kind.Script() && c.fingerprint == "" { // not loaded
		source, _, err := disk.ReadFile(file, catalog.LargestSource)
		if err != nil {
			return code{}, false
		}
		sum := sha256.Sum256(source)
		c.fingerprint = hex.EncodeToString(sum[:])
	}
	return c, true
}

// changed compares the code with that of a run.
func (c code) changed(source string, plan results.Plan, written time.Time) bool {
	for _, f := range plan.Field {
		if f.Source != "" && filepath.Clean(f.Source) == source {
			return f.Fingerprint != c.fingerprint
		}
	}
	return c.modified.After(written)
}

// recordedRun is the folder of a run.
type recordedRun struct {
	plan    string // file
	written time.Time
}

// recentRuns returns the runs in a folder, the latest first.
func (l Lab) recentRuns(folder string) []recordedRun {
	entries, err := os.ReadDir(l.Path(folder))
	if err != nil {
		return nil // the first run makes it
	}
	var runs []recordedRun
	for _, e := range entries {
		plan := filepath.Join(l.Path(folder), e.Name(), results.PlanFile)
		if info, err := os.Stat(plan); err == nil && info.Mode().IsRegular() {
			runs = append(runs, recordedRun{plan, info.ModTime()})
		}
	}
	slices.SortFunc(runs, func(a, b recordedRun) int { return b.written.Compare(a.written) })
	return runs[:min(len(runs), mostRuns)]
}

// Looks returns the numbers of leagues at which somebody has seen the first leagues of a
// plan: those of the complete runs in a folder that have the same leagues, and fewer, with
// their own looks. They are ascending; nil if there are none.
func (l Lab) Looks(runs string, plan results.Plan) []int {
	var looks []int
	for _, run := range l.recentRuns(runs) {
		was, err := readRunPlan(run.plan)
		if err != nil || was.Stop != nil || was.Shard != nil || was.Runs >= plan.Runs || was.SameLeagues(plan) != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(run.plan), results.SummaryFile)); err == nil { // it was shown
			looks = append(append(looks, was.Looks...), was.Runs)
		}
	}
	slices.Sort(looks)
	return slices.Compact(looks)
}

func readRunPlan(file string) (results.Plan, error) {
	var plan results.Plan
	content, _, err := disk.ReadFile(file, results.MostPlan)
	if err == nil {
		err = json.Unmarshal(content, &plan)
	}
	return plan, err
}
