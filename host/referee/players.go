package referee

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// strictOnlyError is what is wrong with an answer that a tolerant referee would take.
type strictOnlyError struct{ error }

func (e *strictOnlyError) Unwrap() error { return e.error }

// strictOnly reports whether an error is one of strictness alone.
func strictOnly(err error) bool {
	_, is := errors.AsType[*strictOnlyError](err)
	return is
}

// strictOnlyIf marks an error as one of strictness alone, if it is.
func strictOnlyIf(is bool, err error) error {
	if is {
		return &strictOnlyError{err}
	}
	return err
}

// proves reports whether the player with these keys has to prove who it is: in
// strict mode, and wherever the manager hands out keys without saying that they
// are optional, whatever the referee's own mode.
func (r *Referee) proves(keys credential.KeyPair) bool {
	return r.cfg.Mode == protocol.Strict || keys.Expect != "" && !keys.Optional
}

// validate judges an answer that came where it was asked for. That it came back on the referee's
// own request to the player's endpoint proves whose it is, so without keys a tolerant referee asks
// for no other proof: many players sign with a name or a token of their own. Only a stale answer,
// about another match, is none, in any mode. It is asked for again.
func (r *Referee) validate(m *match, side int, answer protocol.Message) error {
	keys := m.reach().Keys[side]
	strict := r.cfg.Mode == protocol.Strict
	err := r.validateIn(m, side, answer, strict, r.proves(keys))
	return strictOnlyIf(strict && err != nil && r.validateIn(m, side, answer, false, false) == nil, err)
}

func (r *Referee) validateIn(m *match, side int, answer protocol.Message, strict, proves bool) error {
	h := answer.Head()
	keys := m.reach().Keys[side]
	unusable := func(format string, args ...any) error {
		return protocol.Refuse(protocol.CodeInvalidMove, h.MessageType, fmt.Sprintf(format, args...))
	}
	switch {
	case h.MatchID != "" && h.MatchID != m.Match:
		return unusable("the answer is about match %s, not %s", h.MatchID, m.Match)
	case strict && h.Flaw != nil:
		return h.Flaw
	case proves && h.AuthToken == "" && keys.Expect != "":
		return unusable("the answer bears no auth_token")
	case proves && h.AuthToken != "" && keys.Expect != "" && !r.knowsToken(h.AuthToken, m, keys):
		return unusable("the auth_token of the answer is not that of %s", m.Players[side])
	case proves && h.Sender != "" && h.Sender != protocol.Sender(protocol.RolePlayer, m.Players[side]):
		return unusable("the answer is signed by %s, not by %s", h.Sender, m.Players[side])
	case strict && h.ConversationID != "" && h.ConversationID != m.Conversation:
		return unusable("the answer belongs to another conversation")
	}
	var player string
	switch answer := answer.(type) {
	case *protocol.GameJoinAck:
		player = answer.PlayerID
		if _, said := answer.Joins(); strict && !said {
			return unusable("the answer does not say whether the player joins: accept is missing")
		}
	case *protocol.ChooseParityResponse:
		player = answer.PlayerID
		if answer.Chosen() == "" {
			return unusable("the answer holds no choice")
		}
	}
	if proves && player != "" && player != m.Players[side] {
		return unusable("the answer is %s's, not %s's", player, m.Players[side])
	}
	return nil
}

// peer returns how a player is addressed. What has been learned of it is kept
// from one match to the next.
func (r *Referee) peer(m *match, side int) *wire.Peer {
	now := m.reach()
	endpoint, dialect := now.Endpoints[side], now.Dialects[side]
	who := [3]string{m.Players[side], endpoint, dialect}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.peers[who]
	if p == nil {
		p = r.cfg.Player(m.Players[side], endpoint, dialect)
		r.peers[who] = p
	}
	return p
}

// fromPlayer judges an answer that a player posts as a request of its own. It
// counts only with a verified token, in every mode; where players prove who they
// are, its sender must be the token's owner.
func (r *Referee) fromPlayer(in *wire.Exchange) (*match, int, error) {
	r.mu.Lock()
	m := r.matches[in.Header.MatchID]
	r.mu.Unlock()
	if in.Header.AuthToken == "" {
		return nil, 0, wire.RefuseToken(in, protocol.CodeTokenMissing, "%s bears no auth_token", in.Type)
	}
	if m == nil {
		return nil, 0, protocol.Refuse(protocol.CodeMatchNotFound, in.Type, fmt.Sprintf("this referee has no match %q", in.Header.MatchID))
	}
	for side, id := range m.Players {
		if keys := m.reach().Keys[side]; r.knowsToken(in.Header.AuthToken, m, keys) {
			if r.foreignSender(in.Header.Sender, id, m.Players[1-side], r.proves(keys)) {
				return nil, 0, wire.RefuseToken(in, protocol.CodeTokenInvalid, "the auth_token of %s is not that of %q", in.Type, in.Header.Sender)
			}
			return m, side, nil
		}
	}
	return nil, 0, wire.RefuseToken(in, protocol.CodeTokenInvalid, "the auth_token of %s is of no player of match %s", in.Type, m.Match)
}

// foreignSender reports whether a sender contradicts the token, which is that of the player own:
// without proof only where it is the opponent's, since many players sign in a way of their own.
func (r *Referee) foreignSender(sender, own, opponent string, proves bool) bool {
	role, name, err := protocol.ParseSender(sender)
	if !proves {
		return name == opponent
	}
	return sender != "" && (err != nil || role != protocol.RolePlayer || name != own)
}

// knowsToken reports whether a token is that of the player for whom a match has these keys.
func (r *Referee) knowsToken(token string, m *match, keys credential.KeyPair) bool {
	return credential.SameToken(token, keys.Expect) ||
		keys.Expect != "" && keys.AcceptsPlayer(token, m.League, m.Match, r.member.Me.ID())
}

// postingTime is how long a player that has only acknowledged its invitation has to post its join.
const postingTime = 2 * time.Second

// awaitJoin gives a player that has only acknowledged its invitation the time to post its join,
// until ctx ends at the latest. Without one it has joined all the same, and its choice will prove
// that: many programs answer nothing else. A player that has chosen so before is not waited for.
func (r *Referee) awaitJoin(ctx context.Context, m *match, side int) (protocol.Message, error) {
	r.mu.Lock()
	known := r.unjoined[m.Players[side]]
	r.mu.Unlock()
	if !known {
		if err := agent.Wait(ctx, min(postingTime, r.cfg.JoinTimeout/2)); err != nil {
			return nil, err // it is posted, or the referee is leaving
		}
	}
	m.mu.Lock()
	m.unjoined[side] = true
	m.mu.Unlock()
	return &protocol.GameJoinAck{Accept: protocol.Some(true)}, nil
}

// choseUnjoined notes that a player has chosen, if it did so without a join.
func (r *Referee) choseUnjoined(m *match, side int) {
	m.mu.Lock()
	unjoined := m.unjoined[side]
	m.mu.Unlock()
	if !unjoined {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unjoined[m.Players[side]] = true
}

func (r *Referee) joinPosted(_ context.Context, in *wire.Exchange, m *protocol.GameJoinAck) (protocol.Message, error) {
	return r.posted(in, m.PlayerID, posted{message: m})
}

// choicePosted takes a choice. An invalid one is refused, and loses the match
// as it would in an answer.
func (r *Referee) choicePosted(_ context.Context, in *wire.Exchange) (protocol.Message, error) {
	m, err := wire.Decode[*protocol.ChooseParityResponse](in)
	if dialect.CodeOf(err) == protocol.CodeInvalidParityChoice {
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
	m, side, err := r.fromPlayer(in)
	if err != nil {
		return nil, err
	}
	keys := m.reach().Keys[side]
	if player == m.Players[1-side] || r.proves(keys) && player != "" && player != m.Players[side] {
		return nil, wire.RefuseToken(in, protocol.CodeTokenInvalid, "%s cannot answer for %s", m.Players[side], player)
	}
	if !m.deliver(side, in.Type, p) {
		return nil, protocol.Refuse(protocol.CodeInvalidState, in.Type, fmt.Sprintf("match %s does not wait for this answer", m.Match))
	}
	ack := in.Type.Acknowledgement()
	ack.PlayerID = m.Players[side]
	return ack, nil
}

// locate finds the endpoints of the players of a match that the manager has
// named without one: it asks the manager, and without an answer expects a player
// P07 on port 8107 of the manager's machine.
func (r *Referee) locate(ctx context.Context, m *match) error {
	known := sync.OnceValue(func() map[string]string { return r.queryPlayers(ctx, m) })
	for side, id := range m.Players {
		if m.reach().Endpoints[side] != "" {
			continue
		}
		endpoint := cmp.Or(known()[id], agent.DefaultEndpoint(r.cfg.Manager.URL, protocol.RolePlayer, id))
		if endpoint == "" {
			return fmt.Errorf("the endpoint of player %s is unknown", id)
		}
		m.mu.Lock()
		m.Endpoints[side] = endpoint
		m.mu.Unlock()
	}
	return nil
}

// queryPlayers asks the manager for the endpoints of its players. Unknown ones are missing.
func (r *Referee) queryPlayers(ctx context.Context, m *match) map[string]string {
	h := r.member.Me.Header(protocol.TypeLeagueQuery, protocol.Timestamp(r.cfg.Now()))
	h.LeagueID = cmp.Or(h.LeagueID, m.League)
	players, err := agent.Query[protocol.PlayersData](ctx, r.member, h, protocol.QueryPlayers)
	if err != nil {
		r.cfg.Log.Info("endpoints of players not available", "error", err)
	}
	endpoints := make(map[string]string)
	for _, p := range players.Players {
		endpoints[p.PlayerID] = p.ContactEndpoint
	}
	return endpoints
}
