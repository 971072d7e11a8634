package calibration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/analysis"
)

// looks are the numbers of leagues after which an experiment is looked at and, while
// nobody is found different, extended.
var looks = []int{100, 200, 400, 800, 1600}

// extensions lists the fields of a suite in which extending an experiment is measured:
// players that expect the same, of whom any that is found different is found wrongly,
// and the same with one that rarely behaves differently.
func (s Suite) extensions() []Field {
	longest := looks[len(looks)-1]
	var list []Field
	for _, n := range s.Players {
		if n == 2 {
			continue
		}
		list = append(list, Equal(n, s.Legs, longest))
		if n > 3 {
			list = append(list, rarely(n, s.Legs, longest)...)
		}
	}
	return list
}

// measureExtending counts experiments among equal players that show a difference at the
// first look, at any of several as if each were the only one, and at any at the level of
// [analysis.AfterLooks], also without a warning at the first such look, which ends it.
func measureExtending(ctx context.Context, f Field, opts Options) ([]Row, error) {
	opts.Level = cmp.Or(opts.Level, analysis.DefaultLevel)
	type finding struct{ first, any, corrected, silent bool }
	found := make([]finding, opts.Repetitions)
	err := repeat(ctx, f, opts, func(ctx context.Context, rep int) error {
		_, err := opts.experiment(ctx, f, rep, func(acc *analysis.Accumulator) error {
			before := slices.Index(looks, acc.Leagues())
			if before < 0 {
				return nil
			}
			f, corrected, wrong := &found[rep], analysis.AfterLooks(opts.Level, before), false
			e := acc.PointVerdicts(opts.Level)
			for _, c := range e.Ranking.Comparisons {
				if c.Verdict == analysis.Different {
					f.any, f.first = true, f.first || before == 0
					wrong = wrong || c.Corrected <= 1-corrected
				}
			}
			if wrong {
				e.Level = corrected // which the warnings depend on
				f.corrected, f.silent = true, !warned("skewed", &e) && !warned("unseen", &e)
				return errEnough
			}
			return nil
		})
		if errors.Is(err, errEnough) {
			err = nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	f.Name += ", extended while nothing differs"
	t := &tally{field: f, opts: opts}
	promised := atMost
	if f.Rare {
		promised = noPromise // without a warning
	}
	last := len(looks) - 1
	bound := analysis.Number(analysis.ErrorOfLooks(analysis.AfterLooks(opts.Level, last), last))
	anyLook := fmt.Sprintf("false at any of %d looks, ", len(looks))
	return []Row{
		t.event("false at the first look", countOf(found, func(f finding) bool { return f.first }), promised, analysis.Number(1-opts.Level)),
		t.event(anyLook+"uncorrected", countOf(found, func(f finding) bool { return f.any }), noPromise, 0),
		t.event(anyLook+"corrected", countOf(found, func(f finding) bool { return f.corrected }), promised, bound),
		t.event(anyLook+"corrected, not warned", countOf(found, func(f finding) bool { return f.silent }), atMost, bound),
	}, nil
}
