package explain

import (
	"testing"

	"github.com/strategylab/strategylab/analysis/attest"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// Habits are counted by pair: three players over three legs, the first of whom
// alternates against each opponent, with a match in which an opponent fails.
func TestHabits(t *testing.T) {
	plan := results.Plan{Legs: 3, Field: make([]results.Entrant, 3)}
	const player = 1
	h := attest.Must(NewHabits(plan, player))
	schedule := attest.Must(game.NewSchedule(3, 3))
	for league := range 2 {
		l := results.League{Seats: []int{2, 0, 1}}
		met := map[int]int{}
		for _, p := range schedule.Matches() {
			var m results.Match
			m.A.Choice, m.B.Choice = game.Even, game.Even
			for side, seat := range []int{p.A, p.B} {
				if l.Seats[seat] != player {
					continue
				}
				opponent := l.Seats[[]int{p.B, p.A}[side]]
				own, other := []*game.Side{&m.A, &m.B}[side], []*game.Side{&m.B, &m.A}[side]
				if met[opponent]%2 == 1 {
					own.Choice = game.Odd
				}
				if league == 1 && met[opponent] == 1 {
					other.Choice = game.NoParity
				}
				met[opponent]++
			}
			l.Matches = append(l.Matches, m)
		}
		attest.OK(t, h.Append(&l))
	}
	// Two opponents in two leagues: even at first, odd after that, and even again
	// where the second meeting was seen whole.
	want := map[int][2]int64{firstMatch: {4, 4}, bothEven: {4, 0}, oddEven: {2, 2}, evenOdd: {}, bothOdd: {}}
	for s, habit := range h.Estimates(0.95) {
		times, even := want[s][0], want[s][1]
		if habit.Times != times || habit.Even.Defined() != (times > 0) {
			t.Errorf("after %s: %d times, want %d", habit.After, habit.Times, times)
		} else if times > 0 && habit.Even.Estimate != float64(even)/float64(times) {
			t.Errorf("after %s: even %+v, want %d of %d", habit.After, habit.Even, even, times)
		}
	}
}
