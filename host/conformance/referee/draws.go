package referee

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/draws"
	"github.com/strategylab/strategylab/host/protocol"
)

// verifiable is a match of two players that understand verifiable draws, of which the
// first answers the calls for its choice in some way.
func verifiable(first reaction) plan {
	join := joining(kit.Set("draw_scheme", draws.Scheme))
	return plan{join: [2]reaction{join, join}, choose: [2]reaction{first, adding(protocol.Odd)}}
}

// adding chooses, and adds the player's nonce to the draw.
func adding(c protocol.Choice) reaction {
	return func(m *match, s *sent) kit.Response {
		return choosing(c, kit.Set("draw_nonce", m.nonce(s.who)))(m, s)
	}
}

// nonce is what a player adds to the draw of a match, however often it is asked.
func (m *match) nonce(who int) string {
	sum := sha256.Sum256([]byte(m.id + m.keys[who].Send))
	return hex.EncodeToString(sum[:16])
}

// commitment returns what a player got with the first call for a choice.
func (t T) commitment(m *match, who int) string {
	return t.message(m, protocol.TypeChooseParityCall, who).fields.Text("draw_commitment")
}

// committed returns a match that the referee has committed to, and skips the check
// of a referee that commits to none.
func (t T) committed() *match {
	m := t.scenario("verifiable")
	if t.commitment(m, playerA) == "" && t.commitment(m, playerB) == "" {
		t.Skip("not offered: CHOOSE_PARITY_CALL has no draw_commitment for players that understand %s", draws.Scheme)
	}
	return m
}

var drawTests = map[string]func(T){
	"draws.plain": func(t T) {
		m := t.scenario("win")
		for _, typ := range []protocol.Type{protocol.TypeGameInvitation, protocol.TypeChooseParityCall, protocol.TypeGameOver} {
			for _, s := range t.messages(m, typ) {
				for _, name := range []string{"draw_commitment", "draw_key", "draw_nonces"} {
					if s.fields.Has(name) {
						t.failOn(s, "%s of %s is %s", name, typ, s.fields.Shown(name))
					}
				}
			}
		}
	},
	"draws.kept": func(t T) {
		t.committed()
		m := t.scenario("verifiable, busy")
		for _, s := range t.messages(m, protocol.TypeChooseParityCall) {
			if first := t.commitment(m, s.who); s.fields.Text("draw_commitment") != first {
				t.failOn(s, "draw_commitment is %s when the call is repeated, and was %q", s.fields.Shown("draw_commitment"), first)
			}
		}
	},
	"draws.verified": func(t T) {
		t.committed()
		judged("commitments", false, []string{"verifiable", "verifiable too"}, protocol.TypeGameOver)(t)
	},
}
