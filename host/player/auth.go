package player

import (
	"context"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// authenticate judges who speaks, before anything else about a message is
// judged.
func (p *Player) authenticate(ctx context.Context, in *wire.Exchange) error {
	switch in.Type {
	case protocol.TypeRoundAnnouncement, protocol.TypeLeagueStandingsUpdate, protocol.TypeRoundCompleted, protocol.TypeLeagueCompleted:
		return p.member.FromManager(ctx, in)
	case protocol.TypeGameInvitation, protocol.TypeChooseParityCall, protocol.TypeGameOver, protocol.TypeGameError:
		p.member.Me.Settled(ctx)
		return p.fromReferee(in)
	}
	return nil
}

// fromReferee checks the match key. Under a manager that knows none, the first
// token seen for a match holds for it.
func (p *Player) fromReferee(in *wire.Exchange) error {
	role, referee, err := protocol.ParseSender(in.Header.Sender)
	if in.Header.Sender != "" && (err != nil || role != protocol.RoleReferee) {
		return wire.RefuseToken(in, protocol.CodeTokenInvalid, "%s comes from a referee, not from %q", in.Type, in.Header.Sender)
	}
	given := in.Header.AuthToken
	known, keyed, by, signed := p.signature(in.Header.MatchID)
	if keyed && by == referee && protocol.SameToken(given, signed) {
		return nil // as in the invitation, where the key was checked
	}
	if keys, ok := p.member.Me.Keys(in, referee); ok && protocol.SameToken(given, keys.Send) {
		return nil
	}
	if p.cfg.Mode == protocol.Tolerant && (!p.member.Me.Proved() || p.unkeyed(in.Header.MatchID, referee)) {
		if !known || given == signed && !keyed {
			return nil
		}
		return wire.RefuseToken(in, protocol.CodeTokenInvalid, "match %s was opened with another auth_token", in.Header.MatchID)
	}
	if given == "" {
		return wire.RefuseToken(in, protocol.CodeTokenMissing, "%s bears no auth_token; the referee signs with the match key that the manager gave it", in.Type)
	}
	return wire.RefuseToken(in, protocol.CodeTokenInvalid, "the auth_token of %s is not the key of match %s", in.Type, in.Header.MatchID)
}

// unkeyed reports whether the manager has said that a match is conducted by
// this referee, who signs without a match key.
func (p *Player) unkeyed(matchID, referee string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.season.announced[matchID]
	return a.unkeyed && (referee == "" || a.referee == referee)
}

// signature returns what the referee of a match signs with, and who that is.
func (p *Player) signature(matchID string) (known, keyed bool, referee, signed string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.season.matches[matchID]
	if m == nil {
		return false, false, "", ""
	}
	return true, m.keyed, m.referee, m.signed
}

// sign settles what the agent signs its answers in a match with: the match key
// where the referee has proved to have one, and otherwise, as by the book, the
// agent's own token, but only to a referee that the manager has named for the
// match. A referee without the key never takes the place of one with it; one
// with a key of its own does, since the match may have been given to it, and is
// answered with that. The player's lock is held.
func (p *Player) sign(s *season, m *match, in *wire.Exchange) {
	_, referee, err := protocol.ParseSender(in.Header.Sender)
	if err != nil && in.Header.Sender != "" || m.keyed && m.referee == referee {
		return
	}
	given := in.Header.AuthToken
	if keys, ok := p.member.Me.Keys(in, referee); ok && protocol.SameToken(given, keys.Send) {
		m.referee, m.signed, m.keyed, m.reply = referee, given, true, keys.Expect
		return
	}
	if m.keyed {
		return
	}
	m.referee, m.signed, m.reply = referee, given, ""
	if a, known := s.announced[m.id]; known && (a.referee == "" || a.referee == referee) || !known && s.referees[referee] {
		m.reply = p.member.Me.Token()
	}
}
