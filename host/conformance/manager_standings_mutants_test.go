package conformance_test

import (
	"fmt"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

func sentMutants() []mutant {
	says := func(name string, t string, edit func(object)) mutant {
		return mutant{check: "manager.message." + name, out: emits(t, edit)}
	}
	return []mutant{
		{check: "manager.message.rpc", out: frames(completed, set("jsonrpc", "1.0"))},
		{check: "manager.message.method", out: frames(completed, set("method", "league_completed"))},
		{check: "manager.message.ids", out: frames(standings, set("id", "1"))},
		says("fields", completed, drop("conversation_id")),
		says("fields", completed, set("timestamp", "2026-03-14T11:10:13+02:00")),
		says("fields", completed, set("sender", "referee:REF01")),
		says("fields", standings, drop("round_id")),
		says("fields", standings, set("league_id", "another")),
		says("token", completed, drop("auth_token")),
		{check: "manager.message.proof", out: func(_ *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			s := reading(body)
			s.message["auth_token"] = "tok-LM-0123456789abcdef"
			return next(write(s.doc))
		}},
		{check: "manager.message.secret", serve: remembers(application, func(m *memory, _, answer object) {
			m.last = fmt.Sprint(answer["auth_token"])
		}), out: emitsRemembered(standings)},
	}
}

func tableMutants() []mutant {
	return []mutant{
		{check: "manager.standings.sent", halts: true, out: loses(standings, 3)},
		{check: "manager.standings.players", out: toReferees(standings, 0, func(o object) { rows(o, "standings")[0]["rank"] = 2 })},
		{check: "manager.standings.points", out: toReferees(standings, 0, func(o object) { rows(o, "standings")[0]["played"] = 9 })},
		{check: "manager.standings.order", out: toReferees(standings, 5, swapsRanks(1, 2))},
		{check: "manager.standings.ties", out: toReferees(standings, 5, swapsRanks(0, 1))},
		{check: "manager.roundend.sent", halts: true, out: loses(roundEnd, 3)},
		{check: "manager.roundend.early", out: after(announcement, 1, func(_ *memory, s *sent) []byte {
			doc := parse(s.body)
			doc["id"], doc["method"] = "early", "notify_round_completed"
			walk(doc, func(o object) {
				delete(o, "matches")
				o["message_type"], o["matches_played"], o["next_round_id"] = roundEnd, 2, 2
			})
			return write(doc)
		})},
		{check: "manager.roundend.once", out: repeats(roundEnd, 3)},
		{check: "manager.roundend.table", out: delays(standings, 3, roundEnd)},
		{check: "manager.roundend.before", out: delays(roundEnd, 2, announcement)},
		{check: "manager.roundend.summary", out: emits(roundEnd, func(o object) { o["summary"].(object)["wins"] = 7 })},
		{check: "manager.roundend.next", out: emits(roundEnd, set("next_round_id", 9))},
		{check: "manager.end.sent", halts: true, out: loses(completed, 0)},
		{check: "manager.end.once", out: repeats(completed, 0)},
		{check: "manager.end.last", out: after(completed, 0, func(m *memory, s *sent) []byte {
			m.Lock()
			defer m.Unlock()
			return renumbered([]byte(m.tokens[standings+s.text("auth_token")]))
		})},
		{check: "manager.end.standings", out: emits(completed, func(o object) { rows(o, "final_standings")[0]["points"] = 99 })},
		{check: "manager.end.champion", out: emits(completed, func(o object) { o["champion"].(object)["player_id"] = "P01" })},
		{check: "manager.end.totals", out: emits(completed, set("total_matches", 99))},
	}
}

func notifyMutants() []mutant {
	return []mutant{
		{check: "manager.notify.busy", halts: true, out: instead(announcement, isBusy, acked)},
		{check: "manager.notify.broken", halts: true, out: instead(announcement, brokenOff, acked)},
		{check: "manager.notify.silent", slow: true, halts: true},
		{check: "manager.notify.same", out: only(announcement, func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
			s := reading(body)
			m.Lock()
			n := m.count(s.text("auth_token") + fmt.Sprint(s.message["round_id"]))
			m.Unlock()
			s.message["conversation_id"] = fmt.Sprint(s.text("conversation_id"), "-", n)
			return next(write(s.doc))
		})},
	}
}
