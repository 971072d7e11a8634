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

// unknownFieldsCheck tests that unknown members are ignored.
func unknownFieldsCheck() kit.Check {
	return matchCheck("fields.unknown", kit.Must, "Unknown members are ignored, in the message and in its matches (league.v2, validation).",
		"Read the members that you need, and do not refuse others; in Python, do not pass **params on to a function.", func(t T) {
			m := t.newMatch(plan{})
			r := t.assigning(m)
			r.Edit = editMatch(func(m, match map[string]any) { m["x_weather"], match["x_list"] = "sunny", []any{1, nil} })
			t.Send(r)
			t.awaitEnd(m)
		})
}

func loadChecks() []kit.Check {
	return []kit.Check{
		matchCheck("load.concurrent", kit.Must, "A referee keeps concurrent matches apart: each is reported with its own choices.", "Store what belongs to a match by match_id, and nothing of it in variables that all matches share.",
			conductsMany),
		matchCheck("load.limit", kit.Should, "No more matches are in progress at once than max_concurrent_matches of the registration allows.", "Let matches wait until others have ended, or register with the right number.",
			keepsLimit),
		kit.StalledCheck(kit.Referee, nil, func(t *kit.T) func() *kit.Answer {
			return func() *kit.Answer { return t.Send(sample(t)) }
		}),
		check("referee.load.speed", kit.Should, []string{playsMatches}, "An announcement is acknowledged at once, within a quarter of the time that the manager waits: matches are played afterwards.",
			"Begin matches in the background, and answer first.", func(t T) {
				m := t.newMatch(plan{})
				a := t.assign(m)
				t.awaitEnd(m)
				if timeout := t.T.Session.Timeout; a.Took > timeout/4 {
					t.Fail("the acknowledgement took %v of %v", a.Took.Round(time.Millisecond), timeout)
				}
				t.Note("acknowledged after %.1f ms", kit.Milliseconds(a.Took))
			}),
	}
}

func conductsMany(t T) {
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
}

func keepsLimit(t T) {
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
				m.peers.Lock()
				if s.n == 1 {
					open++
					begun++
					most = max(most, open)
				}
				m.peers.Unlock()
				// The invitation of one match too many may follow.
				m.peers.Until(wait, func() bool { return most > limit || begun == len(plans) })
				return joining()(m, s)
			}},
			choose: [2]reaction{func(m *match, s *sent) kit.Response {
				m.peers.Lock()
				if s.n == 1 {
					open-- // before GAME_OVER, after which the next may begin
				}
				m.peers.Unlock()
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
}

func hostileChecks() []kit.Check {
	bad := func(name, what string, edit func(m, match map[string]any)) kit.Attack {
		return kit.Attack{Name: name, Level: kit.Should, What: what, Advice: "Check each match of an announcement before you begin it, and answer -32602.", Edit: editMatch(edit)}
	}
	twice := bad("twice", "An announcement that lists a match twice", func(m, match map[string]any) { m["matches"] = []any{match, match} })
	twice.Send = func(t *kit.T, valid kit.Request) *kit.Answer {
		if with(t).assignment().name != "" {
			return nil
		}
		valid.Edit = twice.Edit
		return t.Send(valid)
	}
	all := append(kit.Attacks("notify_match_result"),
		bad("match", "An announcement of a match without match_id", func(_, match map[string]any) { delete(match, "match_id") }),
		bad("wrongtype", "An announcement whose match_id is a number", func(_, match map[string]any) { match["match_id"] = 7 }),
		bad("path", "An announcement whose match_id is a path", func(_, match map[string]any) { match["match_id"] = "../../R1M1" }),
		bad("self", "A match of a player against itself", func(_, match map[string]any) { match["player_B_id"] = match["player_A_id"] }),
		twice,
		bad("game", "A match of another game than even_odd", func(_, match map[string]any) { match["game_type"] = "chess" }),
	)
	announcement := func(t *kit.T) kit.Request {
		r := with(t)
		return r.assigning(r.newMatch(plan{}))
	}
	return kit.AttackChecks(kit.Referee, nil, all, announcement, kit.Check{
		Needs: []string{playsMatches},
		Rule:  "After all that, the referee goes on conducting matches.",
		Run:   run(func(t T) { t.play(plan{}) }),
	})
}
