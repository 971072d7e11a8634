package explain

import (
	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// Habits counts how one player chooses, by how its last match against the same
// opponent in the league went. It is for one goroutine at a time.
type Habits struct {
	schedule *game.Schedule
	player   int // field index
	counts   [situations]analysis.Ratio
	times    [situations]int64
	last     []int // situation by the opponent's field index
}

// Habit is how a player chooses in one situation.
type Habit struct {
	After string            // "both said even"
	Even  analysis.Estimate // share of even among its choices there
	Times int64             // choices it made there
}

// The situations: the first match of a pair, and the four ways in which both can have
// chosen in the last one. A match that was not decided by choices is no situation.
const (
	firstMatch = iota
	bothEven
	evenOdd // the player said even, the other odd
	oddEven
	bothOdd
	situations
	unseen = situations
)

// NewHabits returns an empty count for a player of a plan, by field index.
func NewHabits(plan results.Plan, player int) (*Habits, error) {
	schedule, err := game.NewSchedule(len(plan.Field), plan.Legs)
	return &Habits{schedule: schedule, player: player, last: make([]int, len(plan.Field))}, err
}

// Append counts one league.
func (h *Habits) Append(l *results.League) error {
	var even, times [situations]int64
	clear(h.last)
	for i, p := range h.schedule.Matches() {
		own, other := l.Matches[i].A, l.Matches[i].B
		opponent := l.Seats[p.B]
		switch h.player {
		case l.Seats[p.A]:
		case l.Seats[p.B]:
			own, other, opponent = other, own, l.Seats[p.A]
		default:
			continue
		}
		if own.Choice != game.NoParity && h.last[opponent] != unseen {
			times[h.last[opponent]]++
			if own.Choice == game.Even {
				even[h.last[opponent]]++
			}
		}
		h.last[opponent] = situation(own.Choice, other.Choice)
	}
	for s := range situations {
		h.counts[s].Add(even[s], times[s])
		h.times[s] += times[s]
	}
	return nil
}

func situation(own, other game.Parity) int {
	switch {
	case own == game.NoParity || other == game.NoParity:
		return unseen
	case own == game.Even && other == game.Even:
		return bothEven
	case own == game.Even:
		return evenOdd
	case other == game.Even:
		return oddEven
	}
	return bothOdd
}

// Estimates returns what was counted in every situation, with intervals of a
// confidence level in (0, 1).
func (h *Habits) Estimates(level float64) []Habit {
	names := [situations]string{
		"its first match against the opponent", "both said even", "it said even, the opponent odd",
		"it said odd, the opponent even", "both said odd",
	}
	list := make([]Habit, situations)
	for s := range situations {
		list[s] = Habit{After: names[s], Even: h.counts[s].Estimate(level, 0, 1), Times: h.times[s]}
	}
	return list
}
