package manager

import (
	"context"
	"fmt"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

func (m *Manager) startLeague(ctx context.Context, in *wire.Exchange) (protocol.Message, error) {
	from := in.From.(caller)
	if from.role != protocol.RoleLauncher {
		return nil, badToken(in, "Only the launcher starts the league, with the admin token.")
	}
	if _, err := wire.Decode[*protocol.StartLeague](in); err != nil {
		return nil, err
	}
	if id := in.Header.LeagueID; id != "" && id != m.cfg.LeagueID {
		return nil, protocol.Refuse(protocol.CodeLeagueNotFound, in.Type, fmt.Sprintf("The league here is %s.", m.cfg.LeagueID)).
			With("league_id", m.cfg.LeagueID)
	}
	if err := m.Start(ctx); err != nil {
		return nil, err
	}
	status := m.status()
	return &protocol.LeagueStatus{
		Header: protocol.Header{MessageType: protocol.TypeLeagueStatus, LeagueID: m.cfg.LeagueID},
		Status: status.Status, CurrentRound: status.CurrentRound, TotalRounds: status.TotalRounds, MatchesCompleted: status.MatchesCompleted,
	}, nil
}

// Start starts the league as START_LEAGUE does. Once it runs, nothing happens.
// The error is a *protocol.Error: E007 without a referee or with fewer than two
// players, E031 when the league is over.
func (m *Manager) Start(ctx context.Context) error {
	m.signup.Lock()
	defer m.signup.Unlock()
	e, err := m.lineUp()
	if e == nil || err != nil {
		return err
	}
	defer m.tell()
	defer m.scheduled()
	return m.record(ctx, e)
}

// lineUp returns the event that starts the league, or nil if it runs.
func (m *Manager) lineUp() (*started, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.state
	switch {
	case s.over():
		return nil, protocol.Refuse(protocol.CodeLeagueAlreadyComplete, protocol.TypeStartLeague, "The league is over; start another one.")
	case s.schedule != nil:
		return nil, nil
	case len(s.referees) == 0:
		return nil, notReady("no referee has registered yet")
	case len(s.players) < game.MinPlayers:
		return nil, notReady(fmt.Sprintf("%d players have registered; it takes %d", len(s.players), game.MinPlayers))
	}
	if _, err := game.NewSchedule(len(s.players), m.cfg.Legs); err != nil {
		return nil, notReady(err.Error())
	}
	e := &started{Legs: m.cfg.Legs, At: m.cfg.Now()}
	for _, a := range s.seating() {
		e.Seats = append(e.Seats, a.id)
	}
	m.scheduling = true
	return e, nil
}

func notReady(why string) error {
	return protocol.Refuse(protocol.CodeInvalidState, protocol.TypeStartLeague, "The league cannot start: "+why+".")
}

// scheduled ends the state CREATING_SCHEDULE.
func (m *Manager) scheduled() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.scheduling = false
	m.poke()
}
