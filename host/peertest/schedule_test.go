package peertest

import "fmt"

// pairing is one match of a round.
type pairing struct {
	id    string
	round int
	sides [2]registered
}

// pairings is a round robin.
func pairings(players []registered) [][]pairing {
	field := append([]registered(nil), players...)
	if len(field)%2 == 1 {
		field = append(field, registered{})
	}
	n := len(field)
	var rounds [][]pairing
	for r := 1; r < n; r++ {
		var round []pairing
		for i := range n / 2 {
			if a, b := field[i], field[n-1-i]; a.id != "" && b.id != "" {
				round = append(round, pairing{id: fmt.Sprintf("R%dM%d", r, len(round)+1), round: r, sides: [2]registered{a, b}})
			}
		}
		rounds = append(rounds, round)
		field = append(append([]registered{field[0]}, field[n-1]), field[1:n-1]...)
	}
	return rounds
}
