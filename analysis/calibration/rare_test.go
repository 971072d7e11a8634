package calibration

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/analysis/words"
)

// failing returns a field of n players that expect the same, of whom the first fails in
// every match of a league with chance down, and differs more often in the others. It
// panics if no chance of differing makes up for the failures.
func failing(n, legs, leagues int, down float64) Field {
	f := levelled(n, legs, leagues, down)
	f.Name = fmt.Sprintf("%d players, one fails in %g %% of leagues", n, 100*down)
	f.Players[0].Down = down
	return f
}

// faulty is like failing, but the first fails in single matches with chance fault.
func faulty(n, legs, leagues int, fault float64) Field {
	f := levelled(n, legs, leagues, fault)
	f.Name = fmt.Sprintf("%d players, one fails in %g %% of matches", n, 100*fault)
	f.Players[0].Fault = fault
	return f
}

// levelled returns players that expect the same if the first fails with some chance.
func levelled(n, legs, leagues int, fails float64) Field {
	const even = 0.1 // of the others
	others := 1 + even*(1-even)
	// The others gain 3 points from each failure.
	worth := (others + 3*fails/float64(n-2)) / (1 - fails) // of a match of the first that is played
	first := (2*(worth-1) - even) / (1 - 2*even)
	if !(first <= 1) {
		panic(fmt.Sprintf("calibration: a player that fails with chance %v cannot be level with %d others", fails, n-1))
	}
	f := Field{Legs: legs, Leagues: leagues, Rare: true, Players: []Player{{Even: first}}}
	for range n - 1 {
		f.Players = append(f.Players, Player{Even: even})
	}
	return f
}

// moody returns a field of n players that expect the same, of whom the first says even
// throughout a league with chance rarely.
func moody(n, legs, leagues int, rarely float64) Field {
	f := Field{Name: fmt.Sprintf("%d players, one with a mood in %g %% of leagues", n, 100*rarely), Legs: legs, Leagues: leagues, Rare: true}
	for range n {
		f.Players = append(f.Players, Player{Even: 0.2})
	}
	f.Players[0].Rarely = rarely
	return f
}

// rarities lists the fields of a suite whose players expect the same: by nature, or
// because the one that rarely behaves differently makes up for it.
func (s Suite) rarities() []Field {
	var list []Field
	for _, n := range s.Players {
		if n == 2 {
			continue
		}
		list = append(list, Equal(n, s.Legs, s.Leagues), faulty(n, s.Legs, s.Leagues, 0.01))
		if n > 3 {
			list = append(list, faulty(n, s.Legs, s.Leagues, 0.10))
		}
		for _, down := range []float64{0.01, 0.03, 0.10} {
			for _, leagues := range []int{50, 100, 300} {
				if n > 3 || down < 0.1 {
					list = append(list, failing(n, s.Legs, leagues, down))
				}
			}
		}
		if n > 3 {
			list = append(list, failing(n, s.Legs, 400, 1./400)) // which one run in three does not show
		}
		for _, rarely := range []float64{0.05, 0.20} {
			list = append(list, moody(n, s.Legs, 100, rarely), moody(n, 10*s.Legs, 100, rarely))
		}
	}
	return list
}

// The bars of a run: it keeps them by its numbers, or it says that they may not hold.
const (
	leastCovered = 0.93
	mostFalse    = 0.06
	mostlyWarned = 0.95
)

// rarity is what one experiment with rare behaviour has shown.
type rarity struct {
	covers  bool // the first player's adjusted points
	differs bool // players that expect the same were found different
	warned  bool // that few leagues decide
	unseen  bool // that the run is too short to show what its scripts do rarely
	hidden  bool // it can fail, and did not
}

// measureRare measures the intervals and comparisons of a field of players that expect
// the same, of whom the first rarely behaves differently, and how often a warning says
// that they do not hold.
func measureRare(ctx context.Context, f Field, opts Options) ([]Row, error) {
	opts.Level = cmp.Or(opts.Level, analysis.DefaultLevel)
	truth := f.Truth().Points[0]
	seen := make([]rarity, opts.Repetitions)
	err := repeat(ctx, f, opts, func(ctx context.Context, rep int) error {
		acc, err := opts.experiment(ctx, f, rep, nil)
		if err != nil {
			return err
		}
		e := acc.PointVerdicts(opts.Level)
		first := &e.Players[0]
		seen[rep] = rarity{
			covers: first.Adjusted.Low-level <= truth && truth <= first.Adjusted.High+level,
			warned: warned("skewed", &e),
			unseen: warned("unseen", &e),
			hidden: f.Players[0].fails() > 0 && first.TechnicalLosses == 0,
		}
		for _, c := range e.Ranking.Comparisons {
			seen[rep].differs = seen[rep].differs || c.Verdict == analysis.Different
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	t := &tally{field: f, opts: opts}
	share := func(of func(r rarity) bool) float64 {
		return float64(countOf(seen, of)) / float64(len(seen))
	}
	event := func(what string, p promise, bound float64, of func(r rarity) bool) Row {
		return t.event(what, countOf(seen, of), p, analysis.Number(bound))
	}
	covers, differs := func(r rarity) bool { return r.covers }, func(r rarity) bool { return r.differs }
	warned, unseen := func(r rarity) bool { return r.warned }, func(r rarity) bool { return r.warned || r.unseen }
	bar := newRow(f, "bar", opts)
	chance := func(p float64) float64 { return 2 * math.Sqrt(p*(1-p)/float64(opts.Repetitions)) }
	switch {
	case share(covers) >= leastCovered-chance(leastCovered) && share(differs) <= mostFalse+chance(mostFalse):
		bar.Verdict = "kept"
	case share(warned) >= mostlyWarned:
		bar.Verdict = "warned"
	case share(unseen) >= mostlyWarned:
		bar.Verdict = "warned of the unseen"
	default:
		bar.Verdict = missed
	}
	alpha, none := 1-opts.Level, math.NaN()
	return []Row{
		event("covers", noPromise, none, covers),
		event("false difference", noPromise, none, differs),
		event("warned", noPromise, none, warned),
		event("not failed yet", noPromise, none, func(r rarity) bool { return r.hidden }),
		event("misses, and neither", atMost, alpha+0.02, func(r rarity) bool { return !r.covers && !r.warned && !r.hidden }),
		event("false, and neither", atMost, alpha, func(r rarity) bool { return r.differs && !r.warned && !r.hidden }),
		bar,
	}, nil
}

func countOf[T any](list []T, of func(x T) bool) int {
	n := 0
	for _, x := range list {
		n += attest.One(of(x))
	}
	return n
}

// warned reports whether a report of estimates would have a warning.
func warned(kind string, e *analysis.Estimates) bool {
	return words.Plain.Say(kind, struct {
		*analysis.Estimates
		Enough int
	}{e, 1}) != nil
}
