package conformance

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/protocol"
)

var toPlayers = []protocol.Type{protocol.TypeGameInvitation, protocol.TypeChooseParityCall, protocol.TypeGameOver}

// askingChecks are about what the players are sent.
func askingChecks() []Check {
	var checks []Check
	for _, t := range toPlayers {
		name := map[protocol.Type]string{protocol.TypeGameInvitation: "invitation", protocol.TypeChooseParityCall: "call", protocol.TypeGameOver: "over"}[t]
		each := func(look func(p refereeT, d *duel, h *heard)) func(p refereeT) {
			return func(p refereeT) {
				d := p.scene("win")
				for _, who := range []int{sideA, sideB} {
					look(p, d, p.one(d, t, who))
				}
			}
		}
		checks = append(checks,
			duelCheck(name+".header", Must, fmt.Sprintf(`%s bears protocol "league.v2", message_type, timestamp, conversation_id, and the sender referee:<referee_id> (league.v2, header fields).`, t),
				"Put all header fields into every request, with the id that the manager gave.",
				each(func(p refereeT, _ *duel, h *heard) {
					p.header(h.message, t)
					p.bears(h, "sender", protocol.Sender(protocol.RoleReferee, p.id))
				})),
			duelCheck(name+".token", Should, fmt.Sprintf("%s bears as auth_token the match key that the announcement gave for that player in player_A_keys.send or player_B_keys.send, by which players know the referee (league.v2, authentication).", t),
				"Sign what goes to a player with the send key of that player; a strict player refuses everything else.",
				each(func(p refereeT, d *duel, h *heard) {
					if got := h.message.text("auth_token"); got != d.keys[h.who].Send {
						p.Fail("auth_token is %s, want %q", orMissing(h.message["auth_token"]), d.keys[h.who].Send)
					}
				})),
			duelCheck(name+".match", Must, fmt.Sprintf("%s bears the match_id, and where it bears league_id, round_id and game_type they are those of the announcement (%s).", t, t),
				"Copy them from the announcement.",
				each(func(p refereeT, d *duel, h *heard) { p.context(d, h) })),
		)
	}
	return append(checks,
		duelCheck("invitation.role", Should, "GAME_INVITATION bears role_in_match, PLAYER_A for the first and PLAYER_B for the second (GAME_INVITATION).", "Add role_in_match.",
			func(p refereeT) {
				d := p.scene("win")
				p.bears(p.one(d, protocol.TypeGameInvitation, sideA), "role_in_match", protocol.PlayerA)
				p.bears(p.one(d, protocol.TypeGameInvitation, sideB), "role_in_match", protocol.PlayerB)
			}),
		duelCheck("invitation.opponent", Should, "GAME_INVITATION bears opponent_id, the other player (GAME_INVITATION).", "Add opponent_id.",
			func(p refereeT) {
				d := p.scene("win")
				p.bears(p.one(d, protocol.TypeGameInvitation, sideA), "opponent_id", playerIDs[sideB])
				p.bears(p.one(d, protocol.TypeGameInvitation, sideB), "opponent_id", playerIDs[sideA])
			}),
		duelCheck("call.player", Should, "CHOOSE_PARITY_CALL bears the player_id of who is asked (CHOOSE_PARITY_CALL).", "Add player_id.",
			func(p refereeT) {
				d := p.scene("win")
				for who, id := range playerIDs {
					p.bears(p.one(d, protocol.TypeChooseParityCall, who), "player_id", id)
				}
			}),
		duelCheck("call.context", Should, "CHOOSE_PARITY_CALL bears context with opponent_id and your_standings (CHOOSE_PARITY_CALL).", "Add both; a player without matches has zeros.",
			func(p refereeT) {
				d := p.scene("win")
				for who := range playerIDs {
					context := object(p.one(d, protocol.TypeChooseParityCall, who).message["context"])
					if got := context.text("opponent_id"); got != playerIDs[1-who] {
						p.Fail("context.opponent_id is %s, want %q", orMissing(context["opponent_id"]), playerIDs[1-who])
					}
					if object(context["your_standings"]) == nil {
						p.Fail("context.your_standings is %s, want an object", orMissing(context["your_standings"]))
					}
				}
			}),
		duelCheck("call.standings", Should, "context.your_standings is the player's record as LEAGUE_STANDINGS_UPDATE last had it (league.v2, flow).",
			"Keep the standings that the manager sends, and copy the player's line.", tellsStandings),
		duelCheck("call.deadline", Should, "CHOOSE_PARITY_CALL bears a deadline in UTC that is not before its timestamp (CHOOSE_PARITY_CALL).", "Add deadline: now and the time that the player has.",
			hasDeadline),
		duelCheck("message.utc", Must, "A timestamp is ISO 8601 in UTC and ends in Z or +00:00 (league.v2, header fields).", writeUTC,
			func(p refereeT) {
				p.everything(func(h *heard) {
					if _, err := protocol.ParseTimestamp(h.message.text("timestamp")); err != nil && h.message.has("timestamp") {
						p.show(h)
						p.Fail("timestamp of %s: %v", h.Type, err)
					}
				})
			}),
		duelCheck("message.seconds", Wild, "A timestamp has whole seconds and ends in Z, which is the one spelling that every receiver reads (observed in real leagues).", "Leave the fraction out, and write Z instead of +00:00.",
			func(p refereeT) {
				p.everything(func(h *heard) {
					stamp := h.message.text("timestamp")
					if _, err := protocol.ParseTimestamp(stamp); err == nil && (strings.Contains(stamp, ".") || !strings.HasSuffix(stamp, "Z")) {
						p.show(h)
						p.Fail("timestamp of %s is %q", h.Type, stamp)
					}
				})
			}),
		duelCheck("message.conversation", Should, "conversation_id is shared by the invitation, the call and GAME_OVER of one match (league.v2, header fields).", "Make one conversation_id for a match, and put it into all its messages.",
			func(p refereeT) {
				for who := range playerIDs {
					conversation := ""
					for _, h := range p.all(p.scene("win"), "", who) {
						if c := h.message.text("conversation_id"); conversation == "" {
							conversation = c
						} else if c != "" && c != conversation {
							p.show(h)
							p.Fail("the conversation_id of %s is %q; before it was %q", h.Type, c, conversation)
						}
					}
				}
			}),
		duelCheck("message.rpc", Must, `A request bears jsonrpc "2.0", a method, and an id that is a string or a number (league.v2, transport).`, "Send JSON-RPC 2.0 requests.",
			func(p refereeT) {
				p.everything(func(h *heard) {
					doc := object(h.Raw)
					if doc.text("jsonrpc") != "2.0" || doc.text("method") == "" || !isID(doc["id"]) {
						p.show(h)
						p.Fail("%s: jsonrpc is %s, method is %s, id is %s", h.Type, orMissing(doc["jsonrpc"]), orMissing(doc["method"]), orMissing(doc["id"]))
					}
				})
			}),
		duelCheck("message.media", Must, "What a referee sends, its registration included, is labelled Content-Type: application/json (league.v2, transport).",
			"Send the header; strict receivers answer HTTP 415 without it.", labelsJSON),
		duelCheck("message.secret", Should, "The token that the manager gave the referee is not sent to players, who could report results with it (league.v2, authentication).",
			"Sign what goes to players with the match keys of the announcement, and never send your own token to anybody but the manager.",
			func(p refereeT) {
				p.everything(func(h *heard) {
					if h.who != atManager && strings.Contains(string(h.Raw), p.token) {
						p.show(h)
						p.Fail("%s to player %s holds the referee's own token", h.Type, playerIDs[h.who])
					}
				})
			}),
	)
}

// everything looks at all messages of two matches without faults.
func (p refereeT) everything(look func(h *heard)) {
	for _, name := range []string{"win", "draw"} {
		for _, h := range p.all(p.scene(name), "") {
			look(h)
		}
	}
}

// context ends the check unless a message is about a match.
func (p refereeT) context(d *duel, h *heard) {
	p.bears(h, "match_id", d.id)
	if h.message.has("league_id") {
		p.bears(h, "league_id", p.league)
	}
	if h.message.has("game_type") {
		p.bears(h, "game_type", protocol.GameEvenOdd)
	}
	if n, ok := number(h.message["round_id"]); h.message.has("round_id") && (!ok || n != d.round) {
		p.Fail("round_id of %s is %s, want %d", h.Type, h.message["round_id"], d.round)
	}
}

func tellsStandings(p refereeT) {
	const wins = 7
	if a := p.send(p.standings(wins)); a.Refused || a.Err != nil {
		p.Skip("it does not take the standings: %s", a)
	}
	d := p.played(plan{})
	context := object(p.one(d, protocol.TypeChooseParityCall, sideA).message["context"])
	own := object(context["your_standings"])
	if own == nil {
		p.Skip("the call bears no standings")
	}
	for name, want := range map[string]int{"wins": wins, "points": 3*wins + 1} {
		if n, ok := number(own[name]); !ok || n != want {
			p.Fail("your_standings.%s is %s, want %d", name, orMissing(own[name]), want)
		}
	}
}

func hasDeadline(p refereeT) {
	h := p.one(p.scene("win"), protocol.TypeChooseParityCall, sideA)
	deadline, err := protocol.ParseTimestamp(h.message.text("deadline"))
	if err != nil {
		p.Fail("deadline is %s: %v", orMissing(h.message["deadline"]), err)
	}
	if stamp, err := protocol.ParseTimestamp(h.message.text("timestamp")); err == nil && deadline.Before(stamp) {
		p.Fail("deadline %s is before the timestamp %s", h.message["deadline"], h.message["timestamp"])
	}
}

// turnChecks are about who is asked when, and who may know what.
func turnChecks() []Check {
	parallel := func(name string, t protocol.Type, answer reaction) Check {
		return duelCheck(name+".parallel", Should, fmt.Sprintf("Both players are sent %s at the same time: a slow player does not shorten the other's time (league.v2, flow).", t),
			"Ask both concurrently, for example in two threads, and wait for both.",
			func(p refereeT) {
				limit := p.aMoment()
				wait := func(d *duel, h *heard) Said {
					d.side.until(limit, func() bool { return d.count(t, sideB) > 0 })
					return answer(d, h)
				}
				plan := plan{}
				if t == protocol.TypeGameInvitation {
					plan.join[sideA] = wait
				} else {
					plan.choose[sideA] = wait
				}
				// A machine that has much else to do may be that slow once.
				const tries = 3
				for try := 1; ; try++ {
					d := p.played(plan)
					a, b := p.one(d, t, sideA), p.one(d, t, sideB)
					if !b.At.After(a.answered) {
						return
					}
					if try == tries {
						p.Fail("player %s was sent its %s only after player %s had answered, %v later", playerIDs[sideB], t, playerIDs[sideA], b.At.Sub(a.At).Round(time.Millisecond))
					}
				}
			})
	}
	return []Check{
		parallel("invitation", protocol.TypeGameInvitation, joining()),
		parallel("call", protocol.TypeChooseParityCall, choosing(protocol.Even)),
		duelCheck("call.after", Must, "Nobody is called on for a choice before both have joined (league.v2, states of a match).", "Wait for both joins, and call on the players then.",
			func(p refereeT) {
				limit := p.aMoment()
				d := p.played(plan{join: [2]reaction{sideB: func(d *duel, h *heard) Said {
					d.side.until(limit, func() bool { return d.count(protocol.TypeChooseParityCall, sideA) > 0 })
					return joining()(d, h)
				}}})
				call, join := p.one(d, protocol.TypeChooseParityCall, sideA), p.one(d, protocol.TypeGameInvitation, sideB)
				if call.At.Before(join.answered) {
					p.show(call)
					p.Fail("player %s was called on before player %s had joined", playerIDs[sideA], playerIDs[sideB])
				}
			}),
		duelCheck("call.secret", Must, "Neither player learns the other's choice before it has made its own (league.v2, the game).", "Keep the choices with the referee until both are in, and leave them out of calls and of GAME_ERROR.",
			keepsChoices),
	}
}

// aMoment is how long a player takes that is a little slow: less than any
// deadline.
func (p refereeT) aMoment() time.Duration { return min(p.counter.opts.Timeout/20, time.Second) }

func keepsChoices(p refereeT) {
	limit := p.aMoment()
	d := p.played(plan{choose: [2]reaction{sideB: firstly(1, func(d *duel, h *heard) Said {
		d.side.until(limit, func() bool {
			for _, h := range d.heard {
				if h.who == sideA && h.Type == protocol.TypeChooseParityCall && !h.answered.IsZero() {
					return true
				}
			}
			return false
		})
		return turnsAway(d, h)
	}, choosing(protocol.Odd))}})
	for _, h := range p.all(d, "", sideB) {
		var tree any
		if h.Type == protocol.TypeGameOver || json.Unmarshal(h.Raw, &tree) != nil {
			continue
		}
		if holdsChoice(tree) {
			p.show(h)
			p.Fail("%s tells player %s what the other chose, before its own choice was in", h.Type, playerIDs[sideB])
		}
	}
}

// holdsChoice reports whether a choice stands anywhere in a document.
func holdsChoice(tree any) bool {
	switch v := tree.(type) {
	case string:
		return protocol.Choice(strings.ToLower(v)).Valid()
	case map[string]any:
		for _, inner := range v {
			if holdsChoice(inner) {
				return true
			}
		}
	case []any:
		for _, inner := range v {
			if holdsChoice(inner) {
				return true
			}
		}
	}
	return false
}
