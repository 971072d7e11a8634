package referee

import (
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/protocol"
)

func editMatch(edit func(m, match map[string]any)) kit.Edit {
	return func(m map[string]any) {
		if list, ok := m["matches"].([]any); ok && len(list) > 0 {
			edit(m, list[0].(map[string]any))
		} else if m["match_id"] != nil { // it assigns a single match
			edit(m, m)
		}
	}
}

var loadTests = map[string]func(T){
	"fields.unknown": func(t T) {
		m := t.newMatch(plan{})
		r := t.assigning(m)
		r.Edit = editMatch(func(m, match map[string]any) { m["x_weather"], match["x_list"] = "sunny", []any{1, nil} })
		t.Send(r)
		t.awaitEnd(m)
	},
	"load.concurrent": func(t T) {
		const many = 5
		var plans []plan
		choices := []protocol.Choice{protocol.Even, protocol.Odd}
		for i := range many {
			plans = append(plans, plan{choose: [2]reaction{choosing(choices[i&1]), choosing(choices[i>>1&1])}})
		}
		all := t.newMatches(plans...)
		t.assign(all...)
		for i, m := range all {
			t.awaitEnd(m)
			got := t.ended(t.message(m, protocol.TypeMatchResultReport, toManager)).Choices
			if got[playerIDs[playerA]] != choices[i&1] || got[playerIDs[playerB]] != choices[i>>1&1] {
				t.Fail("in match %s, one of %d at a time, %s and %s were chosen; the report has %v", m.id, many, choices[i&1], choices[i>>1&1], got)
			}
		}
	},
	"load.limit": func(t T) {
		const mostTried = 20
		t.NeedsRegistration(t.T)
		limit := t.Attempts()[0].Meta.Count("max_concurrent_matches")
		if limit < 1 || limit > mostTried {
			t.Skip("it registered for %s at once; up to %d are tried", kit.Count(limit, "match", "matches"), mostTried)
		}
		open, most, begun := 0, 0, 0 // under the peers' lock
		wait := t.shortDelay()
		plans := make([]plan, limit+2)
		for i := range plans {
			plans[i] = plan{
				join: [2]reaction{func(m *match, s *sent) kit.Response {
					m.peers.Do(func() {
						if s.n == 1 {
							open++
							begun++
							most = max(most, open)
						}
					})
					// The invitation of one match too many may follow.
					m.peers.Until(wait, func() bool { return most > limit || begun == len(plans) })
					return joining()(m, s)
				}},
				choose: [2]reaction{func(m *match, s *sent) kit.Response {
					if s.n == 1 {
						m.peers.Do(func() { open-- }) // before GAME_OVER, after which the next may begin
					}
					return choosing(protocol.Even)(m, s)
				}},
			}
		}
		all := t.newMatches(plans...)
		t.assign(all...)
		for _, m := range all {
			t.awaitEnd(m)
		}
		t.Lock()
		defer t.Unlock()
		if most > limit {
			t.Fail("%s at once were in progress; it registered for %d", kit.Count(most, "match", "matches"), limit)
		}
		t.Note("%d at most", most)
	},
	"load.speed": func(t T) {
		m := t.newMatch(plan{})
		a := t.assign(m)
		t.awaitEnd(m)
		if timeout := t.T.Session.Timeout; a.Took > timeout/4 {
			t.Fail("the acknowledgement took %v of %v", a.Took.Round(time.Millisecond), timeout)
		}
		t.Note("acknowledged after %.1f ms", kit.Milliseconds(a.Took))
	},
	"hostile.then": func(t T) { t.play(plan{}) },
}

// attacks are those of all roles, and bad announcements.
func attacks() []kit.Attack {
	bad := func(name string, edit func(m, match map[string]any)) kit.Attack {
		return kit.Attack{Name: name, Edit: editMatch(edit)}
	}
	twice := editMatch(func(m, match map[string]any) { m["matches"] = []any{match, match} })
	return append(kit.Attacks("notify_match_result"),
		bad("match", func(_, match map[string]any) { delete(match, "match_id") }),
		bad("wrongtype", func(_, match map[string]any) { match["match_id"] = []int{7} }),
		bad("path", func(_, match map[string]any) { match["match_id"] = "../../R1M1" }),
		bad("self", func(_, match map[string]any) { match["player_B_id"] = match["player_A_id"] }),
		kit.Attack{Name: "twice", Send: func(t *kit.T, valid kit.Request) *kit.Answer {
			if with(t).assignment().name != "" {
				return nil
			}
			valid.Edit = twice
			return t.Send(valid)
		}},
		bad("game", func(_, match map[string]any) { match["game_type"] = "chess" }),
	)
}
