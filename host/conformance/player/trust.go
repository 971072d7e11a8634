package player

import (
	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/protocol"
)

func authChecks() []kit.Check {
	needs := []string{choiceAnswered, acksStandings}
	signed := func(name, rule, advice string, test func(t T)) kit.Check {
		return check("player.auth."+name, kit.Should, needs, rule, advice, func(t T) {
			t.needsKeys()
			test(t)
		})
	}
	refusesCall := func(edit kit.Edit) func(t T) {
		return func(t T) { t.Refused(t.send(t.call(t.joined()), edit)) }
	}
	const compare = "Keep the auth_token of the invitation with the match, and refuse messages about it that have another (error 4001). Better, calculate the match key as league.v2 describes, and compare with that."
	return []kit.Check{
		signed("token", "A call with another auth_token than the match's is refused (4001, E012).", compare, refusesCall(kit.Set("auth_token", kit.Forged))),
		signed("missing", "A call without auth_token is refused in a match that was opened with one (4001, E011).", compare, refusesCall(kit.Delete("auth_token"))),
		signed("referee", "A call by another referee than the match's is refused, even if it has the match's token (4001, E012).",
			"Keep the sender of the invitation with the match, and compare it.", refusesCall(kit.Set("sender", protocol.Sender(protocol.RoleReferee, kit.OtherReferee)))),
		signed("player", "A call signed by a player is refused: players do not call each other (4001, E012).",
			"Refuse match messages whose sender does not begin with referee:.", refusesCall(kit.Set("sender", protocol.Sender(protocol.RolePlayer, "P02")))),
		signed("manager", "A league message whose auth_token is not the manager's is refused, once the manager has shown its token (3001, E012).",
			"Keep the auth_token of the first message from the manager, and refuse league messages that have another.",
			func(t T) {
				m := t.standings()
				t.Accepted(t.send(m), "")
				m.AuthToken = kit.Forged
				t.Refused(t.send(m))
			}),
		kit.QuietCheck(kit.Player, needs, func(t *kit.T) kit.Request {
			p := with(t)
			p.needsKeys()
			return kit.Request{Message: p.call(p.joined()), Dialect: p.Dialect}
		}),
		check("player.auth.then", kit.Should, needs[:1], "A refused call changes nothing: the referee's own call is answered afterwards.",
			"Check the token before you store anything of the message.", func(t T) {
				m := t.joined()
				bad := t.call(m)
				bad.AuthToken = kit.Forged
				t.send(bad)
				t.chooses(t.send(t.call(m)))
			}),
	}
}

func stateChecks() []kit.Check {
	return []kit.Check{
		check("player.state.others", kit.Wild, []string{joinAnswered, "player.round.ack"}, "An invitation to a match that the manager has announced between two others is refused (4002, E005).",
			"Keep the matches of ROUND_ANNOUNCEMENT, and refuse invitations to those of others.", refusesOthers),
		check("player.state.uninvited", kit.Should, []string{choiceAnswered, "player.choice.match"}, "A call for a match without an invitation is answered with a choice for that match, or refused (4003, E040).",
			"Do not let the program fail on an unknown match_id.", func(t T) {
				m := t.begin()
				a := t.send(t.call(m))
				t.readable(a)
				if !a.Refused {
					t.sameMatch(a, m)
				}
			}),
		check("player.state.late", kit.Should, []string{choiceAnswered, "player.choice.same"}, "A call after GAME_OVER gets the choice that was made, or is refused; never another choice.",
			"Keep the choices of matches that are over.", answersLate),
	}
}

func refusesOthers(t T) {
	t.NeedsRegistration(t.T)
	m := t.newMatch()
	m.conversation, m.opponent = "", "P98"
	round := t.announcement(m)
	round.Matches[0].PlayerAID, round.Matches[0].PlayerBID = "P97", "P98"
	t.Accepted(t.send(round), "")
	t.Refused(t.send(t.invitation(m)))
}

func answersLate(t T) {
	const repeats = 7
	m, a := t.called()
	chosen := choiceIn(a)
	t.send(t.over(m, chosen))
	for range repeats {
		late := t.send(t.call(m))
		t.readable(late)
		if c := choiceIn(late); c != "" && c != chosen {
			t.Fail("it chose %s in match %s, and %s when asked again after the end", chosen, m.id, c)
		}
	}
}

// forgedEndCheck comes late, because a player that believes the message may
// leave.
func forgedEndCheck() kit.Check {
	return check("player.auth.completed", kit.Should, []string{choiceAnswered, "player.hostile.then"}, "LEAGUE_COMPLETED is believed from the manager only: one signed by a referee is refused, and the player plays on (league.v2, authentication).",
		"Refuse league messages whose sender is not league_manager or whose auth_token is not the one that the manager has shown before (error 3001).", func(t T) {
			t.needsKeys()
			m := t.joined()
			end := t.LeagueCompleted(t.players()...)
			end.AuthToken = t.Verifier.MatchKeys(kit.League, m.id, m.referee).Send
			t.Refused(t.send(end, kit.Set("sender", protocol.Sender(protocol.RoleReferee, m.referee))))
			t.chooses(t.send(t.call(m)))
		})
}
