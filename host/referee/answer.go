package referee

import (
	"fmt"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// strictlyUnfit is what is wrong with an answer that a tolerant referee would
// take.
type strictlyUnfit struct{ error }

func (e *strictlyUnfit) Unwrap() error { return e.error }

// fits judges an answer that came where it was asked for. One that is about
// another match, or signed by somebody else, is no answer: it is asked for
// again.
func (r *Referee) fits(b *match, side int, m protocol.Message) error {
	err := r.fitsIn(r.cfg.Mode, b, side, m)
	if err != nil && r.fitsIn(protocol.Tolerant, b, side, m) == nil {
		return &strictlyUnfit{err}
	}
	return err
}

func (r *Referee) fitsIn(mode protocol.Mode, b *match, side int, m protocol.Message) error {
	h := m.Head()
	strict := mode == protocol.Strict
	_, keys := b.contact(side)
	unusable := func(format string, args ...any) error {
		return protocol.Refuse(protocol.CodeInvalidMove, h.MessageType, fmt.Sprintf(format, args...))
	}
	switch {
	case h.MatchID != "" && h.MatchID != b.Match:
		return unusable("the answer is about match %s, not %s", h.MatchID, b.Match)
	case h.AuthToken == "" && strict && keys.Expect != "":
		return unusable("the answer bears no auth_token")
	case h.AuthToken != "" && keys.Expect != "" && !r.signed(h.AuthToken, b, keys):
		return unusable("the auth_token of the answer is not that of %s", b.Players[side])
	case strict && h.Sender != "" && h.Sender != protocol.Sender(protocol.RolePlayer, b.Players[side]):
		return unusable("the answer is signed by %s, not by %s", h.Sender, b.Players[side])
	case strict && h.ConversationID != "" && h.ConversationID != b.Conversation:
		return unusable("the answer belongs to another conversation")
	}
	var player string
	switch m := m.(type) {
	case *protocol.GameJoinAck:
		player = m.PlayerID
	case *protocol.ChooseParityResponse:
		player = m.PlayerID
		if m.Chosen() == "" {
			return unusable("the answer holds no choice")
		}
	}
	if player != "" && player != b.Players[side] {
		return unusable("the answer is %s's, not %s's", player, b.Players[side])
	}
	return nil
}

// peer returns how a player is addressed. What has been learned of it is kept
// from one match to the next.
func (r *Referee) peer(b *match, side int) *wire.Peer {
	endpoint, _ := b.contact(side)
	dialect := b.dialect(side)
	who := [3]string{b.Players[side], endpoint, dialect}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.peers[who]
	if p == nil {
		p = r.cfg.Player(b.Players[side], endpoint, dialect)
		r.peers[who] = p
	}
	return p
}
