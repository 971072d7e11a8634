package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/strategylab/strategylab/analysis/assert"
	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// Reading says what to compute from the recorded leagues of a run.
type Reading struct {
	Op      string                                    // what errors begin with
	Level   float64                                   // confidence level of intervals
	Judge   func(results.Plan) (*assert.Judge, error) // of assertions; nil for none
	Yours   func(results.Plan) ([]int, error)         // field indices of the user's strategies; nil, or nil from it: those that do not come with the program
	Explain bool                                      // explanations
	Mirrors bool                                      // what a population view needs: mirror leagues, from the folder, and resampled leagues
	Pool    []string                                  // folders of runs of the same plan with other seeds, whose leagues count as well
}

// Read computes what the leagues in the folder of a run show. It plays nothing,
// takes no lock and writes nothing.
func (l Lab) Read(ctx context.Context, dir string, r Reading) (page.Input, error) {
	var in page.Input
	reader, err := l.OpenRun(r.Op, dir)
	if err != nil {
		return in, err
	}
	defer reader.Close()
	plan, readers, seeds := reader.Plan(), []*results.Reader{reader}, []uint64(nil)
	if len(r.Pool) > 0 {
		plan.Confirms, seeds = nil, []uint64{plan.Seed}
	}
	for _, also := range r.Pool {
		another, err := l.OpenRun(r.Op, also)
		if err != nil {
			return in, err
		}
		defer another.Close()
		if err := joins(&plan, another.Plan(), seeds); err != nil {
			return in, &InputError{fmt.Errorf("%s %s: %w", r.Op, also, err), "name runs of one plan with different seeds, each with a number of leagues that was fixed before"}
		}
		readers, seeds = append(readers, another), append(seeds, another.Plan().Seed)
	}
	var yours []int
	if r.Yours != nil {
		if yours, err = r.Yours(plan); err != nil {
			return in, err
		}
	}
	study, err := study(plan, r.Level, yours)
	if err != nil {
		return in, err
	}
	var judging *assert.Judge
	if r.Judge != nil {
		if judging, err = r.Judge(plan); err != nil {
			return in, err
		}
	}
	c, err := newCollectors(plan, r.Explain, r.Mirrors)
	if err != nil {
		return in, err
	}
	digest, err := readAll(ctx, readers, c.sinks(study, judging))
	if err != nil {
		return in, ReadError(r.Op, dir, err)
	}
	run := study.Report(r.Level, report.Facts{Digest: digest})
	run.Seeds = seeds
	if seeds != nil && len(run.Estimates.Absences()) > 0 {
		return in, &InputError{fmt.Errorf("%s: a strategy was quarantined in one of the runs", r.Op), "pool runs in which the whole field plays to the end, without it: --without"}
	}
	run.Facts.Reproducible = run.Estimates.Reproducible && run.Plan.Reproducible()
	addPlayFacts(l.Path(dir), &run.Facts)
	judge(&run, judging, study.Sums)
	in.Document = report.New(run)
	if r.Explain {
		in.Explanations, in.Records = c.explain.Explanations(&in.Run.Estimates), c.records
	}
	if r.Mirrors {
		in.Leagues = c.leagues
		if in.Mirrors, err = readMirrors(l.Path(dir)); err != nil {
			return in, err
		}
	}
	return in, nil
}

// readAll hands on the leagues of runs, those after the first run with the indices that follow,
// and returns their digest.
func readAll(ctx context.Context, runs []*results.Reader, sink experiments.Sink) (digest string, err error) {
	hasher := results.NewHasher()
	for k, run := range runs {
		err = errors.Join(err, EachLeague(ctx, run, func(l *results.League) error {
			if k > 0 {
				l.Index = hasher.Len()
			}
			if err := hasher.Add(l); err != nil {
				return err
			}
			return sink.Append(l)
		}))
	}
	return hasher.Digest(), err
}

// joins adds the leagues of another run to a plan, unless they are not more of the same.
func joins(plan *results.Plan, another results.Plan, seeds []uint64) error {
	switch {
	case slices.Contains(seeds, another.Seed):
		return fmt.Errorf("another run has its seed %d, and so its leagues", another.Seed)
	case plan.Stop != nil || another.Stop != nil || len(plan.Looks)+len(another.Looks) > 0:
		return errors.New("a run that was stopped by a rule or extended has no fixed number of leagues")
	}
	another.Seed = plan.Seed
	plan.Runs += another.Runs
	return plan.SameLeagues(another)
}

// OpenRun opens the folder of a run for reading; op is what errors begin with.
func (l Lab) OpenRun(op, dir string) (*results.Reader, error) {
	reader, err := results.OpenReader(l.Path(dir))
	if err != nil {
		return nil, ReadError(op, dir, err)
	}
	return reader, nil
}

// ErrNoLeague says that a run has no complete league.
var ErrNoLeague = errors.New("no league is complete yet")

// ReadError says which operation could not read the folder of a run, and what to
// do about it.
func ReadError(op, dir string, err error) error {
	err = fmt.Errorf("%s %s: %w", op, dir, err)
	hint := ""
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, os.ErrNotExist):
		hint = "name the folder of a run, which an experiment prints at its end: results in ..."
	case errors.Is(err, ErrNoLeague):
		hint = "wait for the run to progress, or continue it: strategylab experiment --resume " + words.ShellWord(dir)
	}
	return &InputError{err, hint}
}

// EachLeague calls visit with the recorded leagues of a run; without any the error is
// ErrNoLeague. A file with an incomplete header, as at the start of a run, has none.
func EachLeague(ctx context.Context, reader *results.Reader, visit func(*results.League) error) error {
	err := ErrNoLeague
	for l, failed := range reader.Leagues() {
		if errors.Is(failed, io.ErrUnexpectedEOF) {
			break
		}
		if err = cmp.Or(failed, ctx.Err()); err == nil {
			err = visit(l)
		}
		if err != nil {
			return err
		}
	}
	return err
}

// mostSummary bounds the files of a run that are read again: a field of a thousand strategies
// has half a million pairs.
const mostSummary = 1 << 30

// addPlayFacts adds what only playing shows, from the summary in the folder, if it is about
// the same leagues.
func addPlayFacts(dir string, facts *report.Facts) {
	var summary report.Facts
	if disk.ReadJSON(filepath.Join(dir, results.SummaryFile), mostSummary, &summary) != nil || summary.Digest != facts.Digest {
		return // it is about fewer leagues, another program wrote it, or the run is still playing
	}
	summary.Reproducible = facts.Reproducible
	*facts = summary
}

// study returns a study of a plan, in which yours are the user's strategies; nil stands for
// those that do not come with the program.
func study(plan results.Plan, level float64, yours []int) (*report.Study, error) {
	s, err := report.NewStudy(plan, level)
	if err == nil {
		if s.Yours = yours; yours == nil {
			s.Yours = yoursIn(plan)
		}
	}
	return s, err
}

// yoursIn returns the field indices of the strategies of a plan that are the user's, as far
// as the plan alone says: those that do not come with the program.
func yoursIn(plan results.Plan) []int {
	var list []int
	for i, f := range plan.Field {
		if !catalog.Shipped(strategies.Kind(f.Kind), f.Name, f.Fingerprint) {
			list = append(list, i)
		}
	}
	return list
}
