package referee

import (
	"slices"
	"strconv"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/protocol"
)

const retries = 3

func retryChecks() []kit.Check {
	const spent = "referee.retry.spent"
	needs := []string{playsMatches, "referee.retry.join"}
	after := func(name string, level kit.Level, needs []string, rule, advice string, test func(t T)) kit.Check {
		return check("referee."+name, level, needs, rule, advice, test)
	}
	const retry = "Retry if the connection fails, no answer arrives in time, or the status is 429, 502, 503 or 504."
	announced := append(needs, spent, "referee.error.announced")
	return append([]kit.Check{
		after("retry.join", kit.Should, needs[:1], "An invitation to a busy player (HTTP 503) is sent again, and the match is played (league.v2, retries).", retry,
			func(t T) { t.retried(protocol.TypeGameInvitation, playerA) }),
		after("retry.choice", kit.Should, needs, "A call to a busy player (HTTP 503) is sent again, and the choice counts (league.v2, retries).", retry,
			func(t T) { t.retried(protocol.TypeChooseParityCall, playerB) }),
		after("retry.ids", kit.Should, needs, "Each attempt has a JSON-RPC id of its own, and all have the same conversation_id (league.v2, retries).", "Make a new id for every request, and keep conversation_id for the match.",
			func(t T) {
				list := t.messages(t.scenario("busy"), protocol.TypeGameInvitation, playerA)
				first, second := kit.Object(list[0].Raw), kit.Object(list[1].Raw)
				t.show(list[0])
				t.show(list[1])
				if first.HasID() && string(first["id"]) == string(second["id"]) {
					t.Fail("two attempts have the id %s", first["id"])
				}
				if list[0].fields.Text("conversation_id") != list[1].fields.Text("conversation_id") {
					t.Fail("two attempts belong to different conversations")
				}
			}),
		after(spent[len("referee."):], kit.Should, needs, "After 3 failed retries, the match is a technical loss (league.v2, retries).", "Count the attempts, and end the match after the fourth.",
			func(t T) {
				m := t.scenario("always busy")
				list := t.messages(m, protocol.TypeGameInvitation, playerA)
				t.show(list[len(list)-1])
				if len(list) != 1+retries {
					t.Fail("%s, which always answered HTTP 503, was invited %s, want %d", nameOf(playerA), kit.Times(len(list)), 1+retries)
				}
				t.lost(m)
			}),
		after("retry.backoff", kit.Should, append(needs, spent), "The pauses between attempts double: 1, 2 and 4 s (league.v2, retries).", "Wait 1 s x 2^attempt.",
			backsOff),
		after("error.announced", kit.Should, append(needs, spent), "Before each retry the player is sent GAME_ERROR, with the retry_count of the retry that follows (league.v2, retries).",
			"Before each retry, send GAME_ERROR to the player that it is for.", announcesRetries),
		after("error.retry", kit.Should, announced, "GAME_ERROR before a retry has retryable true, max_retries, and the missing message type in action_required (GAME_ERROR).", "Add them.",
			func(t T) {
				t.Says(t.firstError().fields, map[string]string{"action_required": string(protocol.TypeGameJoinAck), "retryable": "true", "max_retries": strconv.Itoa(retries)})
			}),
		after("error.last", kit.Should, announced, "After the last retry, GAME_ERROR has retryable false and no next_retry_at (league.v2, retries).", "Send a last GAME_ERROR with retryable false.",
			func(t T) {
				m := t.scenario("always busy")
				final := func(s *sent) bool {
					info := s.fields.Object("retry_info")
					return s.who == playerA && s.Type == protocol.TypeGameError && string(s.fields["retryable"]) == "false" && !info.Has("next_retry_at")
				}
				if !t.Until(t.patience(), func() bool { return slices.ContainsFunc(m.sent, final) }) {
					if list := t.messages(m, protocol.TypeGameError, playerA); len(list) > 0 {
						t.show(list[len(list)-1])
					}
					t.Fail("no GAME_ERROR has retryable false and no next_retry_at")
				}
			}),
	}, commonChecks("error", protocol.TypeGameError, announced, func(t T) []*sent { return []*sent{t.firstError()} })...)
}

// retried ends the check unless a player was sent a message again and the match
// was played.
func (t T) retried(typ protocol.Type, who int) {
	m := t.scenario("busy")
	list := t.messages(m, typ, who)
	for _, s := range list {
		t.show(s)
	}
	if len(list) < 2 {
		t.Fail("%s answered %s with HTTP 503 and was not sent it again", nameOf(who), typ)
	}
	if typ == protocol.TypeChooseParityCall {
		if o := t.ended(t.message(m, protocol.TypeGameOver, who)); o.Choices[playerIDs[who]] == "" {
			t.Fail("the choice of %s did not count: choices are %v", nameOf(who), o.Choices)
		}
	}
}

// announcesRetries accepts a GAME_ERROR that the retry overtook: it only has to
// arrive before the retry after that one.
func announcesRetries(t T) {
	m := t.scenario("always busy")
	tries := t.messages(m, protocol.TypeGameInvitation, playerA)
	for n := 1; n <= retries; n++ {
		var late *sent
		found := func() bool {
			invited := 0
			for _, s := range m.sent {
				if s.who == playerA && s.Type == protocol.TypeGameInvitation {
					invited++
				}
				if count, ok := s.fields.Number("retry_count"); ok && count == n && s.who == playerA && s.Type == protocol.TypeGameError {
					if invited > n+1 {
						late = s
					}
					return true
				}
			}
			return false
		}
		if !t.Until(t.T.Session.Timeout, found) {
			t.failOn(tries[n], "no GAME_ERROR with retry_count %d was sent to %s, which was invited again", n, nameOf(playerA))
		}
		if late != nil {
			t.failOn(late, "GAME_ERROR with retry_count %d came after retry %d", n, n+1)
		}
	}
}

func (t T) firstError() *sent {
	for _, s := range t.messages(t.scenario("always busy"), protocol.TypeGameError, playerA) {
		if n, _ := s.fields.Number("retry_count"); n == 1 {
			t.show(s)
			return s
		}
	}
	t.Fail("there is no GAME_ERROR with retry_count 1")
	return nil
}

// backsOff compares the shortest pauses of several tries: a busy machine makes
// pauses longer, never shorter.
func backsOff(t T) {
	const tries = 4
	var first, last time.Duration
	for try, m := 1, t.scenario("always busy"); ; try++ {
		list := t.messages(m, protocol.TypeGameInvitation, playerA)
		if len(list) <= retries {
			t.Skip("there were not %d retries", retries)
		}
		if f, l := pauses(list); try == 1 {
			first, last = f, l
		} else {
			first, last = min(first, f), min(last, l)
		}
		if last > first+first/2 {
			t.Note("the first pause was %v, the last %v", first.Round(time.Millisecond), last.Round(time.Millisecond))
			return
		}
		if try == tries {
			t.failOn(list[retries], "the first pause was %v, and the last %v; it should be longer, four times by the protocol", first.Round(time.Millisecond), last.Round(time.Millisecond))
		}
		t.play(plan{}) // a referee may ask a player only once that has not answered in the last matches
		m = t.play(plan{join: [2]reaction{busy}})
	}
}

// pauses returns the first and the last of the pauses between the attempts.
func pauses(list []*sent) (first, last time.Duration) {
	return list[1].At.Sub(list[0].answered), list[retries].At.Sub(list[retries-1].answered)
}

func faultChecks() []kit.Check {
	declined := func(look func(t T, s *sent, o protocol.GameResult)) func(t T) {
		return func(t T) {
			m := t.scenario("declined")
			for _, s := range []*sent{t.message(m, protocol.TypeGameOver, playerB), t.message(m, protocol.TypeMatchResultReport, toManager)} {
				look(t, s, t.ended(s))
			}
		}
	}
	return []kit.Check{
		matchCheck("fault.declined", kit.Should, "A player that answers accept false is not invited again, and has a technical loss (league.v2, the game).", "Read accept; end the match with status TECHNICAL_LOSS.",
			func(t T) { t.losesAtOnce("declined", protocol.TypeGameInvitation) }),
		matchCheck("fault.invalid", kit.Should, "A choice that is neither even nor odd is a technical loss at once (league.v2, errors, E004).", "Compare with the two words.",
			func(t T) { t.losesAtOnce("invalid", protocol.TypeChooseParityCall) }),
		matchCheck("fault.score", kit.Should, "After a technical loss the opponent is the winner, with 3 points to 0; if both players are at fault, both lose: winner null, 0 points each (league.v2, the game).",
			"Name the opponent in winner and winner_player_id, and nobody if neither played.",
			judged("scoring", true, []string{"declined", "both declined"}, protocol.TypeGameOver, protocol.TypeMatchResultReport)),
		matchCheck("fault.nodraw", kit.Should, "No number is drawn for a technical loss: drawn_number and number_parity are null, and choices holds only those that were made (league.v2, the game).", "Write null.",
			declined(func(t T, s *sent, o protocol.GameResult) {
				if _, drawn := o.DrawnNumber.Get(); drawn || o.NumberParity.Value() != "" || len(o.Choices) > 0 {
					t.failOn(s, "%s has the number %d, %q, with the choices %v", s.Type, o.DrawnNumber.Value(), o.NumberParity.Value(), o.Choices)
				}
			})),
		matchCheck("fault.names", kit.Should, "technical_loss_player_ids lists the players at fault (GAME_OVER, MATCH_RESULT_REPORT).", "Add the list to game_result and to details.",
			declined(func(t T, s *sent, o protocol.GameResult) {
				if !slices.Equal(o.TechnicalLossPlayerIDs, playerIDs[:1]) {
					t.failOn(s, "technical_loss_player_ids of %s is %v, want %v", s.Type, o.TechnicalLossPlayerIDs, playerIDs[:1])
				}
			})),
		matchCheck("fault.join", kit.Should, "A player that does not answer the invitation loses the match once the retries are spent (league.v2, timeouts; 5 s by default).", "Give each attempt a deadline, and limit the retries.",
			func(t T) { t.losesByTimeout("no join", protocol.TypeGameInvitation) }),
		matchCheck("fault.choice", kit.Should, "A player that does not answer the call loses the match once the retries are spent (league.v2, timeouts; 30 s by default).", "Give each attempt a deadline, and limit the retries.",
			func(t T) { t.losesByTimeout("no choice", protocol.TypeChooseParityCall) }),
	}
}

// losesAtOnce ends the check unless the first player has lost without a retry.
func (t T) losesAtOnce(scenario string, asked protocol.Type) {
	m := t.scenario(scenario)
	if list := t.messages(m, asked, playerA); len(list) > 1 {
		t.show(list[0])
		t.failOn(list[1], "%s was sent %s %s", nameOf(playerA), asked, kit.Times(len(list)))
	}
	t.lost(m)
}

func (t T) losesByTimeout(scenario string, asked protocol.Type) {
	m := t.start(scenario)
	t.awaitProgress(func() bool { return m.count(asked, playerA) > 1 || m.count(protocol.TypeGameOver, playerB) > 0 })
	if list := t.messages(m, asked, playerA); len(list) > 1 && list[1].At.Sub(list[0].At) > t.patience() {
		t.skipSlow() // the match began long ago
	}
	t.awaitEnd(m)
	t.lost(m)
}

func (t T) lost(m *match) {
	if !t.technical(m) {
		t.Fail("status is not %s", protocol.StatusTechnicalLoss)
	}
}
