package conformance

import (
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/host/protocol"
)

// roundEndChecks are about the ends of rounds.
func roundEndChecks() []Check {
	return []Check{
		seasonCheck("roundend.sent", Should, "When every match of a round is reported, players and referees are sent ROUND_COMPLETED (league.v2, flow).", "Send it to the contact_endpoint of every agent.",
			func(p managerT) { p.sentAfterRounds(protocol.TypeRoundCompleted) }),
		seasonCheck("roundend.early", Must, "A round is not over before every match of it is reported.", "Count the reports of the round.", func(p managerT) {
			for _, t := range p.played().turns {
				p.every(protocol.TypeRoundCompleted, func(m *told) {
					if m.round == t.round && m.order <= t.last {
						p.show(m)
						p.Fail("ROUND_COMPLETED of round %d came before the last report", m.round)
					}
				})
			}
		}),
		seasonCheck("roundend.once", Should, "ROUND_COMPLETED comes once for each round, where it is acknowledged.", "Keep who has been told.", func(p managerT) {
			for _, t := range p.played().turns {
				p.once(func(visit func(m *told)) { p.ends(t, visit) })
			}
		}),
		seasonCheck("roundend.table", Wild, "LEAGUE_STANDINGS_UPDATE comes before ROUND_COMPLETED (league.v2, flow).", "Send to each agent one message after the other, in this order.", func(p managerT) {
			p.every(protocol.TypeRoundCompleted, func(*told) {}) // or there is nothing to look at
			for _, t := range p.played().turns {
				for _, to := range p.members {
					table, over := p.latest(to, protocol.TypeLeagueStandingsUpdate, t), p.latest(to, protocol.TypeRoundCompleted, t)
					if table != nil && over != nil && over.order < table.order {
						p.show(over)
						p.Fail("%s was told that round %d is over, and got its table afterwards", to.id, t.round)
					}
				}
			}
		}),
		seasonCheck("roundend.before", Should, "A round is completed before the next one is announced (league.v2, flow).", "Send to each agent one message after the other, in this order.", completesBefore),
		seasonCheck("roundend.summary", Should, "matches_completed and summary of ROUND_COMPLETED count the round's matches: wins, draws and technical_losses add up to total_matches (ROUND_COMPLETED).",
			"Count each match as one of the three.", sumsUp),
		seasonCheck("roundend.next", Should, "next_round_id of ROUND_COMPLETED is the next round, and null after the last (ROUND_COMPLETED).", "Look whether there is another round.", func(p managerT) {
			s := p.complete()
			for i, t := range s.turns {
				p.ends(t, func(m *told) {
					want := 0
					if i+1 < len(s.turns) {
						want = s.turns[i+1].round
					}
					if roundOf(m.message["next_round_id"]) != want {
						p.show(m)
						p.Fail("after round %d, next_round_id is %s", t.round, orMissing(m.message["next_round_id"]))
					}
				})
			}
		}),
	}
}

// leagueEndChecks are about the end of the league.
func leagueEndChecks() []Check {
	return []Check{
		seasonCheck("end.sent", Should, "When the last round is completed, players and referees are sent LEAGUE_COMPLETED (league.v2, flow).", "Send it to the contact_endpoint of every agent.", func(p managerT) {
			s := p.complete()
			for _, to := range p.members {
				if !p.until(0, func() bool {
					return slices.ContainsFunc(p.heard, func(m *told) bool { return m.to == to && m.kind == protocol.TypeLeagueCompleted })
				}) {
					p.evidence = append(p.evidence, s.turns[len(s.turns)-1].reported.evidence...)
					p.Fail("%s was sent no LEAGUE_COMPLETED", to.id)
				}
			}
		}),
		seasonCheck("end.once", Should, "LEAGUE_COMPLETED comes once, where it is acknowledged.", "Keep who has been told.", func(p managerT) {
			p.once(func(visit func(m *told)) { p.every(protocol.TypeLeagueCompleted, visit) })
		}),
		seasonCheck("end.last", Should, "LEAGUE_COMPLETED is the last message, and comes when all rounds are completed (league.v2, flow).", "Send to each agent one message after the other.", func(p managerT) {
			p.every(protocol.TypeLeagueCompleted, func(*told) {}) // or there is nothing to look at
			for _, to := range p.members {
				var over *told
				p.every("", func(m *told) {
					if m.to == to && over != nil && m.kind != over.kind {
						p.show(m)
						p.Fail("%s came to %s after LEAGUE_COMPLETED", m.kind, to.id)
					}
					if m.to == to && m.kind == protocol.TypeLeagueCompleted {
						over = m
					}
				})
			}
		}),
		seasonCheck("end.standings", Must, "final_standings of LEAGUE_COMPLETED are those of the table: rank, player_id, points, wins, draws and losses (LEAGUE_COMPLETED).", "Make both from one table.", tellsFinalTable),
		seasonCheck("end.champion", Should, "champion of LEAGUE_COMPLETED is who has rank 1 (LEAGUE_COMPLETED).", "Take it from the first line of the table.", func(p managerT) {
			p.every(protocol.TypeLeagueCompleted, func(m *told) {
				final := standing{rows: list(m.message["final_standings"])}.ranked()
				if got := object(m.message["champion"]).text("player_id"); len(final) > 0 && got != final[0] {
					p.show(m)
					p.Fail("champion is %s; rank 1 has %s", orMissing(m.message["champion"]), final[0])
				}
			})
		}),
		seasonCheck("end.totals", Should, "total_rounds and total_matches of LEAGUE_COMPLETED are those of the league (LEAGUE_COMPLETED).", "Take both from the schedule.", func(p managerT) {
			s := p.complete()
			p.every(protocol.TypeLeagueCompleted, func(m *told) {
				if count(m.message["total_rounds"]) != len(s.turns) || count(m.message["total_matches"]) != len(s.ends) {
					p.show(m)
					p.Fail("total_rounds is %s and total_matches is %s; there were %d with %d", orMissing(m.message["total_rounds"]), orMissing(m.message["total_matches"]), len(s.turns), len(s.ends))
				}
			})
		}),
	}
}

// once ends the check if, of some messages of one kind, two have come to somebody.
func (p managerT) once(messages func(visit func(m *told))) {
	seen := map[*member]bool{}
	messages(func(m *told) {
		if seen[m.to] {
			p.show(m)
			p.Fail("%s came to %s again", m.kind, m.to.id)
		}
		seen[m.to] = true
	})
}

// ends calls visit for the messages that a round is over, but for those that come
// too early.
func (p managerT) ends(t *turn, visit func(m *told)) {
	p.every(protocol.TypeRoundCompleted, func(m *told) {
		if m.round == t.round && m.order > t.last {
			visit(m)
		}
	})
}

func completesBefore(p managerT) {
	s := p.played()
	p.every(protocol.TypeRoundCompleted, func(*told) {}) // or there is nothing to look at
	for i, t := range s.turns[:len(s.turns)-1] {
		next := s.turns[i+1].round
		for _, to := range p.members {
			var over, began *told
			p.every("", func(m *told) {
				if m.to == to && m.kind == protocol.TypeRoundCompleted && m.round == t.round && over == nil {
					over = m
				}
				if m.to == to && m.kind == protocol.TypeRoundAnnouncement && m.round == next && began == nil {
					began = m
				}
			})
			if over != nil && began != nil && began.order < over.order {
				p.show(began)
				p.Fail("round %d was announced to %s before round %d was completed", next, to.id, t.round)
			}
		}
	}
}

func sumsUp(p managerT) {
	s, from := p.complete(), 0
	for _, t := range s.turns {
		want := map[string]int{"total_matches": len(t.fixtures)}
		for _, e := range s.ends[from:t.ends] {
			switch {
			case e.technical[0] || e.technical[1]:
				want["technical_losses"]++
			case e.points[0] == e.points[1]:
				want["draws"]++
			default:
				want["wins"]++
			}
		}
		from = t.ends
		if t.spoilt {
			continue
		}
		p.ends(t, func(m *told) {
			if got := count(m.message["matches_completed"]); got != len(t.fixtures) {
				p.show(m)
				p.Fail("matches_completed of round %d is %s, want %d", t.round, orMissing(m.message["matches_completed"]), len(t.fixtures))
			}
			summary := object(m.message["summary"])
			for _, name := range []string{"total_matches", "wins", "draws", "technical_losses"} {
				if got := count(summary[name]); got != want[name] {
					p.show(m)
					p.Fail("in summary of round %d, %s is %s, want %d", t.round, name, orMissing(summary[name]), want[name])
				}
			}
		})
	}
}

func tellsFinalTable(p managerT) {
	s := p.complete()
	if s.spoilt != "" {
		p.Skip("it is not known what they should say%s", p.since())
	}
	want := p.table(s.ends)
	p.every(protocol.TypeLeagueCompleted, func(m *told) {
		final := standing{where: fmt.Sprintf("LEAGUE_COMPLETED to %s", m.to.id), rows: list(m.message["final_standings"]), want: want, show: func() { p.show(m) }}
		listsPlayers(p, final)
		for _, l := range want {
			f := final.row(l.id)
			for name, want := range map[string]int{"points": l.points, "wins": l.wins, "draws": l.draws, "losses": l.losses} {
				if count(f[name]) != want {
					p.show(m)
					p.Fail("in %s, %s of %s is %s, want %d", final.where, name, l.id, orMissing(f[name]), want)
				}
			}
		}
		ordersByPoints(p, final)
		breaksTies(p, final)
	})
}
