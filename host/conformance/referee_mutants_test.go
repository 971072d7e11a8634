package conformance_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/draws"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
)

func refereeMutants() []mutant {
	return slices.Concat(registeringMutants("referee", refereeRegistration, "referee_meta", acceptsReferee), sharedMutants("referee", "update_standings", standings),
		roundMutants(), askingMutants(), turnMutants(), resultMutants(), reportMutants(), refereeDrawMutants(),
		replyMutants(), postedMutants(), retryMutants(), faultMutants(), trustMutants(), burdenMutants(),
		attackedMutants("referee", announcement, "notify_match_result"), takesMatch("referee", announcement), refereeHostileMutants())
}

const technical = "TECHNICAL_LOSS"

var (
	matchID = regexp.MustCompile(`"match_id":"[^"]*"`)
	inFirst = says("match_id", "R1M1")
)

func roundMutants() []mutant {
	var last *request
	return []mutant{
		{check: "referee.register.fields", out: emits(refereeRegistration, inside(drop("max_concurrent_matches"), "referee_meta"))},
		{check: "referee.round.plays", halts: true, out: replaces(isType(invitation), declining)},
		{check: "referee.round.announced", halts: true, serve: emits(announcement, set("matches", []any{}))},
		{check: "referee.round.ack", serve: refuses(isType(announcement))},
		{check: "referee.standings.ack", serve: refuses(isType(standings))},
		{check: "referee.roundend.ack", serve: refuses(isType(roundEnd))},
		{check: "referee.round.others", serve: func(_ *memory, in *request, next onward) *reply {
			return next(&request{body: bytes.ReplaceAll(in.body, []byte(`"referee_id":"REF02"`), []byte(`"referee_id":"REF01"`)), header: in.header})
		}},
		{check: "referee.round.again", serve: func(m *memory, in *request, next onward) *reply {
			m.Lock()
			defer m.Unlock()
			if in.of(announcement) && m.count(string(bytes.Join(matchID.FindAll(in.body, -1), nil))) == 2 {
				m.count("again")
			}
			return next(in)
		}, out: only(invitation, func(m *memory, in *request, next onward) *reply {
			m.Lock()
			earlier := last
			if in.text("role_in_match") == "PLAYER_A" {
				last = in
			} else {
				earlier = nil
			}
			again := m.seen["again"] > 0 && earlier != nil
			if again {
				delete(m.seen, "again")
			}
			m.Unlock()
			if again {
				next(earlier)
			}
			return next(in)
		})},
	}
}

func askingMutants() []mutant {
	changed := func(rule, t string, edit func(object)) mutant {
		return mutant{check: "referee." + rule, out: emits(t, edit)}
	}
	halting := func(rule, t string, edit func(object)) mutant {
		return mutant{check: "referee." + rule, halts: true, out: emits(t, edit)}
	}
	token := ""
	return []mutant{
		changed("invitation.fields", invitation, drop("timestamp")),
		changed("call.fields", call, drop("protocol")),
		halting("over.match", over, set("sender", "referee:REF99")),
		changed("invitation.token", invitation, set("auth_token", "another")),
		changed("call.token", call, drop("auth_token")),
		changed("over.fields", over, inside(drop("reason"), "game_result")),
		halting("over.token", over, set("auth_token", "another")),
		changed("invitation.match", invitation, set("league_id", "another")),
		changed("call.match", call, set("game_type", "chess")),
		changed("over.match", over, set("round_id", 99)),
		changed("invitation.fields", invitation, drop("role_in_match")),
		changed("invitation.fields", invitation, drop("opponent_id")),
		changed("call.fields", call, drop("player_id")),
		changed("call.fields", call, inside(drop("opponent_id"), "context")),
		changed("call.standings", call, inside(set("wins", 0), "context", "your_standings")),
		changed("call.deadline", call, set("deadline", "2026-03-14T09:10:13Z")),
		halting("invitation.fields", invitation, set("timestamp", "2026-03-14T11:10:13+02:00")),
		changed("message.seconds", over, set("timestamp", "2026-03-14T09:10:13.5Z")),
		changed("message.conversation", call, set("conversation_id", "another")),
		{check: "referee.message.rpc", out: frames(call, set("jsonrpc", "1.0"))},
		{check: "referee.message.media", media: "text/plain"},
		{check: "referee.message.secret", out: then(
			answers(refereeRegistration, func(o object) { token, _ = o["auth_token"].(string) }),
			emits(over, func(o object) { o["x_signed"] = token }))},
		changed("error.token", gameError, set("auth_token", "another")),
		changed("error.fields", gameError, drop("error_code")),
		changed("error.match", gameError, set("round_id", 99)),
		changed("error.announced", gameError, set("max_retries", 9)),
		halting("error.last", gameError, set("retryable", true)),
	}
}

// oneAfterTheOther sends a type to the second player only when the first has answered.
func oneAfterTheOther(t string, isFirst when) fault {
	answered := map[string]chan struct{}{}
	return only(t, func(m *memory, in *request, next onward) *reply {
		match := in.match()
		m.Lock()
		first := m.count(in.key()) == 1
		if answered[match] == nil {
			answered[match] = make(chan struct{})
		}
		done := answered[match]
		m.Unlock()
		switch {
		case first && isFirst(m, in):
			defer close(done)
		case first:
			<-done
		}
		return next(in)
	})
}

// callsEarly calls the first player before the second has joined, in the matches
// of one check: the second is invited once the first was called.
func callsEarly(check string) mutant {
	called, early := map[string]chan struct{}{}, map[string]*reply{}
	return mutant{check: check, out: func(m *memory, in *request, next onward) *reply {
		match := in.match()
		m.Lock()
		if m.check == check && called[match] == nil && in.of(invitation) && m.seen[match] == 0 {
			called[match] = make(chan struct{})
		}
		if in.of(invitation) {
			m.count(match)
		}
		done, before := called[match], early[match]
		first := m.count(in.key()) == 1
		m.Unlock()
		switch {
		case done == nil:
		case in.of(invitation) && in.text("role_in_match") == "PLAYER_B":
			<-done
		case in.of(invitation) && first:
			defer close(done)
			r := next(in)
			in.doc["method"] = "parity_choose"
			in.message["message_type"], in.message["player_id"], in.message["deadline"] = call, "P01", "2027-03-14T09:10:13Z"
			in.message["context"] = object{"opponent_id": "P02", "your_standings": object{"wins": 0, "losses": 0, "draws": 0, "points": 0}}
			if answer := next(in.written()); answer.err == nil {
				m.Lock()
				early[match] = answer
				m.Unlock()
			}
			return r
		case in.of(call) && in.text("player_id") == "P01" && before != nil:
			return before.framed(set("id", in.doc["id"]))
		}
		return next(in)
	}}
}

func turnMutants() []mutant {
	return []mutant{
		{check: "referee.invitation.parallel", out: oneAfterTheOther(invitation, says("role_in_match", "PLAYER_A"))},
		{check: "referee.call.parallel", out: oneAfterTheOther(call, says("player_id", "P01"))},
		callsEarly("referee.call.after"),
		{check: "referee.call.secret", out: sends(call, func(m *memory, in *request) {
			if m.count(in.key()) > 1 {
				within(in.message, "context")["opponent_choice"] = "even"
			}
		})},
	}
}

// results changes how a match ended, as the players are told it and as the
// manager is: the result itself and its details, which are one for players.
func results(edit func(result, details object)) fault {
	return then(
		emits(over, inside(func(r object) { edit(r, r) }, "game_result")),
		emits(report, inside(func(r object) { edit(r, within(r, "details")) }, "result")))
}

func resultMutants() []mutant {
	return []mutant{
		{check: "referee.over.number", out: emits(over, inside(func(r object) { r["number_parity"] = otherParity[r["number_parity"]] }, "game_result"))},
		{check: "referee.over.winner", out: emits(over, inside(func(r object) {
			if r["status"] == "WIN" {
				r["winner_player_id"] = map[any]string{"P01": "P02", "P02": "P01"}[r["winner_player_id"]]
			}
		}, "game_result"))},
		{check: "referee.over.choices", out: where(inFirst, results(func(_, d object) { d["choices"] = object{"P01": "even"} }))},
		{check: "referee.over.both", out: sends(over, func(m *memory, in *request) {
			if inFirst(m, in) && m.count(over) == 2 {
				r := within(in.message, "game_result")
				r["drawn_number"] = 1 + (whole(r["drawn_number"])+1)%10
			}
		})},
		{check: "referee.over.once", out: twice(over, inFirst)},
		{check: "referee.over.retry", halts: true, out: instead(over, isBusy, acked)},
	}
}

func reportMutants() []mutant {
	reported := func(rule string, edit func(result, details object)) mutant {
		return mutant{check: "referee.report." + rule, out: only(report, results(edit))}
	}
	var kept []func()
	deaf := map[string]bool{}
	return []mutant{
		{check: "referee.report.fields", out: emits(report, drop("conversation_id"))},
		{check: "referee.report.token", out: emits(report, set("auth_token", "another"))},
		{check: "referee.report.fields", out: emits(report, drop("league_id"))},
		{check: "referee.report.match", out: emits(report, set("game_type", "chess"))},
		reported("score", func(r, d object) {
			if d["status"] == "WIN" {
				r["score"] = object{"P01": 2, "P02": 0}
			}
		}),
		reported("tie", func(r, d object) {
			if d["status"] == "DRAW" {
				r["winner"] = "DRAW"
			}
		}),
		{check: "referee.report.fields", out: where(inFirst, emits(report, inside(drop("choices"), "result", "details")))},
		reported("details", func(_, d object) { d["number_parity"] = otherParity[d["number_parity"]] }),
		{check: "referee.report.order", out: where(inFirst, func(m *memory, in *request, next onward) *reply {
			if !in.of(over) && !in.of(report) {
				return next(in)
			}
			m.Lock()
			defer m.Unlock()
			if in.of(over) {
				kept = append(kept, func() { next(in) })
				return acked(in)
			}
			r := next(in)
			for _, late := range kept {
				late()
			}
			return r
		})},
		{check: "referee.report.once", out: twice(report, inFirst)},
		{check: "referee.report.retry", halts: true, out: instead(report, isBusy, recorded)},
		{check: "referee.report.duplicate", out: only(report, func(_ *memory, in *request, next onward) *reply {
			r := next(in)
			if holding("5003")(r) {
				return next(in)
			}
			return r
		})},
		{check: "referee.report.renew", halts: true, out: instead(report, holding("E012"), recorded)},
		{check: "referee.report.deaf", halts: true, out: func(m *memory, in *request, next onward) *reply {
			m.Lock()
			lost := deaf[in.match()]
			m.Unlock()
			if lost && in.of(report) {
				return &reply{err: &jsonrpc.CallError{Kind: jsonrpc.ErrConnect, Err: errGone}}
			}
			r := next(in)
			if in.of(over) && isBusy(r) {
				m.Lock()
				deaf[in.match()] = true
				m.Unlock()
			}
			return r
		}},
	}
}

func replyMutants() []mutant {
	asked := func(name string) fault {
		return receives(call, func(_ *memory, in *request, o object) { o[name] = in.text(name) })
	}
	tokens := map[string]any{}
	return []mutant{
		{check: "referee.reply.match", out: receives(invitation, func(_ *memory, in *request, o object) { o["match_id"] = in.match() })},
		{check: "referee.reply.player", out: asked("player_id")},
		{check: "referee.reply.token", out: then(
			receives(invitation, func(_ *memory, in *request, o object) {
				tokens[in.match()+map[string]string{"PLAYER_A": "P01", "PLAYER_B": "P02"}[in.text("role_in_match")]] = o["auth_token"]
			}),
			receives(call, func(_ *memory, in *request, o object) {
				if token, _ := o["auth_token"].(string); strings.HasSuffix(token, "-forged") {
					o["auth_token"] = tokens[in.match()+in.text("player_id")]
				}
			}))},
		{check: "referee.reply.empty", out: answers(call, func(o object) {
			if o["parity_choice"] == nil && o["choice"] == nil {
				o["parity_choice"] = "none"
			}
		})},
		{check: "referee.reply.raw", out: answers(call, func(o object) {
			if token, _ := o["auth_token"].(string); strings.HasPrefix(token, "tok-P01") {
				drop("parity_choice", "choice")(o) // as if it were not taken
			}
		})},
		{check: "referee.reply.accepted", out: answers(invitation, func(o object) {
			if o["accept"] == nil {
				o["accept"] = false
			}
		})},
		{check: "referee.reply.choice", out: answers(call, drop("choice"))},
		{check: "referee.reply.members", out: instead(call, holding("x_weather"), refusing)},
		{check: "referee.reply.late", out: answering(func(m *memory, in *request, r *reply) *reply {
			late := "late" + in.key()
			switch {
			case !in.of(call):
			case r.err != nil:
				m.count(late)
			case m.seen[late] > 0: // what came for the first call
				r.body = bytes.Replace(r.body, []byte(`"even"`), []byte(`"odd"`), 1)
			}
			return r
		})},
	}
}

func postedMutants() []mutant {
	take := func(name string, condition when) mutant {
		return mutant{check: "referee.posted." + name, serve: accepts(isType(choice), condition)}
	}
	return []mutant{
		{check: "referee.posted.join", serve: refuses(isType("GAME_JOIN_ACK"))},
		{check: "referee.posted.choice", serve: refuses(isType(choice))},
		take("token", forged),
		take("missing", says("auth_token", "")),
		take("other", says("sender", "player:P02")),
		take("match", says("match_id", "R0M99")),
		{check: "referee.posted.late", serve: answering(func(m *memory, in *request, r *reply) *reply {
			if in.of(choice) && m.seen["end of "+in.match()] > 0 {
				return taken(in)
			}
			return r
		}), out: sends(over, func(m *memory, in *request) { m.count("end of " + in.match()) })},
	}
}

// matchKeys are the keys that players sign with, by those of their referees.
type matchKeys map[any]any

// learn is a mutant.serve that reads them in announcements.
func (k matchKeys) learn(m *memory, in *request, next onward) *reply {
	m.Lock()
	for _, match := range rows(in.read(), "matches") {
		for _, name := range []string{"player_A_keys", "player_B_keys"} {
			if keys := within(match, name); keys != nil {
				k[keys["send"]] = keys["expect"]
			}
		}
	}
	m.Unlock()
	return next(in)
}

func (k matchKeys) signed(answer func(in *request) *reply) func(in *request) *reply {
	return func(in *request) *reply { return answer(in).edit(set("auth_token", k[in.text("auth_token")])) }
}

func retryMutants() []mutant {
	busyTimes, slowed, keys := map[string]int{}, map[string]bool{}, matchKeys{}
	return []mutant{
		{check: "referee.retry.join", halts: true, serve: keys.learn, out: instead(invitation, isBusy, keys.signed(declining))},
		{check: "referee.retry.choice", halts: true, out: instead(call, isBusy, refusing)},
		{check: "referee.retry.ids", out: only(invitation, func(m *memory, in *request, next onward) *reply {
			return frames(invitation, set("id", in.key()))(m, in, next)
		})},
		{check: "referee.retry.spent", serve: keys.learn, out: answering(func(_ *memory, in *request, r *reply) *reply {
			if in.of(invitation) && isBusy(r) {
				busyTimes[in.key()]++
			}
			if in.of(invitation) && busyTimes[in.key()] == 4 {
				return keys.signed(accepting)(in)
			}
			return r
		})},
		{check: "referee.retry.backoff", halts: true, out: func(m *memory, in *request, next onward) *reply {
			if !in.of(invitation) && !in.of(over) {
				return next(in)
			}
			key := in.text("message_type") + in.key() + in.text("auth_token")
			m.Lock()
			slow := slowed[key]
			delete(slowed, key)
			first := m.count(key) == 1
			m.Unlock()
			if slow {
				time.Sleep(m.scale.of(time.Second)) // the fault: the first pause is the longest
			}
			r := next(in)
			if first && isBusy(r) {
				m.Lock()
				slowed[key] = true
				m.Unlock()
			}
			return r
		}},
		{check: "referee.error.announced", halts: true, out: replaces(func(_ *memory, in *request) bool {
			return in.of(gameError) && whole(in.message["retry_count"]) == 2
		}, acked)},
	}
}

func faultMutants() []mutant {
	faulty := func(edit func(r, d object)) fault {
		return results(func(r, d object) {
			if d["status"] == technical {
				edit(r, d)
			}
		})
	}
	keys := matchKeys{}
	return []mutant{
		{check: "referee.fault.declined", out: instead(invitation, holding(`"accept":false`), unavailable)},
		{check: "referee.fault.invalid", out: answers(call, func(o object) {
			if o["parity_choice"] == "both" {
				o["parity_choice"] = "even"
			}
		})},
		{check: "referee.fault.score", out: only(report, faulty(func(r, _ object) {
			if r["winner"] == "P02" {
				r["score"] = object{"P01": 0, "P02": 1}
			}
		}))},
		{check: "referee.fault.result", out: faulty(func(_, d object) { d["drawn_number"], d["number_parity"] = 4, "even" })},
		{check: "referee.fault.result", out: faulty(func(_, d object) { delete(d, "technical_loss_player_ids") })},
		{check: "referee.fault.score", out: only(report, faulty(func(r, _ object) {
			if r["winner"] == nil {
				r["winner"] = "P01"
			}
		}))},
		{check: "referee.fault.join", serve: keys.learn, out: instead(invitation, brokenOff, keys.signed(accepting))},
		{check: "referee.fault.choice", serve: keys.learn, out: instead(call, brokenOff, keys.signed(evenly))},
		{check: "referee.call.whole", out: emits(call, func(o object) {
			// It states two seconds more than it gives.
			deadline, err := time.Parse(time.RFC3339, o["deadline"].(string))
			if err != nil {
				panic(err)
			}
			o["deadline"] = deadline.Add(2 * time.Second).Format(time.RFC3339)
		})},
	}
}

func trustMutants() []mutant {
	return []mutant{
		{check: "referee.auth.token", serve: believes(all(isType(announcement), forged), managerToken)},
		{check: "referee.auth.sender", serve: as(announcement, "sender", "player:P01", "league_manager")},
		{check: "referee.auth.league", serve: as(announcement, "league_id", "elsewhere", "conformance")},
		{check: "referee.auth.completed", serve: accepts(isType(completed), forged)},
	}
}

func burdenMutants() []mutant {
	matches := func(in *request) int { return bytes.Count(in.body, []byte(`"match_id"`)) }
	return []mutant{
		{check: "referee.load.concurrent", halts: true, serve: where(func(_ *memory, in *request) bool { return matches(in) == 5 },
			emits(announcement, func(o object) { o["matches"] = o["matches"].([]any)[:4] }))},
		{check: "referee.load.limit", out: emits(refereeRegistration, inside(set("max_concurrent_matches", 2), "referee_meta"))},
		{check: "referee.load.speed", halts: true, serve: func(m *memory, in *request, next onward) *reply {
			m.Lock()
			slow := m.seen["many"] == 1 && matches(in) == 1
			if slow || matches(in) > 5 {
				m.count("many")
			}
			m.Unlock()
			if slow {
				time.Sleep(m.scale.of(refereeSilence / 3)) // it is the fault
			}
			return next(in)
		}},
	}
}

func refereeHostileMutants() []mutant {
	take := taking("referee")
	broken := breaksLater("referee", isType("none")) // it only counts
	broken.halts, broken.out = true, replaces(func(m *memory, in *request) bool { return in.of(over) && m.seen["deep"] > 0 }, acked)
	return []mutant{
		take("self", bodyHas(`"player_B_id":"P01"`)),
		take("twice", func(_ *memory, in *request) bool {
			ids := matchID.FindAll(in.body, -1)
			return len(ids) == 2 && bytes.Equal(ids[0], ids[1])
		}),
		broken,
		{check: "referee.end.ack", serve: refuses(isType(completed))},
		{check: "referee.end.again", serve: where(isType(completed), func(m *memory, in *request, next onward) *reply {
			m.Lock()
			defer m.Unlock()
			switch {
			case forged(m, in):
				return next(in)
			case m.count(completed) > 1:
				return refusing(in)
			}
			return taken(in) // the referee behind it would leave
		})},
	}
}

// fixedKey is the key of a referee that uses one again and again.
const fixedKey = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

// drawOf is what the draw of a message of a referee is bound to.
func drawOf(s *request) *draws.Match {
	d := &draws.Match{League: s.text("league_id"), ID: s.match(), Round: int(whole(s.message["round_id"]))}
	d.Players[0].ID, d.Players[1].ID = "P01", "P02"
	for i := range d.Players {
		p := &d.Players[i]
		p.Choice, _ = within(s.message, "game_result", "choices")[p.ID].(string)
		p.Nonce, _ = within(s.message, "draw_nonces")[p.ID].(string)
	}
	return d
}

func draw(result object, n int) {
	result["drawn_number"], result["number_parity"] = n, game.ParityOf(n).String()
}

// redrawn makes a GAME_OVER reveal a key, with the number that follows.
func redrawn(s *request, key string) {
	n, _ := drawOf(s).Number(key)
	s.message["draw_key"] = key
	draw(within(s.message, "game_result"), n)
}

func refereeDrawMutants() []mutant {
	having := func(t, member string, edit func(m *memory, s *request)) fault {
		return sends(t, func(m *memory, s *request) {
			if s.message[member] != nil {
				edit(m, s)
			}
		})
	}
	opening := func(edit func(m *memory, s *request)) fault { return having(over, "draw_key", edit) }
	committing := func(edit func(m *memory, s *request)) fault { return having(call, "draw_commitment", edit) }
	another := strings.Repeat("5a", 32)
	reuses := committing(func(_ *memory, s *request) { s.message["draw_commitment"], _ = drawOf(s).Commitment(fixedKey) })
	return []mutant{
		{check: "referee.draws.plain", out: emits(call, func(o object) {
			if o["draw_commitment"] == nil {
				o["draw_commitment"] = another
			}
		})},
		{check: "referee.draws.verified", out: committing(func(m *memory, s *request) {
			if m.count("committed") == 1 {
				m.tokens["first"] = s.match()
			}
			if s.match() != m.tokens["first"] {
				delete(s.message, "draw_commitment")
			}
		})},
		{check: "referee.draws.kept", out: committing(func(m *memory, s *request) {
			if m.count(s.key()) > 1 {
				s.message["draw_commitment"] = another
			}
		})},
		{check: "referee.draws.verified", out: opening(func(_ *memory, s *request) {
			redrawn(s, fmt.Sprintf("%x", sha256.Sum256([]byte(s.match()))))
		})},
		{check: "referee.draws.verified", out: opening(func(_ *memory, s *request) {
			result := within(s.message, "game_result")
			result["drawn_number"] = 1 + (whole(result["drawn_number"])+1)%10
		})},
		{check: "referee.draws.verified", out: opening(func(_ *memory, s *request) {
			delete(within(s.message, "draw_nonces"), "P02")
			redrawn(s, s.text("draw_key"))
		})},
		{check: "referee.draws.verified", out: then(reuses, opening(func(_ *memory, s *request) { redrawn(s, fixedKey) }))},
	}
}
