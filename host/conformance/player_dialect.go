package conformance

import (
	"fmt"

	"github.com/strategylab/strategylab/host/protocol"
)

// dialectChecks are about the ways in which messages are wrapped and named. A
// player that understands only its own can play under most managers.
func dialectChecks() []Check {
	in := func(d *protocol.Dialect, rule string) Check {
		return Check{
			ID: "player.dialect." + d.Name, Level: Wild, Needs: []string{choiceAnswered},
			Rule:   rule + " (league.v2, dialects)",
			Advice: "Look for the message where its wrapping puts it, dispatch by message_type, and answer in the wrapping that was used.",
			run:    forPlayer(func(p playerT) { p.inKind(d) }),
		}
	}
	named := func(name string, level Level, rule, join, choose string) Check {
		return Check{
			ID: "player.dialect." + name, Level: level, Needs: []string{choiceAnswered},
			Rule:   rule,
			Advice: "Dispatch by message_type, wherever it sits, and not by the method.",
			run:    forPlayer(func(p playerT) { p.byName(join, choose) }),
		}
	}
	return []Check{
		in(protocol.Contracts, "A message whose fields stand flat in params is answered flat in result."),
		in(protocol.Envelope, "A message to league.handle, with the header in params.envelope and the rest in params.payload, is answered in result.envelope and result.payload."),
		in(protocol.Tool, "A message by tools/call with params.name and params.arguments is answered as a tool result, in structuredContent or as text in content."),
		in(protocol.ToolIO, "A message by tools/call with params.tool and params.input is answered in result.output."),
		in(protocol.Bare, "A message without JSON-RPC is answered without, or refused."),
		in(protocol.HandleMessage, "A message to handle_message, in params.message, is answered flat in result."),
		named("alias", Should, "The call for a choice is taken under both its names, parity_choose and choose_parity (league.v2, dialects).", "handle_game_invitation", "choose_parity"),
		named("type", Wild, "A message whose method is its message_type is taken (observed in real leagues).", string(protocol.TypeGameInvitation), string(protocol.TypeChooseParityCall)),
		named("lower", Wild, "A message whose method is its message_type in lower case is taken (observed in real leagues).", "game_invitation", "choose_parity_call"),
		named("unknown", Wild, "A message with a known message_type is taken under a method that nobody has heard of (observed in real leagues).", "unknown", "unknown"),
	}
}

// inKind plays a match in a dialect.
func (p playerT) inKind(d *protocol.Dialect) {
	b := p.bout()
	join := p.deliver(letter{message: p.invitation(b), dialect: d})
	if d == protocol.Bare && join.Refused {
		p.Note("refused, as in strict mode: %s", join)
		return
	}
	p.accepted(join, protocol.TypeGameJoinAck)
	p.wrapped(join, d)
	a := p.deliver(letter{message: p.call(b), dialect: d})
	p.chooses(a)
	p.wrapped(a, d)
}

// wrapped ends the check unless an answer is in the dialect of its request.
func (p playerT) wrapped(a *Answer, d *protocol.Dialect) {
	if a.Wrapping != wrapping(d) {
		p.Fail("asked in %s, it answers in %s", d.Name, a.Wrapping)
	}
}

// wrapping is how ReadAnswer calls the wrapping of a dialect's answers.
func wrapping(d *protocol.Dialect) string {
	switch place := d.Answer; {
	case place.Bare:
		return protocol.DialectBare
	case place.Content:
		return protocol.DialectTool
	case place.Header != "":
		return protocol.DialectEnvelope
	case place.Name != "":
		return protocol.DialectToolIO
	}
	return protocol.DialectContracts
}

// byName plays a match by methods of other names.
func (p playerT) byName(join, choose string) {
	if p.dialect.Request.Method != "" || p.dialect.Request.Bare {
		p.Skip("it registered in %s, where methods have no say", p.dialect.Name)
	}
	b := p.bout()
	p.accepted(p.deliver(letter{message: p.invitation(b), dialect: p.dialect, method: join}), protocol.TypeGameJoinAck)
	p.chooses(p.deliver(letter{message: p.call(b), dialect: p.dialect, method: choose}))
}

// fieldChecks are about what a message may hold beyond and short of the book.
func fieldChecks() []Check {
	return []Check{
		{
			ID: "player.fields.unknown", Level: Must, Needs: []string{choiceAnswered},
			Rule:   "Members that the player does not know are passed over (league.v2, validation).",
			Advice: "Read the members that you need, and do not refuse others; in Python, do not pass **params on to a function.",
			run: forPlayer(func(p playerT) {
				b := p.bout()
				more := func(m map[string]any) {
					m["x_weather"], m["x_list"], m["x_object"] = "sunny", []any{1, nil}, map[string]any{"a": true}
				}
				p.accepted(p.edited(p.invitation(b), more), protocol.TypeGameJoinAck)
				p.chooses(p.edited(p.call(b), more))
			}),
		},
		{
			ID: "player.fields.time", Level: Should, Needs: []string{choiceAnswered},
			Rule:   "Times with fractions of a second, and with +00:00 in the place of Z, are read (league.v2, header fields).",
			Advice: "Read times with a library, or do not read them at all.",
			run:    forPlayer(readsTimes),
		},
		{
			ID: "player.fields.optional", Level: Should, Needs: []string{choiceAnswered},
			Rule:   "A call without league_id and round_id, which the protocol does not demand there, is answered (CHOOSE_PARITY_CALL).",
			Advice: "Treat both as optional; match_id alone identifies the match.",
			run: forPlayer(func(p playerT) {
				call := p.call(p.joined())
				call.LeagueID, call.RoundID = "", protocol.Round{}
				p.chooses(p.send(call))
			}),
		},
		{
			ID: "player.fields.missing", Level: Wild, Needs: []string{choiceAnswered},
			Rule:   "A call without context, deadline, game_type, player_id and conversation_id is answered, or refused in a way that can be read (observed in real leagues).",
			Advice: "Do not let the program fail on a member that is missing; answer what can be answered, and everything else by a JSON-RPC error.",
			run: forPlayer(func(p playerT) {
				p.answeredSomehow(p.edited(p.call(p.joined()), func(m map[string]any) {
					for _, name := range []string{"context", "deadline", "game_type", "player_id", "conversation_id"} {
						delete(m, name)
					}
				}))
			}),
		},
		{
			ID: "player.fields.round", Level: Wild, Needs: []string{choiceAnswered},
			Rule:   `A round_id that is text, such as "ROUND_1", is taken, or refused in a way that can be read (observed in real leagues).`,
			Advice: "Do not calculate with round_id.",
			run: forPlayer(func(p playerT) {
				b := p.bout()
				p.answeredSomehow(p.edited(p.invitation(b), func(m map[string]any) { m["round_id"] = fmt.Sprintf("ROUND_%d", b.round) }))
			}),
		},
	}
}

func readsTimes(p playerT) {
	for _, stamp := range []string{"2026-03-14T09:10:13.250Z", "2026-03-14T09:10:13.250001+00:00", "2026-03-14T09:10:13+00:00"} {
		b := p.bout()
		invitation := p.invitation(b)
		invitation.Timestamp = stamp
		p.accepted(p.send(invitation), protocol.TypeGameJoinAck)
		call := p.call(b)
		call.Timestamp = stamp
		p.chooses(p.send(call))
	}
}

// answeredSomehow ends the check unless an answer is one, or a refusal that can
// be read.
func (p playerT) answeredSomehow(a *Answer) {
	if a.Refused {
		p.Note("%s", a)
		return
	}
	p.accepted(a, "")
}
