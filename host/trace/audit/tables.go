package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// record is what a player's results add up to.
type record struct{ played, wins, draws, losses, points int }

// records adds up the results of the matches up to a round; 0 for all. Players
// of whose matches not all are known are left out: every other player has to
// have been met as often as the schedule or the table says.
func (e *Evidence) records(round int) map[string]record {
	all := map[string]record{}
	for _, m := range e.Matches {
		if round > 0 && (m.Round == 0 || m.Round > round) || m.Players[0] == "" || m.Players[1] == "" {
			continue
		}
		o, ok := m.result()
		if !ok {
			continue
		}
		for _, p := range m.Players {
			r := all[p]
			r.played++
			switch {
			case o.Winner == p:
				r.wins, r.points = r.wins+1, r.points+game.WinPoints
			case o.Status == protocol.StatusDraw:
				r.draws, r.points = r.draws+1, r.points+game.DrawPoints
			default:
				r.losses++
			}
			all[p] = r
		}
	}
	return all
}

// result returns the result of a match as it was first told.
func (m *Match) result() (protocol.Outcome, bool) {
	for _, t := range m.told {
		if t.Wrong == nil {
			return t.Outcome, true
		}
	}
	return protocol.Outcome{}, false
}

// tables checks the standings against the results, row by row, and that ranks
// go by points. A row can be checked where all matches of the player were seen.
func (e *Evidence) tables() Check {
	c := Check{ID: "standings", Rule: "the standings add up from the results, and ranks go by points"}
	for _, t := range e.Tables {
		results := e.records(t.Round)
		for i, row := range t.Rows {
			if i > 0 && (row.Points > t.Rows[i-1].Points || row.Rank <= t.Rows[i-1].Rank) {
				c.found("%s: rank %d with %d points stands below rank %d with %d", t.name(), row.Rank, row.Points, t.Rows[i-1].Rank, t.Rows[i-1].Points)
			}
			r := results[row.PlayerID]
			played, ok := rowPlayed(row)
			if !ok || played != r.played {
				continue
			}
			c.Examined++
			if !agrees(row, r) {
				c.found("%s: %s has %d wins, %d draws, %d losses and %d points; its results make %d, %d, %d and %d", t.name(), row.PlayerID,
					row.Wins.Value(), row.Draws.Value(), row.Losses.Value(), row.Points, r.wins, r.draws, r.losses, r.points)
			}
		}
	}
	return c
}

func (t Table) name() string {
	switch {
	case t.Final:
		return "the final table"
	case t.Round == 0:
		return "a table"
	}
	return fmt.Sprintf("the table after round %d", t.Round)
}

// rowPlayed returns how many matches a row counts, as far as it says.
func rowPlayed(row protocol.Standing) (int, bool) {
	if n, ok := row.Played.Get(); ok {
		return n, true
	}
	w, okW := row.Wins.Get()
	d, okD := row.Draws.Get()
	l, okL := row.Losses.Get()
	return w + d + l, okW && okD && okL
}

// agrees compares what a row says with a record.
func agrees(row protocol.Standing, r record) bool {
	for _, f := range []struct {
		told protocol.Opt[int]
		is   int
	}{{row.Wins, r.wins}, {row.Draws, r.draws}, {row.Losses, r.losses}} {
		if n, ok := f.told.Get(); ok && n != f.is {
			return false
		}
	}
	return row.Points == r.points
}

// champions checks that who leads the final table is the champion.
func (e *Evidence) champions() Check {
	c := Check{ID: "champion", Rule: "the champion stands first in the final table, and nobody has more points"}
	for _, t := range e.Tables {
		if !t.Final || len(t.Rows) == 0 {
			continue
		}
		c.Examined++
		first := slices.MinFunc(t.Rows, func(a, b protocol.Standing) int { return cmp.Compare(a.Rank, b.Rank) })
		most := slices.MaxFunc(t.Rows, func(a, b protocol.Standing) int { return cmp.Compare(a.Points, b.Points) })
		if e.champion != "" && e.champion != first.PlayerID {
			c.found("%s is called the champion, and %s stands first", e.champion, first.PlayerID)
		}
		if most.Points > first.Points {
			c.found("%s stands first with %d points, and %s has %d", first.PlayerID, first.Points, most.PlayerID, most.Points)
		}
	}
	return c
}

// balance checks the schedule, as far as it was announced: nobody plays twice
// in a round, and, once the league is complete, every two have met equally
// often.
func (e *Evidence) balance() Check {
	c := Check{ID: "schedule", Rule: "nobody plays twice in a round, and every two players meet equally often"}
	type inRound struct {
		player string
		round  int
	}
	busy := map[inRound]string{}
	met := map[[2]string]int{}
	for _, m := range e.Matches {
		if !m.announced {
			continue
		}
		c.Examined++
		pair := m.Players
		slices.Sort(pair[:])
		met[pair]++
		for _, p := range m.Players {
			if other := busy[inRound{p, m.Round}]; other != "" && m.Round > 0 {
				c.found("round %d: %s plays both %s and %s", m.Round, p, other, m.ID)
			}
			busy[inRound{p, m.Round}] = m.ID
		}
	}
	if e.completed && e.announced {
		e.evenly(&c, met)
	}
	return c
}

// evenly checks that every pair of players has met as often as the others.
func (e *Evidence) evenly(c *Check, met map[[2]string]int) {
	often := 0
	for _, n := range met {
		often = max(often, n)
	}
	players := slices.Sorted(maps.Keys(e.players))
	for i, a := range players {
		for _, b := range players[i+1:] {
			if n := met[[2]string{a, b}]; n != often {
				c.found("%s and %s met %d times, others %d times", a, b, n, often)
			}
		}
	}
}

// unexpected tells of messages that were not to be expected.
func (e *Evidence) unexpected() Check {
	c := Check{ID: "unexpected", Rule: "matches are announced before they are played, once, and end when the league does", Examined: len(e.Matches)}
	for _, s := range e.strays {
		c.found("%s", s)
	}
	return c
}
