package calibration

import "slices"

// Suite is a set of measurements.
type Suite struct {
	Players       []int  // sizes of fields; 2 or more each
	Legs, Leagues int    // of every experiment
	Draw          string // of a run whose experiments are repeated; empty is the fair draw
}

// edgePlayers is the size of the field for measuring power: one player with an edge
// against seven equal ones.
const edgePlayers = 8

// Fields lists the fields of a suite: for two players their chance of differing from
// 0.1 to 0.9; for more, all equal, all unlike, for eight also one with an edge. Without a
// draw there is one with rare events, too.
func (s Suite) Fields() []Field {
	var list []Field
	for _, n := range s.Players {
		if n == 2 {
			for _, p := range []float64{0.1, 0.3, 0.5, 0.7, 0.9} {
				list = append(list, Pair(p, 0, s.Legs, s.Leagues))
			}
			list = append(list, Pair(0.5, 0.3, s.Legs, s.Leagues))
			continue
		}
		list = append(list, Equal(n, s.Legs, s.Leagues), Mixed(n, s.Legs, s.Leagues))
		if n != edgePlayers {
			continue
		}
		for _, e := range []float64{0.02, 0.05, 0.10} {
			f := Edge(n, s.Legs, s.Leagues, e)
			if e >= 0.10 && s.Legs >= 10 && s.Leagues >= 200 {
				f.Found = 0.95
			}
			list = append(list, f)
		}
	}
	for i := range list {
		list[i].Draw = s.Draw
	}
	if s.Draw == "" && slices.ContainsFunc(s.Players, func(n int) bool { return n > 2 }) {
		list = append(list, Rare(s.Legs, s.Leagues))
	}
	return list
}
