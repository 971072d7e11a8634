package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// record is the sum of a player's results.
type record struct {
	played, wins, draws, losses, points int

	rounds  map[int]bool // in which it played
	unclear bool         // a match has an unknown result, or several
}

// recordOf adds up the results of a player that a table may contain.
func (e *Evidence) recordOf(player string, t Table) record {
	r := record{rounds: map[int]bool{}}
	for _, m := range e.Matches {
		if !m.has(player) || !t.Final && (t.Round > 0 && m.Round > t.Round || t.Round == 0 && !m.decidedBefore(t.at)) || len(m.results) == 0 {
			continue
		}
		winner, tie, ok := m.outcome()
		r.unclear = r.unclear || !ok || m.again || !m.known() || t.Round > 0 && m.Round == 0
		r.played++
		r.rounds[m.Round] = true
		switch {
		case winner == player:
			r.wins, r.points = r.wins+1, r.points+game.WinPoints
		case tie:
			r.draws, r.points = r.draws+1, r.points+game.TiePoints
		default:
			r.losses++
		}
	}
	return r
}

func (m *Match) decidedBefore(at int) bool {
	return slices.ContainsFunc(m.results, func(t Result) bool { return t.at < at })
}

// outcome returns the winner of a match or whether it is a tie, by the first
// message that states it; ok is false if none does.
func (m *Match) outcome() (winner string, tie, ok bool) {
	for _, t := range m.results {
		switch {
		case t.Conflict != "" || !t.Decided:
		case t.Winner != "":
			return t.Winner, false, true
		case t.Status == protocol.StatusDraw:
			return "", true, true
		case t.Status == protocol.StatusTechnicalLoss:
			return "", false, true
		}
	}
	return "", false, false
}

// covers reports whether a record holds all matches that a table can contain.
// The final table contains everything; any other may be older or younger than
// its round says unless the player's match of every round is recorded.
func (e *Evidence) covers(r record, player string, t Table) bool {
	if t.Final {
		return true
	}
	last := t.Round
	for round := range r.rounds {
		last = max(last, round)
	}
	for round := 1; round <= last; round++ {
		if !r.rounds[round] && !e.rests(player, round) {
			return false
		}
	}
	return last > 0
}

// rests reports whether a round was announced without the player.
func (e *Evidence) rests(player string, round int) bool {
	return len(e.rounds[round]) == 1 && !slices.ContainsFunc(e.Matches, func(m *Match) bool {
		return m.Round == round && (m.has(player) || !m.known())
	})
}

// tables checks that the rows of standings are the sums of the results and that
// ranks follow the points. It examines the rows of players whose matches are all
// recorded.
func (e *Evidence) tables() Check {
	c := Check{ID: "standings", Rule: "standings are the sums of the results, and ranks follow the points"}
	for _, t := range e.Tables {
		t.ranks(&c)
		for _, row := range t.Rows {
			r := e.recordOf(row.PlayerID, t)
			played, ok := rowPlayed(row)
			if !ok || played != r.played || r.unclear || !e.covers(r, row.PlayerID, t) {
				c.unknown("all results of a player in a table")
				continue
			}
			c.Examined++
			if !agrees(row, r) {
				c.found("%s: %s has %s, %s, %s and %s; its results add up to %d, %d, %d and, by the protocol, %d", t.name(), row.PlayerID,
					count(row.Wins.Value(), "win"), count(row.Draws.Value(), "tie"), count(row.Losses.Value(), "loss"), count(row.Points, "point"),
					r.wins, r.draws, r.losses, r.points)
			}
		}
	}
	return c
}

// ranks checks that nobody ranks above a player with more points. Rows without a
// rank are left out, and players of one rank may stand in any order.
func (t Table) ranks(c *Check) {
	rows := slices.DeleteFunc(slices.Clone(t.Rows), func(r protocol.Standing) bool { return r.Rank < 1 })
	slices.SortStableFunc(rows, func(a, b protocol.Standing) int { return cmp.Compare(a.Rank, b.Rank) })
	for i, row := range rows {
		if i > 0 && row.Points > rows[i-1].Points {
			c.found("%s: rank %d with %s is below rank %d with %d", t.name(), row.Rank, count(row.Points, "point"), rows[i-1].Rank, rows[i-1].Points)
		}
	}
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
		rows := slices.DeleteFunc(slices.Clone(t.Rows), func(r protocol.Standing) bool { return r.Rank < 1 })
		if len(rows) < len(t.Rows) {
			c.unknown("the ranks of the final table")
			continue
		}
		c.Examined++
		first := slices.MinFunc(rows, func(a, b protocol.Standing) int { return cmp.Compare(a.Rank, b.Rank) })
		most := slices.MaxFunc(rows, func(a, b protocol.Standing) int { return cmp.Compare(a.Points, b.Points) })
		if most.Points > first.Points {
			c.found("%s is first with %s, but %s has %d", first.PlayerID, count(first.Points, "point"), most.PlayerID, most.Points)
		}
		if e.champion == nil || e.champion.PlayerID == "" {
			continue
		}
		i := slices.IndexFunc(rows, func(r protocol.Standing) bool { return r.PlayerID == e.champion.PlayerID })
		switch {
		case i < 0:
			c.unknown("the champion's row in the final table")
		case rows[i].Rank > first.Rank:
			c.found("the champion is %s, but %s is first in the final table", e.champion.PlayerID, first.PlayerID)
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
		if !m.announced || !m.known() {
			if m.announced {
				c.unknown("the players of a match")
			}
			continue
		}
		c.Examined++
		pair := m.Players
		slices.Sort(pair[:])
		met[pair]++
		for _, p := range m.Players {
			if other := busy[inRound{p, m.Round}]; other != "" && other != m.ID && m.Round > 0 {
				c.found("round %d: %s plays both %s and %s", m.Round, p, other, m.ID)
			}
			busy[inRound{p, m.Round}] = m.ID
		}
	}
	switch {
	case len(met) == 0 || !e.completed:
	case e.wholeSchedule():
		e.evenly(&c, met)
	default:
		c.unknown("the announcements of all rounds")
	}
	return c
}

// wholeSchedule reports whether the recording has the schedule of all rounds: the
// final table counts no more matches than are known, and each round of them was
// announced.
func (e *Evidence) wholeSchedule() bool {
	total, counted := 0, false
	for _, t := range e.Tables {
		if !t.Final {
			continue
		}
		total, counted = 0, len(t.Rows) > 0
		for _, row := range t.Rows {
			n, ok := rowPlayed(row)
			total, counted = total+n, counted && ok
		}
	}
	for _, m := range e.Matches {
		if m.again || !m.announced && (len(e.rounds[m.Round]) != 1 || m.Round == 0) {
			return false
		}
	}
	return counted && total > 0 && total <= 2*len(e.Matches)
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
				c.found("%s and %s played %s, others %s", a, b, count(n, "time"), count(often, "time"))
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

// count says a number of things: "1 point", "3 losses".
func count(n int, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case strings.HasSuffix(thing, "s"):
		thing += "e"
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
