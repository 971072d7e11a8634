package player

import (
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
)

var matchTests = map[string]func(T){
	"join.answer": func(t T) {
		m := t.begin()
		a := t.send(t.invitation(m))
		t.Accepted(a, protocol.TypeGameJoinAck)
		if !joins(a) {
			t.Fail("the answer does not accept the invitation")
		}
		if id := a.Message.Text("player_id"); !t.Registered() && protocol.ValidID(id) {
			t.Do(func() { t.ID = id }) // another manager has assigned it
		}
		// A player may conclude from a match that never continues that its answers
		// are not understood, and change them.
		t.Aside().Send(kit.Request{Message: t.call(m)})
	},
	"join.fields": func(t T) {
		_, a := t.invited()
		t.Valid(a.Message, protocol.TypeGameJoinAck, true)
	},
	"join.again": func(t T) {
		m := t.joined()
		for range 2 {
			a := t.send(t.invitation(m))
			t.Accepted(a, protocol.TypeGameJoinAck)
			if !joins(a) {
				t.Fail("the repeated invitation is not accepted")
			}
		}
	},
	"choice.answer": func(t T) { t.called() },
	"choice.fields": func(t T) {
		_, a := t.called()
		t.Valid(a.Message, protocol.TypeChooseParityResponse, true)
	},
	"choice.same": func(t T) {
		m, a := t.called()
		chosen := choiceIn(a)
		for range repeats {
			if again := t.chooses(t.send(t.call(m))); again != chosen {
				t.Fail("it chose %s at first and %s when asked again in match %s", chosen, again, m.id)
			}
		}
	},
	"choice.past": func(t T) {
		call := t.call(t.joined())
		call.Deadline = "2020-01-01T00:00:00Z"
		t.chooses(t.send(call))
	},
	"choice.other": func(t T) {
		t.NeedsRegistration(t.T)
		call := t.call(t.joined())
		call.PlayerID = "P77"
		t.Refused(t.send(call))
	},
	"choice.secret": func(t T) {
		silent := func(a *kit.Answer) {
			if c := choiceIn(a); c != "" {
				t.Fail("%s reveals the choice %q", a, c)
			}
		}
		m, before := t.invited()
		silent(before)
		t.chooses(t.send(t.call(m)))
		silent(t.send(t.invitation(m)))
		silent(t.send(t.gameError(m)))
		silent(t.send(t.standings()))
	},
	"answer.match": both(func(t T, m match, a *kit.Answer) {
		t.Agrees(a.Message, map[string]string{"match_id": m.id, "player_id": t.ID, "sender": protocol.Sender(protocol.RolePlayer, t.ID)})
	}),
	"answer.seconds": both(func(t T, _ match, a *kit.Answer) { kit.WholeSeconds.Test(t.T, "", a.Message, nil) }),
	"answer.conversation": both(func(t T, m match, a *kit.Answer) {
		if d := t.T.Session.Peer().Speaks(); slices.Contains(d.Omit, "conversation_id") {
			t.Skip("it is sent messages in %s, which leaves conversation_id out", d.Name)
		}
		t.Equal(a, "conversation_id", m.conversation)
	}),
	"answer.token": func(t T) {
		t.needsKeys()
		m := t.begin()
		keys := t.Verifier.MatchKeys(kit.League, m.id, m.referee)
		for _, request := range []protocol.Message{t.invitation(m), t.call(m)} {
			a := t.send(request)
			t.Accepted(a, "")
			if !keys.AcceptsPlayer(a.Message.Text("auth_token"), kit.League, m.id, m.referee) {
				t.Fail("auth_token is %s, which is neither the player's token nor the key of match %s", a.Message.Shown("auth_token"), m.id)
			}
		}
	},
	"answer.media": both(func(t T, _ match, a *kit.Answer) {
		if given := a.Header.Get("Content-Type"); !kit.IsJSON(given) {
			t.Fail("Content-Type is %q", given)
		}
	}),
	"state.others": func(t T) {
		t.NeedsRegistration(t.T)
		m := t.newMatch()
		m.conversation, m.opponent = "", "P98"
		round := t.announcement(m)
		round.Matches[0].PlayerAID, round.Matches[0].PlayerBID = "P97", "P98"
		t.Accepted(t.send(round), "")
		t.Refused(t.send(t.invitation(m)))
	},
	"state.uninvited": func(t T) {
		m := t.begin()
		a := t.send(t.call(m))
		t.readable(a)
		if id := a.Message.Text("match_id"); !a.Refused && id != "" && id != m.id {
			t.Fail("asked about match %s, it answers for %s", m.id, id)
		}
	},
	"state.late": func(t T) {
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
	},
	"load.concurrent": func(t T) {
		const atOnce = 8
		var matches []match
		for range atOnce {
			matches = append(matches, t.begin())
		}
		t.all(matches, func(t T, m match) {
			join := t.send(t.invitation(m))
			t.Accepted(join, protocol.TypeGameJoinAck)
			t.notOther(join, m, matches)
		})
		t.all(matches, func(t T, m match) {
			a := t.send(t.call(m))
			t.chooses(a)
			t.notOther(a, m, matches)
		})
	},
	"load.speed": func(t T) {
		const matches = 5
		limit := t.T.Session.Timeout / 4
		var took []time.Duration
		timed := func(a *kit.Answer) *kit.Answer {
			t.Accepted(a, "")
			if a.Took > limit {
				t.Fail("%s took %.0f ms of the %.0f ms until its deadline", a, kit.Milliseconds(a.Took), kit.Milliseconds(t.T.Session.Timeout))
			}
			took = append(took, a.Took)
			return a
		}
		for range matches {
			m := t.begin()
			timed(t.send(t.invitation(m)))
			a := timed(t.send(t.call(m)))
			timed(t.send(t.over(m, choiceIn(a))))
		}
		slices.Sort(took)
		t.Note("%d answers took %.1f ms in the median and %.1f ms at most", len(took), kit.Milliseconds(took[len(took)/2]), kit.Milliseconds(took[len(took)-1]))
	},
	"hostile.then": func(t T) { t.called() },
}

// both looks at the two answers that matter.
func both(look func(t T, m match, a *kit.Answer)) func(t T) {
	return func(t T) {
		m, join := t.invited()
		look(t, m, join)
		look(t, m, t.send(t.call(m)))
	}
}

// repeats is how often a player is sent the same call. A player that chooses
// at random each time goes undetected once in 2^repeats.
const repeats = 7

// signed makes a test of a player to which the suite can prove who it is.
func signed(test func(t T)) func(t T) {
	return func(t T) {
		t.needsKeys()
		test(t)
	}
}

// refusesCall tests that an edited call is refused.
func refusesCall(edit kit.Edit) func(t T) {
	return signed(func(t T) { t.Refused(t.send(t.call(t.joined()), edit)) })
}

var authTests = map[string]func(T){
	"auth.token":   refusesCall(kit.Set("auth_token", kit.Forged)),
	"auth.missing": refusesCall(kit.Delete("auth_token")),
	"auth.referee": refusesCall(kit.Set("sender", protocol.Sender(protocol.RoleReferee, kit.OtherReferee))),
	"auth.player":  refusesCall(kit.Set("sender", protocol.Sender(protocol.RolePlayer, "P02"))),
	"auth.manager": signed(func(t T) {
		m := t.standings()
		t.Accepted(t.send(m), "")
		m.AuthToken = kit.Forged
		t.Refused(t.send(m))
	}),
	"auth.then": func(t T) {
		m := t.joined()
		bad := t.call(m)
		bad.AuthToken = kit.Forged
		t.send(bad)
		t.chooses(t.send(t.call(m)))
	},
	"auth.completed": signed(func(t T) {
		m := t.joined()
		end := t.LeagueCompleted(t.players()...)
		end.AuthToken = t.Verifier.MatchKeys(kit.League, m.id, m.referee).Send
		t.Refused(t.send(end, kit.Set("sender", protocol.Sender(protocol.RoleReferee, m.referee))))
		t.chooses(t.send(t.call(m)))
	}),
}

// acked tests that a message is acknowledged.
func acked(message func(t T) protocol.Message) func(T) {
	return func(t T) {
		m := message(t)
		t.Accepted(t.send(m), m.Head().MessageType.Answer())
	}
}

// ended is the end of a match that the player has played.
func ended(t T) protocol.Message {
	m, a := t.called()
	return t.over(m, choiceIn(a))
}

var noticeTests = map[string]func(T){
	"round.ack":     acked(func(t T) protocol.Message { return t.announcement(t.newMatch()) }),
	"standings.ack": acked(func(t T) protocol.Message { return t.standings() }),
	"roundend.ack":  acked(func(t T) protocol.Message { return t.RoundCompleted() }),
	"over.ack":      acked(ended),
	"over.forms": func(t T) {
		m, a := t.called()
		own := choiceIn(a)
		tie := t.over(m, own)
		tie.GameResult.Status, tie.GameResult.WinnerPlayerID = protocol.StatusDraw, protocol.Null[string]()
		tie.GameResult.Choices = map[string]protocol.Choice{t.ID: own, m.opponent: own}
		t.Accepted(t.send(tie), protocol.TypeGameOver.Answer())

		m, _ = t.called()
		both := t.over(m, own)
		both.GameResult = &protocol.GameResult{
			Status: protocol.StatusTechnicalLoss, WinnerPlayerID: protocol.Null[string](), DrawnNumber: protocol.Null[int](), NumberParity: protocol.Null[string](),
			Choices: map[string]protocol.Choice{}, TechnicalLossPlayerIDs: []string{t.ID, m.opponent}, Reason: "neither player chose in time",
		}
		t.Accepted(t.send(both), protocol.TypeGameOver.Answer())
	},
	"over.again": func(t T) {
		m := ended(t)
		t.Accepted(t.send(m), protocol.TypeGameOver.Answer())
		t.Accepted(t.send(m), protocol.TypeGameOver.Answer())
	},
	"error.ack": acked(func(t T) protocol.Message { return t.gameError(t.joined()) }),
	"error.then": func(t T) {
		m := t.joined()
		t.send(t.gameError(m))
		t.chooses(t.send(t.call(m)))
	},
	"ack.fields": func(t T) {
		a := t.send(t.standings())
		t.Says(a.Message, map[string]string{"status": protocol.StatusAcknowledged, "player_id": t.ID})
	},
}

// Play implements kit.Peers: our own referee conducts a match of the player against our own player.
func (p *peers) Play(own *kit.T) kit.Play {
	t, c := with(own), own.Session.Company(own.Context())
	defer c.Close() // what it could not end shows in what follows
	over := make(chan referee.Event, 1)
	conducts, err := c.Referee("REF09", func(e referee.Event) { over <- e })
	if err != nil {
		return kit.NotTried(err.Error())
	}
	opponent, err := c.Player("P99", kit.NewToken("P99"), func(player.Event) {})
	if err != nil {
		return kit.NotTried(err.Error())
	}
	m := t.newMatch()
	m.referee, m.opponent = conducts.ID, opponent.ID
	a := t.announcement(m)
	match := &a.Matches[0]
	match.RefereeEndpoint = conducts.Endpoint.URL
	if !t.mute.Load() {
		t.Aside().Send(kit.Request{Message: a})
	}
	keys := [2]credential.KeyPair{p.Verifier.MatchKeys(kit.League, m.id, m.referee), credential.NewVerifier(opponent.Token).MatchKeys(kit.League, m.id, m.referee)}
	keys[0].Optional, keys[1].Optional = true, true // as for every player of a tolerant league
	match.PlayerAEndpoint, match.PlayerBEndpoint, match.PlayerAKeys, match.PlayerBKeys = own.Session.URL, opponent.Endpoint.URL, &keys[0], &keys[1]
	if err := c.Announce(conducts, a); err != nil {
		return kit.NotTried(err.Error())
	}
	select {
	case e := <-over:
		switch fault := e.Sides[0].Fault; {
		case fault == game.NoFault:
			return kit.Played
		case !p.Registered() && with(own.Aside()).send(t.invitation(t.newMatch())).Refused:
			return kit.NotTried("the player is not registered with this manager, and refuses our referee")
		default:
			return kit.CouldNot("in a match that our referee conducted, it had a technical loss: %v: %s", fault, e.Error)
		}
	case <-own.Context().Done():
		return kit.NotTried("the checks were canceled")
	}
}
