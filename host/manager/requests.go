package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/agent"
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

// Launcher returns what takes START_LEAGUE from launchers that leave out all that they can, in
// strict mode as well.
func (m *Manager) Launcher() *wire.Dispatcher {
	return &wire.Dispatcher{
		Codec:    dialect.NewCodec(protocol.Tolerant),
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
// league.Suspended for a while, or readmits it, with league.Active, as SET_PLAYER_STATUS does. A
// player that is out forfeits its matches; one that is readmitted plays, and its next registration
// is accepted without its token and gets a new one. Before the start league.Withdrawn removes its
// registration: its seat, id and name are free. The errors are those of [league.State.SetStatus].
func (m *Manager) SetStatus(ctx context.Context, player string, status league.Life) error {
	return decide(ctx, m, func(s *league.State) (*league.StatusSet, error) { return s.SetStatus(player, status, m.cfg.Now()) })
}

// setPace answers SET_PACE. When it answers, the pace is in the journal.
func (m *Manager) setPace(ctx context.Context, in *wire.Exchange, msg *protocol.Pace) (protocol.Message, error) {
	var paused *bool
	if p, given := msg.Paused.Get(); given {
		paused = &p
	}
	var pace *time.Duration
	if ms, given := msg.PaceMS.Get(); given {
		pace = new(time.Duration(min(int64(ms), league.MaxPace.Milliseconds()+1)) * time.Millisecond)
	}
	if paused == nil && pace == nil {
		return nil, protocol.Refuse(protocol.CodeMissingField, in.Type,
			"Say with paused whether the league is paused, or with pace_ms how long the pause after each round is.", protocol.Violation{Path: "/paused", Rule: "required"})
	}
	if err := m.SetPace(ctx, paused, pace); err != nil {
		return nil, err
	}
	s := read(m, m.status)
	return &protocol.Pace{Header: m.answer(in), Paused: protocol.Some(s.Paused.Value()), PaceMS: protocol.Some(s.PaceMS.Value())}, nil
}

// SetPace pauses the league, lets it go on, or changes the pause after each round, as
// SET_PACE does. A paused league plays its current round to the end and announces no
// other, so no deadline runs; one that is paused before its start begins no round.
// What was set holds after a restart. The errors are those of [league.State.SetPace].
func (m *Manager) SetPace(ctx context.Context, paused *bool, pace *time.Duration) error {
	return decide(ctx, m, func(s *league.State) (*league.PaceSet, error) { return s.SetPace(paused, pace, m.cfg.Now()) })
}

// report records a result. When it answers, the result is in the journal.
func (m *Manager) report(ctx context.Context, in *wire.Exchange, msg *protocol.MatchResultReport) (protocol.Message, error) {
	e, round, err := m.claim(ctx, msg, in.From.(caller).agent)
	if err != nil {
		return nil, err
	}
	err = m.record(ctx, e)
	m.mu.Lock()
	m.release(e.Match)
	m.mu.Unlock()
	if err != nil {
		return nil, err
	}
	h := m.answer(in)
	h.MatchID, h.RoundID, h.GameType = e.Match, msg.RoundID, protocol.GameEvenOdd
	if h.RoundID.Number() != round { // and else as the referee wrote it
		h.RoundID = protocol.RoundNumber(round)
	}
	return &protocol.MatchResultAck{Header: h, Status: protocol.StatusAccepted, Recorded: protocol.Some(true)}, nil
}

// claim returns what a report leads to, and its round, and reserves its match, so that two
// reports at the same time do not both count. Where another event has reserved it, which may
// be another referee's, what the report is depends on that, so claim waits for it.
func (m *Manager) claim(ctx context.Context, msg *protocol.MatchResultReport, from *league.Member) (*league.Reported, int, error) {
	for {
		m.mu.Lock()
		e, flaws, err := m.state.Report(msg, from, m.cfg.Now())
		before := m.reserved[msg.MatchID]
		p, _ := m.state.Find(msg.MatchID)
		if err == nil && before == nil {
			m.sayDiffers(from, p.ID, flaws)
			m.reserve(p.ID)
		}
		m.mu.Unlock()
		if err != nil || before == nil {
			return e, p.Round, err
		}
		select {
		case <-before:
		case <-ctx.Done():
			return nil, 0, context.Cause(ctx)
		}
	}
}

// reserve keeps everybody else from matches while an event of theirs is on its
// way into the journal, so that events of one match stand there in the order
// in which they take effect. It is called with m.mu held.
func (m *Manager) reserve(ids ...string) {
	for _, id := range ids {
		m.reserved[id] = make(chan struct{})
	}
}

// release ends the reservation of matches. It is called with m.mu held.
func (m *Manager) release(ids ...string) {
	for _, id := range ids {
		close(m.reserved[id])
		delete(m.reserved, id)
	}
}

// sayDiffers reports what is wrong with a report that counts all the same, each
// once for each referee. It is called with m.mu held.
func (m *Manager) sayDiffers(referee *league.Member, match string, flaws []*protocol.Error) {
	for _, e := range flaws {
		if e == nil {
			continue
		}
		field, _ := e.Context["field"].(string) // its sentence names the match
		if len(e.Violations) > 0 {
			field = e.Violations[0].Path
		}
		if !m.isNew(string(ReportDiffers), referee.ID, string(e.Code), field) {
			continue
		}
		what := e.Reason()
		m.cfg.Log.Info("a report counts although something in it is wrong", "referee", referee.ID, "match", match, "reason", what)
		m.emitOf(referee, Event{Kind: ReportDiffers, Matches: []string{match}, Error: what})
	}
}

// Progress is how far a match is that a referee in another process conducts, by its word:
// for people who watch, and of no effect on the league. The arrays are of A and B.
type Progress struct {
	Match    string    `json:"match_id"`
	Players  [2]string `json:"players"`
	Asked    [2]bool   `json:"asked"` // for its choice
	Chosen   [2]bool   `json:"chosen"`
	Retried  [2]bool   `json:"retried"`           // it had to be asked again
	Deadline time.Time `json:"deadline,omitzero"` // for the choices, by the manager's clock
	Faults   [2]string `json:"faults"`            // why it has lost, which the result does not say; empty if it has not
}

// progressed hands on what a referee says of its matches. What it says of others, or of
// matches that are over, counts for nothing.
func (m *Manager) progressed(_ context.Context, in *wire.Exchange, msg *protocol.MatchProgress) (protocol.Message, error) {
	from := in.From.(caller).agent
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []Progress
	for i := range msg.Matches {
		if one, counts := m.readProgress(&msg.Matches[i], from); counts && cmp.Or(msg.LeagueID, m.cfg.LeagueID) == m.cfg.LeagueID {
			list = append(list, one)
		}
	}
	if len(list) > 0 {
		m.emitOf(from, Event{Kind: MatchesProgressed, Round: m.state.Round(), Progress: list})
	}
	return &protocol.Ack{Header: m.answer(in), Status: protocol.StatusAcknowledged}, nil
}

// readProgress returns what a referee says of a match, if that counts. It is called with m.mu held.
func (m *Manager) readProgress(told *protocol.MatchState, referee *league.Member) (one Progress, counts bool) {
	p, known := m.state.Find(told.MatchID)
	if !known || referee == nil || p.Round != m.state.Round() || m.state.Referee(p) != referee || m.state.Done(p) && len(told.Faults) == 0 {
		return one, false
	}
	a, b := m.state.Pair(p)
	one = Progress{Match: p.ID, Players: [2]string{a.ID, b.ID}}
	for side, player := range one.Players {
		one.Asked[side] = slices.Contains(told.Asked, player)
		one.Chosen[side] = slices.Contains(told.Chosen, player)
		one.Retried[side] = slices.Contains(told.Retried, player)
		one.Faults[side] = told.Faults[player]
	}
	if left, said := told.TimeLeftMS.Get(); said && left >= 0 && left <= 24*60*60*1000 { // more is not worth a clock
		one.Deadline = m.cfg.Now().Add(time.Duration(left) * time.Millisecond)
	}
	return one, true
}

// noteVerdict keeps what a player says of the number of its match in the current
// round, of the version that chose in it, and of its failure, when it acknowledges the end
// of the round. It is called with m.mu held.
func (m *Manager) noteVerdict(c *contact, message, answer protocol.Message) {
	ack, ok := answer.(*protocol.Ack)
	if !ok || message.Head().MessageType != protocol.TypeRoundCompleted {
		return
	}
	round := m.state.Round()
	if message.Head().RoundID.Number() != round || m.state.Over() {
		return
	}
	if verified, said := ack.DrawVerified.Get(); said {
		m.verdicts[c.ID] = verified
	}
	// A player without edits says nothing of its version.
	if before := m.versions[c.ID]; ack.StrategyVersion != before && protocol.ValidID(ack.StrategyVersion) {
		m.versions[c.ID] = ack.StrategyVersion
		if before != "" {
			m.emitOf(c.Member, Event{Kind: StrategyEdited, Round: round, Version: ack.StrategyVersion})
		}
	}
	if ack.StrategyError != "" && m.failures[c.ID] != round {
		m.failures[c.ID] = round
		m.emitOf(c.Member, Event{Kind: StrategyFailed, Round: round, Error: agent.Brief(errors.New(ack.StrategyError))})
	}
}
