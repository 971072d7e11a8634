package conformance

import (
	"bytes"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/protocol"
)

// believingChecks are about who is believed to be the manager.
func believingChecks() []Check {
	check := func(name string, level Level, rule, advice string, run func(p refereeT)) Check {
		return Check{ID: "referee.auth." + name, Level: level, Needs: []string{refereePlays, refereeHears}, Rule: rule, Advice: advice, run: forReferee(run)}
	}
	const compare = "Keep the auth_token of the first message from the manager, and refuse league messages that bear another."
	refused := func(change func(p refereeT, m *protocol.RoundAnnouncement)) func(p refereeT) {
		return func(p refereeT) {
			p.accepted(p.send(p.standings(0)), "") // so that the token has been seen
			d := p.duel(plan{})
			m := p.announcement(d)
			change(p, m)
			p.refused(p.send(m))
			p.leavesAlone(d)
		}
	}
	return []Check{
		check("token", Should, "An announcement whose auth_token is not the manager's is refused, and its matches are not played, once the manager has shown its token (3001, E012).", compare,
			refused(func(_ refereeT, m *protocol.RoundAnnouncement) { m.AuthToken = forged })),
		check("sender", Should, "An announcement that a player signs is refused, and its matches are not played (3001, E012).", "Refuse league messages whose sender is not league_manager.",
			refused(func(_ refereeT, m *protocol.RoundAnnouncement) {
				m.Sender = protocol.Sender(protocol.RolePlayer, playerIDs[sideA])
			})),
		check("league", Should, "An announcement of another league is refused, and its matches are not played (E046).", "Compare league_id with that of the answer to the registration.",
			refused(func(p refereeT, m *protocol.RoundAnnouncement) {
				m.LeagueID = "elsewhere"
				m.AuthToken = p.verifier.ManagerToken(p.league)
			})),
		check("quiet", Should, "A refusal does not repeat the token that was given (league.v2, errors).", "Leave tokens out of error texts, or cut them.",
			func(p refereeT) {
				m := p.standings(0)
				p.accepted(p.send(m), "")
				m.AuthToken = forged
				if a := p.send(m); a.Refused && bytes.Contains(a.Body, []byte(forged)) {
					p.Fail("the refusal repeats the token whole")
				}
			}),
		check("completed", Should, "LEAGUE_COMPLETED is believed from the manager only: one with another auth_token is refused, and the referee goes on (league.v2, authentication).", compare,
			func(p refereeT) {
				p.accepted(p.send(p.standings(0)), "")
				m := p.leagueCompleted()
				m.AuthToken = forged
				p.refused(p.send(m))
				p.played(plan{})
			}),
	}
}

func (p refereeT) leagueCompleted() *protocol.LeagueCompleted {
	p.mu.Lock()
	rounds := max(p.rounds, 1)
	p.mu.Unlock()
	m := &protocol.LeagueCompleted{
		Header: p.fromManager(protocol.TypeLeagueCompleted, rounds), TotalRounds: protocol.Some(rounds), TotalMatches: protocol.Some(rounds),
		Champion:       &protocol.Champion{PlayerID: playerIDs[sideA], DisplayName: playerIDs[sideA], Points: protocol.Some(1)},
		FinalStandings: standings(playerIDs[:]...),
	}
	m.RoundID = protocol.Round{}
	return m
}

// frameChecks are about JSON-RPC, and the ways in which messages are wrapped.
func frameChecks() []Check {
	id := func(name, id, what string) Check {
		return Check{
			ID: "referee.rpc." + name, Level: Must, Needs: []string{refereeHears},
			Rule:   "An answer bears the id of its request with its type kept: " + what + " (JSON-RPC 2.0, response object).",
			Advice: "Take the id as it was parsed and write it back; never convert it.",
			run: forReferee(func(p refereeT) {
				p.wrapsInRPC()
				a := p.Send(letter{message: p.standings(0), dialect: p.dialect, id: id})
				p.accepted(a, "")
				if got := string(a.Document["id"]); got != id {
					p.Fail("the id %s came back as %s", id, orMissing(a.Document["id"]))
				}
			}),
		}
	}
	in := func(d *protocol.Dialect, rule string) Check {
		return Check{
			ID: "referee.dialect." + d.Name, Level: Wild, Needs: []string{refereeHears}, Rule: rule + " (league.v2, dialects)",
			Advice: "Look for the message where its wrapping puts it, dispatch by message_type, and answer in the wrapping that was used.",
			run: forReferee(func(p refereeT) {
				a := p.Send(letter{message: p.standings(0), dialect: d})
				if d == protocol.Bare && a.Refused {
					p.Note("refused, as in strict mode: %s", a)
					return
				}
				p.accepted(a, "")
				if a.Wrapping != d.Name {
					p.Fail("asked in %s, it answers in %s", d.Name, a.Wrapping)
				}
			}),
		}
	}
	named := func(name, rule, method string) Check {
		return Check{
			ID: "referee.dialect." + name, Level: Wild, Needs: []string{refereeHears}, Rule: rule,
			Advice: "Dispatch by message_type, wherever it sits, and not by the method.",
			run: forReferee(func(p refereeT) {
				if p.dialect.Request.Method != "" || p.dialect.Request.Bare {
					p.Skip("it registered in %s, where methods have no say", p.dialect.Name)
				}
				p.accepted(p.Send(letter{message: p.standings(0), dialect: p.dialect, method: method}), "")
			}),
		}
	}
	return []Check{
		id("string", `"42"`, "a string stays a string, also one of digits"),
		id("number", `42`, "a number stays a number"),
		id("large", `9007199254740993`, "a number beyond 2^53 keeps its digits"),
		{
			ID: "referee.rpc.noid", Level: Should, Needs: []string{refereeHears},
			Rule:   "A request of the league without an id is refused with id null (league.v2, transport).",
			Advice: "Answer a request without id by the error -32600 with id null.",
			run: forReferee(func(p refereeT) {
				p.wrapsInRPC()
				var doc map[string]any
				decode(p.body(letter{message: p.standings(0), dialect: p.dialect}), &doc)
				delete(doc, "id")
				p.refused(ReadAnswer(p.Post(encode(doc), nil)))
			}),
		},
		in(protocol.Envelope, "A message to league.handle, with the header in params.envelope and the rest in params.payload, is answered in result.envelope and result.payload."),
		in(protocol.Tool, "A message by tools/call with params.name and params.arguments is answered as a tool result, in structuredContent or as text in content."),
		in(protocol.ToolIO, "A message by tools/call with params.tool and params.input is answered in result.output."),
		in(protocol.Bare, "A message without JSON-RPC is answered without, or refused."),
		named("type", "A message whose method is its message_type is taken (observed in real leagues).", string(protocol.TypeLeagueStandingsUpdate)),
		named("unknown", "A message with a known message_type is taken under a method that nobody has heard of (observed in real leagues).", "unknown"),
		{
			ID: "referee.fields.unknown", Level: Must, Needs: []string{refereePlays},
			Rule:   "Members that the referee does not know are passed over, in the message and in its matches (league.v2, validation).",
			Advice: "Read the members that you need, and do not refuse others; in Python, do not pass **params on to a function.",
			run: forReferee(func(p refereeT) {
				d := p.duel(plan{})
				p.edited(p.announcement(d), inMatch(func(m, match map[string]any) { m["x_weather"], match["x_list"] = "sunny", []any{1, nil} }))
				p.ends(d)
			}),
		},
	}
}

func (p refereeT) wrapsInRPC() {
	if p.dialect.Request.Bare {
		p.Skip("it registered without JSON-RPC and is spoken to so")
	}
}

// inMatch edits an announcement and its first match.
func inMatch(edit func(m, match map[string]any)) func(map[string]any) {
	return func(m map[string]any) {
		if list, ok := m["matches"].([]any); ok && len(list) > 0 {
			edit(m, list[0].(map[string]any))
		}
	}
}

// burdenChecks are about many matches, and slow peers.
func burdenChecks() []Check {
	return []Check{
		duelCheck("load.concurrent", Must, "A referee keeps the matches apart that it conducts at the same time: each is reported with its own choices.", "Keep what belongs to a match by match_id, and nothing of it in variables that all matches share.",
			conductsMany),
		duelCheck("load.limit", Should, "No more matches are under way at once than max_concurrent_matches of the registration says.", "Let matches wait until others have ended, or register with the right number.",
			keepsToItsLimit),
		{
			ID: "referee.load.stalled", Level: Should, Needs: []string{refereeHears},
			Rule:   "A peer that sends slowly holds up nobody else: while one request is under way, others are answered.",
			Advice: "Serve requests concurrently; in Python, ThreadingHTTPServer in the place of HTTPServer.",
			run: forReferee(func(p refereeT) {
				p.besideSlowPeer(func() *Answer { return p.send(p.standings(0)) })
			}),
		},
		{
			ID: "referee.load.speed", Level: Should, Needs: []string{refereeHears},
			Rule:   "An announcement is acknowledged at once, within a quarter of the time that the manager waits: matches are played afterwards.",
			Advice: "Begin matches in the background, and answer first.",
			run: forReferee(func(p refereeT) {
				d := p.duel(plan{})
				a := p.send(p.announcement(d))
				p.ends(d)
				if limit := p.counter.opts.Timeout / 4; a.Took > limit {
					p.Fail("the acknowledgement took %v of %v", a.Took.Round(time.Millisecond), p.counter.opts.Timeout)
				}
				p.Note("acknowledged after %.1f ms", milliseconds(a.Took))
			}),
		},
	}
}

// besideSlowPeer asks while another peer has sent half a request.
func (t *T) besideSlowPeer(ask func() *Answer) {
	u, err := parseHTTP(t.counter.opts.URL)
	if err != nil {
		t.Skip("it is tried over plain HTTP only")
	}
	conn, err := stall(t.ctx, u)
	if err != nil {
		t.Fail("no second connection: %v", err)
	}
	defer conn.Close() // it has served
	a := ask()
	if a.Err != nil {
		t.Fail("while another peer had sent half a request, a message was not answered: %v", a.Err)
	}
	t.accepted(a, "")
}

// limit is how many matches the referee says that it conducts at once.
func (p refereeT) limit() int {
	p.needsRegistration()
	p.mu.Lock()
	defer p.mu.Unlock()
	n, _ := number(p.asked[0].refereeMeta()["max_concurrent_matches"])
	return n
}

func conductsMany(p refereeT) {
	const many = 5
	var plans []plan
	choices := []protocol.Choice{protocol.Even, protocol.Odd}
	for i := range many {
		plans = append(plans, plan{choose: [2]reaction{choosing(choices[i&1]), choosing(choices[i>>1&1])}})
	}
	all := p.together(plans...)
	p.send(p.announcement(all...))
	for i, d := range all {
		p.ends(d)
		h := p.one(d, protocol.TypeMatchResultReport, atManager)
		got := h.reported().choices
		if got[playerIDs[sideA]] != string(choices[i&1]) || got[playerIDs[sideB]] != string(choices[i>>1&1]) {
			p.Fail("in match %s, one of %d at a time, %s and %s were chosen; the report has %v", d.id, many, choices[i&1], choices[i>>1&1], got)
		}
	}
}

// mostTried is the largest number of matches that is tried at once.
const mostTried = 20

func keepsToItsLimit(p refereeT) {
	limit := p.limit()
	if limit < 1 || limit > mostTried {
		p.Skip("it registered for %d matches at once; up to %d are tried", limit, mostTried)
	}
	open, most := 0, 0 // under the side's lock
	wait := p.aMoment()
	plans := make([]plan, limit+2)
	for i := range plans {
		plans[i] = plan{
			join: [2]reaction{func(d *duel, h *heard) Said {
				d.side.mu.Lock()
				if h.n == 1 {
					open++
					most = max(most, open)
				}
				d.side.mu.Unlock()
				d.side.until(wait, func() bool { return most > limit })
				return joining()(d, h)
			}},
			choose: [2]reaction{func(d *duel, h *heard) Said {
				d.side.mu.Lock()
				if h.n == 1 {
					open-- // before GAME_OVER, lest the next begins before we know
				}
				d.side.mu.Unlock()
				return choosing(protocol.Even)(d, h)
			}},
		}
	}
	all := p.together(plans...)
	p.send(p.announcement(all...))
	for _, d := range all {
		p.ends(d)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if most > limit {
		p.Fail("%d matches were under way at once; it registered for %d", most, limit)
	}
	p.Note("%d at most", most)
}

// refereeHostileChecks are about input that no good peer sends.
func refereeHostileChecks() []Check {
	valid := func(t *T) letter {
		p := refereeT{t, t.side.(*refereeSide)}
		return letter{message: p.announcement(p.duel(plan{})), dialect: p.dialect}
	}
	bad := func(name, what string, edit func(m, match map[string]any)) attack {
		return attack{name, Should, what, 0, func(t *T, valid func() letter) *Answer {
			l := valid()
			l.edit = inMatch(edit)
			return t.Send(l)
		}}
	}
	all := append(attacks(protocol.TypeRoundAnnouncement, "notify_match_result"),
		bad("match", "An announcement of a match without match_id", func(_, match map[string]any) { delete(match, "match_id") }),
		bad("wrongtype", "An announcement whose match_id is a number", func(_, match map[string]any) { match["match_id"] = 7 }),
		bad("path", "An announcement whose match_id is a path", func(_, match map[string]any) { match["match_id"] = "../../R1M1" }),
		bad("self", "A match of a player against itself", func(_, match map[string]any) { match["player_B_id"] = match["player_A_id"] }),
		bad("twice", "An announcement in which a match stands twice", func(m, match map[string]any) { m["matches"] = []any{match, match} }),
		bad("game", "A match of another game than even_odd", func(_, match map[string]any) { match["game_type"] = "chess" }),
	)
	return append(attackChecks(Referee, all, valid), Check{
		ID: "referee.hostile.then", Level: Must, Needs: []string{refereePlays},
		Rule:   "After all that, the referee goes on conducting matches.",
		Advice: "Let no input end or block the process: handle each request apart, and release locks when one fails.",
		run:    forReferee(func(p refereeT) { p.played(plan{}) }),
	})
}

// refereeEndChecks come last, since a referee may leave when its league is
// complete.
func refereeEndChecks() []Check {
	return []Check{
		{
			ID: "referee.register.once", Level: Should,
			Rule:   "A referee that was accepted does not register a second time unasked (league.v2, registration).",
			Advice: "Read status ACCEPTED and the referee_id from the answer, wherever it sits, and stop registering.",
			run: forReferee(func(p refereeT) {
				p.first()
				p.mu.Lock()
				asked := slices.DeleteFunc(slices.Clone(p.asked), func(r *registration) bool { return !r.accepted })
				allowed := 1 + p.renewals
				p.mu.Unlock()
				if len(asked) > allowed {
					p.saw("the referee to the manager", asked[len(asked)-1].Raw)
					p.Fail("it registered %s and was accepted each time", times(len(asked)))
				}
			}),
		},
		{
			ID: "referee.end.ack", Level: Should,
			Rule:   "LEAGUE_COMPLETED is answered by LEAGUE_COMPLETED_ACK, before the referee leaves.",
			Advice: "Send the answer first, and end the process afterwards.",
			run: forReferee(func(p refereeT) {
				p.needsRegistration()
				p.accepted(p.send(p.leagueCompleted()), protocol.TypeLeagueCompletedAck)
			}),
		},
	}
}
