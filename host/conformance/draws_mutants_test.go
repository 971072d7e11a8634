package conformance_test

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/strategylab/strategylab/host/draws"
	"github.com/strategylab/strategylab/host/game"
)

// fixedKey is the key of a referee that uses one again and again.
const fixedKey = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

// drawOf is what the draw of a message of a referee is bound to.
func drawOf(s *sent) *draws.Match {
	d := &draws.Match{League: s.text("league_id"), ID: s.text("match_id"), Round: int(whole(s.message["round_id"]))}
	d.Players[0].ID, d.Players[1].ID = "P01", "P02"
	result, _ := s.message["game_result"].(object)
	choices, _ := result["choices"].(object)
	nonces, _ := s.message["draw_nonces"].(object)
	for i := range d.Players {
		p := &d.Players[i]
		p.Choice, _ = choices[p.ID].(string)
		p.Nonce, _ = nonces[p.ID].(string)
	}
	return d
}

// redrawn makes a GAME_OVER reveal a key, with the number that follows.
func redrawn(s *sent, key string) {
	result := s.message["game_result"].(object)
	n, _ := drawOf(s).Number(key)
	s.message["draw_key"], result["drawn_number"], result["number_parity"] = key, n, game.ParityOf(n).String()
}

// having changes the messages of a type that have a member.
func having(t, member string, edit func(m *memory, s *sent)) out {
	return sends(t, func(m *memory, s *sent) {
		if s.message[member] != nil {
			edit(m, s)
		}
	})
}

// opening changes a GAME_OVER that reveals a key.
func opening(edit func(m *memory, s *sent)) out { return having(over, "draw_key", edit) }

// committing changes a CHOOSE_PARITY_CALL that has a commitment.
func committing(edit func(m *memory, s *sent)) out { return having(call, "draw_commitment", edit) }

func refereeDrawMutants() []mutant {
	another := strings.Repeat("5a", 32)
	reuses := committing(func(_ *memory, s *sent) { s.message["draw_commitment"], _ = drawOf(s).Commitment(fixedKey) })
	return []mutant{
		{check: "referee.draws.plain", out: emits(call, func(o object) {
			if o["draw_commitment"] == nil {
				o["draw_commitment"] = another
			}
		})},
		{check: "referee.draws.verified", out: committing(func(m *memory, s *sent) {
			if m.seen["committed"] == 0 {
				m.tokens["first"] = s.text("match_id")
			}
			m.count("committed")
			if s.text("match_id") != m.tokens["first"] {
				delete(s.message, "draw_commitment")
			}
		})},
		{check: "referee.draws.kept", out: committing(func(m *memory, s *sent) {
			if m.count(s.key()) > 1 {
				s.message["draw_commitment"] = another
			}
		})},
		{check: "referee.draws.verified", out: opening(func(_ *memory, s *sent) {
			redrawn(s, fmt.Sprintf("%x", sha256.Sum256([]byte(s.text("match_id")))))
		})},
		{check: "referee.draws.verified", out: opening(func(_ *memory, s *sent) {
			result := s.message["game_result"].(object)
			result["drawn_number"] = 1 + (whole(result["drawn_number"])+1)%10
		})},
		{check: "referee.draws.verified", out: opening(func(_ *memory, s *sent) {
			delete(s.message["draw_nonces"].(object), "P02")
			redrawn(s, s.text("draw_key"))
		})},
		{check: "referee.draws.verified", out: then(reuses, opening(func(_ *memory, s *sent) { redrawn(s, fixedKey) }))},
	}
}

// judging changes what a player says of a number to which the referee has committed.
func judging(verdict func(m *memory, in *asked, verified bool) bool) serve {
	return func(m *memory, in *asked, next func(*asked) *reply) *reply {
		m.Lock()
		if c := in.text("draw_commitment"); c != "" && m.tokens[in.text("match_id")] != c {
			m.tokens[in.text("match_id")] = c
			m.count("commitments to " + in.text("match_id"))
		}
		m.Unlock()
		r := next(in)
		if !in.of(over) || in.text("draw_key") == "" || r.refused() {
			return r
		}
		m.Lock()
		defer m.Unlock()
		m.count(in.text("draw_key"))
		return r.edit(func(o object) {
			if verified, said := o["draw_verified"].(bool); said {
				o["draw_verified"] = verdict(m, in, verified)
			}
		})
	}
}

// alwaysTheSameNonce is a player that verifies what it should, with one nonce for all
// matches: the player behind it is sent the nonce that it has made itself.
func alwaysTheSameNonce(m *memory, in *asked, next func(*asked) *reply) *reply {
	own := "nonce of " + in.text("match_id")
	m.Lock()
	nonce := m.tokens[own]
	m.Unlock()
	if in.of(over) && nonce != "" {
		in = in.changed(func(o object) {
			s := &sent{message: o}
			about := drawOf(s)
			n, _ := about.Number(s.text("draw_key"))
			result := o["game_result"].(object)
			followed := n == int(whole(result["drawn_number"]))
			for id := range o["draw_nonces"].(object) {
				o["draw_nonces"].(object)[id] = nonce
			}
			if n, _ = drawOf(s).Number(s.text("draw_key")); !followed {
				n = n%10 + 1
			}
			result["drawn_number"], result["number_parity"] = n, game.ParityOf(n).String()
		})
	}
	r := next(in)
	if in.text("draw_commitment") == "" || r.refused() {
		return r
	}
	return r.edit(func(o object) {
		m.Lock()
		defer m.Unlock()
		m.tokens[own], _ = o["draw_nonce"].(string)
		o["draw_nonce"] = fixedKey
	})
}

func playerDrawMutants() []mutant {
	swapped := func(m *memory, in *asked) bool { return m.seen["commitments to "+in.text("match_id")] > 1 }
	reused := func(m *memory, in *asked) bool { return m.seen[in.text("draw_key")] > 1 }
	return []mutant{
		{check: "player.draws.nonce", serve: answering(func(m *memory, in *asked, r *reply) *reply {
			if in.text("draw_commitment") == "" || m.count("asked in "+in.text("match_id")) == 1 || r.refused() {
				return r
			}
			return r.edit(set("draw_nonce", draws.NewNonce()))
		})},
		{check: "player.draws.fresh", serve: alwaysTheSameNonce},
		{check: "player.draws.verified", serve: judging(func(*memory, *asked, bool) bool { return false })},
		{check: "player.draws.number", serve: judging(func(m *memory, in *asked, verified bool) bool {
			return verified || !swapped(m, in) && !reused(m, in)
		})},
		{check: "player.draws.swapped", serve: judging(func(m *memory, in *asked, verified bool) bool { return verified || swapped(m, in) })},
		{check: "player.draws.reused", serve: judging(func(m *memory, in *asked, verified bool) bool { return verified || reused(m, in) })},
		{check: "player.draws.round", serve: answers("ROUND_COMPLETED", drop("draw_verified"))},
	}
}
