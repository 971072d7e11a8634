package manager

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// taking returns a handler of messages of one type. What the message does, if that is for the
// launcher only, is refused to anybody else, and for another league.
func taking[T protocol.Message](m *Manager, does string, handle func(context.Context, *wire.Exchange, T) (protocol.Message, error)) wire.Handler {
	return func(ctx context.Context, in *wire.Exchange) (protocol.Message, error) {
		switch from, _ := in.From.(caller); {
		case does == "":
		case from.role != protocol.RoleLauncher:
			return nil, badToken(in, "Only the launcher "+does+", with the admin token.")
		default:
			if err := m.checkLeague(in.Type, in.Header.LeagueID); err != nil {
				return nil, err
			}
		}
		msg, err := wire.Decode[T](in)
		if err != nil {
			return nil, err
		}
		return handle(ctx, in, msg)
	}
}

// checkLeague refuses a message for another league.
func (m *Manager) checkLeague(t protocol.Type, id string) error {
	if id == "" || id == m.cfg.LeagueID {
		return nil
	}
	return protocol.Refuse(protocol.CodeLeagueNotFound, t, fmt.Sprintf("The league here is %s.", m.cfg.LeagueID)).
		With("league_id", m.cfg.LeagueID)
}

// answer is the header of an answer.
func (m *Manager) answer(in *wire.Exchange) protocol.Header {
	return protocol.Header{MessageType: in.Type.Answer(), LeagueID: m.cfg.LeagueID}
}

func (m *Manager) startLeague(ctx context.Context, in *wire.Exchange, _ *protocol.StartLeague) (protocol.Message, error) {
	if err := m.Start(ctx); err != nil {
		return nil, err
	}
	s := read(m, m.status)
	return &protocol.LeagueStatus{
		Header: m.answer(in), Status: s.Status, CurrentRound: s.CurrentRound, TotalRounds: s.TotalRounds, MatchesCompleted: s.MatchesCompleted,
	}, nil
}

// Launcher returns what takes START_LEAGUE from launchers that know no other wrapping and
// leave out all that they can, in strict mode as well.
func (m *Manager) Launcher() *wire.Dispatcher {
	return &wire.Dispatcher{
		Codec:    dialect.NewCodec(protocol.Tolerant, dialect.Contracts),
		Sender:   m.dispatcher.Sender,
		Now:      m.cfg.Now,
		Answered: m.answered,
		Authenticate: func(ctx context.Context, in *wire.Exchange) error {
			in.Header.Sender = cmp.Or(in.Header.Sender, string(protocol.RoleLauncher))
			return m.authenticate(ctx, in)
		},
		Handlers: map[protocol.Type]wire.Handler{protocol.TypeStartLeague: m.handlers()[protocol.TypeStartLeague]},
		Log:      m.cfg.Log,
	}
}

// Start starts the league as START_LEAGUE does. Once it runs, nothing happens.
// The errors are those of [league.State.Start].
func (m *Manager) Start(ctx context.Context) error {
	defer m.scheduling.Store(false)
	return decide(ctx, m, func(s *league.State) (*league.Started, error) {
		e, err := s.Start(m.cfg.Now())
		m.scheduling.Store(e != nil)
		return e, err
	})
}

// setStatus answers SET_PLAYER_STATUS. When it answers, the status is in the journal.
func (m *Manager) setStatus(ctx context.Context, in *wire.Exchange, msg *protocol.PlayerStatus) (protocol.Message, error) {
	name := ""
	err := decide(ctx, m, func(s *league.State) (*league.StatusSet, error) {
		if a := s.Members[msg.PlayerID]; a != nil {
			name = a.Name
		}
		return s.SetStatus(msg.PlayerID, league.Life(msg.Status), m.cfg.Now())
	})
	if err != nil {
		return nil, err
	}
	return &protocol.PlayerStatus{Header: m.answer(in), PlayerID: msg.PlayerID, DisplayName: name, Status: msg.Status}, nil
}

// SetStatus takes a player out of the league, with league.Withdrawn for good and with
// league.Suspended for a while, or readmits it, with league.Active, as SET_PLAYER_STATUS
// does. A player that is out forfeits its matches; one that is readmitted plays, and
// its next registration is accepted without its token and gets a new one. Before the
// start league.Withdrawn removes its registration: its seat, id and name are free. The errors
// are those of [league.State.SetStatus].
func (m *Manager) SetStatus(ctx context.Context, player string, status league.Life) error {
	return decide(ctx, m, func(s *league.State) (*league.StatusSet, error) { return s.SetStatus(player, status, m.cfg.Now()) })
}

// setPace answers SET_PACE. When it answers, the pace is in the journal.
func (m *Manager) setPace(ctx context.Context, in *wire.Exchange, msg *protocol.Pace) (protocol.Message, error) {
	var change PaceChange
	if paused, given := msg.Paused.Get(); given {
		change.Paused = &paused
	}
	if ms, given := msg.PaceMS.Get(); given {
		change.Pace = new(time.Duration(min(int64(ms), league.MaxPace.Milliseconds()+1)) * time.Millisecond)
	}
	if change == (PaceChange{}) {
		return nil, protocol.Refuse(protocol.CodeMissingField, in.Type,
			"Say with paused whether the league is paused, or with pace_ms how long the pause after each round is.", protocol.Violation{Path: "/paused", Rule: "required"})
	}
	if err := m.SetPace(ctx, change); err != nil {
		return nil, err
	}
	s := read(m, m.status)
	return &protocol.Pace{Header: m.answer(in), Paused: protocol.Some(s.Paused.Value()), PaceMS: protocol.Some(s.PaceMS.Value())}, nil
}

// PaceChange is what SetPace changes; nil leaves a field as it is.
type PaceChange struct {
	Paused *bool
	Pace   *time.Duration // 0 to league.MaxPace
}

// SetPace pauses the league, lets it go on, or changes the pause after each round, as
// SET_PACE does. A paused league plays its current round to the end and announces no
// other, so no deadline runs; one that is paused before its start begins no round.
// What was set holds after a restart. The errors are those of [league.State.SetPace].
func (m *Manager) SetPace(ctx context.Context, c PaceChange) error {
	return decide(ctx, m, func(s *league.State) (*league.PaceSet, error) { return s.SetPace(c.Paused, c.Pace, m.cfg.Now()) })
}
