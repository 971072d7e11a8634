package referee

import (
	"context"
	"fmt"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// fromPlayer judges an answer that a player posts as a request of its own. It
// counts only with a verified token, in every mode.
func (r *Referee) fromPlayer(in *wire.Exchange) (*match, int, error) {
	r.mu.Lock()
	b := r.matches[in.Header.MatchID]
	r.mu.Unlock()
	if in.Header.AuthToken == "" {
		return nil, 0, wire.RefuseToken(in, protocol.CodeTokenMissing, "%s bears no auth_token", in.Type)
	}
	if b == nil {
		return nil, 0, protocol.Refuse(protocol.CodeMatchNotFound, in.Type, fmt.Sprintf("this referee has no match %q", in.Header.MatchID))
	}
	for side, id := range b.Players {
		if _, keys := b.contact(side); r.signed(in.Header.AuthToken, b, keys) {
			if role, name, err := protocol.ParseSender(in.Header.Sender); in.Header.Sender != "" && (err != nil || role != protocol.RolePlayer || name != id) {
				return nil, 0, wire.RefuseToken(in, protocol.CodeTokenInvalid, "the auth_token of %s is not that of %q", in.Type, in.Header.Sender)
			}
			return b, side, nil
		}
	}
	return nil, 0, wire.RefuseToken(in, protocol.CodeTokenInvalid, "the auth_token of %s is of no player of match %s", in.Type, b.Match)
}

// signed reports whether a token is that of the player with whom a match has
// these keys.
func (r *Referee) signed(token string, b *match, keys protocol.KeyPair) bool {
	return protocol.SameToken(token, keys.Expect) ||
		keys.Expect != "" && keys.AcceptsPlayer(token, b.League, b.Match, r.member.Me.ID())
}

func (r *Referee) joinPosted(_ context.Context, in *wire.Exchange) (protocol.Message, error) {
	m, err := wire.Decode[*protocol.GameJoinAck](in)
	if err != nil {
		return nil, err
	}
	return r.posted(in, m.PlayerID, posted{message: m})
}

// choicePosted takes a choice. One that is none is refused, and loses the match
// as it would in an answer.
func (r *Referee) choicePosted(_ context.Context, in *wire.Exchange) (protocol.Message, error) {
	m, err := wire.Decode[*protocol.ChooseParityResponse](in)
	if protocol.CodeOf(err) == protocol.CodeInvalidParityChoice {
		if _, late := r.posted(in, "", posted{err: err}); late != nil {
			return nil, late
		}
	}
	if err != nil {
		return nil, err
	}
	return r.posted(in, m.PlayerID, posted{message: m})
}

func (r *Referee) posted(in *wire.Exchange, player string, p posted) (protocol.Message, error) {
	b, side, err := r.fromPlayer(in)
	if err != nil {
		return nil, err
	}
	if player != "" && player != b.Players[side] {
		return nil, wire.RefuseToken(in, protocol.CodeTokenInvalid, "%s cannot answer for %s", b.Players[side], player)
	}
	if !b.deliver(side, in.Type, p) {
		return nil, protocol.Refuse(protocol.CodeInvalidState, in.Type, fmt.Sprintf("match %s does not wait for this answer", b.Match))
	}
	ack, ok := protocol.New(in.Type + "_ACK").(*protocol.Ack)
	if !ok {
		return nil, fmt.Errorf("referee: no receipt for a %s", in.Type)
	}
	ack.Status, ack.PlayerID = protocol.StatusAcknowledged, b.Players[side]
	return ack, nil
}
