package player

import (
	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/protocol"
)

// authChecks are about which senders the player believes.
func authChecks() []kit.Check {
	needs := []string{choiceAnswered, standingsTaken}
	check := func(name, rule, advice string, test func(t T)) kit.Check {
		return kit.Check{
			ID: "player.auth." + name, Level: kit.Should, Needs: needs, Rule: rule, Advice: advice,
			Run: run(func(t T) {
				t.needsKeys()
				test(t)
			}),
		}
	}
	refusesCall := func(edit kit.Edit) func(t T) {
		return func(t T) { t.Refused(t.send(t.call(t.joined()), edit)) }
	}
	const compare = "Keep the auth_token of the invitation with the match, and refuse messages about it that have another (error 4001). Better, calculate the match key as league.v2 describes, and compare with that."
	return []kit.Check{
		check("token", "A call with another auth_token than the match's is refused (4001, E012).", compare, refusesCall(kit.Set("auth_token", kit.Forged))),
		check("missing", "A call without auth_token is refused in a match that was opened with one (4001, E011).", compare, refusesCall(kit.Delete("auth_token"))),
		check("referee", "A call by another referee than the match's is refused, even if it has the match's token (4001, E012).",
			"Keep the sender of the invitation with the match, and compare it.", refusesCall(kit.Set("sender", protocol.Sender(protocol.RoleReferee, kit.OtherReferee)))),
		check("player", "A call signed by a player is refused: players do not call each other (4001, E012).",
			"Refuse match messages whose sender does not begin with referee:.", refusesCall(kit.Set("sender", protocol.Sender(protocol.RolePlayer, "P02")))),
		check("manager", "A league message whose auth_token is not the manager's is refused, once the manager has shown its token (3001, E012).",
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
		{
			ID: "player.auth.then", Level: kit.Must, Needs: needs[:1],
			Rule:   "A refused call changes nothing: the referee's own call is answered afterwards.",
			Advice: "Check the token before you store anything of the message.",
			Run: run(func(t T) {
				m := t.joined()
				bad := t.call(m)
				bad.AuthToken = kit.Forged
				t.send(bad)
				t.chooses(t.send(t.call(m)))
			}),
		},
	}
}

// stateChecks are about messages at the wrong time, or about the wrong match.
func stateChecks() []kit.Check {
	return []kit.Check{
		{
			ID: "player.state.others", Level: kit.Should, Needs: []string{joinAnswered, "player.round.ack"},
			Rule:   "An invitation to a match that the manager has announced between two others is refused (4002, E005).",
			Advice: "Keep the matches of ROUND_ANNOUNCEMENT, and refuse invitations to those of others.",
			Run:    run(refusesOthers),
		},
		{
			ID: "player.state.uninvited", Level: kit.Should, Needs: []string{choiceAnswered, "player.choice.match"},
			Rule:   "A call for a match without an invitation is answered with a choice for that match, or refused (4003, E040).",
			Advice: "Do not let the program fail on an unknown match_id.",
			Run: run(func(t T) {
				m := t.begin()
				a := t.send(t.call(m))
				t.readable(a)
				if !a.Refused {
					t.sameMatch(a, m)
				}
			}),
		},
		{
			ID: "player.state.late", Level: kit.Should, Needs: []string{choiceAnswered, "player.choice.same"},
			Rule:   "A call after GAME_OVER gets the choice that was made, or is refused; never another choice.",
			Advice: "Keep the choices of matches that are over.",
			Run:    run(answersLate),
		},
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
	return kit.Check{
		ID: "player.auth.completed", Level: kit.Should, Needs: []string{choiceAnswered, "player.hostile.then"},
		Rule:   "LEAGUE_COMPLETED is believed from the manager only: one signed by a referee is refused, and the player plays on (league.v2, authentication).",
		Advice: "Refuse league messages whose sender is not league_manager or whose auth_token is not the one that the manager has shown before (error 3001).",
		Run: run(func(t T) {
			t.needsKeys()
			m := t.joined()
			end := t.LeagueCompleted(t.players()...)
			end.AuthToken = t.Verifier.MatchKeys(kit.League, m.id, m.referee).Send
			t.Refused(t.send(end, kit.Set("sender", protocol.Sender(protocol.RoleReferee, m.referee))))
			t.chooses(t.send(t.call(m)))
		}),
	}
}
