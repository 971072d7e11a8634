package referee

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/protocol"
)

func messageChecks() []kit.Check {
	common := func(name string, typ protocol.Type) []kit.Check {
		return commonChecks(name, typ, nil, func(t T) []*sent {
			m := t.scenario("win")
			return []*sent{t.message(m, typ, playerA), t.message(m, typ, playerB)}
		})
	}
	return slices.Concat(
		common("invitation", protocol.TypeGameInvitation), common("call", protocol.TypeChooseParityCall), common("over", protocol.TypeGameOver),
		[]kit.Check{
			matchCheck("call.standings", kit.Should, "context.your_standings is the player's record in the last LEAGUE_STANDINGS_UPDATE (league.v2, flow).",
				"Keep the standings that the manager sends, and copy the player's line.", copiesStandings),
			matchCheck("call.deadline", kit.Should, "CHOOSE_PARITY_CALL has a deadline that is not before its timestamp (CHOOSE_PARITY_CALL).",
				"Add deadline: the current time plus the time that the player has.", hasDeadline).Needing("referee.call.fields"),
		},
		headerChecks(),
	)
}

// commonChecks are those of every type of message: that it is whole, about its match
// and signed.
func commonChecks(name string, typ protocol.Type, needs []string, find func(t T) []*sent) []kit.Check {
	needs = append(needs, playsMatches)
	each := func(look func(t T, m *match, s *sent)) func(t T) {
		return func(t T) {
			for _, s := range find(t) {
				t.show(s)
				t.Lock()
				m := t.matches[s.fields.Text("match_id")]
				t.Unlock()
				look(t, m, s)
			}
		}
	}
	key := check("referee."+name+".token", kit.Should, needs,
		fmt.Sprintf("%s has as auth_token the match key from player_A_keys.send or player_B_keys.send of the announcement, by which players know the referee (league.v2, authentication).", typ),
		"Sign messages to a player with the send key of that player; a strict player refuses everything else.",
		each(func(t T, m *match, s *sent) { t.Says(s.fields, map[string]string{"auth_token": m.keys[s.who].Send}) }))
	if typ == protocol.TypeMatchResultReport {
		key = check(key.ID, kit.Must, needs, "MATCH_RESULT_REPORT has the token that the manager issued to the referee at its registration (league.v2, authentication).",
			"Keep auth_token from the answer to the registration.", each(func(t T, _ *match, s *sent) { t.Says(s.fields, map[string]string{"auth_token": t.Token}) }))
	}
	return []kit.Check{
		kit.FieldsCheck("referee."+name+".fields", typ, needs, run(each(func(t T, _ *match, s *sent) { t.Valid(s.fields, typ, false) }))),
		key,
		check("referee."+name+".match", kit.Should, needs,
			fmt.Sprintf("%s is about its match, for its receiver and from the referee: league_id, round_id, game_type, role_in_match, player_id, opponent_id and sender, where it has them (%s).", typ, typ),
			"Copy them from the announcement, and sign as referee: with the id that the manager assigned.", each(T.about)),
	}
}

// about ends the check if a message contradicts what the referee knows of the match and
// of the receiver.
func (t T) about(m *match, s *sent) {
	want := map[string]string{
		"sender": protocol.Sender(protocol.RoleReferee, t.ID), "league_id": kit.League, "round_id": strconv.Itoa(m.round), "game_type": protocol.GameEvenOdd,
	}
	if s.who != toManager {
		self, other := playerIDs[s.who], playerIDs[1-s.who]
		want["player_id"], want["affected_player"], want["opponent_id"] = self, self, other
		want["role_in_match"] = [2]string{protocol.PlayerA, protocol.PlayerB}[s.who]
		t.Agrees(s.fields.Object("context"), map[string]string{"opponent_id": other})
	}
	t.Agrees(s.fields, want)
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
	deadline, _ := protocol.ParseTimestamp(f.Text("deadline"))
	if stamp, _ := protocol.ParseTimestamp(f.Text("timestamp")); deadline.Before(stamp) {
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
	return []kit.Check{
		matchCheck("message.seconds", kit.Wild, kit.WholeSeconds.Rule, kit.WholeSeconds.Advice, each(func(t T, s *sent) {
			kit.WholeSeconds.Test(t.T, string(s.Type), s.fields, func() { t.show(s) })
		})),
		matchCheck("message.conversation", kit.Should, "The invitation, the call and GAME_OVER of one match share conversation_id (league.v2, header fields).", "Make one conversation_id for a match, and put it into all its messages.",
			keepsConversation),
		matchCheck("message.rpc", kit.Should, kit.Frame.Rule, kit.Frame.Advice, each(func(t T, s *sent) {
			kit.Frame.Test(t.T, string(s.Type), kit.Object(s.Raw), func() { t.show(s) })
		})),
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
