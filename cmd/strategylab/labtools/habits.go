package labtools

import (
	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// habits counts how one player chooses by how the last meeting with the same
// opponent in the league went. It is a sink of leagues, for one goroutine at a
// time.
type habits struct {
	schedule *game.Schedule
	player   int // field index
	counts   [situations]analysis.Ratio
	times    [situations]int64
	last     []int // situation by the opponent's field index
}

// The situations: the first meeting, and the four ways in which both can have
// chosen in the last one. What was not seen whole is no situation.
const (
	firstMeeting = iota
	bothEven
	evenOdd // the player said even, the other odd
	oddEven
	bothOdd
	situations
	unseen = situations
)

func newHabits(plan results.Plan, player int) (*habits, error) {
	schedule, err := game.NewSchedule(len(plan.Field), plan.Legs)
	return &habits{schedule: schedule, player: player, last: make([]int, len(plan.Field))}, err
}

// Append takes in one league.
func (h *habits) Append(l *results.League) error {
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

// report says what was counted.
func (h *habits) report(level float64) []Habit {
	names := [situations]string{
		"its first meeting with the opponent", "both said even", "it said even, the opponent odd",
		"it said odd, the opponent even", "both said odd",
	}
	var all []Habit
	for s := range situations {
		all = append(all, Habit{After: names[s], Even: estimate(h.counts[s].Estimate(level, 0, 1)), Times: h.times[s]})
	}
	return all
}
