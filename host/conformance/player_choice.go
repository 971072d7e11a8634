package conformance

import ()

// choiceChecks are about the call for a choice.
func choiceChecks() []Check {
	needs := []string{joinAnswered, choiceAnswered}
	return []Check{
		{
			ID: choiceAnswered, Level: Must, Needs: []string{joinAnswered},
			Rule:   `CHOOSE_PARITY_CALL is answered before the deadline that it names by a CHOOSE_PARITY_RESPONSE whose choice is exactly "even" or "odd"; anything else loses the match (CHOOSE_PARITY_RESPONSE, E004).`,
			Advice: `Answer with "parity_choice": "even" or "odd" in lower case, within the deadline. If it needs longer than was waited here and a league gives more, try --timeout 30s.`,
			run:    forPlayer(func(p playerT) { p.chooses(p.send(p.call(p.joined()))) }),
		},
		{
			ID: "player.choice.name", Level: Wild, Needs: needs,
			Rule:   "The choice is called parity_choice; some players say choice, which is read too (CHOOSE_PARITY_RESPONSE).",
			Advice: "Give the choice under both names, parity_choice and choice: there are referees that know only one.",
			run: forPlayer(func(p playerT) {
				if _, a := p.called(); a.Message.text("parity_choice") == "" {
					p.Fail("parity_choice is missing")
				}
			}),
		},
		{
			ID: "player.choice.match", Level: Must, Needs: needs,
			Rule:   "CHOOSE_PARITY_RESPONSE bears the match_id of the call (CHOOSE_PARITY_RESPONSE).",
			Advice: "Copy match_id from the request into the answer.",
			run:    forPlayer(func(p playerT) { b, a := p.called(); p.echoes(a, "match_id", b.id) }),
		},
		{
			ID: "player.choice.player", Level: Must, Needs: needs,
			Rule:   "CHOOSE_PARITY_RESPONSE bears the player's own player_id (CHOOSE_PARITY_RESPONSE).",
			Advice: "Keep player_id from the answer to the registration, and put it into every answer.",
			run:    forPlayer(func(p playerT) { _, a := p.called(); p.echoes(a, "player_id", p.id) }),
		},
		{
			ID: "player.choice.same", Level: Must, Needs: needs,
			Rule:   "A repeated call for the same match gets the same choice; each try has a JSON-RPC id and a deadline of its own (league.v2, retries).",
			Advice: "Remember the choice by match_id, and answer a repeated call from memory.",
			run:    forPlayer(choosesOnce),
		},
		{
			ID: "player.choice.past", Level: Should, Needs: needs,
			Rule:   "A call is answered even if its deadline is now or past: clocks differ, and the referee decides what is late (observed in real leagues).",
			Advice: "Do not compare the deadline with your own clock to refuse an answer.",
			run: forPlayer(func(p playerT) {
				call := p.call(p.joined())
				call.Deadline = "2020-01-01T00:00:00Z"
				p.chooses(p.send(call))
			}),
		},
		{
			ID: "player.choice.other", Level: Should, Needs: needs,
			Rule:   "A call that names another player_id is refused (E005, PLAYER_NOT_REGISTERED).",
			Advice: "Compare player_id of the call with your own and answer a mismatch by a JSON-RPC error.",
			run: forPlayer(func(p playerT) {
				call := p.call(p.joined())
				call.PlayerID = "P77"
				p.refused(p.send(call))
			}),
		},
		{
			ID: "player.choice.secret", Level: Must, Needs: needs,
			Rule:   "The choice stands in the answer to the call and nowhere else: neither the answer to an invitation nor an acknowledgement bears it.",
			Advice: "Leave the choice out of every message but CHOOSE_PARITY_RESPONSE.",
			run:    forPlayer(keepsChoice),
		},
	}
}

// called has the player join a match and choose, and returns the answer.
func (p playerT) called() (bout, *Answer) {
	b := p.joined()
	a := p.send(p.call(b))
	p.chooses(a)
	return b, a
}

// repeats is how often a player is asked the same again. One that draws its
// answer anew each time is found out but once in 2^repeats.
const repeats = 7

func choosesOnce(p playerT) {
	b, a := p.called()
	chosen := choiceIn(a)
	for range repeats {
		if again := p.chooses(p.send(p.call(b))); again != chosen {
			p.Fail("it chose %s at first and %s when it was asked again in match %s", chosen, again, b.id)
		}
	}
}

func keepsChoice(p playerT) {
	b, before := p.invited()
	p.bearsNoChoice(before)
	p.chooses(p.send(p.call(b)))
	p.bearsNoChoice(p.send(p.invitation(b)))
	p.bearsNoChoice(p.send(p.gameError(b)))
	p.bearsNoChoice(p.send(p.standings()))
}

func (p playerT) bearsNoChoice(a *Answer) {
	if c := choiceIn(a); c != "" {
		p.Fail("%s tells the choice %q", a, c)
	}
}
