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
	"github.com/strategylab/strategylab/host/results"
)

// Watch is an experiment that is looked at after every league.
type Watch struct {
	Field     Field // Leagues is how many are looked at, at most
	Guarantee sequential.Guarantee
	// Stop ends it as soon as one player is significantly the best; else it goes on to
	// the last league, and every decision on the way counts.
	Stop bool
	// Median is the promised median number of leagues until it stops; 0 is none.
	Median float64
}

// Watches lists the experiments of a suite that are looked at after every league: equal
// players, and for eight also one with an edge.
func (s Suite) Watches() []Watch {
	const looks = 1000
	var list []Watch
	for _, n := range s.Players {
		if n == 2 || n > edgePlayers {
			continue // nothing to decide, or too long to look at
		}
		for _, g := range []sequential.Guarantee{sequential.Asymptotic, sequential.Finite} {
			list = append(list, Watch{Field: Equal(n, s.Legs, looks), Guarantee: g})
			if n != edgePlayers {
				continue
			}
			w := Watch{Field: Edge(n, s.Legs, looks, 0.05), Guarantee: g, Stop: true}
			if s.Legs >= 10 {
				w.Median = map[sequential.Guarantee]float64{sequential.Asymptotic: 120, sequential.Finite: 300}[g]
			}
			list = append(list, w)
		}
	}
	return list
}

type sight struct {
	wrong  bool   // a decision at some league was wrong
	naive  bool   // a t test of the first two after each league found a difference
	missed []bool // by player: the interval of adjusted points missed the truth at some league
	stop   int    // leagues until the best was known; 0 if never
	right  bool   // whether it was the best
}

// MeasureLooking looks at experiments after every league and counts those with any
// error on the way.
func MeasureLooking(ctx context.Context, w Watch, play Play, opts Options) ([]Row, error) {
	opts.Level = cmp.Or(opts.Level, analysis.DefaultLevel)
	truth := w.Field.Truth()
	seen := make([]sight, opts.Repetitions)
	err := repeat(ctx, w.Field, opts, func(ctx context.Context, rep int) (err error) {
		seen[rep], err = w.look(ctx, &truth, play, w.Field.Plan(opts.Seed+uint64(rep)), opts.Level)
		return err
	})
	if err != nil {
		return nil, err
	}
	return w.rows(seen, opts), nil
}

var errEnough = errors.New("enough leagues")

func (w Watch) look(ctx context.Context, truth *Truth, play Play, plan results.Plan, confidence float64) (sight, error) {
	s := sight{missed: make([]bool, len(plan.Field))}
	acc, err := analysis.NewAccumulator(plan)
	if err != nil {
		return s, err
	}
	tracker, err := acc.Tracker(sequential.Options{
		Rule: sequential.Rule{Kind: sequential.Best}, Guarantee: w.Guarantee, Level: confidence,
	})
	if err != nil {
		return s, err
	}
	var n, sum, squares float64 // of the first player's points minus the second's
	err = play(ctx, plan, w.Field.Players, func(l *results.League) error {
		if err := acc.Add(*l); err != nil {
			return err
		}
		last := acc.Last()
		if err := tracker.Add(last); err != nil {
			return err
		}
		d := float64(last.Points[0] - last.Points[1])
		n, sum, squares = n+1, sum+d, squares+d*d
		t := sum / math.Sqrt(n*(squares-sum*sum/n)/(n-1))
		s.naive = s.naive || n >= sequential.BurnIn && math.Abs(t) > 1.96
		s.judgeDecisions(tracker, truth)
		if tracker.Leagues()%w.between() == 0 {
			s.judgeIntervals(tracker, truth)
		}
		if w.Stop && tracker.Done() {
			s.stop = tracker.Leagues()
			s.right = acc.SequentialEstimates(tracker).Ranking.Tiers[0][0] == 0
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return s, err
}

// between is the number of leagues between two looks at the intervals: those of the
// finite guarantee take milliseconds.
func (w Watch) between() int {
	if w.Guarantee == sequential.Finite {
		return 50
	}
	return 1
}

func (s *sight) judgeDecisions(t *sequential.Tracker, truth *Truth) {
	d := t.Decisions()
	for i, p := range truth.Points {
		for j, q := range truth.Points {
			s.wrong = s.wrong || i != j && p-q < level && d.Better(i, j)
		}
	}
}

func (s *sight) judgeIntervals(t *sequential.Tracker, truth *Truth) {
	for i, p := range truth.Points {
		_, low, high := t.Interval(i)
		s.missed[i] = s.missed[i] || p < low-level || p > high+level
	}
}

func (w Watch) rows(seen []sight, opts Options) []Row {
	f := w.Field
	f.Name = fmt.Sprintf("%s, looked at after every league, %s guarantee", f.Name, w.Guarantee)
	t := &tally{field: f, opts: opts}
	alpha := analysis.Number(1 - opts.Level)
	count := func(of func(s *sight) bool) int {
		n := 0
		for k := range seen {
			if of(&seen[k]) {
				n++
			}
		}
		return n
	}
	list := []Row{t.event("any wrong decision", count(func(s *sight) bool { return s.wrong }), atMost, alpha)}
	if !w.Stop {
		misses := t.event("an interval of adjusted points ever misses", 0, atMost, alpha)
		misses.Intervals, misses.Lowest, misses.Width = len(f.Players), 1, analysis.Number(math.NaN())
		for i := range f.Players {
			share := float64(count(func(s *sight) bool { return s.missed[i] })) / float64(len(seen))
			misses.Measured += analysis.Number(share / float64(len(f.Players)))
			misses.Lowest, misses.Highest = min(misses.Lowest, share), max(misses.Highest, share)
		}
		return append(list, misses, t.event("two equal players found different by a t test after each league",
			count(func(s *sight) bool { return s.naive }), noPromise, 0))
	}
	stops := make([]float64, len(seen))
	for k := range seen {
		stops[k] = math.Inf(1)
		if seen[k].stop > 0 {
			stops[k] = float64(seen[k].stop)
		}
	}
	slices.Sort(stops)
	median := t.value("median leagues until the best is known", stops[len(stops)/2])
	if w.Median > 0 {
		median.Nominal = analysis.Number(w.Median)
		median.AtMost = median.Nominal
	}
	return append(list, median,
		t.event("stopped at the best player", count(func(s *sight) bool { return s.stop > 0 && s.right }), noPromise, 0))
}
