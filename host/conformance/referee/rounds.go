package referee

import (
	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/protocol"
)

func roundChecks() []kit.Check {
	acked := func(name string, typ protocol.Type, m func(t T) protocol.Message) kit.Check {
		about, _ := protocol.Describe(typ)
		return check("referee."+name+".ack", kit.Should, nil, string(typ)+" is answered by "+string(about.Answer)+", within 10 s.",
			"Answer with the acknowledgement, and do the work afterwards; dispatch by message_type whatever the method is called.", func(t T) {
				t.NeedsRegistration(t.T)
				t.Accepted(t.send(m(t)), about.Answer)
			})
	}
	return []kit.Check{
		check(playsMatches, kit.Must, nil, "A referee plays the matches that it is assigned, by ROUND_ANNOUNCEMENT or one by one: it invites both players, calls both for a choice, sends GAME_OVER to both and reports to the manager (league.v2, flow).",
			"Pick the matches whose referee_id or referee_endpoint is your own, and send to the players at player_A_endpoint and player_B_endpoint.", func(t T) {
				t.NeedsRegistration(t.T)
				t.T.Evidence = append(t.T.Evidence, t.assignment().first...)
				m := t.scenario("win")
				for _, typ := range []protocol.Type{protocol.TypeGameInvitation, protocol.TypeChooseParityCall} {
					t.message(m, typ, playerA)
					t.message(m, typ, playerB)
				}
			}),
		announcedCheck(),
		acked("round", protocol.TypeRoundAnnouncement, func(t T) protocol.Message { return t.announcement(t.newMatch(plan{})) }),
		acked("standings", protocol.TypeLeagueStandingsUpdate, func(t T) protocol.Message { return t.standings(0) }),
		acked("roundend", protocol.TypeRoundCompleted, func(t T) protocol.Message { return t.RoundCompleted() }),
		matchCheck("round.others", kit.Must, "A referee ignores the matches of other referees (ROUND_ANNOUNCEMENT).",
			"Compare referee_id with the id that the manager assigned, before you begin a match.", func(t T) {
				a := t.foreignRound()
				t.send(a)
				t.Lock()
				m := t.matches[a.Matches[0].MatchID]
				t.Unlock()
				t.ignores(m)
			}),
		matchCheck("round.again", kit.Should, "A round that is announced again is not played again: the manager may have lost the acknowledgement (league.v2, flow).",
			"Store the matches by match_id, and begin each once.", announcedTwice),
	}
}

func announcedTwice(t T) {
	m := t.play(plan{})
	t.assign(m)
	t.play(plan{})
	for who := range playerIDs {
		if list := t.messages(m, protocol.TypeGameInvitation, who); len(list) > 1 {
			t.failOn(list[1], "match %s was announced again after its end, and %s was invited again", m.id, nameOf(who))
		}
	}
}

func authChecks() []kit.Check {
	needs := []string{playsMatches}
	signed := func(name, rule, advice string, test func(t T)) kit.Check {
		return check("referee.auth."+name, kit.Should, needs, rule, advice, func(t T) {
			t.Send(sample(t.T)) // it knows the manager's token then
			test(t)
		})
	}
	refuses := func(change func(t T, a *protocol.RoundAnnouncement)) func(t T) {
		return func(t T) {
			m := t.newMatch(plan{})
			a := t.announcement(m)
			r := t.request(t.assignment(), a)
			change(t, a)
			t.Refused(t.Send(r))
			t.ignores(m)
		}
	}
	const compare = "Keep the auth_token of the first message from the manager, and refuse league messages that have another."
	return []kit.Check{
		signed("token", "An announcement whose auth_token is not the manager's is refused, and its matches are not played, once the manager has shown its token (3001, E012).", compare,
			refuses(func(_ T, a *protocol.RoundAnnouncement) { a.AuthToken = kit.Forged })),
		signed("sender", "An announcement signed by a player is refused, and its matches are not played (3001, E012).", "Refuse league messages whose sender is not league_manager.",
			refuses(func(_ T, a *protocol.RoundAnnouncement) {
				a.Sender = protocol.Sender(protocol.RolePlayer, playerIDs[playerA])
			})),
		signed("league", "An announcement of another league is refused, and its matches are not played (E046).", "Compare league_id with that of the answer to the registration.",
			refuses(func(t T, a *protocol.RoundAnnouncement) {
				a.LeagueID, a.AuthToken = "elsewhere", t.Verifier.ManagerToken(kit.League)
			})),
		kit.QuietCheck(kit.Referee, needs, func(t *kit.T) kit.Request {
			r := sample(t)
			t.Send(r) // it knows the manager's token then
			return r
		}),
		signed("completed", "LEAGUE_COMPLETED is believed from the manager only: one with another auth_token is refused, and the referee goes on (league.v2, authentication).", compare,
			func(t T) {
				m := t.leagueCompleted()
				m.AuthToken = kit.Forged
				t.Refused(t.send(m))
				t.play(plan{})
			}),
	}
}

// ignores ends the check if a match is played that should not be. How long that
// would take is shown by a match that is announced afterwards.
func (t T) ignores(m *match) {
	evidence := t.Evidence
	t.play(plan{})
	if begun := t.messages(m, ""); len(begun) > 0 {
		t.Evidence = evidence
		t.failOn(begun[0], "match %s is played: the referee sent %s for it", m.id, begun[0].Type)
	}
}
