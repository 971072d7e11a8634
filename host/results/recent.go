package results

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/disk"
)

// mostRecent bounds the runs of a folder, so that one of thousands delays nobody.
const mostRecent = 100

// Recorded is the folder of a run.
type Recorded struct {
	Folder  string
	Written time.Time // of its plan
}

// Plan reads the plan as far as it is understood: it is asked what was played, and not to be
// played again, so one of another release will do.
func (r Recorded) Plan() (Plan, error) {
	var plan Plan
	err := disk.ReadJSON(filepath.Join(r.Folder, PlanFile), MostPlan, &plan)
	return plan, err
}

// Recent returns the runs in a folder of run folders, the latest first, at most a hundred; none
// if it cannot be read.
func Recent(folder string) []Recorded {
	entries, _ := os.ReadDir(folder) // the first run makes it
	var runs []Recorded
	for _, e := range entries {
		run := filepath.Join(folder, e.Name())
		if info, err := os.Stat(filepath.Join(run, PlanFile)); err == nil && info.Mode().IsRegular() {
			runs = append(runs, Recorded{run, info.ModTime()})
		}
	}
	slices.SortFunc(runs, func(a, b Recorded) int { return b.Written.Compare(a.Written) })
	return runs[:min(len(runs), mostRecent)]
}

// Looks returns the numbers of leagues at which somebody has seen the first leagues of a
// plan: those of the complete runs in a folder that have the same leagues, and fewer, with
// their own looks. They are ascending; nil if there are none.
func Looks(folder string, plan Plan) []int {
	var looks []int
	for _, run := range Recent(folder) {
		was, err := run.Plan()
		if err != nil || was.Stop != nil || was.Shard != nil || was.Runs >= plan.Runs || was.SameLeagues(plan) != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(run.Folder, SummaryFile)); err == nil { // it was shown
			looks = append(append(looks, was.Looks...), was.Runs)
		}
	}
	slices.Sort(looks)
	return slices.Compact(looks)
}
