package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// record is the sum of a player's results.
type record struct{ played, wins, draws, losses, points int }

// records adds up the results of the matches up to a round, 0 for all.
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
				r.draws, r.points = r.draws+1, r.points+game.TiePoints
			default:
				r.losses++
			}
			all[p] = r
		}
	}
	return all
}

// result returns the first valid result of a match.
func (m *Match) result() (dialect.Outcome, bool) {
	for _, t := range m.results {
		if t.Invalid == nil {
			return t.Outcome, true
		}
	}
	return dialect.Outcome{}, false
}

// tables checks that the rows of standings are the sums of the results and that
// ranks follow the points. It examines the rows of players whose matches are all
// recorded.
func (e *Evidence) tables() Check {
	c := Check{ID: "standings", Rule: "standings are the sums of the results, and ranks follow the points"}
	for _, t := range e.Tables {
		results := e.records(t.Round)
		for i, row := range t.Rows {
			if i > 0 && (row.Points > t.Rows[i-1].Points || row.Rank <= t.Rows[i-1].Rank) {
				c.found("%s: rank %d with %d points is below rank %d with %d", t.name(), row.Rank, row.Points, t.Rows[i-1].Rank, t.Rows[i-1].Points)
			}
			r := results[row.PlayerID]
			played, ok := rowPlayed(row)
			if !ok || played != r.played {
				continue
			}
			c.Examined++
			if !agrees(row, r) {
				c.found("%s: %s has %d wins, %d ties, %d losses and %d points; its results add up to %d, %d, %d and %d", t.name(), row.PlayerID,
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

// rowPlayed returns the number of matches in a row, false if the row has none.
func rowPlayed(row protocol.Standing) (int, bool) {
	if n, ok := row.Played.Get(); ok {
		return n, true
	}
	w, okW := row.Wins.Get()
	d, okD := row.Draws.Get()
	l, okL := row.Losses.Get()
	return w + d + l, okW && okD && okL
}

// agrees reports whether a row states a record.
func agrees(row protocol.Standing, r record) bool {
	for _, f := range []struct {
		stated protocol.Opt[int]
		is     int
	}{{row.Wins, r.wins}, {row.Draws, r.draws}, {row.Losses, r.losses}} {
		if n, ok := f.stated.Get(); ok && n != f.is {
			return false
		}
	}
	return row.Points == r.points
}

// champions checks that the champion is first in the final table.
func (e *Evidence) champions() Check {
	c := Check{ID: "champion", Rule: "the champion is first in the final table, and nobody has more points"}
	for _, t := range e.Tables {
		if !t.Final || len(t.Rows) == 0 {
			continue
		}
		c.Examined++
		first := slices.MinFunc(t.Rows, func(a, b protocol.Standing) int { return cmp.Compare(a.Rank, b.Rank) })
		most := slices.MaxFunc(t.Rows, func(a, b protocol.Standing) int { return cmp.Compare(a.Points, b.Points) })
		if e.champion != "" && e.champion != first.PlayerID {
			c.found("the champion is %s, but %s is first in the final table", e.champion, first.PlayerID)
		}
		if most.Points > first.Points {
			c.found("%s is first with %d points, but %s has %d", first.PlayerID, first.Points, most.PlayerID, most.Points)
		}
	}
	return c
}

// balance checks the announced schedule: nobody plays twice in a round, and in a
// complete league all pairs play equally often.
func (e *Evidence) balance() Check {
	c := Check{ID: "schedule", Rule: "nobody plays twice in a round, and all pairs play equally often"}
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

// evenly checks that all pairs of players have played equally often.
func (e *Evidence) evenly(c *Check, met map[[2]string]int) {
	often := 0
	for _, n := range met {
		often = max(often, n)
	}
	players := slices.Sorted(maps.Keys(e.players))
	for i, a := range players {
		for _, b := range players[i+1:] {
			if n := met[[2]string{a, b}]; n != often {
				c.found("%s and %s played %d times, others %d times", a, b, n, often)
			}
		}
	}
}

// unexpected reports unexpected messages.
func (e *Evidence) unexpected() Check {
	c := Check{ID: "unexpected", Rule: "matches are announced once, before they are played, and end with the league", Examined: len(e.Matches)}
	for _, s := range e.strays {
		c.found("%s", s)
	}
	return c
}
