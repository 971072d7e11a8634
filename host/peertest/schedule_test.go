package peertest

import "fmt"

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
