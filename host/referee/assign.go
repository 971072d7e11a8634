package referee

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/draws"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

func (r *Referee) handlers() map[protocol.Type]wire.Handler {
	return map[protocol.Type]wire.Handler{
		protocol.TypeRoundAnnouncement:     agent.Handle(r.announced),
		protocol.TypeLeagueStandingsUpdate: agent.Handle(r.standingsUpdated),
		protocol.TypeRoundCompleted:        r.acknowledged,
		protocol.TypeLeagueCompleted:       agent.Handle(r.leagueCompleted),
		protocol.TypeGameJoinAck:           agent.Handle(r.joinPosted),
		protocol.TypeChooseParityResponse:  r.choicePosted,
	}
}

// authenticate judges who speaks, before anything else about a message is judged.
func (r *Referee) authenticate(ctx context.Context, in *wire.Exchange) error {
	switch in.Type {
	case protocol.TypeRoundAnnouncement, protocol.TypeLeagueStandingsUpdate, protocol.TypeRoundCompleted, protocol.TypeLeagueCompleted:
		return r.fromManager(ctx, in)
	case protocol.TypeGameJoinAck, protocol.TypeChooseParityResponse:
		_, _, err := r.fromPlayer(in)
		return err
	}
	return nil
}

// fromManager judges a message of the manager.
func (r *Referee) fromManager(ctx context.Context, in *wire.Exchange) error {
	if err := r.member.FromManager(ctx, in); err != nil {
		return err
	}
	if own := r.member.Me.League(); own != "" && in.Header.LeagueID != "" && in.Header.LeagueID != own {
		return protocol.Refuse(protocol.CodeContextMismatch, in.Type, fmt.Sprintf("this referee is in league %q, not %q", own, in.Header.LeagueID))
	}
	return nil
}

func (r *Referee) acknowledged(_ context.Context, in *wire.Exchange) (protocol.Message, error) {
	_, err := in.Decode()
	return r.member.Ack(in), err
}

// announced accepts the matches of a round that are this referee's: all of
// them, or none if there is something wrong with one.
func (r *Referee) announced(ctx context.Context, in *wire.Exchange, m *protocol.RoundAnnouncement) (protocol.Message, error) {
	var mine []*assignment
	for i := range m.Matches {
		a := &m.Matches[i]
		if !r.mine(in, a) {
			continue
		}
		one, err := r.assignmentOf(in, a)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(mine, func(other *assignment) bool { return other.Match == one.Match }) {
			return nil, protocol.Refuse(protocol.CodeContextMismatch, in.Type, fmt.Sprintf("match %s is announced twice", one.Match))
		}
		mine = append(mine, one)
	}
	r.progress.want(r.cfg.Progress && m.ReportProgress.Value())
	if err := r.assign(ctx, in.Type, mine); err != nil {
		return nil, err
	}
	return r.member.Ack(in), nil
}

// mine reports whether a match is this referee's: it has its id or, where a manager uses that, its
// endpoint. A match that is assigned alone to a tolerant referee, and names no other, is.
func (r *Referee) mine(in *wire.Exchange, a *protocol.AnnouncedMatch) bool {
	switch {
	case a.RefereeID == r.member.Me.ID():
		return true
	case r.cfg.Mode == protocol.Strict:
		return a.RefereeID == "" && a.RefereeEndpoint == r.cfg.Endpoint
	case a.RefereeID == "" && a.RefereeEndpoint == "":
		return in.Assignment != ""
	}
	return agent.SameEndpoint(a.RefereeEndpoint, r.cfg.Endpoint) && (a.RefereeID == "" || !r.member.Me.ManagerProved())
}

// assignmentOf reads an assignment. Where the manager gives no keys, the
// referee signs with a word of its own for the match: never with its token,
// since its holder can report in the referee's name.
func (r *Referee) assignmentOf(in *wire.Exchange, m *protocol.AnnouncedMatch) (*assignment, error) {
	for i, id := range []string{m.MatchID, m.PlayerAID, m.PlayerBID} {
		foreign := protocol.ValidForeignID(id)
		if i == 0 {
			foreign = protocol.ValidForeignMatch(id)
		}
		if !protocol.ValidID(id) && (r.cfg.Mode == protocol.Strict || !foreign) {
			return nil, protocol.Refuse(protocol.CodeInvalidFieldType, in.Type, fmt.Sprintf("%q is no id of a match or a player", id))
		}
	}
	if m.PlayerAID == m.PlayerBID {
		return nil, protocol.Refuse(protocol.CodeContextMismatch, in.Type, fmt.Sprintf("%s cannot play match %s against itself", m.PlayerAID, m.MatchID))
	}
	if m.GameType != "" && m.GameType != protocol.GameEvenOdd {
		return nil, protocol.Refuse(protocol.CodeUnsupportedGameType, in.Type, fmt.Sprintf("this referee conducts %s, not %s", protocol.GameEvenOdd, m.GameType))
	}
	random := jsonrpc.RandomID()
	a := &assignment{
		League: cmp.Or(in.Header.LeagueID, r.member.Me.League()), Match: m.MatchID, Round: in.Header.RoundID.Number(),
		Conversation: "conv-" + m.MatchID + "-" + random[:8],
		Players:      [2]string{m.PlayerAID, m.PlayerBID},
		contacts: contacts{
			Endpoints: [2]string{m.PlayerAEndpoint, m.PlayerBEndpoint},
			Dialects:  [2]string{m.PlayerADialect, m.PlayerBDialect},
		},
	}
	if r.cfg.Verifiable {
		a.DrawKey = draws.NewKey()
	}
	for i, keys := range []*credential.KeyPair{m.PlayerAKeys, m.PlayerBKeys} {
		a.Forfeits[i], a.Absent[i] = slices.Contains(m.Forfeits, a.Players[i]), slices.Contains(m.Absent, a.Players[i])
		if keys != nil {
			a.Keys[i] = *keys
		}
		if a.Keys[i].Send == "" {
			a.Keys[i].Send = "match-" + random
		}
	}
	return a, nil
}

// assign accepts matches, each once. A match that is announced again continues,
// if need be with the players' new endpoints; a match that is finished is
// reported again, since the manager would not announce it if it had the report.
func (r *Referee) assign(ctx context.Context, t protocol.Type, list []*assignment) error {
	r.assigning.Lock()
	defer r.assigning.Unlock()
	known := make([]*match, len(list))
	var news []*assignment
	for i, a := range list {
		r.mu.Lock()
		m := r.matches[a.Match]
		r.mu.Unlock()
		switch {
		case m == nil:
			news = append(news, a)
		case m.Players != a.Players || m.Round != a.Round:
			return protocol.Refuse(protocol.CodeContextMismatch, t, fmt.Sprintf("match %s was announced for round %d between %s and %s before", a.Match, m.Round, m.Players[0], m.Players[1]))
		default:
			known[i] = m
			if a.Conversation = m.Conversation; m.outdated(a) {
				news = append(news, a)
			}
		}
	}
	if len(news) > 0 {
		if err := r.member.Append(context.WithoutCancel(ctx), eventAssigned, news); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return protocol.Refuse(protocol.CodeInvalidState, t, "this referee takes no more matches")
	}
	for i, a := range list {
		m := known[i]
		if m == nil {
			m = newMatch(a)
			r.matches[a.Match] = m
		} else {
			m.updateContacts(a)
			m.reportAgain()
		}
		r.launch(m)
	}
	return nil
}

// launch begins to play a match as soon as Run can. The lock is held.
func (r *Referee) launch(m *match) {
	switch {
	case r.over:
	case r.begin == nil:
		r.inbox = append(r.inbox, m)
	default:
		r.begin(m)
	}
}

func (r *Referee) standingsUpdated(_ context.Context, in *wire.Exchange, m *protocol.LeagueStandingsUpdate) (protocol.Message, error) {
	standings := make(map[string]protocol.OwnStandings, len(m.Standings))
	for _, s := range m.Standings {
		standings[s.PlayerID] = protocol.OwnStandings{Wins: s.Wins, Losses: s.Losses, Draws: s.Draws, Points: protocol.Some(s.Points)}
	}
	r.mu.Lock()
	r.standings = standings
	r.mu.Unlock()
	return r.member.Ack(in), nil
}

// standingOf is what the call for a choice says of a player's own record. Before the first
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

func (r *Referee) leagueCompleted(ctx context.Context, in *wire.Exchange, _ *protocol.LeagueCompleted) (protocol.Message, error) {
	r.mu.Lock()
	again := r.completed
	r.completed = true
	r.mu.Unlock()
	if again {
		return r.member.Ack(in), nil
	}
	if err := r.member.Append(context.WithoutCancel(ctx), eventCompleted, r.member.Me.League()); err != nil {
		r.cfg.Log.Warn("end of the league not journaled", "error", err)
	}
	done, _ := r.conducted()
	r.emit(Event{Kind: Completed, Matches: done})
	r.complete()
	return r.member.Ack(in), nil
}
