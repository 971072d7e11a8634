package peertest

import (
	"context"
	"strings"
	"testing"
	"time"
)

// spellings are what players make of the fields of their answers: their own
// name, somebody else's token, words and times in another form. Each changes an
// answer, given the message that it answers.
var spellings = map[string]func(answer, message object){
	"signs in the plural":        func(a, _ object) { a["sender"] = strings.Replace(text(a, "sender"), "player:", "players:", 1) },
	"goes by its own name":       func(a, _ object) { a["sender"], a["player_id"] = "player:Team 7", "Team 7" },
	"echoes the last token":      func(a, m object) { a["auth_token"] = m["auth_token"] },
	"has a constant token":       func(a, _ object) { a["auth_token"] = "tok_p1" },
	"has an empty token":         func(a, _ object) { a["auth_token"] = "" },
	"has a token that is null":   func(a, _ object) { a["auth_token"] = nil },
	"answers with the same type": func(a, m object) { a["message_type"] = m["message_type"] },
	"says what it has received":  func(a, m object) { a["message_type"] = text(m, "message_type") + "_RECEIVED" },
	"shouts its choice": func(a, _ object) {
		if choice, chose := a["parity_choice"]; chose {
			a["parity_choice"] = " " + strings.ToUpper(choice.(string))
		}
	},
	"calls its choice a move": func(a, _ object) {
		if choice, chose := a["parity_choice"]; chose {
			delete(a, "parity_choice")
			a["move"] = choice
		}
	},
	"joins in words": func(a, _ object) {
		if _, joins := a["accept"]; joins {
			a["accept"] = "true"
		}
	},
	"has times without a zone": func(a, _ object) {
		a["timestamp"], a["arrival_timestamp"] = "2026-11-22 12:00:00", "2026-11-22T12:00:00.5"
	},
	"counts seconds":       func(a, _ object) { a["timestamp"], a["arrival_timestamp"] = 1763800000.5, 1763800000 },
	"leaves the match out": func(a, _ object) { delete(a, "match_id") },
}

// TestOurHostTakesWhatComesBack: what a player answers on the host's own request
// is that player's, however it is signed and spelled. All of these players
// together play a league without a technical loss.
func TestOurHostTakesWhatComesBack(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	h := hostLeague(ctx, t, len(spellings), 2)
	var all []*contestant
	for name, respell := range spellings {
		c := contest(t, &style{name: name}, strings.ReplaceAll(name, " ", "-"), habit(len(all)))
		by := c.program.handle
		c.program.handle = func(t string, message object) object {
			answer := by(t, message)
			respell(answer, message)
			return answer
		}
		if err := c.register(ctx, h.url); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	clean(t, h.end(t), len(spellings))
	checkContestants(ctx, t, all, int64(len(spellings)-1))
}
