package manager

import (
	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/protocol"
)

// registrationChecks are about registration.
func registrationChecks() []kit.Check {
	needs := []string{registersEveryone}
	check := func(id string, level kit.Level, needs []string, rule, advice string, test func(t T)) kit.Check {
		return kit.Check{ID: id, Level: level, Needs: needs, Rule: rule, Advice: advice, Run: run(test)}
	}
	refused := func(name string, level kit.Level, rule, advice string, change func(t T, m *protocol.LeagueRegisterRequest), edit kit.Edit) kit.Check {
		return check("manager.register."+name, level, needs, rule, advice, func(t T) {
			t.registerAll()
			m := t.registration(t.newcomer(name))
			if change != nil {
				change(t, m)
			}
			t.Refused(t.Send(kit.Request{Message: m, Edit: edit}))
		})
	}
	const putAll = "Answer with HTTP 200, and put all four beside the header fields."
	return []kit.Check{
		check("manager.register.referee", kit.Must, nil, "REFEREE_REGISTER_REQUEST is answered by REFEREE_REGISTER_RESPONSE with status ACCEPTED, referee_id, auth_token and league_id.",
			putAll, func(t T) { t.join(t.referees()[0]) }),
		check("manager.register.player", kit.Must, nil, "LEAGUE_REGISTER_REQUEST is answered by LEAGUE_REGISTER_RESPONSE with status ACCEPTED, player_id, auth_token and league_id.",
			putAll, func(t T) { t.join(t.players()[0]) }),
		check(registersEveryone, kit.Must, []string{"manager.register.referee", "manager.register.player"}, "Every agent has an id and a token of its own (league.v2, registration).",
			"Number the ids, and make each token from at least 128 random bits.", registersAll),
		check("manager.register.id", kit.Should, needs, "An agent gets the id that it asks for in sender, if it is free and has the form P07 (league.v2, registration): some players keep it whatever the answer.",
			"Read the id from sender, and assign it if it is free.", func(t T) {
				t.registerAll()
				a := t.players()[len(t.players())-1]
				t.Show("the manager", a.answer.Body)
				if a.id != wantedID {
					t.Fail("player:%s was assigned the id %s", wantedID, a.id)
				}
			}),
		check("manager.register.header", kit.Must, needs, kit.AnswerHeader.Rule, kit.AnswerHeader.Advice+" "+kit.UTC.Advice, func(t T) {
			t.registerAll()
			for _, a := range []*agent{t.players()[0], t.referees()[0]} {
				t.Show("the manager", a.answer.Body)
				kit.AnswerHeader.Test(t.T, "", a.answer.Message, nil)
				kit.UTC.Test(t.T, "", a.answer.Message, nil)
			}
		}),
		refused("name", kit.Should, "A player with the display_name of another, at another endpoint, is refused (2002, E022).", "Compare the names, and answer with the error 2002.",
			func(t T, m *protocol.LeagueRegisterRequest) { m.Meta.DisplayName = t.players()[0].display }, nil),
		refused("game", kit.Should, "A player that does not play even_odd is refused (2004, E045).", "Look for even_odd in game_types.",
			func(_ T, m *protocol.LeagueRegisterRequest) { m.Meta.GameTypes = []string{"chess"} }, nil),
		refused("endpoint", kit.Should, "A player whose contact_endpoint is not a URL is refused (2003, E044).", "Parse contact_endpoint; it must be absolute, with http or https and a host.",
			func(_ T, m *protocol.LeagueRegisterRequest) { m.Meta.ContactEndpoint = "nowhere" }, nil),
		refused("meta", kit.Must, "A registration without player_meta is refused (-32602, E003).", "Check that it is present before you read it.",
			nil, kit.Delete("player_meta")),
	}
}

func registersAll(t T) {
	seen := map[string]string{}
	for _, a := range t.registrationOrder() {
		t.join(a)
		for what, value := range map[string]string{"id": a.id, "token": a.token} {
			if other, taken := seen[what+value]; taken {
				t.Fail("%s has the same %s as %s: %s", a.name, what, other, value)
			}
			seen[what+value] = a.name
		}
	}
}

// lateChecks are about registrations while the league runs.
func lateChecks() []kit.Check {
	return []kit.Check{
		refusedCheck("late.refused", "late", kit.Must, "A player that registers after the start of the league is refused (league.v2, registration).", "Look at the state first: the schedule exists."),
		leagueCheck("late.form", kit.Wild, "A refused registration gets a result with status REJECTED and a reason, and no id, token or league (LEAGUE_REGISTER_RESPONSE).",
			`Answer {"status": "REJECTED", "reason": "League already started"} with the header fields, and leave out the rest.`, func(t T) {
				a := t.recorded("late")
				t.Refused(a)
				if a.Document.Has("error") || a.Message.Text("status") != protocol.StatusRejected {
					t.Fail("status is %s, in %s", a.Message.Shown("status"), a)
				}
				if a.Message.Text("reason") == "" {
					t.Fail("reason is %s", a.Message.Shown("reason"))
				}
				for _, name := range []string{"player_id", "auth_token", "league_id"} {
					if a.Message.Has(name) {
						t.Fail("%s is %s", name, a.Message.Shown(name))
					}
				}
			}).Needing("manager.late.refused"),
		leagueCheck("late.unharmed", kit.Must, "A refused registration has no effect: the players stay the same (GET_PLAYERS).", "Check everything before you store anything.", func(t T) {
			players := t.dataOf(t.recorded("late.players")).List("players")
			for _, f := range players {
				if t.withID(f.Text("player_id")) == nil {
					t.Fail("there is a new player %s", f.Shown("player_id"))
				}
			}
			if len(players) != len(t.players()) {
				t.Fail("there are %d players; before, there were %d", len(players), len(t.players()))
			}
		}).Needing("manager.query.players"),
		leagueCheck("late.back", kit.Should, "A player that registers again with its token keeps its id, also while the league runs (league.v2, registration).",
			"Look for the agent with the auth_token of the registration, and answer as the first time.", func(t T) {
				a := t.recorded("late.back")
				t.Accepted(a, protocol.TypeLeagueRegisterRequest.Answer())
				t.Equal(a, "player_id", t.players()[0].id)
			}),
	}
}
