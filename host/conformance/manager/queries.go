package manager

import (
	"bytes"
	"maps"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/protocol"
)

// listsAll tests that the answer to a query lists every player.
func listsAll(query, name string) func(T) {
	return func(t T) {
		data := t.data(query)
		var ids []string
		for _, f := range data.List(name) {
			ids = append(ids, f.Text("player_id"))
		}
		for _, a := range t.players() {
			if a.id != "" && !slices.Contains(ids, a.id) {
				t.Fail("player %s is not in %s, which lists %q", a.id, name, ids)
			}
		}
	}
}

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
			answer := t.ask(q)
			for _, a := range t.agents {
				if a.token != "" && bytes.Contains(answer.Body, []byte(a.token)) {
					t.Fail("the answer to %s contains the token of %s", q, a.id)
				}
			}
		}
	},
	"query.endpoints": func(t T) {
		if other := t.players()[1]; bytes.Contains(t.ask(protocol.QueryPlayers).Body, []byte(other.endpoint.URL)) {
			t.Fail("player %s is sent the endpoint of %s", t.players()[0].id, other.id)
		}
	},
	"query.early": func(t T) {
		for _, q := range []string{protocol.QuerySchedule, protocol.QueryNextMatch} {
			a := t.ask(q)
			if a.Refused {
				continue
			}
			if t.started() {
				t.Skip("the league began by itself after the last registration")
			}
			t.Accepted(a, protocol.TypeLeagueQuery.Answer())
			data := a.Message.Object("data")
			if data.Has("next_match") || slices.ContainsFunc(data.List("rounds"), func(round kit.Fields) bool { return len(round.List("matches")) > 0 }) {
				t.Fail("there is a match already: %s", a.Message.Shown("data"))
			}
		}
	},
	"query.type": func(t T) { t.TurnedDown(t.ask("GET_WEATHER")) },
	"query.conversation": func(t T) {
		m := t.query(t.players()[0], protocol.QueryStatus)
		if a := t.send(m); a.Message.Has("conversation_id") {
			t.Equal(a, "conversation_id", m.ConversationID)
		}
	},
	"query.running": func(t T) {
		l := t.played()
		want := map[string]any{"status": protocol.LeagueRunning, "current_round": l.rounds[0].number, "matches_completed": 0}
		if l.mixed {
			delete(want, "matches_completed") // others go on
		}
		if l.stopped == "" {
			want["total_rounds"], want["total_matches"] = len(l.rounds), l.matches()
		}
		t.states("the league", t.dataOf(t.recorded("status.during")), want)
	},
	"query.schedule": func(t T) {
		l := t.played()
		all := t.scheduled("schedule.during")
		total := 0
		for i, r := range l.rounds {
			for _, m := range r.matches {
				total++
				f := all[m.id]
				if f == nil {
					t.Fail("match %s, which was played in round %d, is missing", m.id, r.number)
				}
				want := map[string]any{"player_A_id": m.players[0], "player_B_id": m.players[1], "round_id": r.number}
				if i == 0 && m.referee != nil {
					want["referee_id"] = m.by.to.id
				}
				t.states("match "+m.id, f, want)
			}
		}
		if l.stopped == "" && len(all) != total {
			t.Fail("the number of matches listed is %d, and of those played %d", len(all), total)
		}
	},
	"query.progress": func(t T) {
		t.played()
		done := t.league.first
		all := t.scheduled("schedule.after")
		if all[done.id] == nil {
			t.Skip("GET_SCHEDULE does not list match %s", done.id)
		}
		for id, f := range all {
			if m := t.match(id); m != nil && m.referee == nil {
				continue // another referee may have reported it
			}
			if finished := f.Text("status") == protocol.MatchFinished; finished != (id == done.id) {
				t.Fail("status of match %s is %s; only %s was reported", id, f.Shown("status"), done.id)
			}
		}
		t.states("match "+done.id, all[done.id], map[string]any{"winner": done.winner()})
	},
	"query.next": func(t T) {
		first := t.played().rounds[0]
		for i, a := range t.players() {
			j := slices.IndexFunc(first.matches, func(m *match) bool { return slices.Contains(m.players[:], a.id) })
			if j < 0 || first.matches[j].referee == nil {
				continue // it has a bye, or another referee
			}
			m := first.matches[j]
			next := t.dataOf(t.recorded(probeName("next", i))).Object("next_match")
			side := slices.Index(m.players[:], a.id)
			t.states("the next match of "+a.id, next, map[string]any{
				"match_id": m.id, "round_id": m.round, "opponent_id": m.players[1-side], "role_in_match": []string{protocol.PlayerA, protocol.PlayerB}[side],
				"referee_id": m.by.to.id, "referee_endpoint": m.by.to.endpoint.URL,
			})
		}
	},
	"query.over": func(t T) {
		l := t.complete()
		t.states("the league", t.dataOf(t.recorded("over.status")), map[string]any{
			"status": protocol.LeagueFinished, "total_rounds": len(l.rounds), "matches_completed": l.matches(), "total_matches": l.matches(),
		})
		if data := t.dataOf(t.recorded("over.next")); data.Has("next_match") {
			t.Fail("next_match is %s after the end of the league", data.Shown("next_match"))
		}
		for id, f := range t.scheduled("over.schedule") {
			t.states("match "+id, f, map[string]any{"status": protocol.MatchFinished})
		}
		t.dataOf(t.recorded("over.standings"))
	},
	"load.concurrent": func(t T) {
		for i, query := range crowd {
			a := t.recorded(probeName("crowd", i))
			t.Accepted(a, protocol.TypeLeagueQuery.Answer())
			t.Equal(a, "query_type", query)
		}
	},
	"load.speed": func(t T) {
		if len(t.played().took) == 0 {
			t.Skip("nothing was asked while the league ran")
		}
		took, timeout := slices.Clone(t.played().took), t.session.Timeout
		slices.Sort(took)
		longest := took[len(took)-1]
		if longest > timeout/4 {
			for _, made := range t.league.probes {
				if made.answer.Took == longest {
					t.T.Evidence = made.evidence
				}
			}
			t.Fail("an answer took %v of the %v that agents wait", longest.Round(time.Millisecond), timeout)
		}
		t.Note("%d answers took %.1f ms in the median and %.1f ms at most", len(took), kit.Milliseconds(took[len(took)/2]), kit.Milliseconds(longest))
	},
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

// scheduled returns the matches in the answer to a probe of GET_SCHEDULE, by id.
func (t T) scheduled(probe string) map[string]kit.Fields {
	all := map[string]kit.Fields{}
	for _, round := range t.dataOf(t.recorded(probe)).List("rounds") {
		for _, f := range round.List("matches") {
			f["round_id"] = round["round_id"]
			all[f.Text("match_id")] = f
		}
	}
	return all
}

// data returns the data of a query of the first player.
func (t T) data(query string) kit.Fields {
	a := t.ask(query)
	data := t.dataOf(a)
	t.Equal(a, "query_type", query)
	return data
}
