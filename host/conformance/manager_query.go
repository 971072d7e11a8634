package conformance

import (
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/host/protocol"
)

// runningQueryChecks are about what may be asked while the league runs, and
// afterwards.
func runningQueryChecks() []Check {
	return []Check{
		seasonCheck("query.running", Should, "While the league runs, GET_STATUS says so: status running, current_round, total_rounds, matches_completed and total_matches (LEAGUE_QUERY_RESPONSE).", "Count as the league goes on.", func(p managerT) {
			s := p.played()
			data := p.answered("status.during")
			want := map[string]int{"current_round": s.turns[0].round, "matches_completed": 0}
			if s.halt == "" {
				want["total_rounds"], want["total_matches"] = len(s.turns), len(s.ends)
			}
			p.says(data, protocol.LeagueRunning, want)
		}),
		seasonCheck("query.schedule", Should, "GET_SCHEDULE lists every round with its matches, as they are announced then: match_id, player_A_id, player_B_id and, once it is known, referee_id (LEAGUE_QUERY_RESPONSE).",
			"Answer from the schedule that the announcements are made of.", listsSchedule),
		seasonCheck("query.progress", Should, "In GET_SCHEDULE, a match that is reported is FINISHED and has its winner, null after a draw; others are not (LEAGUE_QUERY_RESPONSE).", "Write status and winner down when the report is taken.", func(p managerT) {
			done := p.played().turns[0].fixtures[0]
			all := p.scheduled(p.answered("schedule.after"))
			if all[done.id] == nil {
				p.Skip("GET_SCHEDULE does not list match %s", done.id)
			}
			for id, f := range all {
				if finished := f.text("status") == protocol.MatchFinished; finished != (id == done.id) {
					p.Fail("status of match %s is %s; only %s was reported", id, orMissing(f["status"]), done.id)
				}
			}
			f, want := all[done.id], ""
			if i := slices.Index(done.ended.points[:], 3); i >= 0 {
				want = done.players[i]
			}
			if got := f.text("winner"); got != want {
				p.Fail("winner of match %s is %s, want %q", done.id, orMissing(f["winner"]), want)
			}
		}),
		seasonCheck("query.next", Should, "GET_NEXT_MATCH tells a player its next match: match_id, round_id, opponent_id, role_in_match, and which referee conducts it (LEAGUE_QUERY_RESPONSE).",
			"Look for the first match of the sender, in the order of the rounds, that is not over.", tellsNextMatch),
		seasonCheck("query.over", Should, "When the league is complete, GET_STATUS says completed, GET_NEXT_MATCH null, and GET_SCHEDULE that every match is FINISHED (LEAGUE_QUERY_RESPONSE).", "Go on answering after the end.", func(p managerT) {
			s := p.complete()
			p.says(p.answered("over.status"), protocol.LeagueFinished, map[string]int{"total_rounds": len(s.turns), "matches_completed": len(s.ends), "total_matches": len(s.ends)})
			if data := p.answered("over.next"); data.has("next_match") {
				p.Fail("next_match is %s, though the league is complete", data["next_match"])
			}
			for id, f := range p.scheduled(p.answered("over.schedule")) {
				if f.text("status") != protocol.MatchFinished {
					p.Fail("status of match %s is %s, though the league is complete", id, orMissing(f["status"]))
				}
			}
			p.answered("over.standings")
		}),
	}
}

// answered returns what a query of the season has yielded.
func (p managerT) answered(name string) fields {
	a := p.recall(name)
	p.accepted(a, protocol.TypeLeagueQueryResponse)
	data := object(a.Message["data"])
	if data == nil {
		p.Fail("data is %s, want an object", orMissing(a.Message["data"]))
	}
	return data
}

// says holds the answer to GET_STATUS to what is known.
func (p managerT) says(data fields, status string, want map[string]int) {
	if got := data.text("status"); got != status {
		p.Fail("status is %s, want %q", orMissing(data["status"]), status)
	}
	for _, name := range []string{"current_round", "total_rounds", "matches_completed", "total_matches"} {
		if n, known := want[name]; known && count(data[name]) != n {
			p.Fail("%s is %s, want %d", name, orMissing(data[name]), n)
		}
	}
}

// scheduled returns the matches of a schedule, by their ids.
func (p managerT) scheduled(data fields) map[string]fields {
	all := map[string]fields{}
	for _, round := range list(data["rounds"]) {
		for _, f := range list(round["matches"]) {
			f["round_id"] = round["round_id"]
			all[f.text("match_id")] = f
		}
	}
	return all
}

func listsSchedule(p managerT) {
	s := p.played()
	all := p.scheduled(p.answered("schedule.during"))
	total := 0
	for i, t := range s.turns {
		for _, played := range t.fixtures {
			total++
			f := all[played.id]
			if f == nil {
				p.Fail("match %s, which was played in round %d, is missing", played.id, t.round)
			}
			if f.text("player_A_id") != played.players[0] || f.text("player_B_id") != played.players[1] || roundOf(f["round_id"]) != t.round {
				p.Fail("match %s is said to be one of %s and %s in round %s; it was one of %s and %s in round %d", played.id,
					orMissing(f["player_A_id"]), orMissing(f["player_B_id"]), orMissing(f["round_id"]), played.players[0], played.players[1], t.round)
			}
			if got := f.text("referee_id"); i == 0 && got != played.by.to.id {
				p.Fail("match %s is said to be conducted by %s; it was given to %s", played.id, orMissing(f["referee_id"]), played.by.to.id)
			}
		}
	}
	if s.halt == "" && len(all) != total {
		p.Fail("there are %d matches, and %d were played", len(all), total)
	}
}

func tellsNextMatch(p managerT) {
	first := p.played().turns[0]
	for i, m := range p.players() {
		var f *fixture
		for _, other := range first.fixtures {
			if slices.Contains(other.players[:], m.id) {
				f = other
			}
		}
		if f == nil {
			continue // it does not play in the first round
		}
		next := object(p.answered(fmt.Sprintf("next.%d", i))["next_match"])
		side := slices.Index(f.players[:], m.id)
		for name, want := range map[string]string{
			"match_id": f.id, "opponent_id": f.players[1-side], "role_in_match": []string{protocol.PlayerA, protocol.PlayerB}[side],
			"referee_id": f.by.to.id, "referee_endpoint": f.by.to.station.url,
		} {
			if got := next.text(name); got != want {
				p.Fail("%s of the next match of %s is %s, want %q", name, m.id, orMissing(next[name]), want)
			}
		}
		if got := roundOf(next["round_id"]); got != f.round {
			p.Fail("round_id of the next match of %s is %s, want %d", m.id, orMissing(next["round_id"]), f.round)
		}
	}
}

func asksEarly(p managerT) {
	for _, q := range []string{protocol.QuerySchedule, protocol.QueryNextMatch} {
		a := p.send(p.asking(p.players()[0], q))
		if a.Refused {
			continue
		}
		if p.underWay() {
			p.Skip("the league began by itself when everybody had registered")
		}
		p.accepted(a, protocol.TypeLeagueQueryResponse)
		data := object(a.Message["data"])
		if data.has("next_match") || slices.ContainsFunc(list(data["rounds"]), func(round fields) bool { return len(list(round["matches"])) > 0 }) {
			p.Fail("there is a match already: %s", a.Message["data"])
		}
	}
}
