package manager

import (
	"cmp"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/judge"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// seen is an exchange of the league as the manager has seen it, and its place in time.
type seen struct {
	*trace.Exchange
	at    int
	route string
}

// seen returns what our agents know of the league: announcements, matches and their
// reports, the end and, of tables and ends, what messages of one type state. Of a
// table it must be known which matches it should contain.
func (t T) seen(typ protocol.Type) []seen {
	l := t.played()
	var all []seen
	t.Lock()
	for _, m := range t.messages {
		switch m.typ {
		case protocol.TypeRoundAnnouncement, protocol.TypeGameInvitation, protocol.TypeChooseParityCall, protocol.TypeGameOver:
			all = append(all, m.seen())
		case protocol.TypeLeagueCompleted:
			if typ == m.typ {
				all = append(all, m.seen())
			}
		}
	}
	for _, m := range t.matches {
		if m.reported {
			x := *m.sent
			x.Agent, x.Sent = "manager", false
			all = append(all, seen{&x, m.at, "the referee of " + m.id})
		}
	}
	t.Unlock()
	for i, r := range l.rounds {
		if r.closed == 0 || r.spoiled {
			continue
		}
		for _, to := range t.registered() {
			if m := t.atEnd(to, typ, r); m != nil && typ != "" {
				all = append(all, m.seen())
			}
		}
		if made := l.probes[probeName("table", i+1)]; made != nil && typ == protocol.TypeLeagueQuery {
			x := &trace.Exchange{Raw: made.answer.Body}
			x.Agent, x.Type, x.Request, x.Answer = "manager", typ, &protocol.LeagueQuery{QueryType: protocol.QueryStandings}, made.answer.Read(typ)
			all = append(all, seen{x, r.closed, "the manager"})
		}
	}
	slices.SortStableFunc(all, func(a, b seen) int { return cmp.Compare(a.at, b.at) })
	if l.stopped == "" && !slices.ContainsFunc(all, func(x seen) bool { return x.Type == protocol.TypeLeagueCompleted }) {
		over := new(trace.Exchange)
		over.Type, over.Request = protocol.TypeLeagueCompleted, new(protocol.LeagueCompleted)
		all = append(all, seen{over, len(all), ""})
	}
	return all
}

func (m *message) seen() seen {
	x := *m.Exchange
	x.Agent, x.Type = m.to.id, m.typ
	return seen{&x, m.arrival, "the manager to " + m.to.called()}
}

// judged returns a check of rules of the league, by what messages of one type state. With
// whole, they have to state all that it takes, and nothing that the reports do not say.
func judged(typ protocol.Type, whole bool, ids ...string) func(t T) {
	return func(t T) {
		all := t.seen(typ)
		var exchanges []*judge.Exchange
		for _, x := range all {
			exchanges = append(exchanges, &x.Exchange.Exchange)
		}
		show := func(when func(x seen) bool) {
			for _, x := range all {
				if x.Raw != nil && when(x) {
					t.Show(x.route, x.Raw)
				}
			}
		}
		rules := slices.DeleteFunc(judge.Rules(judge.Options{Draw: game.FairDraw()}), func(r judge.Rule) bool { return !slices.Contains(ids, r.ID) })
		examined, missing := 0, []string(nil)
		for _, o := range slices.Concat(judge.Run(exchanges, rules)...) {
			for _, f := range o.Findings {
				show(func(x seen) bool {
					return slices.Contains(f.Exchanges, &x.Exchange.Exchange) || len(f.Exchanges) == 0 && x.Type == protocol.TypeRoundAnnouncement
				})
				t.Fail("%s", f.Text)
			}
			examined, missing = examined+o.Examined, append(missing, o.Missing...)
		}
		switch {
		case len(missing) > 0 && whole && !t.league.mixed:
			show(func(x seen) bool { return x.Type == typ })
			t.Fail("%s lacks, or does not agree with, %s", typ, missing[0])
		case examined == 0 && t.league.spoiled != "":
			t.Skip("what it should be is not known, because manager.%s failed", t.league.spoiled)
		case examined == 0:
			t.Skip("it cannot be judged: nothing says %s", cmp.Or(strings.Join(missing, "; "), "it"))
		}
	}
}

func standingsChecks() []kit.Check {
	const sent, asked = protocol.TypeLeagueStandingsUpdate, protocol.TypeLeagueQuery
	return []kit.Check{
		leagueCheck("standings.sent", kit.Should, "When every match of a round is reported, players and referees are sent LEAGUE_STANDINGS_UPDATE (league.v2, flow).", "Send it to the contact_endpoint of every agent.",
			func(t T) { t.sentAfterRounds(sent) }),
		leagueCheck("standings.players", kit.Should, "standings lists every player once, with unique ranks from 1 (LEAGUE_STANDINGS_UPDATE).", "Number the lines of the standings in their order.",
			func(t T) { t.every(sent, func(m *message) { t.listsPlayers(m, "standings") }) }),
		leagueCheck("standings.points", kit.Should, "standings counts the reports: 3 points for a win, 1 for a tie, none for a loss; a technical loss is a loss, and a win for the other (league.v2, scoring).",
			"Add each report to played, wins, draws, losses and points of both players.", judged(sent, true, "standings")),
		leagueCheck("standings.order", kit.Should, "The player with more points has the better rank (league.v2, standings).", "Sort by points, in descending order.", judged(sent, false, "ranks")),
		leagueCheck("standings.ties", kit.Should, "Players with equal points are ranked by wins, then by points in the matches among those equal in both, then by fewer technical losses, then by the number of the id (league.v2, standings).",
			"Sort by all five, in this order.", judged(sent, false, "ties")),
		leagueCheck("standings.query", kit.Should, "GET_STANDINGS returns the same as LEAGUE_STANDINGS_UPDATE (LEAGUE_QUERY_RESPONSE).", "Make both from one table.",
			judged(asked, true, "standings", "ranks", "ties")).Needing("manager.query.standings", "manager.standings.points", "manager.standings.ties"),
	}
}

// listsPlayers ends the check unless a table has a line for each player, with ranks from 1.
func (t T) listsPlayers(m *message, table string) {
	lines := m.fields.List(table)
	ids, ranks := map[string]bool{}, map[int]string{}
	for _, f := range lines {
		id := f.Text("player_id")
		rank := f.Count("rank")
		if other := ranks[rank]; rank < 1 || rank > len(t.players()) || other != "" {
			t.failOn(m, "in %s to %s, rank of %s is %s", m.typ, m.to.called(), id, f.Shown("rank"))
		}
		ids[id], ranks[rank] = true, id
	}
	for _, a := range t.players() {
		if !ids[a.id] || len(lines) != len(t.players()) {
			t.failOn(m, "%s to %s has %s; want one for each of %s, also for %s", m.typ, m.to.called(), kit.Count(len(lines), "line", "lines"), kit.Count(len(t.players()), "player", "players"), a.id)
		}
	}
}

func roundEndChecks() []kit.Check {
	const end = protocol.TypeRoundCompleted
	return []kit.Check{
		leagueCheck("roundend.sent", kit.Should, "When every match of a round is reported, players and referees are sent ROUND_COMPLETED (league.v2, flow).", "Send it to the contact_endpoint of every agent.",
			func(t T) { t.sentAfterRounds(end) }),
		leagueCheck("roundend.early", kit.Should, "A round does not end before every match of it is reported.", "Count the reports of the round.", func(t T) {
			for _, r := range t.played().rounds {
				t.every(end, func(m *message) {
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
			t.every(end, func(over *message) {
				for _, r := range t.played().rounds {
					table := t.atEnd(over.to, protocol.TypeLeagueStandingsUpdate, r)
					if table != nil && t.atEnd(over.to, end, r) == over && over.arrival < table.arrival {
						t.failOn(over, "%s was sent the end of round %d, and the standings afterwards", over.to.id, r.number)
					}
				}
			})
		}),
		leagueCheck("roundend.before", kit.Should, "A round is completed before the next one is announced (league.v2, flow).", "Send to each agent one message after the other, in this order.", completesBefore),
		leagueCheck("roundend.summary", kit.Should, "matches_completed and summary of ROUND_COMPLETED count the round's matches: wins, draws and technical_losses add up to total_matches (ROUND_COMPLETED).",
			"Count each match as one of the three.", judged(end, false, "totals")),
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
	rounds := t.played().rounds
	t.every(protocol.TypeRoundCompleted, func(over *message) {
		i := slices.IndexFunc(rounds, func(r *round) bool { return r.number == over.round })
		if over.n > 1 || i < 0 || i == len(rounds)-1 {
			return
		}
		if began := t.firsts(over.to.role, rounds[i+1].number)[over.to]; began != nil && began.arrival < over.arrival {
			t.failOn(began, "round %d was announced to %s before round %d was completed", began.round, over.to.id, over.round)
		}
	})
}

func leagueEndChecks() []kit.Check {
	const end = protocol.TypeLeagueCompleted
	return []kit.Check{
		leagueCheck("end.sent", kit.Should, "When the last round is completed, players and referees are sent LEAGUE_COMPLETED (league.v2, flow).", "Send it to the contact_endpoint of every agent.", func(t T) {
			l := t.complete()
			sent := map[*member]bool{}
			t.every("", func(m *message) { sent[m.to] = sent[m.to] || m.typ == end })
			for _, to := range t.registered() {
				if !sent[to] {
					t.blame(l.rounds[len(l.rounds)-1].report)
					t.Fail("%s was sent no LEAGUE_COMPLETED", to.id)
				}
			}
		}),
		leagueCheck("end.once", kit.Should, "LEAGUE_COMPLETED is sent once, if it is acknowledged.", "Remember to whom you have sent it.", func(t T) {
			t.once(func(yield func(m *message)) { t.every(end, yield) })
		}),
		leagueCheck("end.last", kit.Should, "LEAGUE_COMPLETED is the last message, after the end of all rounds (league.v2, flow).", "Send to each agent one message after the other.", func(t T) {
			over := map[*member]bool{}
			t.every(end, func(*message) {})
			t.every("", func(m *message) {
				if over[m.to] && m.typ != end {
					t.failOn(m, "%s was sent to %s after LEAGUE_COMPLETED", m.typ, m.to.id)
				}
				over[m.to] = over[m.to] || m.typ == end
			})
		}),
		leagueCheck("end.standings", kit.Should, "final_standings of LEAGUE_COMPLETED are the standings: rank, player_id, points, wins, draws and losses (LEAGUE_COMPLETED).", "Make both from one table.", func(t T) {
			if t.complete().spoiled != "" {
				t.Skip("the right final standings are not known, because manager.%s failed", t.league.spoiled)
			}
			judged(end, true, "standings", "ranks")(t)
			judged(end, false, "ties")(t)
			t.every(end, func(m *message) { t.listsPlayers(m, "final_standings") })
		}),
		leagueCheck("end.champion", kit.Should, "champion of LEAGUE_COMPLETED is the player of rank 1 (LEAGUE_COMPLETED).", "Take it from the first line of the standings.", func(t T) {
			t.every(end, func(*message) {})
			judged(end, true, "champion")(t)
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
