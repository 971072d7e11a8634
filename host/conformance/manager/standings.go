package manager

import (
	"slices"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// evidence returns what our agents know of the league, as the manager has seen it: announcements,
// matches and their reports, the end and, of tables and ends, what messages of one type state. Of a
// table it must be known which matches it should contain.
func (t T) evidence(typ protocol.Type) (shown []*kit.Message) {
	t.played()
	var stated []*message
	for _, r := range t.rounds {
		for _, to := range t.registered() {
			stated = append(stated, t.about(to, typ, r))
		}
	}
	matches := []protocol.Type{announcement, protocol.TypeGameInvitation, protocol.TypeChooseParityCall, protocol.TypeGameOver, protocol.TypeMatchResultReport}
	ended := t.stopped != ""
	t.Lock()
	defer t.Unlock()
	for _, m := range t.log {
		of := m.Type == typ && (m.to == nil || slices.Contains(stated, m)) && (m.arrival <= t.known || typ == theEnd)
		if !of && (!slices.Contains(matches, m.Type) || m.to == nil && m.refused) {
			continue
		}
		if m.to != nil {
			m.Agent = m.to.ID
		}
		ended = ended || m.Type == theEnd
		shown = append(shown, &m.Message)
	}
	if !ended {
		shown = append(shown, &kit.Message{Exchange: &trace.Exchange{Type: theEnd, Request: new(protocol.LeagueCompleted)}})
	}
	return shown
}

// judged returns a check of rules of the league, by what messages of one type state. With
// whole, they have to state all that it takes, and nothing that the reports do not say.
func judged(typ protocol.Type, whole bool, ids ...string) func(t T) {
	return func(t T) {
		missing := t.Judge(t.evidence(typ), typ, whole && !t.mixed(), ids...)
		switch {
		case missing != "" && t.spoiled != "":
			t.Skip("what it should be is not known, because manager.%s failed", t.spoiled)
		case missing != "":
			t.Skip("it cannot be judged: nothing says %s", missing)
		}
	}
}

// tableTests test what tables and ends of rounds and of the league state.
var tableTests = map[string]func(T){
	"round.pairs":       atTheEnd(judged(theEnd, false, "schedule")),
	"round.byes":        judged("", false, "byes"),
	"standings.players": listsPlayers(table, "standings"),
	"standings.points":  judged(table, true, "standings"),
	"standings.order":   judged(table, false, "ranks"),
	"standings.ties":    judged(table, false, "ties"),
	"standings.query":   judged(protocol.TypeLeagueQuery, true, "standings", "ranks", "ties"),
	"roundend.summary":  judged(roundEnd, false, "totals"),
	"end.standings": atTheEnd(func(t T) {
		if t.spoiled != "" {
			t.Skip("the right final standings are not known, because manager.%s failed", t.spoiled)
		}
		judged(theEnd, true, "standings", "ranks")(t)
		judged(theEnd, false, "ties")(t)
		listsPlayers(theEnd, "final_standings")(t)
	}),
	"end.champion": func(t T) {
		t.messagesOf(theEnd)
		judged(theEnd, true, "champion")(t)
	},
	"end.totals": atTheEnd(each(func(t T, m *message) string {
		if t.conducts() {
			t.Skip(conductsMatches)
		}
		rounds, matches := m.Fields.Count("total_rounds"), m.Fields.Count("total_matches")
		wrong := rounds != len(t.rounds) || matches != len(t.matches)
		return when(wrong, "total_rounds is %d and total_matches is %d; there were %d with %d",
			rounds, matches, len(t.rounds), len(t.matches))
	}, theEnd)),
}

// listsPlayers returns a check that a table has a line for each player, with ranks from 1.
func listsPlayers(typ protocol.Type, table string) func(T) {
	return each(func(t T, m *message) string {
		list := m.Fields.List(table)
		ids, ranks, want := playersIn(list), []int(nil), []string(nil)
		for _, f := range list {
			ranks = append(ranks, f.Count("rank"))
		}
		wrong := len(list) != len(t.players())
		for i, a := range t.players() {
			want = append(want, a.ID)
			wrong = wrong || !slices.Contains(ids, a.ID) || !slices.Contains(ranks, i+1)
		}
		return when(wrong, "it lists %q with the ranks %d; want a line for each of %q, with ranks from 1", ids, ranks, want)
	}, typ)
}
