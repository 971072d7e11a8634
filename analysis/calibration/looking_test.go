package calibration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/sequential"
)

// watch is an experiment that is looked at after every league.
type watch struct {
	Field Field // Leagues is how many are looked at, at most
	// Guarantees are those that the same leagues are judged by; one if Stop.
	Guarantees []sequential.Guarantee
	// Stop ends it as soon as one player is significantly the best; else it goes on to
	// the last league, and every decision on the way counts.
	Stop bool
	// Median is the promised median number of leagues until it stops; 0 is none.
	Median float64
}

// watches lists the experiments of a suite that are looked at after every league: equal
// players, up to eight also with one that rarely behaves differently, and for eight one
// with an edge.
func (s Suite) watches() []watch {
	const looks, rareLooks = 1000, 400
	both := []sequential.Guarantee{sequential.Asymptotic, sequential.Finite}
	var list []watch
	for _, n := range s.Players {
		var fields []Field
		switch {
		case n == 2: // nothing to decide
		case n > edgePlayers:
			fields = []Field{Equal(n, s.Legs, rareLooks)} // the rest takes too long
		default:
			fields = append([]Field{Equal(n, s.Legs, looks)}, rarely(n, s.Legs, rareLooks)...)
		}
		if n > 2 && n < edgePlayers {
			fields = append(fields, moody(n, 10*s.Legs, rareLooks, 0.05), moody(n, 10*s.Legs, rareLooks, 0.20))
		}
		for _, f := range fields {
			list = append(list, watch{Field: f, Guarantees: both})
		}
		if n != edgePlayers {
			continue
		}
		for k, g := range both {
			w := watch{Field: Edge(n, s.Legs, 2*looks, 0.05), Guarantees: both[k : k+1], Stop: true}
			if s.Legs >= 10 {
				w.Median = map[sequential.Guarantee]float64{sequential.Asymptotic: 100, sequential.Finite: 1300}[g]
			}
			list = append(list, w)
		}
	}
	return list
}

// rarely lists fields of n players that expect the same, of whom the first rarely
// behaves differently.
func rarely(n, legs, leagues int) []Field {
	list := []Field{
		faulty(n, legs, leagues, 0.01), failing(n, legs, leagues, 0.01), failing(n, legs, leagues, 0.03),
		moody(n, legs, leagues, 0.05), moody(n, legs, leagues, 0.20),
	}
	if n > 3 {
		list = append(list, faulty(n, legs, leagues, 0.10), failing(n, legs, leagues, 0.10))
	}
	return list
}

type sight struct {
	wrong  bool   // a decision at some league was wrong
	silent bool   // and a run that had ended there would not have warned
	naive  bool   // a t test of the first two after each league found a difference
	missed []bool // by player: the interval of adjusted points missed the truth at some league
	stop   int    // leagues until the best was known; 0 if never
	right  bool   // whether it was the best
}

// measureLooking looks at experiments after every league and counts those with any
// error on the way, for each guarantee.
func measureLooking(ctx context.Context, w watch, opts Options) ([]Row, error) {
	opts.Level = cmp.Or(opts.Level, analysis.DefaultLevel)
	truth := w.Field.Truth()
	seen := make([][]sight, len(w.Guarantees)) // by repetition
	for k := range seen {
		seen[k] = make([]sight, opts.Repetitions)
	}
	err := repeat(ctx, w.Field, opts, func(ctx context.Context, rep int) error {
		sights, err := w.look(ctx, &truth, rep, opts)
		for k := range sights {
			seen[k][rep] = sights[k]
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var rows []Row
	for k, g := range w.Guarantees {
		rows = append(rows, w.rows(g, seen[k], opts)...)
	}
	return rows, nil
}

var errEnough = errors.New("enough leagues")

func (w watch) look(ctx context.Context, truth *Truth, rep int, opts Options) ([]sight, error) {
	sights, trackers := make([]sight, len(w.Guarantees)), make([]*sequential.Tracker, len(w.Guarantees))
	for k := range sights {
		sights[k].missed = make([]bool, len(w.Field.Players))
	}
	var n, sum, squares float64 // of the first player's points minus the second's
	_, err := opts.experiment(ctx, w.Field, rep, func(acc *analysis.Accumulator) (err error) {
		last := acc.Last()
		d := float64(last[0] - last[1])
		n, sum, squares = n+1, sum+d, squares+d*d
		t := sum / math.Sqrt(n*(squares-sum*sum/n)/(n-1))
		naive := n >= sequential.BurnIn && math.Abs(t) > 1.96
		for k, g := range w.Guarantees {
			if n == 1 {
				trackers[k], err = acc.Tracker(sequential.Options{Rule: sequential.Rule{Kind: sequential.Best}, Guarantee: g, Level: opts.Level})
				if err != nil {
					return err
				}
			}
			tracker := trackers[k]
			if err := tracker.Add(last); err != nil {
				return err
			}
			s := &sights[k]
			s.naive = s.naive || naive
			s.judge(acc, tracker, truth)
			if w.Stop && tracker.Done() {
				s.stop = tracker.Leagues()
				s.right = acc.SequentialEstimates(tracker).Ranking.Tiers[0][0] == 0
				return errEnough
			}
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return sights, err
}

// judge looks at the decisions and the intervals after a league.
func (s *sight) judge(acc *analysis.Accumulator, t *sequential.Tracker, truth *Truth) {
	if !s.wrong && t.Decided() && wrongDecision(t, truth) {
		e := acc.SequentialEstimates(t)
		s.wrong, s.silent = true, !warned("skewed", &e) && !warned("unseen", &e)
	}
	if t.Options().Guarantee == sequential.Finite && t.Leagues()%finiteLooks != 0 {
		return
	}
	for i, p := range truth.Points {
		s.missed[i] = s.missed[i] || !t.Holds(i, p)
	}
}

// finiteLooks is the number of leagues between two looks at intervals with a finite
// guarantee, which take longer.
const finiteLooks = 50

// wrongDecision reports whether a player is said to be better that is not.
func wrongDecision(t *sequential.Tracker, truth *Truth) bool {
	d := t.Decisions()
	for i, p := range truth.Points {
		for j, q := range truth.Points {
			if i != j && p-q < level && d.Better(i, j) {
				return true
			}
		}
	}
	return false
}

func (w watch) rows(g sequential.Guarantee, seen []sight, opts Options) []Row {
	f := w.Field
	f.Name = fmt.Sprintf("%s, looked at after every league, %s guarantee", f.Name, g)
	t := &tally{field: f, opts: opts}
	alpha := analysis.Number(1 - opts.Level)
	promised, unwarned := atMost, alpha
	if f.Rare && g == sequential.Asymptotic {
		promised, unwarned = noPromise, mostFalse
	}
	count := func(of func(s sight) bool) int { return countOf(seen, of) }
	list := []Row{
		t.event("wrong decision", count(func(s sight) bool { return s.wrong }), promised, alpha),
		t.event("wrong, not warned", count(func(s sight) bool { return s.wrong && s.silent }), atMost, unwarned),
	}
	if !w.Stop {
		misses := t.event("interval ever misses", 0, promised, alpha)
		misses.Intervals, misses.Lowest, misses.Width = len(f.Players), 1, analysis.Number(math.NaN())
		for i := range f.Players {
			share := float64(count(func(s sight) bool { return s.missed[i] })) / float64(len(seen))
			misses.Measured += analysis.Number(share / float64(len(f.Players)))
			misses.Lowest, misses.Highest = min(misses.Lowest, share), max(misses.Highest, share)
		}
		if promised == noPromise {
			misses.Error = analysis.Number(math.Sqrt(float64(misses.Measured*(1-misses.Measured)) / float64(len(seen))))
		}
		return append(list, misses, t.event("t test after each league", count(func(s sight) bool { return s.naive }), noPromise, 0))
	}
	stops := make([]float64, len(seen))
	for k := range seen {
		stops[k] = math.Inf(1)
		if seen[k].stop > 0 {
			stops[k] = float64(seen[k].stop)
		}
	}
	slices.Sort(stops)
	median := t.value("median leagues", stops[len(stops)/2])
	if w.Median > 0 {
		median.Nominal = analysis.Number(w.Median)
		median.AtMost = median.Nominal
	}
	return append(list, median,
		t.event("stopped at the best", count(func(s sight) bool { return s.stop > 0 && s.right }), noPromise, 0))
}
