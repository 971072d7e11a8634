package analysis

import (
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/analysis/sequential"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// Absence is a player that was quarantined in the course of a run: it lost every match
// from a league on. Sums over all leagues then mix two fields, with the player and
// without it, and no number of leagues makes them those of either.
type Absence struct {
	Field int // field index
	From  int // its first league without it
}

// Absences lists the players that were quarantined after some leagues, by league. A
// player that never played is not among them.
func (e *Estimates) Absences() []Absence {
	var list []Absence
	for i := range e.Players {
		p := &e.Players[i]
		for _, f := range p.Faults {
			if f.Kind == game.FaultQuarantined && f.Count < p.Matches {
				list = append(list, Absence{Field: i, From: f.League})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Absence) int { return a.From - b.From })
	return list
}

// Remaining follows a run and keeps the leagues since the last player was quarantined,
// as leagues of the players that still play: matches with others are left out. It is for
// one goroutine at a time.
type Remaining struct {
	plan     results.Plan // whose field shrinks
	options  *sequential.Options
	schedule *game.Schedule // of all
	absent   []bool         // by field index
	leagues  int            // all added

	acc     *Accumulator // nil while all play, or fewer than two do
	tracker *sequential.Tracker
	field   []int   // field indices of the players of acc
	places  [][]int // of the matches in its schedule, by pair of its players
	league  results.League
}

// NewRemaining returns what follows a run of a plan, with options if it has a stopping
// rule, else nil.
func NewRemaining(plan results.Plan, options *sequential.Options) (*Remaining, error) {
	schedule, err := game.NewSchedule(len(plan.Field), plan.Legs)
	if err != nil {
		return nil, fmt.Errorf("analyze plan: %w", err)
	}
	return &Remaining{plan: plan, options: options, schedule: schedule, absent: make([]bool, len(plan.Field))}, nil
}

// Add takes in the next league of the run, in their order; it must fit the plan.
func (r *Remaining) Add(l *results.League) error {
	changed := false
	for _, n := range l.Notes {
		if n.Fault == game.FaultQuarantined && !r.absent[n.Field] {
			r.absent[n.Field], changed = true, true
		}
	}
	if changed && r.leagues > 0 {
		if err := r.restart(); err != nil {
			return fmt.Errorf("analyze league %d: %w", l.Index, err)
		}
	}
	r.leagues++
	if r.acc == nil {
		return nil
	}
	r.reduce(l)
	if err := r.acc.Add(r.league); err != nil || r.tracker == nil {
		return err
	}
	return r.tracker.Add(r.acc.Last())
}

// restart begins with the players that are left, and no leagues.
func (r *Remaining) restart() error {
	plan := r.plan
	plan.Field, r.field, r.acc, r.tracker = nil, nil, nil, nil
	for i, entrant := range r.plan.Field {
		if !r.absent[i] {
			plan.Field, r.field = append(plan.Field, entrant), append(r.field, i)
		}
	}
	n := len(plan.Field)
	if n < 2 {
		return nil
	}
	acc, err := NewAccumulator(plan)
	if err != nil {
		return err
	}
	if r.options != nil {
		o := *r.options
		o.Rule, o.Margin = sequential.Rule{Kind: sequential.Precision, Width: 1}, 0 // it ends nothing
		if r.tracker, err = acc.Tracker(o); err != nil {
			return err
		}
	}
	r.acc, r.places = acc, make([][]int, pairs(n))
	for k, m := range acc.matches {
		pair := pairIndex(n, int(min(m.a, m.b)), int(max(m.a, m.b)))
		r.places[pair] = append(r.places[pair], k)
	}
	r.league = results.League{Seats: make([]int, n), Matches: make([]results.Match, len(acc.matches))}
	for i := range n {
		r.league.Seats[i] = i
	}
	return nil
}

// reduce makes the league of those that are left: each has the seat of its index, and
// the meetings of two players stand where the schedule has theirs.
func (r *Remaining) reduce(l *results.League) {
	n := len(r.field)
	met := make([]int, pairs(n))
	r.league.Index = l.Index
	for k, m := range r.schedule.Matches() {
		i, isA := slices.BinarySearch(r.field, l.Seats[m.A])
		j, isB := slices.BinarySearch(r.field, l.Seats[m.B])
		if !isA || !isB {
			continue
		}
		played := l.Matches[k]
		pair := pairIndex(n, min(i, j), max(i, j))
		place := r.places[pair][met[pair]]
		met[pair]++
		if int(r.acc.matches[place].a) != i {
			played.A, played.B = played.B, played.A
		}
		r.league.Matches[place] = played
	}
}

// Estimates returns what the leagues since the last change show about the players that
// still play; nil if there was no change, or fewer than two are left.
func (r *Remaining) Estimates(level float64) *Estimates {
	if r.acc == nil || r.acc.leagues == 0 {
		return nil
	}
	var e Estimates
	if r.tracker != nil {
		e = r.acc.SequentialEstimates(r.tracker)
	} else {
		e = r.acc.Verdicts(level)
	}
	return &e
}
