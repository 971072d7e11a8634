package referee

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

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

// bound is the match as its draw is bound to it.
func (m *match) bound(nonces map[string]string) draws.Match {
	b := draws.Match{League: kit.League, ID: m.id, Round: m.round}
	for who, c := range []protocol.Choice{protocol.Even, protocol.Odd} {
		b.Players[who] = draws.Player{ID: playerIDs[who], Choice: string(c), Nonce: nonces[playerIDs[who]]}
	}
	return b
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

// opened returns the end of a match for a player, and what it reveals.
func (t T) opened(m *match, who int) (over *sent, key string, nonces map[string]string) {
	over = t.message(m, protocol.TypeGameOver, who)
	if !over.result().drawn {
		t.Skip("match %s ended without a number", m.id)
	}
	_ = json.Unmarshal(over.fields["draw_nonces"], &nonces) // without them there are none
	return over, over.fields.Text("draw_key"), nonces
}

func drawChecks() []kit.Check {
	proves := func(name, rule, advice string, test func(t T), needs ...string) kit.Check {
		return check("referee.draws."+name, kit.Should, append(needs, playsMatches), rule, advice, test)
	}
	return []kit.Check{
		proves("plain", "A player that does not say draw_scheme is sent no member of verifiable draws (docs/draws.md).",
			"Send draw_commitment, draw_key and draw_nonces only to players whose GAME_JOIN_ACK has the draw_scheme.", sendsPlain),
		proves("commitment", "A referee that offers verifiable draws commits in every match and to every player that asks: draw_commitment is 64 hexadecimal digits (docs/draws.md).",
			"Make a key for each match before the first call, and put the commitment into each CHOOSE_PARITY_CALL.", func(t T) {
				t.committed()
				for _, name := range []string{"verifiable", "verifiable too"} {
					for who := range playerIDs {
						m := t.scenario(name)
						if c, err := hex.DecodeString(t.commitment(m, who)); err != nil || len(c) != sha256.Size {
							t.Fail("%s has no commitment for %s in match %s, with which draws are verifiable in others", protocol.TypeChooseParityCall, nameOf(who), m.id)
						}
					}
				}
			}),
		proves("kept", "A call that is repeated has the commitment of the first: later the referee may know choices (docs/draws.md).",
			"Keep the key of a match, also over a restart.", func(t T) {
				t.committed()
				m := t.scenario("verifiable, busy")
				for _, s := range t.messages(m, protocol.TypeChooseParityCall) {
					if first := t.commitment(m, s.who); s.fields.Text("draw_commitment") != first {
						t.failOn(s, "draw_commitment is %s when the call is repeated, and was %q", s.fields.Shown("draw_commitment"), first)
					}
				}
			}),
		proves("key", "The draw_key in GAME_OVER opens the commitment that the player got before its choice (docs/draws.md).",
			"Reveal the key that you have committed to; compute the commitment as the page says.", func(t T) {
				m := t.committed()
				for who := range playerIDs {
					over, key, nonces := t.opened(m, who)
					b := m.bound(nonces)
					if opens, err := b.Commitment(key); err != nil || opens != t.commitment(m, who) {
						t.failOn(over, "the commitment to %s is not opened: %v", nameOf(who), cmp.Or(err, draws.ErrCommitment))
					}
				}
			}),
		proves("number", "The drawn number follows from the key, the choices and the nonces (docs/draws.md).",
			"Draw when both choices are there, by the formula of the page.", func(t T) {
				m := t.committed()
				over, key, nonces := t.opened(m, playerA)
				b := m.bound(nonces)
				if n, err := b.Number(key); err == nil && n != over.result().number {
					t.failOn(over, "the drawn number is %d, and %d follows from the key, the choices and the nonces", over.result().number, n)
				}
			}, "referee.over.number"),
		proves("nonces", "draw_nonces in GAME_OVER holds the nonces of both players, as they came with the choices that count (docs/draws.md).",
			"Keep draw_nonce with the choice, by player_id.", func(t T) {
				m := t.committed()
				want := map[string]string{playerIDs[playerA]: m.nonce(playerA), playerIDs[playerB]: m.nonce(playerB)}
				for who := range playerIDs {
					if over, _, nonces := t.opened(m, who); !maps.Equal(nonces, want) {
						t.failOn(over, "draw_nonces is %s, want %v", over.fields.Shown("draw_nonces"), want)
					}
				}
			}),
		proves("fresh", "Each match has a key of its own (docs/draws.md).", "Make the key of a match of 256 random bits, and forget it afterwards.", func(t T) {
			t.committed()
			var keys []string
			for _, name := range []string{"verifiable", "verifiable too"} {
				over, key, _ := t.opened(t.scenario(name), playerA)
				if key != "" && slices.Contains(keys, key) {
					t.failOn(over, "%v", draws.ErrReused)
				}
				keys = append(keys, key)
			}
		}),
	}
}

func sendsPlain(t T) {
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
}
