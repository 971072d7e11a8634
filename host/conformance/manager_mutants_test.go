package conformance_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
)

func managerMutants() []mutant {
	return slices.Concat(sharedMutants("manager", "league_query", query), attackedMutants("manager", query, "report_match_result"),
		admissionMutants(), startMutants(), queryMutants(), reportMutantsOfManager(), badReportMutants(), scheduleMutants(),
		privacyMutants(), sentMutants(), tableMutants(), notifyMutants())
}

func admissionMutants() []mutant {
	takesRegistration := func(name string, conditions ...when) mutant {
		return mutant{check: "manager.register." + name, serve: accepts(append(conditions, isType(application))...)}
	}
	return []mutant{
		{check: "manager.register.referee", serve: answers(refereeRegistration, drop("league_id"))},
		{check: "manager.register.player", serve: answers(application, drop("league_id"))},
		{check: "manager.register.all", serve: receives(application, func(m *memory, _ *request, o object) {
			if m.count(application) == 2 {
				o["player_id"] = "P01"
			}
		})},
		{check: "manager.register.id", serve: as(application, "sender", "player:P08", "player:somebody")},
		{check: "manager.register.player", serve: answers(application, drop("protocol"))},
		takesRegistration("name", says("sender", "player:P08"), bodyHas("Conformance player-1 ")),
		takesRegistration("game", bodyHas("chess")),
		takesRegistration("endpoint", bodyHas("nowhere")),
		takesRegistration("meta", lacks("player_meta")),
		{check: "manager.auth.missing", serve: accepts(isType(query), says("auth_token", ""))},
		{check: "manager.auth.token", serve: accepts(isType(query), forged)},
		{check: "manager.auth.other", serve: acceptsRefused(func(m *memory, in *request, _ *reply) bool {
			return in.of(query) && in.text("auth_token") != "" && !forged(m, in) && in.text("sender") == "player:P02"
		})},
		breaksLater("manager", bodyHas("")),
	}
}

// asAdmin is the condition that somebody asks to start the league who may. It counts how often.
func asAdmin(m *memory, in *request) bool {
	asks := in.of(starting) && in.text("auth_token") == adminToken
	if asks {
		m.count(starting)
	}
	return asks
}

// startMutants have faults in how the league begins, and who may join it then.
func startMutants() []mutant {
	takesStart := func(name string, conditions ...when) mutant {
		return mutant{check: "manager.start." + name, serve: accepts(append(conditions, isType(starting))...)}
	}
	started := func(name string, nth int) mutant {
		return mutant{check: "manager.start." + name, serve: acceptsRefused(func(m *memory, in *request, _ *reply) bool {
			return asAdmin(m, in) && m.seen[starting] == nth
		})}
	}
	fromWeb := func(_ *memory, in *request) bool { return in.header.Get("Origin") != "" }
	fromHere := func(_ *memory, in *request) bool { return in.header.Get("Origin") == "" }
	late := bodyHas("127.0.0.1:1/late")
	return []mutant{
		started("early", 1),
		started("over", 2),
		takesStart("missing", says("auth_token", ""), fromHere),
		takesStart("web", fromWeb),
		takesStart("token", forged),
		takesStart("player", signedBy("player")),
		{check: "manager.start.report", serve: accepts(isType(report), says("match_id", "R99M99"), lacks("round_id"))},
		{check: "manager.start.answer", serve: answers(starting, drop("status"))},
		{check: "manager.start.again", serve: refuses(isType(starting), func(m *memory, _ *request) bool { return m.count(starting) == 2 })},
		{check: "manager.late.refused", serve: accepts(late)},
		{check: "manager.late.form", serve: replaces(late, func(in *request) *reply { return refusal(in, 2001) })},
		{check: "manager.late.unharmed", serve: answering(func(m *memory, in *request, r *reply) *reply {
			if late(m, in) {
				m.count("late")
			}
			if m.seen["late"] == 0 || in.text("query_type") != "GET_PLAYERS" {
				return r
			}
			return r.edit(inside(func(data object) {
				data["players"] = append(data["players"].([]any), object{"player_id": "P06"})
			}, "data"))
		})},
		{check: "manager.late.back", serve: refuses(isType(application), func(_ *memory, in *request) bool { return in.text("auth_token") != "" })},
	}
}

// queryMutants answer questions about the league wrongly, before it begins or when it runs.
func queryMutants() []mutant {
	changes := func(rule, query string, edit func(m *memory, data object)) mutant {
		return mutant{check: "manager." + rule, serve: answering(func(m *memory, in *request, r *reply) *reply {
			asAdmin(m, in)
			if r.refused() || in.text("query_type") != query {
				return r
			}
			return r.edit(func(o object) {
				if data := within(o, "data"); data != nil {
					edit(m, data)
				}
			})
		})}
	}
	matches := func(data object) (all []object) {
		for _, round := range rows(data, "rounds") {
			all = append(all, rows(round, "matches")...)
		}
		return all
	}
	nothingNext := func(started bool) func(*memory, object) {
		return func(m *memory, data object) {
			if data["next_match"] == nil && (m.seen[starting] > 1) == started {
				data["next_match"] = object{"match_id": "R1M1"}
			}
		}
	}
	return []mutant{
		changes("query.status", "GET_STATUS", func(_ *memory, data object) { data["league_id"] = "another" }),
		changes("query.standings", "GET_STANDINGS", func(_ *memory, data object) { data["standings"] = []any{} }),
		{check: "manager.query.players", serve: refuses(says("query_type", "GET_PLAYERS"))},
		{check: "manager.query.secret", serve: reveals(remembersToken, says("query_type", "GET_STANDINGS"))},
		{check: "manager.query.secret", serve: reveals(remembersEndpoint, says("query_type", "GET_PLAYERS"))},
		{check: "manager.query.type", serve: accepts(says("query_type", "GET_WEATHER"))},
		{check: "manager.query.conversation", serve: answers(query, set("conversation_id", "another"))},
		changes("query.early", "GET_NEXT_MATCH", nothingNext(false)),
		changes("query.over", "GET_NEXT_MATCH", nothingNext(true)),
		changes("query.running", "GET_STATUS", func(_ *memory, data object) {
			if data["status"] == "running" {
				data["current_round"] = 7
			}
		}),
		changes("query.schedule", "GET_SCHEDULE", func(_ *memory, data object) {
			if rounds := data["rounds"].([]any); len(rounds) > 0 {
				data["rounds"] = rounds[:len(rounds)-1]
			}
		}),
		changes("query.progress", "GET_SCHEDULE", func(_ *memory, data object) {
			all := matches(data)
			if slices.ContainsFunc(all, func(m object) bool { return m["status"] == "PENDING" }) {
				for _, m := range all {
					if m["status"] == "FINISHED" {
						m["status"] = "RUNNING"
					}
				}
			}
		}),
		changes("query.next", "GET_NEXT_MATCH", func(_ *memory, data object) {
			if next := within(data, "next_match"); next != nil {
				next["opponent_id"] = "P99"
			}
		}),
		changes("standings.query", "GET_STANDINGS", func(_ *memory, data object) { rows(data, "standings")[0]["draws"] = 9 }),
		{check: "manager.load.concurrent", serve: refusesConcurrent()},
		{check: "manager.load.speed", halts: true, serve: func(m *memory, in *request, next onward) *reply {
			r := next(in)
			if in.text("query_type") == "GET_STATUS" && bytes.Contains(r.body, []byte(`"completed"`)) {
				time.Sleep(m.scale.of(silenceTimeout/4 + 100*time.Millisecond)) // the fault
			}
			return r
		}},
	}
}

// refusesConcurrent refuses a question for the schedule while another one comes.
func refusesConcurrent() fault {
	var waiting chan struct{} // closed when another one comes; guarded by the memory's lock
	return func(m *memory, in *request, next onward) *reply {
		if in.text("query_type") != "GET_SCHEDULE" || in.text("auth_token") == "" {
			return next(in)
		}
		m.Lock()
		if waiting != nil {
			close(waiting)
		}
		another := make(chan struct{})
		waiting = another
		m.Unlock()
		select {
		case <-another:
			return refusing(in)
		case <-time.After(m.scale.of(time.Second)): // alone
		}
		m.Lock()
		if waiting == another {
			waiting = nil
		}
		m.Unlock()
		return next(in)
	}
}

func remembersToken(m *memory, _ *request, answer object) { m.last = fmt.Sprint(answer["auth_token"]) }

func remembersEndpoint(m *memory, in *request, _ object) {
	m.last = fmt.Sprint(m.last, " ", within(in.read(), "player_meta")["contact_endpoint"])
}

// reveals has answers say what was remembered last of registrations.
func reveals(remembers func(m *memory, in *request, answer object), to when) fault {
	return then(answering(func(m *memory, in *request, r *reply) *reply {
		if to(m, in) && !r.refused() {
			return r.edit(set("x_stored", m.last))
		}
		return r
	}), receives(application, remembers))
}

// tells has messages of a type say what was remembered last of registrations.
func tells(check, t string, remembers func(m *memory, in *request, answer object)) mutant {
	return mutant{check: check, serve: receives(application, remembers), out: sends(t, func(m *memory, in *request) { in.message["x_stored"] = m.last })}
}

func badReportMutants() []mutant {
	acceptsBad := func(name string, condition func(m *memory, in *request, refusal object) bool) mutant {
		return mutant{check: "manager.report." + name, serve: acceptsRefused(func(m *memory, in *request, r *reply) bool {
			return in.of(report) && condition(m, in, within(parse(r.body), "error", "data"))
		})}
	}
	bad := func(name string, conditions ...when) mutant {
		return acceptsBad(name, func(m *memory, in *request, _ object) bool { return all(conditions...)(m, in) })
	}
	differs := func(name string, nth int) mutant {
		return acceptsBad(name, func(m *memory, _ *request, data object) bool {
			return data["error_code"] == "E041" && data["same_result"] == false && m.count("known") == nth
		})
	}
	return []mutant{
		differs("differs", 1),
		differs("late", 2),
		bad("unknown", says("match_id", "R99M99"), func(_ *memory, in *request) bool { return in.message["round_id"] != nil }),
		bad("token", forged),
		bad("tokenless", says("auth_token", "")),
		bad("player", signedBy("player")),
		acceptsBad("other", func(m *memory, in *request, data object) bool {
			return data["error_code"] == "E040" && in.match() != "R99M99" && signedBy("referee")(m, in)
		}),
		bad("context", says("league_id", "another-league")),
		bad("empty", lacks("result")),
		bad("score", func(_ *memory, in *request) bool {
			return strings.Contains(fmt.Sprint(within(in.message, "result")["score"]), ":30")
		}),
		bad("number", bodyHas("1000000")),
		bad("players", bodyHas(`"winner":"P98"`)),
		acceptsBad("winner", func(_ *memory, in *request, data object) bool {
			return data["error_code"] == "E046" && within(data, "context")["field"] == "winner" && in.text("league_id") == "cup"
		}),
	}
}

// reportMutantsOfManager have faults in how they take reports and refuse them.
func reportMutantsOfManager() []mutant {
	refusesForm := func(name string, condition when) mutant {
		return mutant{check: "manager.report." + name, serve: refuses(isType(report), condition)}
	}
	// again refuses what is known for no reason, for the nth time.
	again := func(name string, nth int) mutant {
		return mutant{check: "manager.report." + name, serve: answering(func(m *memory, in *request, r *reply) *reply {
			if in.of(report) && r.refused() && bytes.Contains(r.body, []byte(`"same_result":true`)) && m.count("again") == nth {
				return refusing(in)
			}
			return r
		})}
	}
	return []mutant{
		{check: "manager.report.ack", serve: receives(report, func(_ *memory, in *request, o object) {
			if strings.HasPrefix(in.match(), "R5") {
				o["message_type"] = "GAME_OVER_ACK"
			}
		})},
		{check: "manager.report.match", serve: answers(report, drop("match_id"))},
		refusesForm("envelope", methodIs("league.handle")),
		refusesForm("tool", bodyHas(`"arguments"`)),
		refusesForm("tool-io", bodyHas(`"input"`)),
		{check: "manager.report.bare", serve: unframes(isType(report))},
		refusesForm("nostatus", func(_ *memory, in *request) bool { return within(in.message, "result", "details")["status"] == nil }),
		again("again", 2),
		again("twice", 1),
		{check: "manager.report.codes", serve: answering(func(_ *memory, in *request, r *reply) *reply {
			if !in.of(report) || !holding(`"same_result":false`)(r) {
				return r
			}
			return r.framed(inside(set("code", -32000), "error"))
		})},
	}
}

// toReferee reports whether a message goes to a referee, by the token that was
// sent with a match to conduct.
func toReferee(m *memory, in *request) bool {
	token := in.text("auth_token")
	if in.of(announcement) && bytes.Contains(in.body, []byte("player_A_endpoint")) {
		m.tokens["referee"+token] = token
	}
	return m.tokens["referee"+token] != ""
}

// inRound is the condition that a message is about a round; 0 stands for any.
func inRound(round int) when {
	return func(_ *memory, in *request) bool {
		return round == 0 || fmt.Sprint(in.read()["round_id"]) == fmt.Sprint(round)
	}
}

// firstOf is the condition that a message is the first of its type in a round.
func firstOf(t string, round int) when {
	return all(isType(t), inRound(round), func(m *memory, _ *request) bool { return m.count(t) == 1 })
}

// loses swallows the first message of a type in a round to somebody.
func loses(t string, round int) fault { return replaces(firstOf(t, round), acked) }

func toReferees(t string, round int, edit func(object)) fault {
	return where(all(toReferee, isType(t), inRound(round)), emits(t, edit))
}

func renumbered(in *request) *request {
	again := &request{body: in.body, header: in.header}
	again.read()
	again.doc["id"] = "again"
	return again.written()
}

// repeats sends a message of a type in a round twice to a referee.
func repeats(t string, round int) fault {
	return followed(t, round, func(_ *memory, in *request) *request { return renumbered(in) })
}

// followed sends something more to the first referee, once, after a message of a type.
func followed(t string, round int, more func(m *memory, in *request) *request) fault {
	return func(m *memory, in *request, next onward) *reply {
		m.Lock()
		m.tokens[in.text("message_type")+in.text("auth_token")] = string(in.body) // the latest of its type
		m.Unlock()
		r := next(in)
		if r.err == nil && holding(`"referee_id":"REF01"`)(r) && m.holds(firstOf(t, round), in) {
			if r := next(more(m, in)); r.err != nil {
				return r
			}
		}
		return r
	}
}

// delays keeps a message of a type in a round until one of another type has gone
// to the same agent, or with "" until a referee was sent the round.
func delays(t string, round int, until string) fault {
	var kept func()
	var whose string
	return func(m *memory, in *request, next onward) *reply {
		m.Lock()
		referee := toReferee(m, in)
		keep := in.of(t) && inRound(round)(m, in) && kept == nil && referee == (until != "")
		if keep {
			whose = in.text("auth_token")
			kept = func() { next(in) } // it is a fault anyway
		}
		due := kept != nil && !keep && whose != "" && (until == "" && referee || in.of(until) && in.text("auth_token") == whose)
		m.Unlock()
		if keep {
			return acked(in)
		}
		r := next(in)
		if due {
			m.Lock()
			due, whose = whose != "", ""
			m.Unlock()
		}
		if due {
			kept()
		}
		return r
	}
}

func inMatches(edit func(match object)) func(object) {
	return func(o object) {
		for _, match := range rows(o, "matches") {
			edit(match)
		}
	}
}

func scheduleMutants() []mutant {
	given := func(name string) func(object) {
		return inMatches(func(match object) {
			if match[name] != nil {
				match[name] = "http://127.0.0.1:1/mcp"
			}
		})
	}
	return []mutant{
		{check: "manager.round.given", halts: true, out: replaces(all(toReferee, isType(announcement), inRound(2)), acked)},
		{check: "manager.round.announced", out: where(all(toReferee, isType(announcement)), assignsAlone)},
		{check: "manager.round.players", out: loses(announcement, 3)},
		{check: "manager.round.first", out: delays(announcement, 1, "")},
		repaired(),
		{check: "manager.round.byes", out: emits(announcement, set("byes", []any{}))},
		{check: "manager.round.matches", out: where(firstOf(announcement, 3), emits(announcement, func(o object) {
			match := rows(o, "matches")[0]
			match["player_A_id"], match["player_B_id"] = match["player_B_id"], match["player_A_id"]
		}))},
		{check: "manager.round.matches", out: emits(announcement, given("referee_endpoint"))},
		{check: "manager.round.matches", out: emits(announcement, given("player_A_endpoint"))},
	}
}

func privacyMutants() []mutant {
	return []mutant{
		tells("manager.message.secret", announcement, remembersEndpoint),
		{check: "manager.round.matches", out: emits(announcement, inMatches(func(match object) {
			if keys := within(match, "player_B_keys"); keys != nil {
				keys["expect"] = "0123456789abcdef"
			}
		}))},
		{check: "manager.message.secret", out: then(
			sends(announcement, func(m *memory, in *request) {
				for _, match := range rows(in.message, "matches") {
					if keys := within(match, "player_A_keys"); keys != nil {
						m.last = fmt.Sprint(keys["send"])
					}
				}
			}),
			sends(standings, func(m *memory, in *request) { in.message["x_stored"] = m.last }))},
		tells("manager.message.secret", standings, remembersToken),
	}
}

// repaired is a manager that gives two matches of the last round to the wrong
// players, and whose reports are put right before they are read.
func repaired() mutant {
	ids, endpoints := map[string]string{}, map[string]any{}
	swapped := func(tree any) {
		var first, second object
		each(tree, func(o object) bool {
			switch {
			case o["player_B_id"] == nil:
			case o["match_id"] == "R5M1":
				first = o
			case o["match_id"] == "R5M2":
				second = o
			}
			return true
		})
		if first == nil || second == nil {
			return
		}
		first["player_B_id"], second["player_B_id"] = second["player_B_id"], first["player_B_id"]
		ids["R5M1"] = fmt.Sprint(first["player_B_id"], " ", second["player_B_id"])
		ids["R5M2"] = fmt.Sprint(second["player_B_id"], " ", first["player_B_id"])
		for _, o := range []object{first, second} {
			delete(o, "player_B_keys")
			if o["player_B_endpoint"] != nil {
				o["player_B_endpoint"] = endpoints[fmt.Sprint(o["player_B_id"])]
			}
		}
	}
	return mutant{
		check: "manager.round.pairs",
		out:   sends(announcement, func(_ *memory, in *request) { swapped(in.doc) }),
		serve: func(m *memory, in *request, next onward) *reply {
			m.Lock()
			told, right, changed := strings.Cut(ids[in.match()], " ")
			m.Unlock()
			if in.of(report) && changed {
				in = &request{body: bytes.ReplaceAll(in.body, []byte(`"`+told+`"`), []byte(`"`+right+`"`)), header: in.header}
			}
			r := next(in)
			m.Lock()
			defer m.Unlock()
			switch {
			case r.refused():
			case in.of(application):
				r.edit(func(o object) {
					endpoints[fmt.Sprint(o["player_id"])] = within(in.read(), "player_meta")["contact_endpoint"]
				})
			case in.text("query_type") == "GET_SCHEDULE":
				return r.framed(func(doc object) { swapped(doc) })
			}
			return r
		},
	}
}

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
		{check: "manager.message.proof", out: func(m *memory, in *request, next onward) *reply {
			in.read()["auth_token"] = "tok-LM-0123456789abcdef"
			return next(in.written())
		}},
	}
}

func tableMutants() []mutant {
	swapsRanks := func(i, j int) func(object) {
		return func(o object) {
			r := rows(o, "standings")
			r[i]["rank"], r[j]["rank"] = r[j]["rank"], r[i]["rank"]
		}
	}
	return []mutant{
		{check: "manager.standings.sent", halts: true, out: loses(standings, 3)},
		{check: "manager.standings.players", out: toReferees(standings, 0, func(o object) { rows(o, "standings")[0]["rank"] = 2 })},
		{check: "manager.standings.points", out: toReferees(standings, 0, func(o object) { rows(o, "standings")[0]["played"] = 9 })},
		{check: "manager.standings.order", out: toReferees(standings, 5, swapsRanks(1, 2))},
		{check: "manager.standings.ties", out: toReferees(standings, 5, swapsRanks(0, 1))},
		{check: "manager.roundend.sent", halts: true, out: loses(roundEnd, 3)},
		{check: "manager.roundend.early", out: followed(announcement, 1, func(_ *memory, in *request) *request {
			early := renumbered(in)
			delete(early.read(), "matches")
			early.doc["method"] = "notify_round_completed"
			early.message["message_type"], early.message["matches_played"], early.message["next_round_id"] = roundEnd, 2, 2
			return early.written()
		})},
		{check: "manager.roundend.once", out: repeats(roundEnd, 3)},
		{check: "manager.roundend.table", out: delays(standings, 3, roundEnd)},
		{check: "manager.roundend.before", out: delays(roundEnd, 2, announcement)},
		{check: "manager.roundend.summary", out: emits(roundEnd, inside(set("wins", 7), "summary"))},
		{check: "manager.roundend.next", out: emits(roundEnd, set("next_round_id", 9))},
		{check: "manager.end.sent", halts: true, out: loses(completed, 0)},
		{check: "manager.end.once", out: repeats(completed, 0)},
		{check: "manager.end.last", out: followed(completed, 0, func(m *memory, in *request) *request {
			m.Lock()
			defer m.Unlock()
			return renumbered(&request{body: []byte(m.tokens[standings+in.text("auth_token")])})
		})},
		{check: "manager.end.standings", out: emits(completed, func(o object) { rows(o, "final_standings")[0]["points"] = 99 })},
		{check: "manager.end.champion", out: emits(completed, inside(set("player_id", "P01"), "champion"))},
		{check: "manager.end.totals", out: emits(completed, set("total_matches", 99))},
	}
}

func notifyMutants() []mutant {
	return []mutant{
		{check: "manager.notify.busy", halts: true, out: instead(announcement, isBusy, acked)},
		{check: "manager.notify.broken", halts: true, out: instead(announcement, brokenOff, acked)},
		{check: "manager.notify.silent", slow: true, halts: true},
		{check: "manager.notify.same", out: sends(announcement, func(m *memory, in *request) {
			n := m.count(in.text("auth_token") + fmt.Sprint(in.message["round_id"]))
			in.message["conversation_id"] = fmt.Sprint(in.text("conversation_id"), "-", n)
		})},
	}
}

// assignsOneByOne is a manager like some real ones: it sends players no round, assigns
// one match at a time, and ends rounds and the league without a message.
func assignsOneByOne(m *memory, in *request, next onward) *reply {
	referee := m.holds(toReferee, in)
	switch {
	case in.of(roundEnd), in.of(completed), in.of(announcement) && !referee:
		return acked(in)
	case !in.of(announcement):
		return next(in)
	}
	return assignsAlone(m, in, next)
}

// assignsAlone sends the matches of an announcement to a referee one by one.
func assignsAlone(_ *memory, in *request, next onward) *reply {
	for _, match := range rows(in.message, "matches") {
		if match["player_A_endpoint"] == nil {
			continue // another referee's
		}
		for name, value := range in.message {
			if name != "matches" && name != "byes" {
				match[name] = value
			}
		}
		match["message_type"] = "START_MATCH"
		r := next(&request{header: in.header, body: write(object{"jsonrpc": "2.0", "id": fmt.Sprint(in.doc["id"], match["match_id"]), "method": "start_match", "params": match})})
		if r.err != nil {
			return r
		}
	}
	return acked(in)
}
