package referee

import (
	"cmp"
	"context"
	"fmt"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

func (r *Referee) handlers() map[protocol.Type]wire.Handler {
	return map[protocol.Type]wire.Handler{
		protocol.TypeRoundAnnouncement:     r.announced,
		protocol.TypeLeagueStandingsUpdate: r.standingsUpdated,
		protocol.TypeRoundCompleted:        r.acknowledged,
		protocol.TypeLeagueCompleted:       r.leagueCompleted,
		protocol.TypeGameJoinAck:           r.joinPosted,
		protocol.TypeChooseParityResponse:  r.choicePosted,
	}
}

// authenticate judges who speaks. Posted answers are judged by their match.
func (r *Referee) authenticate(ctx context.Context, in *wire.Inbound) error {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Timeout)
	defer cancel()
	r.me.Settled(ctx)
	switch in.Type {
	case protocol.TypeRoundAnnouncement, protocol.TypeLeagueStandingsUpdate, protocol.TypeRoundCompleted, protocol.TypeLeagueCompleted:
		return r.me.FromManager(in, r.cfg.Mode)
	}
	return nil
}

func (r *Referee) ack(in *wire.Inbound) protocol.Message {
	about, _ := protocol.Describe(in.Type)
	ack, ok := protocol.New(about.Answer).(*protocol.Ack)
	if !ok {
		return nil
	}
	ack.Status, ack.RefereeID = protocol.StatusAcknowledged, r.me.ID()
	return ack
}

func (r *Referee) acknowledged(_ context.Context, in *wire.Inbound) (protocol.Message, error) {
	_, err := in.Decode()
	return r.ack(in), err
}

// announced takes on the matches of a round that are this referee's.
func (r *Referee) announced(ctx context.Context, in *wire.Inbound) (protocol.Message, error) {
	m, err := wire.Decode[*protocol.RoundAnnouncement](in)
	if err != nil {
		return nil, err
	}
	for _, a := range m.Matches {
		if a.RefereeID != r.me.ID() && (a.RefereeID != "" || a.RefereeEndpoint != r.cfg.Endpoint) {
			continue
		}
		b, err := r.boutOf(in, a)
		if err != nil {
			return nil, err
		}
		if err := r.assign(ctx, b); err != nil {
			return nil, err
		}
	}
	return r.ack(in), nil
}

// boutOf reads an assignment.
func (r *Referee) boutOf(in *wire.Inbound, a protocol.AnnouncedMatch) (*bout, error) {
	for _, id := range []string{a.MatchID, a.PlayerAID, a.PlayerBID} {
		if !protocol.ValidID(id) {
			return nil, protocol.Refuse(protocol.CodeInvalidFieldType, in.Type, fmt.Sprintf("%q is no id of a match or a player", id))
		}
	}
	b := &bout{assignment: assignment{
		League: in.Header.LeagueID, Match: a.MatchID, Round: in.Header.RoundID.Number(),
		Players:   [2]string{a.PlayerAID, a.PlayerBID},
		Endpoints: [2]string{a.PlayerAEndpoint, a.PlayerBEndpoint},
	}}
	for i, keys := range []*protocol.KeyPair{a.PlayerAKeys, a.PlayerBKeys} {
		if keys != nil {
			b.Keys[i] = *keys
		}
	}
	return b, nil
}

// assign takes a match on, once. One that is finished is reported again: the
// manager would not announce it if it had the report.
func (r *Referee) assign(ctx context.Context, b *bout) error {
	r.mu.Lock()
	known := r.matches[b.Match]
	if known == nil {
		r.matches[b.Match] = b
	}
	r.mu.Unlock()
	if known != nil {
		if known.reportAgain() {
			r.launch(known)
		}
		return nil
	}
	if err := r.journal.append(ctx, eventAssigned, b.assignment); err != nil {
		return err
	}
	r.launch(b)
	return nil
}

func (r *Referee) launch(b *bout) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begin == nil {
		r.inbox = append(r.inbox, b)
		return
	}
	r.begin(b)
}

func (r *Referee) standingsUpdated(_ context.Context, in *wire.Inbound) (protocol.Message, error) {
	m, err := wire.Decode[*protocol.LeagueStandingsUpdate](in)
	if err != nil {
		return nil, err
	}
	standings := make(map[string]protocol.OwnStandings, len(m.Standings))
	for _, s := range m.Standings {
		standings[s.PlayerID] = protocol.OwnStandings{Wins: s.Wins, Losses: s.Losses, Draws: s.Draws, Points: protocol.Some(s.Points)}
	}
	r.mu.Lock()
	r.standings = standings
	r.mu.Unlock()
	return r.ack(in), nil
}

// standingOf is what a player is told of its own record. Before the first
// update everybody has nothing.
func (r *Referee) standingOf(player string) *protocol.OwnStandings {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, known := r.standings[player]; known {
		return &s
	}
	zero := protocol.Some(0)
	return &protocol.OwnStandings{Wins: zero, Losses: zero, Draws: zero, Points: zero}
}

func (r *Referee) leagueCompleted(_ context.Context, in *wire.Inbound) (protocol.Message, error) {
	if _, err := in.Decode(); err != nil {
		return nil, err
	}
	r.mu.Lock()
	first := !r.completed
	r.completed = true
	r.mu.Unlock()
	if first {
		r.tell(Event{Kind: Completed})
		close(r.done)
	}
	return r.ack(in), nil
}

// joinPosted and choicePosted take answers that players post as requests of
// their own. They count only with a verified token, in every mode.
func (r *Referee) joinPosted(_ context.Context, in *wire.Inbound) (protocol.Message, error) {
	m, err := wire.Decode[*protocol.GameJoinAck](in)
	if err != nil {
		return nil, err
	}
	return r.posted(in, m, m.PlayerID)
}

func (r *Referee) choicePosted(_ context.Context, in *wire.Inbound) (protocol.Message, error) {
	m, err := wire.Decode[*protocol.ChooseParityResponse](in)
	if err != nil {
		return nil, err
	}
	return r.posted(in, m, m.PlayerID)
}

func (r *Referee) posted(in *wire.Inbound, m protocol.Message, player string) (protocol.Message, error) {
	r.mu.Lock()
	b := r.matches[in.Header.MatchID]
	r.mu.Unlock()
	if b == nil {
		return nil, protocol.Refuse(protocol.CodeMatchNotFound, in.Type, fmt.Sprintf("this referee has no match %q", in.Header.MatchID))
	}
	_, id, err := protocol.ParseSender(in.Header.Sender)
	side := b.side(cmp.Or(player, id))
	switch {
	case side < 0:
		return nil, protocol.Refuse(protocol.CodePlayerNotRegistered, in.Type, fmt.Sprintf("%s does not play in match %s", cmp.Or(player, id), b.Match))
	case err == nil && id != b.Players[side]:
		return nil, wire.RefuseToken(in, protocol.CodeTokenInvalid, "%s cannot answer for %s", in.Header.Sender, b.Players[side])
	case in.Header.AuthToken == "":
		return nil, wire.RefuseToken(in, protocol.CodeTokenMissing, "%s bears no auth_token", in.Type)
	case !b.Keys[side].AcceptsPlayer(in.Header.AuthToken, b.League, b.Match, r.me.ID()):
		return nil, wire.RefuseToken(in, protocol.CodeTokenInvalid, "the auth_token of %s is not that of %s", in.Type, b.Players[side])
	}
	if !b.deliver(side, m) {
		return nil, protocol.Refuse(protocol.CodeInvalidState, in.Type, fmt.Sprintf("match %s does not wait for this answer", b.Match))
	}
	ack, ok := protocol.New(in.Type + "_ACK").(*protocol.Ack)
	if !ok {
		return nil, nil
	}
	ack.Status, ack.PlayerID = protocol.StatusAcknowledged, b.Players[side]
	return ack, nil
}
