package manager

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// statusSet says that the organiser has taken a player out or let it back in.
type statusSet struct {
	Player string `json:"player"`
	// Status is LifeWithdrawn or LifeSuspended, or LifeActive for a player that is
	// readmitted. Before the start LifeWithdrawn removes the registration.
	Status AgentLife `json:"status"`
	At     time.Time `json:"at"`
}

func (*statusSet) kind() string { return "status_set" }

func (e *statusSet) apply(s *state) error {
	a := s.agents[e.Player]
	switch {
	case a == nil || a.role != protocol.RolePlayer:
		return fmt.Errorf("%q is not a player", e.Player)
	case e.Status == LifeWithdrawn && s.schedule == nil:
		delete(s.agents, a.id)
		s.players = slices.DeleteFunc(s.players, func(other *member) bool { return other == a })
	case e.Status == LifeWithdrawn, e.Status == LifeSuspended:
		a.status, a.readmitted = e.Status, false
	case e.Status == LifeActive:
		a.status, a.readmitted = "", true
	default:
		return fmt.Errorf("%s cannot be set to %q", e.Player, e.Status)
	}
	s.ranked = nil
	return nil
}

// setStatus answers SET_PLAYER_STATUS. When it answers, the status is in the journal.
func (m *Manager) setStatus(ctx context.Context, in *wire.Exchange) (protocol.Message, error) {
	if err := m.checkLauncher(in, "sets the status of a player"); err != nil {
		return nil, err
	}
	msg, err := wire.Decode[*protocol.PlayerStatus](in)
	if err != nil {
		return nil, err
	}
	name, err := m.set(ctx, msg.PlayerID, AgentLife(msg.Status))
	if err != nil {
		return nil, err
	}
	return &protocol.PlayerStatus{
		Header:   protocol.Header{MessageType: in.Type.Answer(), LeagueID: m.cfg.LeagueID},
		PlayerID: msg.PlayerID, DisplayName: name, Status: msg.Status,
	}, nil
}

// SetStatus takes a player out of the league, with LifeWithdrawn for good and with
// LifeSuspended for a while, or readmits it, with LifeActive, as SET_PLAYER_STATUS
// does. A player that is out forfeits its matches; one that is readmitted plays, and
// its next registration is accepted without its token and gets a new one. Before the
// start LifeWithdrawn removes its registration: its seat, id and name are free. The error
// is a *protocol.Error: E005 for an unknown player, E007 for one that was withdrawn, E031
// for a league that is over, E030 for LifeSuspended before the start.
func (m *Manager) SetStatus(ctx context.Context, player string, status AgentLife) error {
	_, err := m.set(ctx, player, status)
	return err
}

// set is SetStatus, and returns the player's name.
func (m *Manager) set(ctx context.Context, player string, status AgentLife) (string, error) {
	m.signup.Lock()
	defer m.signup.Unlock()
	e, name, err := m.statusEvent(player, status)
	if e == nil || err != nil {
		return name, err
	}
	defer m.deliverEvents()
	return name, m.record(ctx, e)
}

// statusEvent returns the event that sets a status, or nil if it is that already, and the
// player's name.
func (m *Manager) statusEvent(player string, status AgentLife) (*statusSet, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	const t = protocol.TypeSetPlayerStatus
	a := m.state.agents[player]
	switch {
	case a == nil || a.role != protocol.RolePlayer:
		return nil, "", m.unknownPlayer(t, player)
	case m.state.over():
		return nil, "", protocol.Refuse(protocol.CodeLeagueAlreadyComplete, t, "The league is over; the status of its players stands.")
	case m.state.schedule == nil && status == LifeSuspended:
		return nil, "", protocol.Refuse(protocol.CodeLeagueNotStarted, t, "The league has not started; a player that shall not play is withdrawn.")
	case a.status == LifeWithdrawn && status != LifeWithdrawn:
		return nil, "", protocol.Refuse(protocol.CodeInvalidState, t, fmt.Sprintf("%s was withdrawn, which is final.", player)).With("player_id", player)
	case a.status == status && status != "", a.readmitted && status == LifeActive:
		return nil, a.reg.Name, nil
	}
	return &statusSet{Player: player, Status: status, At: m.cfg.Now()}, a.reg.Name, nil
}

func (m *Manager) unknownPlayer(t protocol.Type, id string) error {
	return protocol.Refuse(protocol.CodePlayerNotRegistered, t, "Unknown player; "+m.state.whoPlays()).With("player_id", id)
}

// reactStatus tells the referee of the player's match what has become of it; nobody
// waits for a player that is out. It is called with m.mu held.
func (m *Manager) reactStatus(e *statusSet) {
	c := m.contacts[e.Player]
	m.emit(Event{Kind: PlayerStatusSet, Agent: e.Player, Role: protocol.RolePlayer, Name: c.member.reg.Name, State: e.Status})
	if c.member.status != "" {
		for _, n := range c.queue {
			n.count(e.Player, false)
		}
		c.queue = nil
		if c.current != nil {
			c.current.count(e.Player, false)
			c.current.supersede()
			if c.abort != nil {
				c.abort()
			}
		}
	}
	if m.state.agents[e.Player] == nil {
		delete(m.contacts, e.Player)
	}
	if !m.state.running() {
		return
	}
	c.stale = true
	for _, p := range m.state.schedule.Round(m.state.round()) {
		now := &m.state.matches[p.Index]
		if m.state.seats[p.A] != c.member && m.state.seats[p.B] != c.member || now.outcome.over() || now.referee == nil {
			continue
		}
		m.contacts[now.referee.id].stale = true
	}
	m.wakeDriver()
}

// notifies reports whether an agent gets messages of a type: a player that is out
// hears only of the end, if it is there. It is called with m.mu held.
func notifies(c *contact, kind protocol.Type) bool {
	return c.member.status == "" || kind == protocol.TypeLeagueCompleted && c.life == LifeActive
}

// forfeited reports whether a player of a match is out.
func (s *state) forfeited(p game.Match) bool {
	return s.seats[p.A].status != "" || s.seats[p.B].status != ""
}

// absentMatches is the number of technical losses in a row without a choice, after which
// the referee of a player that does not answer the manager either asks it only once.
const absentMatches = 3

// conditions returns which of the players forfeit their match, and which did not
// answer lately. It is called with m.mu held.
func (m *Manager) conditions(players ...*member) (forfeits, absent []string) {
	for _, a := range players {
		switch {
		case a.status != "":
			forfeits = append(forfeits, a.id)
		case a.absences >= absentMatches && m.contacts[a.id].life == LifeSuspended:
			absent = append(absent, a.id)
		}
	}
	return forfeits, absent
}

// readmitted returns the readmitted player that an application registers again, found by
// name, by endpoint or, once nobody new can register, by id; nil if no player matches.
func (m *Manager) readmitted(a application) *member {
	is := []func(*member) bool{
		func(old *member) bool { return old.reg.Name == a.name },
		func(old *member) bool { return old.reg.Endpoint == a.endpoint },
		func(old *member) bool { return old.id == a.asked && m.state.schedule != nil },
	}
	for _, known := range is {
		for _, old := range *m.state.list(a.role) {
			if old.readmitted && known(old) {
				return old
			}
		}
	}
	return nil
}

// namesake returns the agent of a role with the name of an applicant, or nil.
func (m *Manager) namesake(a application) *member {
	for _, old := range *m.state.list(a.role) {
		if old.reg.Name == a.name {
			return old
		}
	}
	return nil
}
