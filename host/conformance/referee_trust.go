package conformance

import (
	"bytes"

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
			run:    forReferee(func(p refereeT) { p.answersInKind(p.standings(0), d) }),
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
