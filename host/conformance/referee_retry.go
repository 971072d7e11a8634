package conformance

import (
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/protocol"
)

// retries is how often a referee tries again.
const retries = 3

// retryChecks are about players that do not answer as they should, at first.
func retryChecks() []Check {
	const spent = "referee.retry.spent"
	needs := []string{refereePlays, "referee.retry.join"}
	after := func(name string, level Level, needs []string, rule, advice string, run func(p refereeT)) Check {
		return Check{ID: "referee." + name, Level: level, Needs: needs, Rule: rule, Advice: advice, run: forReferee(run)}
	}
	const tell = "Before each retry, send GAME_ERROR to the player that it is for."
	told := append(needs, spent, "referee.error.told")
	return []Check{
		after("retry.join", Must, needs[:1], "An invitation that meets a busy player (HTTP 503) is sent again, and the match is played (league.v2, retries).", "Try again when the connection fails, nothing comes in time, or the status is 429, 502, 503 or 504.",
			func(p refereeT) { p.tried(protocol.TypeGameInvitation, sideA) }),
		after("retry.choice", Must, needs, "A call that meets a busy player (HTTP 503) is made again, and the choice counts (league.v2, retries).", "Try again when the connection fails, nothing comes in time, or the status is 429, 502, 503 or 504.",
			func(p refereeT) { p.tried(protocol.TypeChooseParityCall, sideB) }),
		after("retry.ids", Should, needs, "Each attempt has a JSON-RPC id of its own, and all have the same conversation_id (league.v2, retries).", "Make a new id for every request, and keep conversation_id for the match.",
			func(p refereeT) {
				list := p.all(p.scene("busy"), protocol.TypeGameInvitation, sideA)
				first, second := object(list[0].Raw), object(list[1].Raw)
				p.show(list[0])
				p.show(list[1])
				if isID(first["id"]) && string(first["id"]) == string(second["id"]) {
					p.Fail("two attempts have the id %s", first["id"])
				}
				if list[0].message.text("conversation_id") != list[1].message.text("conversation_id") {
					p.Fail("two attempts belong to different conversations")
				}
			}),
		after(spent[len("referee."):], Must, needs, "After 3 retries that failed, the match is a technical loss (league.v2, retries).", "Count the attempts, and end the match after the fourth.",
			func(p refereeT) {
				d := p.scene("spent")
				list := p.all(d, protocol.TypeGameInvitation, sideA)
				p.show(list[len(list)-1])
				if len(list) != 1+retries {
					p.Fail("player %s, who always answered HTTP 503, was invited %d times, want %d", playerIDs[sideA], len(list), 1+retries)
				}
				p.lost(d)
			}),
		after("retry.backoff", Should, append(needs, spent), "The pauses between attempts double: 1, 2 and 4 s (league.v2, retries).", "Wait 1 s x 2^attempt.",
			backsOff),
		after("error.told", Should, append(needs, spent), "Before each retry the player is sent GAME_ERROR, whose retry_count is that of the retry about to be made (league.v2, retries).", tell,
			toldBeforeRetries),
		after("error.header", Must, told, "GAME_ERROR bears all header fields, the sender referee:<referee_id>, and the match key as auth_token (league.v2, header fields, authentication).", "Put into it what the invitation bears.",
			func(p refereeT) {
				h := p.firstError()
				p.header(h.message, h.Type)
				p.bears(h, "sender", protocol.Sender(protocol.RoleReferee, p.id))
				p.bears(h, "auth_token", p.scene("spent").keys[sideA].Send)
			}),
		after("error.fields", Should, told, "GAME_ERROR before a retry bears match_id, player_id or affected_player, error_code, retryable true, max_retries, and the type that is wanted in action_required (GAME_ERROR).", "Add them.",
			tellsWhatIsWrong),
		after("error.last", Should, told, "After the last retry GAME_ERROR says so: retryable is false, and there is no next_retry_at (league.v2, retries).", "Send a last GAME_ERROR with retryable false.",
			func(p refereeT) {
				d := p.scene("spent")
				final := func(h *heard) bool {
					info := object(h.message["retry_info"])
					return h.who == sideA && h.Type == protocol.TypeGameError && string(h.message["retryable"]) == "false" && !info.has("next_retry_at")
				}
				if !p.until(p.patience(), func() bool { return slices.ContainsFunc(d.heard, final) }) {
					if list := p.all(d, protocol.TypeGameError, sideA); len(list) > 0 {
						p.show(list[len(list)-1])
					}
					p.Fail("no GAME_ERROR says that nothing is tried again")
				}
			}),
	}
}

// tried ends the check unless somebody was asked again, and the match played.
func (p refereeT) tried(t protocol.Type, who int) {
	d := p.scene("busy")
	list := p.all(d, t, who)
	for _, h := range list {
		p.show(h)
	}
	if len(list) < 2 {
		p.Fail("player %s answered %s with HTTP 503 and was not asked again", playerIDs[who], t)
	}
	if t == protocol.TypeChooseParityCall {
		if o := p.one(d, protocol.TypeGameOver, who).told(); o.choices[playerIDs[who]] == "" {
			p.Fail("the choice of player %s did not count: choices are %v", playerIDs[who], o.choices)
		}
	}
}

// grace is how much later than the retry a GAME_ERROR may arrive that was sent
// before it.
const grace = time.Second

func toldBeforeRetries(p refereeT) {
	d := p.scene("spent")
	tries := p.all(d, protocol.TypeGameInvitation, sideA)
	for n := 1; n <= retries; n++ {
		var told *heard
		found := func() bool {
			for _, h := range d.heard {
				if count, ok := number(h.message["retry_count"]); ok && count == n && h.who == sideA && h.Type == protocol.TypeGameError {
					told = h
					return true
				}
			}
			return false
		}
		if !p.until(p.counter.opts.Timeout, found) {
			p.show(tries[n])
			p.Fail("no GAME_ERROR with retry_count %d was sent to player %s, who was invited again", n, playerIDs[sideA])
		}
		if late := told.At.Sub(tries[n].At); late > grace {
			p.show(told)
			p.Fail("GAME_ERROR with retry_count %d came %v after the retry", n, late.Round(time.Millisecond))
		}
	}
}

// firstError is the GAME_ERROR before the first retry.
func (p refereeT) firstError() *heard {
	for _, h := range p.all(p.scene("spent"), protocol.TypeGameError, sideA) {
		if n, _ := number(h.message["retry_count"]); n == 1 {
			p.show(h)
			return h
		}
	}
	p.Fail("there is no GAME_ERROR with retry_count 1")
	return nil
}

func tellsWhatIsWrong(p refereeT) {
	h := p.firstError()
	p.bears(h, "match_id", p.scene("spent").id)
	p.bears(h, "action_required", string(protocol.TypeGameJoinAck))
	if h.message.text("player_id") != playerIDs[sideA] && h.message.text("affected_player") != playerIDs[sideA] {
		p.Fail("player_id is %s and affected_player %s, want %q", orMissing(h.message["player_id"]), orMissing(h.message["affected_player"]), playerIDs[sideA])
	}
	if h.message.text("error_code") == "" {
		p.Fail("error_code is %s", orMissing(h.message["error_code"]))
	}
	if string(h.message["retryable"]) != "true" {
		p.Fail("retryable is %s, want true", orMissing(h.message["retryable"]))
	}
	if n, ok := number(h.message["max_retries"]); !ok || n != retries {
		p.Fail("max_retries is %s, want %d", orMissing(h.message["max_retries"]), retries)
	}
}

// backsOff compares the pauses. A machine that has much else to do makes one
// longer now and then; that they do not grow time and again is no accident.
func backsOff(p refereeT) {
	const tries = 4
	for try, d := 1, p.scene("spent"); ; try++ {
		list := p.all(d, protocol.TypeGameInvitation, sideA)
		if len(list) > retries {
			first, last := pauses(list)
			p.Note("the first pause was %v, the last %v", first.Round(time.Millisecond), last.Round(time.Millisecond))
			if last > first {
				return
			}
			if try == tries {
				p.show(list[retries])
				p.Fail("the first pause was %v, and the last %v; it should be longer, four times by the book", first.Round(time.Millisecond), last.Round(time.Millisecond))
			}
		}
		if try == tries {
			p.Skip("there were not %d retries", retries)
		}
		d = p.played(plan{join: [2]reaction{turnsAway}})
	}
}

// pauses are the first and the last between four attempts.
func pauses(list []*heard) (first, last time.Duration) {
	return list[1].At.Sub(list[0].answered), list[retries].At.Sub(list[retries-1].answered)
}
