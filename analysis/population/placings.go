package population

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// MostPlacings is how many leagues' placings are kept: fitting takes time in
// proportion to them, and a few hundred say all that the model can use.
const MostPlacings = 300

// Placings gathers in which order, by raw points, players came in in the first
// leagues of an experiment. It is for one goroutine at a time.
type Placings struct {
	schedule *game.Schedule
	players  int
	list     []Placing
}

// NewPlacings returns an empty collection for the leagues of a plan.
func NewPlacings(plan results.Plan) (*Placings, error) {
	schedule, err := game.NewSchedule(len(plan.Field), plan.Legs)
	if err != nil {
		return nil, fmt.Errorf("placings of plan: %w", err)
	}
	return &Placings{schedule: schedule, players: len(plan.Field)}, nil
}

// Leagues is how many placings there are, at most MostPlacings.
func (p *Placings) Leagues() int { return len(p.list) }

// Add takes in the placing of one league. Those who are level share a place, before
// tie-breaks.
func (p *Placings) Add(l *results.League) error {
	if len(p.list) == MostPlacings {
		return nil
	}
	matches := p.schedule.Matches()
	if len(l.Matches) != len(matches) || len(l.Seats) != p.players {
		return fmt.Errorf("placing of league %d: record has %d matches and %d seats, the plan %d and %d",
			l.Index, len(l.Matches), len(l.Seats), len(matches), p.players)
	}
	points := make([]int, p.players) // by seat
	for i, m := range l.Matches {
		v := m.Verdict()
		points[matches[i].A] += v.PointsA
		points[matches[i].B] += v.PointsB
	}
	seats := make([]int, p.players)
	for s := range seats {
		seats[s] = s
	}
	slices.SortFunc(seats, func(a, b int) int { return cmp.Or(cmp.Compare(points[b], points[a]), cmp.Compare(a, b)) })
	var placing Placing
	for k, s := range seats {
		if k == 0 || points[s] != points[seats[k-1]] {
			placing.Groups = append(placing.Groups, nil)
		}
		last := len(placing.Groups) - 1
		placing.Groups[last] = append(placing.Groups[last], l.Seats[s])
	}
	p.list = append(p.list, placing)
	return nil
}

// Fit fits the Plackett-Luce model to the placings, members by field index.
func (p *Placings) Fit() (Worths, error) { return PlackettLuce(p.players, p.list) }
