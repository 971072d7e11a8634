package manager

import (
	"cmp"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/conformance/kit"
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
		case theEnd:
			if typ == theEnd {
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
	if l.stopped == "" && !slices.ContainsFunc(all, func(x seen) bool { return x.Type == theEnd }) {
		over := &trace.Exchange{Exchange: judge.Exchange{Type: theEnd, Request: new(protocol.LeagueCompleted)}}
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
		source := map[*judge.Exchange]seen{}
		for _, x := range all {
			exchanges = append(exchanges, &x.Exchange.Exchange)
			source[&x.Exchange.Exchange] = x
		}
		show := func(x *judge.Exchange) {
			if from := source[x]; from.Raw != nil {
				t.Show(from.route, from.Raw)
			}
		}
		examined, missing := t.Judge(exchanges, show, ids...)
		switch {
		case len(missing) > 0 && whole && !t.league.mixed:
			for _, x := range exchanges {
				if x.Type == typ {
					show(x)
				}
			}
			t.Fail("%s lacks, or does not agree with, %s", typ, missing[0])
		case examined == 0 && t.league.spoiled != "":
			t.Skip("what it should be is not known, because manager.%s failed", t.league.spoiled)
		case examined == 0:
			t.Skip("it cannot be judged: nothing says %s", cmp.Or(strings.Join(missing, "; "), "it"))
		}
	}
}

const (
	table    = protocol.TypeLeagueStandingsUpdate
	roundEnd = protocol.TypeRoundCompleted
	theEnd   = protocol.TypeLeagueCompleted
)

var standingsTests = map[string]func(T){
	"standings.sent":    func(t T) { t.sentAfterRounds(table) },
	"standings.players": func(t T) { t.every(table, func(m *message) { t.listsPlayers(m, "standings") }) },
	"standings.points":  judged(table, true, "standings"),
	"standings.order":   judged(table, false, "ranks"),
	"standings.ties":    judged(table, false, "ties"),
	"standings.query":   judged(protocol.TypeLeagueQuery, true, "standings", "ranks", "ties"),
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

var roundEndTests = map[string]func(T){
	"roundend.sent": func(t T) { t.sentAfterRounds(roundEnd) },
	"roundend.early": func(t T) {
		for _, r := range t.played().rounds {
			t.every(roundEnd, func(m *message) {
				if m.round == r.number && m.arrival <= r.last {
					t.failOn(m, "ROUND_COMPLETED of round %d came before the last report", m.round)
				}
			})
		}
	},
	"roundend.once": func(t T) {
		for _, r := range t.played().rounds {
			t.once(func(yield func(m *message)) { t.ends(r, yield) })
		}
	},
	"roundend.table": func(t T) {
		t.every(roundEnd, func(over *message) {
			for _, r := range t.played().rounds {
				before := t.atEnd(over.to, table, r)
				if before != nil && t.atEnd(over.to, roundEnd, r) == over && over.arrival < before.arrival {
					t.failOn(over, "%s was sent the end of round %d, and the standings afterwards", over.to.id, r.number)
				}
			}
		})
	},
	"roundend.before": func(t T) {
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
	},
	"roundend.summary": judged(roundEnd, false, "totals"),
	"roundend.next": func(t T) {
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
	},
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

var leagueEndTests = map[string]func(T){
	"end.sent": func(t T) {
		l := t.complete()
		sent := map[*member]bool{}
		t.every("", func(m *message) { sent[m.to] = sent[m.to] || m.typ == theEnd })
		for _, to := range t.registered() {
			if !sent[to] {
				t.blame(l.rounds[len(l.rounds)-1].report)
				t.Fail("%s was sent no LEAGUE_COMPLETED", to.id)
			}
		}
	},
	"end.once": func(t T) {
		t.once(func(yield func(m *message)) { t.every(theEnd, yield) })
	},
	"end.last": func(t T) {
		over := map[*member]bool{}
		t.every(theEnd, func(*message) {})
		t.every("", func(m *message) {
			if over[m.to] && m.typ != theEnd {
				t.failOn(m, "%s was sent to %s after LEAGUE_COMPLETED", m.typ, m.to.id)
			}
			over[m.to] = over[m.to] || m.typ == theEnd
		})
	},
	"end.standings": func(t T) {
		if t.complete().spoiled != "" {
			t.Skip("the right final standings are not known, because manager.%s failed", t.league.spoiled)
		}
		judged(theEnd, true, "standings", "ranks")(t)
		judged(theEnd, false, "ties")(t)
		t.every(theEnd, func(m *message) { t.listsPlayers(m, "final_standings") })
	},
	"end.champion": func(t T) {
		t.every(theEnd, func(*message) {})
		judged(theEnd, true, "champion")(t)
	},
	"end.totals": func(t T) {
		t.reported()
		l := t.complete()
		t.every(theEnd, func(m *message) {
			if m.fields.Count("total_rounds") != len(l.rounds) || m.fields.Count("total_matches") != l.matches() {
				t.failOn(m, "total_rounds is %s and total_matches is %s; there were %d with %d", m.fields.Shown("total_rounds"), m.fields.Shown("total_matches"), len(l.rounds), l.matches())
			}
		})
	},
}
