package conformance

import (
	"bytes"
	"slices"

	"github.com/strategylab/strategylab/host/protocol"
)

// needsKeys skips a check that says nothing of a player whose counterpart has
// no way to prove who it is.
func (p playerT) needsKeys() {
	p.needsRegistration()
	if p.keyless() {
		p.Skip("it is spoken to in %s, which has no place for a sender", p.dialect.Name)
	}
}

// keyless reports whether the player's dialect leaves out who speaks. Nobody
// can sign in it.
func (s *playerSide) keyless() bool { return slices.Contains(s.dialect.Omit, "sender") }

// forged is a token that nobody was given.
const forged = "tok-XX-0f0e0d0c0b0a09080706050403020100-forged"

// authChecks are about who is believed.
func authChecks() []Check {
	check := func(name, rule, advice string, run func(playerT)) Check {
		return Check{
			ID: "player.auth." + name, Level: Should, Needs: []string{choiceAnswered, "player.standings.ack"}, Rule: rule, Advice: advice,
			run: forPlayer(func(p playerT) {
				p.needsKeys()
				run(p)
			}),
		}
	}
	compare := "Keep the auth_token of the invitation with the match, and refuse messages about it that bear another (error 4001). Better, calculate the match key as league.v2 describes, and compare with that."
	call := func(name, value string) func(playerT) {
		return func(p playerT) {
			p.refused(p.edited(p.call(p.joined()), func(m map[string]any) { m[name] = value }))
		}
	}
	return []Check{
		check("token", "A call with another auth_token than the match's is refused (4001, E012).", compare, call("auth_token", forged)),
		check("missing", "A call without auth_token is refused in a match that was opened with one (4001, E011).", compare, func(p playerT) {
			p.refused(p.edited(p.call(p.joined()), func(m map[string]any) { delete(m, "auth_token") }))
		}),
		check("referee", "A call by another referee than the match's is refused, even if it bears the match's token (4001, E012).",
			"Keep the sender of the invitation with the match, and compare it.", call("sender", protocol.Sender(protocol.RoleReferee, otherReferee))),
		check("player", "A call that a player signs is refused: players have nothing to ask each other (4001, E012).",
			"Refuse match messages whose sender does not begin with referee:.", call("sender", protocol.Sender(protocol.RolePlayer, "P02"))),
		check("manager", "A league message whose auth_token is not the manager's is refused, once the manager has shown one (3001, E012).",
			"Keep the auth_token of the first message from the manager, and refuse league messages that bear another.",
			func(p playerT) {
				m := p.standings()
				p.accepted(p.send(m), "")
				m.AuthToken = forged
				p.refused(p.send(m))
			}),
		check("quiet", "A refusal does not repeat the token that was given (league.v2, errors).",
			"Leave tokens out of error texts, or cut them.", keepsTokens),
		{
			ID: "player.auth.then", Level: Must, Needs: []string{choiceAnswered},
			Rule:   "A call that was refused changes nothing: the referee's own call is answered afterwards.",
			Advice: "Check the token before anything is remembered of the message.",
			run: forPlayer(func(p playerT) {
				b := p.joined()
				bad := p.call(b)
				bad.AuthToken = forged
				p.send(bad)
				p.chooses(p.send(p.call(b)))
			}),
		},
	}
}

func keepsTokens(p playerT) {
	m := p.call(p.joined())
	m.AuthToken = forged
	if a := p.send(m); a.Refused && bytes.Contains(a.Body, []byte(forged)) {
		p.Fail("the refusal repeats the token whole")
	}
}

// stateChecks are about messages that come when, or about what, they should
// not.
func stateChecks() []Check {
	return []Check{
		{
			ID: "player.state.others", Level: Should, Needs: []string{joinAnswered, "player.round.ack"},
			Rule:   "An invitation to a match that the manager has announced between two others is refused (4002, E005).",
			Advice: "Keep the matches of ROUND_ANNOUNCEMENT, and refuse invitations to those of others.",
			run:    forPlayer(refusesOthers),
		},
		{
			ID: "player.state.uninvited", Level: Should, Needs: []string{choiceAnswered, "player.choice.match"},
			Rule:   "A call for a match to which no invitation came is answered with a choice for that match, or refused (4003, E040).",
			Advice: "Do not let the program fail on a match_id that it does not know.",
			run: forPlayer(func(p playerT) {
				b := p.bout()
				a := p.send(p.call(b))
				p.answeredSomehow(a)
				if !a.Refused {
					p.sameMatch(a, b)
				}
			}),
		},
		{
			ID: "player.state.late", Level: Should, Needs: []string{choiceAnswered, "player.choice.same"},
			Rule:   "A call that comes after GAME_OVER gets the choice that was made, or is refused; never another.",
			Advice: "Keep the choices of matches that are over.",
			run:    forPlayer(answersLate),
		},
	}
}

func refusesOthers(p playerT) {
	p.needsRegistration()
	p.mu.Lock()
	p.rounds++
	b := bout{id: roundMatch(p.rounds), round: p.rounds, referee: ownReferee, opponent: "P98"}
	p.mu.Unlock()
	round := p.announcement(b)
	round.Matches[0].PlayerAID, round.Matches[0].PlayerBID = "P97", "P98"
	p.accepted(p.send(round), "")
	p.refused(p.send(p.invitation(b)))
}

func (p playerT) sameMatch(a *Answer, b bout) {
	if id := a.Message.text("match_id"); id != "" && id != b.id {
		p.Fail("asked about match %s, it answers for %s", b.id, id)
	}
}

func answersLate(p playerT) {
	b, a := p.called()
	chosen := choiceIn(a)
	p.send(p.over(b, chosen))
	for range repeats {
		late := p.send(p.call(b))
		p.answeredSomehow(late)
		if c := choiceIn(late); c != "" && c != chosen {
			p.Fail("it chose %s in match %s, and %s when it was asked again after the end", chosen, b.id, c)
		}
	}
}
