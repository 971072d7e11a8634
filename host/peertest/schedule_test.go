package peertest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// matchup is a match of a round and its players.
type matchup struct {
	id    string
	round int
	sides [2]registered
}

// roundRobin returns the matches of each round.
func roundRobin(players []registered) [][]matchup {
	field := append([]registered(nil), players...)
	if len(field)%2 == 1 {
		field = append(field, registered{})
	}
	n := len(field)
	var rounds [][]matchup
	for r := 1; r < n; r++ {
		var round []matchup
		for i := range n / 2 {
			if a, b := field[i], field[n-1-i]; a.id != "" && b.id != "" {
				round = append(round, matchup{id: fmt.Sprintf("R%dM%d", r, len(round)+1), round: r, sides: [2]registered{a, b}})
			}
		}
		rounds = append(rounds, round)
		field = append(append([]registered{field[0]}, field[n-1]), field[1:n-1]...)
	}
	return rounds
}

// tally counts results for a table.
type tally struct{ rows []*row }

// row is a line of a table.
type row struct {
	Rank    int     `json:"rank"`
	ID      string  `json:"player_id"`
	Name    string  `json:"display_name"`
	Played  int     `json:"played"`
	Wins    int     `json:"wins"`
	Draws   int     `json:"draws"`
	Losses  int     `json:"losses"`
	Points  float64 `json:"points"`
	opening int
}

func newTally(field []registered) *tally {
	t := new(tally)
	for i, r := range field {
		t.rows = append(t.rows, &row{ID: r.id, Name: r.name, opening: i})
	}
	return t
}

// add counts a match of a player. A winner that is no player of it means a tie,
// or none if there are no points either.
func (t *tally) add(id string, points, winner any, players int) {
	for _, r := range t.rows {
		if r.ID != id || players != 2 {
			continue
		}
		r.Played++
		n, _ := json.Marshal(points)
		var p float64
		_ = json.Unmarshal(n, &p)
		r.Points += p
		switch {
		case winner == id:
			r.Wins++
		case winner != nil && winner != "DRAW" || p == 0:
			r.Losses++
		default:
			r.Draws++
		}
	}
}

// table returns the lines by points.
func (t *tally) table() []any {
	slices.SortFunc(t.rows, func(a, b *row) int {
		return cmp.Or(cmp.Compare(b.Points, a.Points), cmp.Compare(b.Wins, a.Wins), a.opening-b.opening)
	})
	var lines []any
	for i, r := range t.rows {
		r.Rank = i + 1
		lines = append(lines, r)
	}
	return lines
}
