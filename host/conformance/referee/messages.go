package referee

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/protocol"
)

func messageChecks() []kit.Check {
	return slices.Concat(
		commonChecks("invitation", protocol.TypeGameInvitation), commonChecks("call", protocol.TypeChooseParityCall), commonChecks("over", protocol.TypeGameOver),
		memberChecks(), headerChecks(),
	)
}

// toBoth tests the messages of a type that the players are sent in a match.
func toBoth(typ protocol.Type, look func(t T, m *match, s *sent)) func(t T) {
	return func(t T) {
		m := t.scenario("win")
		for who := range playerIDs {
			look(t, m, t.message(m, typ, who))
		}
	}
}

func commonChecks(name string, typ protocol.Type) []kit.Check {
	return []kit.Check{
		matchCheck(name+".header", kit.Should, fmt.Sprintf(`%s has protocol "league.v2", message_type, timestamp, conversation_id, and the sender referee:<referee_id> (league.v2, header fields).`, typ),
			"Put all header fields into every request, with the id that the manager assigned.",
			toBoth(typ, func(t T, _ *match, s *sent) { t.header(s) })),
		matchCheck(name+".token", kit.Should, fmt.Sprintf("%s has as auth_token the match key from player_A_keys.send or player_B_keys.send of the announcement, by which players know the referee (league.v2, authentication).", typ),
			"Sign messages to a player with the send key of that player; a strict player refuses everything else.",
			toBoth(typ, func(t T, m *match, s *sent) { t.equal(s, "auth_token", m.keys[s.who].Send) })),
		matchCheck(name+".match", kit.Should, fmt.Sprintf("%s has the match_id, and league_id, round_id and game_type, if present, are those of the announcement (%s).", typ, typ),
			"Copy them from the announcement.", toBoth(typ, T.about)),
	}
}

func memberChecks() []kit.Check {
	return []kit.Check{
		matchCheck("invitation.role", kit.Should, "GAME_INVITATION has role_in_match, PLAYER_A for the first player and PLAYER_B for the second (GAME_INVITATION).", "Add role_in_match.",
			toBoth(protocol.TypeGameInvitation, func(t T, _ *match, s *sent) {
				t.equal(s, "role_in_match", [2]string{protocol.PlayerA, protocol.PlayerB}[s.who])
			})),
		matchCheck("invitation.opponent", kit.Should, "GAME_INVITATION has opponent_id, the other player (GAME_INVITATION).", "Add opponent_id.",
			toBoth(protocol.TypeGameInvitation, func(t T, _ *match, s *sent) { t.equal(s, "opponent_id", playerIDs[1-s.who]) })),
		matchCheck("call.player", kit.Should, "CHOOSE_PARITY_CALL has the player_id of the player it is sent to (CHOOSE_PARITY_CALL).", "Add player_id.",
			toBoth(protocol.TypeChooseParityCall, func(t T, _ *match, s *sent) { t.equal(s, "player_id", playerIDs[s.who]) })),
		matchCheck("call.context", kit.Should, "CHOOSE_PARITY_CALL has context with opponent_id and your_standings (CHOOSE_PARITY_CALL).", "Add both; a player without matches has zeros.",
			toBoth(protocol.TypeChooseParityCall, func(t T, _ *match, s *sent) {
				context := s.fields.Object("context")
				if want := playerIDs[1-s.who]; context.Text("opponent_id") != want {
					t.Fail("context.opponent_id is %s, want %q", context.Shown("opponent_id"), want)
				}
				if context.Object("your_standings") == nil {
					t.Fail("context.your_standings is %s, want an object", context.Shown("your_standings"))
				}
			})),
		matchCheck("call.standings", kit.Should, "context.your_standings is the player's record in the last LEAGUE_STANDINGS_UPDATE (league.v2, flow).",
			"Keep the standings that the manager sends, and copy the player's line.", copiesStandings),
		matchCheck("call.deadline", kit.Should, "CHOOSE_PARITY_CALL has a deadline in UTC that is not before its timestamp (CHOOSE_PARITY_CALL).", "Add deadline: the current time plus the time that the player has.",
			hasDeadline),
	}
}

func copiesStandings(t T) {
	const wins = 7
	if a := t.send(t.standings(wins)); a.Refused || a.Err != nil {
		t.Skip("it does not accept the standings: %s", a)
	}
	m := t.play(plan{})
	own := t.message(m, protocol.TypeChooseParityCall, playerA).fields.Object("context").Object("your_standings")
	if own == nil {
		t.Skip("the call has no standings")
	}
	for name, want := range map[string]int{"wins": wins, "points": 3*wins + 1} {
		if n, ok := own.Number(name); !ok || n != want {
			t.Fail("your_standings.%s is %s, want %d", name, own.Shown(name), want)
		}
	}
}

func hasDeadline(t T) {
	f := t.message(t.scenario("win"), protocol.TypeChooseParityCall, playerA).fields
	deadline, err := protocol.ParseTimestamp(f.Text("deadline"))
	if err != nil {
		t.Fail("deadline is %s: %v", f.Shown("deadline"), err)
	}
	if stamp, err := protocol.ParseTimestamp(f.Text("timestamp")); err == nil && deadline.Before(stamp) {
		t.Fail("deadline %s is before the timestamp %s", f.Shown("deadline"), f.Shown("timestamp"))
	}
}

// headerChecks are about the headers of all messages of two matches without
// faults.
func headerChecks() []kit.Check {
	each := func(look func(t T, s *sent)) func(t T) {
		return func(t T) {
			for _, name := range []string{"win", "tie"} {
				for _, s := range t.messages(t.scenario(name), "") {
					look(t, s)
				}
			}
		}
	}
	header := func(name string, level kit.Level, rule kit.HeaderRule) kit.Check {
		return matchCheck("message."+name, level, rule.Rule, rule.Advice, each(func(t T, s *sent) {
			f := s.fields
			if name == "rpc" {
				f = kit.Object(s.Raw)
			}
			rule.Test(t.T, string(s.Type), f, func() { t.show(s) })
		}))
	}
	return []kit.Check{
		header("utc", kit.Should, kit.UTC),
		header("seconds", kit.Wild, kit.WholeSeconds),
		matchCheck("message.conversation", kit.Should, "The invitation, the call and GAME_OVER of one match share conversation_id (league.v2, header fields).", "Make one conversation_id for a match, and put it into all its messages.",
			keepsConversation),
		header("rpc", kit.Should, kit.Frame),
		matchCheck("message.media", kit.Should, "The messages of a referee, its registration included, have Content-Type: application/json (league.v2, transport).",
			"Send the header; strict receivers answer HTTP 415 without it.", declaresJSON),
		matchCheck("message.secret", kit.Should, "The token that the manager issued to the referee is not sent to players, who could report results with it (league.v2, authentication).",
			"Sign messages to players with the match keys of the announcement, and send your own token to the manager only.",
			each(func(t T, s *sent) {
				if s.who != toManager && strings.Contains(string(s.Raw), t.Token) {
					t.failOn(s, "%s to %s contains the referee's own token", s.Type, nameOf(s.who))
				}
			})),
	}
}

func keepsConversation(t T) {
	for who := range playerIDs {
		conversation := ""
		for _, s := range t.messages(t.scenario("win"), "", who) {
			if c := s.fields.Text("conversation_id"); conversation == "" {
				conversation = c
			} else if c != "" && c != conversation {
				t.failOn(s, "the conversation_id of %s is %q; before it was %q", s.Type, c, conversation)
			}
		}
	}
}

func declaresJSON(t T) {
	t.scenario("win")
	t.Lock()
	wrong := slices.Clone(t.notJSON)
	t.Unlock()
	if len(wrong) > 0 {
		to := nameOf(wrong[0].who)
		t.Show("the referee to "+to, wrong[0].Raw)
		t.Fail("the Content-Type of %s to %s is %q", wrong[0].Type, to, wrong[0].media)
	}
}

func orderChecks() []kit.Check {
	return []kit.Check{
		parallelCheck("invitation", protocol.TypeGameInvitation, joining()),
		parallelCheck("call", protocol.TypeChooseParityCall, choosing(protocol.Even)),
		matchCheck("call.after", kit.Should, "No player is called for a choice before both have joined (league.v2, states of a match).", "Wait for both joins, and call the players then.",
			func(t T) {
				delay := t.shortDelay()
				m := t.play(plan{join: [2]reaction{playerB: func(m *match, s *sent) kit.Response {
					m.peers.Until(delay, func() bool { return m.count(protocol.TypeChooseParityCall, playerA) > 0 })
					return joining()(m, s)
				}}})
				call, join := t.message(m, protocol.TypeChooseParityCall, playerA), t.message(m, protocol.TypeGameInvitation, playerB)
				if call.At.Before(join.answered) {
					t.failOn(call, "%s was called before %s had joined", nameOf(playerA), nameOf(playerB))
				}
			}),
		matchCheck("call.secret", kit.Should, "Neither player learns the other's choice before it has made its own (league.v2, the game).", "Keep the choices in the referee until both are known, and leave them out of calls and of GAME_ERROR.",
			keepsChoices),
	}
}

// parallelCheck tests that both players are sent a message at the same time. It
// tries several times, because a busy machine may cause a delay.
func parallelCheck(name string, typ protocol.Type, answer reaction) kit.Check {
	return matchCheck(name+".parallel", kit.Should, fmt.Sprintf("Both players are sent %s at the same time: a slow player does not shorten the other's time (league.v2, flow).", typ),
		"Send to both concurrently, for example in two threads, and wait for both.",
		func(t T) {
			delay := t.shortDelay()
			slow := func(m *match, s *sent) kit.Response {
				m.peers.Until(delay, func() bool { return m.count(typ, playerB) > 0 })
				return answer(m, s)
			}
			p := plan{join: [2]reaction{slow}}
			if typ == protocol.TypeChooseParityCall {
				p = plan{choose: [2]reaction{slow}}
			}
			const tries = 3
			for try := 1; ; try++ {
				m := t.play(p)
				a, b := t.message(m, typ, playerA), t.message(m, typ, playerB)
				if !b.At.After(a.answered) {
					return
				}
				if try == tries {
					t.Fail("%s was sent its %s only after %s had answered, %v later", nameOf(playerB), typ, nameOf(playerA), b.At.Sub(a.At).Round(time.Millisecond))
				}
			}
		})
}

func keepsChoices(t T) {
	delay := t.shortDelay()
	m := t.play(plan{choose: [2]reaction{playerB: atFirst(func(m *match, s *sent) kit.Response {
		m.peers.Until(delay, func() bool { return m.replied(playerA) })
		return busy(m, s)
	}, choosing(protocol.Odd))}})
	for _, s := range t.messages(m, "", playerB) {
		var tree any
		if s.Type == protocol.TypeGameOver || json.Unmarshal(s.Raw, &tree) != nil {
			continue
		}
		if holdsChoice(tree) {
			t.failOn(s, "%s reveals the other's choice to %s, before its own is known", s.Type, nameOf(playerB))
		}
	}
}

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
		return slices.ContainsFunc(v, holdsChoice)
	}
	return false
}
