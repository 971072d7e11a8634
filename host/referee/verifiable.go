package referee

import (
	"github.com/strategylab/strategylab/host/draws"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// proof is what makes the number of a match verifiable. It is guarded by the match's lock. The key
// is journaled with the assignment, so that a referee that starts again keeps its commitment.
type proof struct {
	key    string    // empty if the referee draws plainly
	takes  [2]bool   // the player understands verifiable draws
	nonces [2]string // of the choices that count
}

// joins notes whether a player that has joined understands verifiable draws.
func (m *match) joins(side int, ack *protocol.GameJoinAck) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.proof.takes[side] = m.proof.key != "" && ack.DrawScheme == draws.Scheme
}

// brings notes what a player adds to the draw with its choice. Anything but a
// usable nonce counts as none.
func (m *match) brings(side int, nonce string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.proof.takes[side] && draws.ValidNonce(nonce) {
		m.proof.nonces[side] = nonce
	}
}

// proved returns what makes the match's number verifiable.
func (m *match) proved() proof {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.proof
}

// bound is the match as its draw is bound to it.
func (m *match) bound(p *game.Play, nonces [2]string) draws.Match {
	b := draws.Match{League: m.League, ID: m.Match, Round: m.Round}
	var sides [2]game.Side
	sides[0], sides[1] = p.Sides()
	for i, s := range sides {
		b.Players[i] = draws.Player{ID: m.Players[i], Nonce: nonces[i]}
		if s.Choice != game.NoParity {
			b.Players[i].Choice = s.Choice.String()
		}
	}
	return b
}

// commitment is what a side gets before its choice, empty for one that does not understand it.
func (r *Referee) commitment(m *match, side int) string {
	about := m.proved()
	if !about.takes[side] {
		return ""
	}
	b := m.bound(new(game.Play), about.nonces)
	commitment, err := b.Commitment(about.key)
	if err != nil { // a journal that somebody has edited
		r.cfg.Log.Error("match without a verifiable draw", "match", m.Match, "error", err)
	}
	return commitment
}

// number draws the number of a match: from the committed key if a player has got
// the commitment, and as Config.Draw says otherwise.
func (r *Referee) number(m *match, p *game.Play) (int, error) {
	about := m.proved()
	if !about.takes[game.SideA] && !about.takes[game.SideB] {
		return r.cfg.Draw(Match{League: m.League, ID: m.Match, Round: m.Round})
	}
	b := m.bound(p, about.nonces)
	return b.Number(about.key)
}

// noteVerdict reports what a player says of the number of a match.
func (r *Referee) noteVerdict(m *match, side int, answer protocol.Message) {
	ack, ok := answer.(*protocol.Ack)
	if !ok {
		return
	}
	if verified, said := ack.DrawVerified.Get(); said {
		r.emit(Event{Kind: Checked, Match: m.Match, Round: m.Round, Player: m.Players[side], Verified: verified})
	}
}

// results returns GAME_OVER for each side: those that got a commitment get the key
// as well, if a number was drawn.
func results(m *match, p *game.Play) (forSide [2]func(protocol.Header) protocol.Message) {
	over := protocol.GameOver{Header: protocol.Header{MessageType: protocol.TypeGameOver}, GameResult: gameResult(m, p)}
	plain := protocol.Broadcast(&over)
	about := m.proved()
	if _, drew := p.Number(); !drew || !about.takes[game.SideA] && !about.takes[game.SideB] {
		return [2]func(protocol.Header) protocol.Message{plain, plain}
	}
	over.DrawKey, over.DrawNonces = about.key, make(map[string]string, 2)
	for side, nonce := range about.nonces {
		if nonce != "" {
			over.DrawNonces[m.Players[side]] = nonce
		}
	}
	opened := protocol.Broadcast(&over)
	for side, takes := range about.takes {
		forSide[side] = plain
		if takes {
			forSide[side] = opened
		}
	}
	return forSide
}
