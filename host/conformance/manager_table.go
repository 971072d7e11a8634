package conformance

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/host/protocol"
)

// standing is a table that the manager told, and what it should say.
type standing struct {
	where string // of the message, or of the answer to a query
	rows  []fields
	want  []line
	show  func()
}

// tables calls visit for all tables that the manager has sent at the end of
// rounds of which the results are known.
func (p managerT) tables(visit func(s standing)) {
	s, found := p.played(), false
	for _, t := range s.turns {
		if t.closed == 0 || t.spoilt {
			continue
		}
		want := p.table(s.ends[:t.ends])
		for _, to := range p.members {
			m := p.latest(to, protocol.TypeLeagueStandingsUpdate, t)
			if m == nil {
				continue
			}
			found = true
			visit(standing{fmt.Sprintf("the table of round %d to %s", t.round, p.who(to)), list(m.message["standings"]), want, func() { p.show(m) }})
		}
	}
	if !found {
		p.Skip("no table came of which it is known what it should say%s", p.since())
	}
}

// since says why tables are not known.
func (p managerT) since() string {
	if p.season.spoilt == "" {
		return ""
	}
	return fmt.Sprintf(", since manager.%s failed", p.season.spoilt)
}

// latest returns the last message of a kind to an agent at the end of a round.
func (p managerT) latest(to *member, kind protocol.Type, t *turn) *told {
	p.mu.Lock()
	defer p.mu.Unlock()
	var last *told
	for _, m := range p.heard {
		switch {
		case m.to != to:
		case m.kind == protocol.TypeLeagueCompleted:
			return last // what comes now is manager.end.last's matter
		case m.kind == kind && m.order > t.last && m.order <= t.closed:
			last = m
		}
	}
	return last
}

// row returns the line of a player.
func (s standing) row(id string) fields {
	for _, f := range s.rows {
		if f.text("player_id") == id {
			return f
		}
	}
	return nil
}

// standingsChecks are about the table.
func standingsChecks() []Check {
	over := func(name string, level Level, rule, advice string, look func(p managerT, s standing)) Check {
		return seasonCheck("standings."+name, level, rule, advice, func(p managerT) {
			p.tables(func(s standing) { look(p, s) })
		})
	}
	return []Check{
		seasonCheck("standings.sent", Should, "When every match of a round is reported, players and referees are sent LEAGUE_STANDINGS_UPDATE (league.v2, flow).", "Send it to the contact_endpoint of every agent.",
			func(p managerT) { p.sentAfterRounds(protocol.TypeLeagueStandingsUpdate) }),
		over("players", Must, "standings lists every player once, with ranks from 1 that nobody shares (LEAGUE_STANDINGS_UPDATE).", "Number the lines of the table in their order.", listsPlayers),
		over("points", Must, "standings counts what was reported: 3 points for a win, 1 for a draw, none for a loss; a technical loss is one, and a win for the other (league.v2, scoring).",
			"Add each report to played, wins, draws, losses and points of both players.", countsPoints),
		over("order", Must, "Who has more points has the better rank (league.v2, standings).", "Sort by points, downwards.", ordersByPoints),
		over("ties", Should, "Who is level on points is ranked by wins, then by points in the matches among those level on both, then by fewer technical losses, then by the number of the id (league.v2, standings).",
			"Sort by all five, in this order.", breaksTies),
		seasonCheck("standings.query", Should, "GET_STANDINGS says the same as LEAGUE_STANDINGS_UPDATE (LEAGUE_QUERY_RESPONSE).", "Make both from one table.", agreesWithQuery).needing("manager.query.standings"),
	}
}

func listsPlayers(p managerT, s standing) {
	ranks := map[int]string{}
	for _, f := range s.rows {
		id := f.text("player_id")
		rank, ok := number(f["rank"])
		if other := ranks[rank]; !ok || rank < 1 || rank > len(s.want) || other != "" {
			s.show()
			p.Fail("in %s, rank of %s is %s", s.where, id, orMissing(f["rank"]))
		}
		ranks[rank] = id
	}
	for _, want := range s.want {
		if s.row(want.id) == nil || len(s.rows) != len(s.want) {
			s.show()
			p.Fail("%s has %d lines, and is to have one for each of %d players; look for %s", s.where, len(s.rows), len(s.want), want.id)
		}
	}
}

func countsPoints(p managerT, s standing) {
	for _, want := range s.want {
		f := s.row(want.id)
		if f == nil {
			continue // that is manager.standings.players
		}
		for _, c := range []struct {
			name string
			want int
		}{{"played", want.played}, {"wins", want.wins}, {"draws", want.draws}, {"losses", want.losses}, {"points", want.points}} {
			if got, ok := number(f[c.name]); !ok || got != c.want {
				s.show()
				p.Fail("in %s, %s of %s is %s, want %d", s.where, c.name, want.id, orMissing(f[c.name]), c.want)
			}
		}
	}
}

// ranked returns the ids of a table in the order of its ranks.
func (s standing) ranked() []string {
	rows := slices.Clone(s.rows)
	slices.SortStableFunc(rows, func(a, b fields) int {
		i, _ := number(a["rank"])
		j, _ := number(b["rank"])
		return i - j
	})
	var ids []string
	for _, f := range rows {
		ids = append(ids, f.text("player_id"))
	}
	return ids
}

// line returns what a table should say of a player.
func (s standing) line(id string) line {
	for _, l := range s.want {
		if l.id == id {
			return l
		}
	}
	return line{}
}

func ordersByPoints(p managerT, s standing) {
	ids := s.ranked()
	for i := 1; i < len(ids); i++ {
		if a, b := s.line(ids[i-1]), s.line(ids[i]); a.id != "" && a.points < b.points {
			s.show()
			p.Fail("in %s, %s is before %s, with %d points to %d", s.where, ids[i-1], ids[i], a.points, b.points)
		}
	}
}

func breaksTies(p managerT, s standing) {
	ids := s.ranked()
	for i := 1; i < len(ids); i++ {
		a, b := s.line(ids[i-1]), s.line(ids[i])
		if a.points != b.points || a.id == "" || b.id == "" {
			continue
		}
		for _, c := range []struct {
			what string
			a, b int
		}{
			{"wins", a.wins, b.wins}, {"points among those level on points and wins", a.between, b.between},
			{"technical losses", -a.technical, -b.technical}, {"the number of the id", -idNumber(a.id), -idNumber(b.id)},
		} {
			if c.a < c.b {
				s.show()
				p.Fail("in %s, %s is before %s, which is level on points and before it by %s", s.where, a.id, b.id, c.what)
			}
			if c.a > c.b {
				break
			}
		}
	}
}

func agreesWithQuery(p managerT) {
	found := false
	for i, t := range p.played().turns {
		m := p.latest(p.players()[0], protocol.TypeLeagueStandingsUpdate, t)
		if m == nil || t.closed == 0 {
			continue
		}
		found = true
		a := p.recall(fmt.Sprintf("table.%d", i+1))
		p.accepted(a, protocol.TypeLeagueQueryResponse)
		told, asked := standing{rows: list(m.message["standings"])}, standing{rows: list(object(a.Message["data"])["standings"])}
		for _, id := range told.ranked() {
			for _, name := range []string{"rank", "points", "wins", "draws", "losses", "played"} {
				was, is := told.row(id)[name], asked.row(id)[name]
				if string(was) != string(is) {
					p.Fail("after round %d, %s of %s is %s when asked, and was %s when told", t.round, name, id, orMissing(is), orMissing(was))
				}
			}
		}
	}
	if !found {
		p.Skip("no LEAGUE_STANDINGS_UPDATE came to compare with")
	}
}

// sentAfterRounds ends the check unless everybody was told something at the end
// of every round.
func (p managerT) sentAfterRounds(kind protocol.Type) {
	for _, t := range p.played().turns {
		for _, to := range p.members {
			if t.closed > 0 && p.latest(to, kind, t) == nil {
				p.evidence = append(p.evidence, t.reported.evidence...)
				p.Fail("after the last report of round %d, %s was sent no %s", t.round, to.id, kind)
			}
		}
	}
}

// count reads the number of a member of a message.
func count(raw json.RawMessage) int {
	n, ok := number(raw)
	if !ok {
		return -1
	}
	return n
}
