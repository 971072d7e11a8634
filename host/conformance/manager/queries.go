package manager

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// queryTests test answers to queries: before the league, and those that were recorded while it ran.
var queryTests = map[string]func(T){
	"query.status": func(t T) {
		data := t.data(protocol.QueryStatus)
		t.states("the league", data, map[string]any{"league_id": t.leagueID})
		if data.Text("status") == "" {
			t.Fail("data.status is %s", data.Shown("status"))
		}
	},
	"query.standings": listsAll(protocol.QueryStandings, "standings"),
	"query.players":   listsAll(protocol.QueryPlayers, "players"),
	"query.secret": func(t T) {
		for _, q := range []string{protocol.QueryPlayers, protocol.QueryStatus, protocol.QueryStandings} {
			if secret := t.reveals(t.ask(q).Body, t.players()[0]); secret != "" {
				t.Fail("the answer of %s to %s contains %s", q, t.players()[0].ID, secret)
			}
		}
	},
	"query.early": func(t T) {
		for _, q := range []string{protocol.QuerySchedule, protocol.QueryNextMatch} {
			a := t.ask(q)
			if a.Refused {
				continue
			}
			if t.started() {
				t.Skip(begunByItself)
			}
			t.Accepted(a, protocol.TypeLeagueQuery.Answer())
			data := a.Message.Object("data")
			if data.Has("next_match") || len(matchesIn(data)) > 0 {
				t.Fail("there is a match already: %s", a.Message.Shown("data"))
			}
		}
	},
	"query.type": func(t T) { t.TurnedDown(t.ask("GET_WEATHER")) },
	"query.conversation": func(t T) {
		m := t.query(t.players()[0], protocol.QueryStatus)
		if a := t.Tell(m); a.Message.Has("conversation_id") {
			t.Equal(a, "conversation_id", m.ConversationID)
		}
	},
	"query.running": func(t T) {
		t.played()
		want := map[string]any{"status": protocol.LeagueRunning, "current_round": t.rounds[0].number, "matches_completed": 0}
		if t.mixed() {
			delete(want, "matches_completed") // others go on
		}
		if t.stopped == "" {
			want["total_rounds"], want["total_matches"] = len(t.rounds), len(t.matches)
		}
		t.states("the league", t.dataOf(t.recorded("status.during")), want)
	},
	"query.schedule": func(t T) {
		t.played()
		listed := matchesIn(t.dataOf(t.recorded("schedule.during")))
		for _, m := range t.matches {
			f := listed[m.id]
			if f == nil {
				t.Fail("match %s, which was assigned in round %d, is missing", m.id, m.round)
			}
			want := map[string]any{"player_A_id": m.players[0], "player_B_id": m.players[1], "round_id": m.round}
			if m.round == t.rounds[0].number && m.referee != nil {
				want["referee_id"] = m.by.to.ID
			}
			t.states("match "+m.id, f, want)
		}
		if t.stopped == "" && len(listed) != len(t.matches) {
			t.Fail("the number of matches listed is %d, and of those played %d", len(listed), len(t.matches))
		}
	},
	"query.progress": func(t T) {
		t.played()
		listed := matchesIn(t.dataOf(t.recorded("schedule.after")))
		done := t.reported[0]
		if listed[done.id] == nil {
			t.Skip("GET_SCHEDULE does not list match %s", done.id)
		}
		for id, f := range listed {
			other := t.match(id) != nil && t.match(id).referee == nil // another referee may have reported it
			if finished := f.Text("status") == protocol.MatchFinished; !other && finished != (id == done.id) {
				t.Fail("status of match %s is %s; only %s was reported", id, f.Shown("status"), done.id)
			}
		}
		t.states("match "+done.id, listed[done.id], map[string]any{"winner": done.winner()})
	},
	"query.next": func(t T) {
		first := t.played()[0]
		for i, a := range t.players() {
			for _, m := range first.matches { // none if it has a bye, or another referee
				if side := slices.Index(m.players[:], a.ID); side >= 0 && m.referee != nil {
					next := t.dataOf(t.recorded(probeName("next", i))).Object("next_match")
					t.states("the next match of "+a.ID, next, map[string]any{
						"match_id": m.id, "round_id": m.round, "opponent_id": m.players[1-side],
						"role_in_match": []string{protocol.PlayerA, protocol.PlayerB}[side],
						"referee_id":    m.by.to.ID, "referee_endpoint": m.by.to.Endpoint.URL,
					})
				}
			}
		}
	},
	"query.over": atTheEnd(func(t T) {
		t.states("the league", t.dataOf(t.recorded("over.status")), map[string]any{
			"status": protocol.LeagueFinished, "total_rounds": len(t.rounds),
			"matches_completed": len(t.matches), "total_matches": len(t.matches),
		})
		if data := t.dataOf(t.recorded("over.next")); data.Has("next_match") {
			t.Fail("next_match is %s after the end of the league", data.Shown("next_match"))
		}
		for id, f := range matchesIn(t.dataOf(t.recorded("over.schedule"))) {
			t.states("match "+id, f, map[string]any{"status": protocol.MatchFinished})
		}
		t.dataOf(t.recorded("over.standings"))
	}),
	"load.concurrent": func(t T) {
		for i, query := range crowd {
			a := t.recorded(probeName("crowd", i))
			t.Accepted(a, protocol.TypeLeagueQuery.Answer())
			t.Equal(a, "query_type", query)
		}
	},
	"load.speed": func(t T) {
		t.played()
		var all []*kit.Answer // to what was sent one by one
		for name, a := range t.answers {
			if a.Took > 0 && !strings.HasPrefix(name, "crowd") && !strings.HasPrefix(name, "report.twice") {
				all = append(all, a)
			}
		}
		if len(all) == 0 {
			t.Skip("nothing was asked while the league ran")
		}
		slices.SortFunc(all, func(a, b *kit.Answer) int { return cmp.Compare(a.Took, b.Took) })
		median, longest := all[len(all)/2].Took, all[len(all)-1].Took
		if longest > t.Session.Timeout/4 {
			t.Exhibit(all[len(all)-1])
			t.Fail("an answer took %v of the %v that agents wait", longest.Round(time.Millisecond), t.Session.Timeout)
		}
		t.Note("%d answers took %.1f ms in the median and %.1f ms at most", len(all), kit.Milliseconds(median), kit.Milliseconds(longest))
	},
}

// listsAll returns a check that the answer to a query lists every player.
func listsAll(query, name string) func(T) {
	return func(t T) {
		ids := playersIn(t.data(query).List(name))
		for _, a := range t.players() {
			if a.ID != "" && !slices.Contains(ids, a.ID) {
				t.Fail("player %s is not in %s, which lists %q", a.ID, name, ids)
			}
		}
	}
}

// playersIn returns the ids in the lines of a list.
func playersIn(list []kit.Fields) (ids []string) {
	for _, f := range list {
		ids = append(ids, f.Text("player_id"))
	}
	return ids
}

// query returns a query of an agent; all agents register before it.
func (t T) query(a *member, query string) *protocol.LeagueQuery {
	t.registerAll()
	sender, token := a.signature()
	return &protocol.LeagueQuery{Header: t.header(protocol.TypeLeagueQuery, sender, token), QueryType: query}
}

// ask sends a query of the first player.
func (t T) ask(query string) *kit.Answer { return t.Tell(t.query(t.players()[0], query)) }

// data returns the data of a query of the first player.
func (t T) data(query string) kit.Fields {
	a := t.ask(query)
	data := t.dataOf(a)
	t.Equal(a, "query_type", query)
	return data
}

// dataOf returns the data in the answer to a query.
func (t T) dataOf(a *kit.Answer) kit.Fields {
	t.Accepted(a, protocol.TypeLeagueQuery.Answer())
	data := a.Message.Object("data")
	if data == nil {
		t.Fail("data is %s, want an object", a.Message.Shown("data"))
	}
	return data
}

// matchesIn returns the matches in the data of GET_SCHEDULE, by id, each with its round.
func matchesIn(data kit.Fields) map[string]kit.Fields {
	all := map[string]kit.Fields{}
	for _, round := range data.List("rounds") {
		for _, f := range round.List("matches") {
			all[f.Text("match_id")] = kit.Fields(rawjson.Object(f).Set("round_id", round.Get("round_id")))
		}
	}
	return all
}

// states ends the check unless members have certain values: texts, and numbers of rounds
// and matches.
func (t T) states(what string, f kit.Fields, want map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		got := any(f.Count(name))
		switch _, text := want[name].(string); {
		case text:
			got = f.Text(name)
		case name == "round_id": // some have a text that ends in the number
			got = f.Round(name)
		}
		if got != want[name] {
			t.Fail("%s of %s is %s, want %v", name, what, f.Shown(name), want[name])
		}
	}
}
