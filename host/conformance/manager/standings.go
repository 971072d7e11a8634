package manager

import (
	"fmt"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

func standingsChecks() []kit.Check {
	each := func(name string, level kit.Level, rule, advice string, test func(t T, s standing)) kit.Check {
		return leagueCheck("standings."+name, level, rule, advice, func(t T) {
			t.standings(func(s standing) { test(t, s) })
		})
	}
	return []kit.Check{
		leagueCheck("standings.sent", kit.Should, "When every match of a round is reported, players and referees are sent LEAGUE_STANDINGS_UPDATE (league.v2, flow).", "Send it to the contact_endpoint of every agent.",
			func(t T) { t.sentAfterRounds(protocol.TypeLeagueStandingsUpdate) }),
		each("players", kit.Should, "standings lists every player once, with unique ranks from 1 (LEAGUE_STANDINGS_UPDATE).", "Number the lines of the standings in their order.", T.listsPlayers),
		each("points", kit.Should, "standings counts the reports: 3 points for a win, 1 for a tie, none for a loss; a technical loss is a loss, and a win for the other (league.v2, scoring).",
			"Add each report to played, wins, draws, losses and points of both players.", func(t T, s standing) { t.counts(s, "played", "wins", "draws", "losses", "points") }),
		each("order", kit.Should, "The player with more points has the better rank (league.v2, standings).", "Sort by points, in descending order.", T.ordersByPoints),
		each("ties", kit.Should, "Players with equal points are ranked by wins, then by points in the matches among those equal in both, then by fewer technical losses, then by the number of the id (league.v2, standings).",
			"Sort by all five, in this order.", T.breaksTies),
		leagueCheck("standings.query", kit.Should, "GET_STANDINGS returns the same as LEAGUE_STANDINGS_UPDATE (LEAGUE_QUERY_RESPONSE).", "Make both from one table.", agreesWithQuery).Needing("manager.query.standings"),
	}
}

// standings yields the standings after all rounds of which the results are
// known.
func (t T) standings(yield func(s standing)) {
	l, found := t.played(), false
	for _, r := range l.rounds {
		if r.closed == 0 || r.spoiled {
			continue
		}
		want := t.rows(l.results(r))
		for _, to := range t.registered() {
			if m := t.atEnd(to, protocol.TypeLeagueStandingsUpdate, r); m != nil {
				found = true
				yield(standing{fmt.Sprintf("the standings of round %d to %s", r.number, to.called()), m.fields.List("standings"), want, func() { t.show(m) }})
			}
		}
	}
	if !found {
		t.Skip("no standings were sent of which the right content is known%s", t.whyUnknown())
	}
}

// whyUnknown says why the right standings are not known.
func (t T) whyUnknown() string {
	if t.league.spoiled == "" {
		return ""
	}
	return fmt.Sprintf(", because manager.%s failed", t.league.spoiled)
}

// failIn ends the check with standings as its evidence.
func (t T) failIn(s standing, format string, args ...any) {
	s.show()
	t.Fail(format, args...)
}

func (t T) listsPlayers(s standing) {
	ranks := map[int]string{}
	for _, f := range s.lines {
		id := f.Text("player_id")
		rank, ok := f.Number("rank")
		if other := ranks[rank]; !ok || rank < 1 || rank > len(s.want) || other != "" {
			t.failIn(s, "in %s, rank of %s is %s", s.where, id, f.Shown("rank"))
		}
		ranks[rank] = id
	}
	for _, want := range s.want {
		if s.line(want.id) == nil || len(s.lines) != len(s.want) {
			t.failIn(s, "%s has %s; want one for each of %s, also for %s", s.where, kit.Count(len(s.lines), "line", "lines"), kit.Count(len(s.want), "player", "players"), want.id)
		}
	}
}

// counts compares members of the lines with the results.
func (t T) counts(s standing, names ...string) {
	for _, want := range s.want {
		f := s.line(want.id)
		if f == nil {
			continue // for manager.standings.players to find
		}
		counted := map[string]int{"played": want.Played, "wins": want.Wins, "draws": want.Ties, "losses": want.Losses, "points": want.Points}
		for _, name := range names {
			if f.Count(name) != counted[name] {
				t.failIn(s, "in %s, %s of %s is %s, want %d", s.where, name, want.id, f.Shown(name), counted[name])
			}
		}
	}
}

// neighbors yields the expected rows of players with consecutive ranks.
func (s standing) neighbors(yield func(a, b row)) {
	ids := s.order()
	for i := 1; i < len(ids); i++ {
		if a, b := s.position(ids[i-1]), s.position(ids[i]); a >= 0 && b >= 0 {
			yield(s.want[a], s.want[b])
		}
	}
}

func (t T) ordersByPoints(s standing) {
	s.neighbors(func(a, b row) {
		if a.Points < b.Points {
			t.failIn(s, "in %s, %s is before %s, with %s to %d", s.where, a.id, b.id, kit.Count(a.Points, "point", "points"), b.Points)
		}
	})
}

func (t T) breaksTies(s standing) {
	s.neighbors(func(a, b row) {
		if a.Points == b.Points && s.position(a.id) > s.position(b.id) {
			t.failIn(s, "in %s, %s is before %s; both have %s, and %s comes first by wins (%d to %d), by points among equals, by technical losses (%d to %d) or by number",
				s.where, a.id, b.id, kit.Count(a.Points, "point", "points"), b.id, b.Wins, a.Wins, b.TechnicalLosses, a.TechnicalLosses)
		}
	})
}

func agreesWithQuery(t T) {
	if t.played().mixed {
		t.Skip("other referees report matches in the meantime")
	}
	found := false
	for i, r := range t.played().rounds {
		m := t.atEnd(t.players()[0], protocol.TypeLeagueStandingsUpdate, r)
		if m == nil || r.closed == 0 {
			continue
		}
		found = true
		sent, asked := standing{lines: m.fields.List("standings")}, standing{lines: t.dataOf(t.recorded(probeName("table", i+1))).List("standings")}
		for _, id := range sent.order() {
			for _, name := range []string{"rank", "points", "wins", "draws", "losses", "played"} {
				if was, is := sent.line(id).Shown(name), asked.line(id).Shown(name); was != is {
					t.Fail("after round %d, %s of %s is %s in GET_STANDINGS and %s in LEAGUE_STANDINGS_UPDATE", r.number, name, id, is, was)
				}
			}
		}
	}
	if !found {
		t.Skip("no LEAGUE_STANDINGS_UPDATE was sent to compare with")
	}
}

func roundEndChecks() []kit.Check {
	return []kit.Check{
		leagueCheck("roundend.sent", kit.Should, "When every match of a round is reported, players and referees are sent ROUND_COMPLETED (league.v2, flow).", "Send it to the contact_endpoint of every agent.",
			func(t T) { t.sentAfterRounds(protocol.TypeRoundCompleted) }),
		leagueCheck("roundend.early", kit.Should, "A round does not end before every match of it is reported.", "Count the reports of the round.", func(t T) {
			for _, r := range t.played().rounds {
				t.every(protocol.TypeRoundCompleted, func(m *message) {
					if m.round == r.number && m.arrival <= r.last {
						t.failOn(m, "ROUND_COMPLETED of round %d came before the last report", m.round)
					}
				})
			}
		}),
		leagueCheck("roundend.once", kit.Should, "ROUND_COMPLETED is sent once for each round, if it is acknowledged.", "Remember to whom you have sent it.", func(t T) {
			for _, r := range t.played().rounds {
				t.once(func(yield func(m *message)) { t.ends(r, yield) })
			}
		}),
		leagueCheck("roundend.table", kit.Wild, "LEAGUE_STANDINGS_UPDATE is sent before ROUND_COMPLETED (league.v2, flow).", "Send to each agent one message after the other, in this order.", func(t T) {
			t.exists(protocol.TypeRoundCompleted)
			for _, r := range t.played().rounds {
				for _, to := range t.registered() {
					standings, over := t.atEnd(to, protocol.TypeLeagueStandingsUpdate, r), t.atEnd(to, protocol.TypeRoundCompleted, r)
					if standings != nil && over != nil && over.arrival < standings.arrival {
						t.failOn(over, "%s was sent the end of round %d, and the standings afterwards", to.id, r.number)
					}
				}
			}
		}),
		leagueCheck("roundend.before", kit.Should, "A round is completed before the next one is announced (league.v2, flow).", "Send to each agent one message after the other, in this order.", completesBefore),
		leagueCheck("roundend.summary", kit.Should, "matches_completed and summary of ROUND_COMPLETED count the round's matches: wins, draws and technical_losses add up to total_matches (ROUND_COMPLETED).",
			"Count each match as one of the three.", sumsUp),
		leagueCheck("roundend.next", kit.Should, "next_round_id of ROUND_COMPLETED is the next round, and null after the last (ROUND_COMPLETED).", "Look whether there is another round.", func(t T) {
			l := t.complete()
			for i, r := range l.rounds {
				want := 0
				if i+1 < len(l.rounds) {
					want = l.rounds[i+1].number
				}
				t.ends(r, func(m *message) {
					if m.fields.Round("next_round_id") != want {
						t.failOn(m, "after round %d, next_round_id is %s", r.number, m.fields.Shown("next_round_id"))
					}
				})
			}
		}),
	}
}

// exists skips the check if no message of a type was sent.
func (t T) exists(typ protocol.Type) { t.every(typ, func(*message) {}) }

// once ends the check if an agent was sent two of some messages, the second
// after it had acknowledged the first.
func (t T) once(messages func(yield func(m *message))) {
	first := map[*member]*message{}
	messages(func(m *message) {
		if first[m.to] == nil {
			first[m.to] = m
		} else if m.arrival > first[m.to].reply && !first[m.to].refused {
			t.failOn(m, "%s was sent to %s again", m.typ, m.to.id)
		}
	})
}

// ends yields the messages that end a round, except early ones.
func (t T) ends(r *round, yield func(m *message)) {
	t.every(protocol.TypeRoundCompleted, func(m *message) {
		if m.round == r.number && m.arrival > r.last {
			yield(m)
		}
	})
}

func completesBefore(t T) {
	l := t.played()
	t.exists(protocol.TypeRoundCompleted)
	for i, r := range l.rounds[:len(l.rounds)-1] {
		next := l.rounds[i+1].number
		for _, to := range t.registered() {
			var over, began *message
			t.every("", func(m *message) {
				if m.to == to && m.typ == protocol.TypeRoundCompleted && m.round == r.number && over == nil {
					over = m
				}
				if m.to == to && m.typ == protocol.TypeRoundAnnouncement && m.round == next && began == nil {
					began = m
				}
			})
			if over != nil && began != nil && began.arrival < over.arrival {
				t.failOn(began, "round %d was announced to %s before round %d was completed", next, to.id, r.number)
			}
		}
	}
}

func sumsUp(t T) {
	t.reported()
	for _, r := range t.complete().rounds {
		if r.spoiled {
			continue
		}
		want := map[string]int{"total_matches": len(r.matches)}
		for _, m := range r.matches {
			switch v := m.result.verdict; {
			case v.Technical():
				want["technical_losses"]++
			case v.ResultA == game.Tie:
				want["draws"]++
			default:
				want["wins"]++
			}
		}
		t.ends(r, func(m *message) {
			if m.fields.Count("matches_completed") != len(r.matches) {
				t.failOn(m, "matches_completed of round %d is %s, want %d", r.number, m.fields.Shown("matches_completed"), len(r.matches))
			}
			summary := m.fields.Object("summary")
			for _, name := range []string{"total_matches", "wins", "draws", "technical_losses"} {
				if summary.Count(name) != want[name] {
					t.failOn(m, "in summary of round %d, %s is %s, want %d", r.number, name, summary.Shown(name), want[name])
				}
			}
		})
	}
}

func leagueEndChecks() []kit.Check {
	end := protocol.TypeLeagueCompleted
	return []kit.Check{
		leagueCheck("end.sent", kit.Should, "When the last round is completed, players and referees are sent LEAGUE_COMPLETED (league.v2, flow).", "Send it to the contact_endpoint of every agent.", func(t T) {
			l := t.complete()
			sent := map[*member]bool{}
			t.every("", func(m *message) { sent[m.to] = sent[m.to] || m.typ == end })
			for _, to := range t.registered() {
				if !sent[to] {
					if last := l.rounds[len(l.rounds)-1].report; last != nil {
						t.T.Evidence = append(t.Evidence, last.evidence...)
					}
					t.Fail("%s was sent no LEAGUE_COMPLETED", to.id)
				}
			}
		}),
		leagueCheck("end.once", kit.Should, "LEAGUE_COMPLETED is sent once, if it is acknowledged.", "Remember to whom you have sent it.", func(t T) {
			t.once(func(yield func(m *message)) { t.every(end, yield) })
		}),
		leagueCheck("end.last", kit.Should, "LEAGUE_COMPLETED is the last message, after the end of all rounds (league.v2, flow).", "Send to each agent one message after the other.", func(t T) {
			t.exists(end)
			over := map[*member]bool{}
			t.every("", func(m *message) {
				if over[m.to] && m.typ != end {
					t.failOn(m, "%s was sent to %s after LEAGUE_COMPLETED", m.typ, m.to.id)
				}
				over[m.to] = over[m.to] || m.typ == end
			})
		}),
		leagueCheck("end.standings", kit.Should, "final_standings of LEAGUE_COMPLETED are the standings: rank, player_id, points, wins, draws and losses (LEAGUE_COMPLETED).", "Make both from one table.", func(t T) {
			t.reported()
			l := t.complete()
			if l.spoiled != "" {
				t.Skip("the right final standings are not known%s", t.whyUnknown())
			}
			want := t.rows(l.results(nil))
			t.every(end, func(m *message) {
				final := standing{fmt.Sprintf("LEAGUE_COMPLETED to %s", m.to.id), m.fields.List("final_standings"), want, func() { t.show(m) }}
				t.listsPlayers(final)
				t.counts(final, "points", "wins", "draws", "losses")
				t.ordersByPoints(final)
				t.breaksTies(final)
			})
		}),
		leagueCheck("end.champion", kit.Should, "champion of LEAGUE_COMPLETED is the player of rank 1 (LEAGUE_COMPLETED).", "Take it from the first line of the standings.", func(t T) {
			t.every(end, func(m *message) {
				final := standing{lines: m.fields.List("final_standings")}.order()
				if got := m.fields.Object("champion").Text("player_id"); len(final) > 0 && got != final[0] {
					t.failOn(m, "champion is %s; %s has rank 1", m.fields.Shown("champion"), final[0])
				}
			})
		}),
		leagueCheck("end.totals", kit.Should, "total_rounds and total_matches of LEAGUE_COMPLETED are those of the league (LEAGUE_COMPLETED).", "Take both from the schedule.", func(t T) {
			t.reported()
			l := t.complete()
			t.every(end, func(m *message) {
				if m.fields.Count("total_rounds") != len(l.rounds) || m.fields.Count("total_matches") != l.matches() {
					t.failOn(m, "total_rounds is %s and total_matches is %s; there were %d with %d", m.fields.Shown("total_rounds"), m.fields.Shown("total_matches"), len(l.rounds), l.matches())
				}
			})
		}),
	}
}
