package manager

import (
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/protocol"
)

// EventKind says what has happened.
type EventKind string

// The kinds of event, and what is set in each besides Kind and Time. Those about an agent have its
// Agent, Role and Name.
const (
	// AgentRegistered: State, Dialect (in which it is addressed from now on). Again says that the
	// agent was known already.
	AgentRegistered EventKind = "agent_registered"
	// MessageRefused: Agent (the sender, as far as it signs), Message, Name and URL (of an agent
	// that wants to register), Error; Tolerant says that a tolerant league would take the message.
	// Registrations and reports are reported, and what is refused for strictness alone; the same
	// refusal once.
	MessageRefused EventKind = "message_refused"
	AgentState     EventKind = "agent_state" // State
	// PlayerStatusSet: State: the organiser has withdrawn or suspended a player or readmitted it
	// (league.Active).
	PlayerStatusSet EventKind = "player_status_set"
	PaceSet         EventKind = "pace_set"       // Paused, PaceMS
	LeagueStarted   EventKind = "league_started" // Total rounds, Paused
	// LeagueResumed: Round, Total, Paused, PaceMS: an earlier process has started the league.
	LeagueResumed EventKind = "league_resumed"
	// Notified: Message, Round, Acked, Missing: everybody has had one attempt at the message, or was
	// not waited for.
	Notified EventKind = "notified"
	// RefereeUnable: Matches (its unfinished ones of the round), Error: a foreign referee was
	// assigned its matches in every known form and conducts none; they go to others, as soon as
	// there are any.
	RefereeUnable EventKind = "referee_unable"
	// RefereeQuiet: Matches (likewise), Error: a referee of another program has acknowledged its
	// first matches in a strict league, and neither invited a player of this process nor reported
	// since. Once a referee.
	RefereeQuiet EventKind = "referee_quiet"
	// MatchesReassigned: Round, Matches that have gone to another referee.
	MatchesReassigned EventKind = "matches_reassigned"
	// ReportDiffers: Matches (the first such match), Error: what is wrong with a report that a
	// tolerant manager has taken all the same. The same is said once of a referee.
	ReportDiffers EventKind = "report_differs"
	// MatchesProgressed: Round, Progress: what a referee of another process says of its matches,
	// with Config.Progress.
	MatchesProgressed EventKind = "matches_progressed"
	// StrategyEdited: Round, Version: another version of a player's strategy has chosen in the round
	// than before, says the player.
	StrategyEdited EventKind = "strategy_edited"
	// StrategyFailed: Round, Error: why a player's strategy failed in the round, says the player; at
	// most 300 bytes of any text. Once a round.
	StrategyFailed  EventKind = "strategy_failed"
	MatchReported   EventKind = "match_reported"   // Round, Match
	RoundCompleted  EventKind = "round_completed"  // Round, Total, Summary, Standings
	LeagueCompleted EventKind = "league_completed" // Total, Standings
)

// Event is something that has happened in the league. Its slices must not be changed.
type Event struct {
	Kind EventKind `json:"event"`
	Time time.Time `json:"time"`

	Agent string        `json:"agent,omitempty"`
	Role  protocol.Role `json:"role,omitempty"`
	Name  string        `json:"display_name,omitempty"`
	State league.Life   `json:"state,omitempty"`
	Again bool          `json:"again,omitempty"`

	Dialect  string `json:"dialect,omitempty"`
	URL      string `json:"url,omitempty"`
	Error    string `json:"error,omitempty"`
	Tolerant bool   `json:"tolerant_would_accept,omitempty"`

	Paused bool  `json:"paused,omitempty"`
	PaceMS int64 `json:"pace_ms,omitempty"` // after each round, in milliseconds

	Round     int               `json:"round,omitempty"`
	Total     int               `json:"total_rounds,omitempty"`
	Message   protocol.Type     `json:"message_type,omitempty"`
	Acked     int               `json:"acknowledged,omitempty"`
	Missing   []string          `json:"missing,omitempty"`
	Matches   []string          `json:"matches,omitempty"`
	Match     *league.Match     `json:"match,omitempty"`
	Progress  []Progress        `json:"progress,omitempty"`
	Version   string            `json:"version,omitempty"` // fingerprint of the strategy's code
	Summary   *league.Summary   `json:"summary,omitempty"`
	Standings []league.Standing `json:"standings,omitempty"`
}

// emit puts an event in line. It is called with m.mu held, so that events
// stand in the order in which they happened.
func (m *Manager) emit(e Event) {
	if m.cfg.Events == nil {
		return
	}
	e.Time = m.cfg.Now()
	m.events = append(m.events, e)
}

// emitOf is emit for an event of an agent.
func (m *Manager) emitOf(a *league.Member, e Event) {
	e.Agent, e.Role, e.Name = a.ID, a.Role, a.Name
	m.emit(e)
}

// deliverEvents hands out the events in line. It is called without m.mu. If somebody
// else is at it, that goroutine hands out what has come in the meantime.
func (m *Manager) deliverEvents() {
	for waiting := m.cfg.Events != nil; waiting && m.delivering.TryLock(); {
		m.drainEvents()
		m.delivering.Unlock()
		m.mu.Lock()
		waiting = len(m.events) > 0
		m.mu.Unlock()
	}
}

// flushEvents returns when every event that was in line has been handed out.
func (m *Manager) flushEvents() {
	m.delivering.Lock()
	defer m.delivering.Unlock()
	m.drainEvents()
}

func (m *Manager) drainEvents() {
	for {
		m.mu.Lock()
		line := m.events
		m.events = nil
		m.mu.Unlock()
		if len(line) == 0 {
			return
		}
		for _, e := range line {
			m.cfg.Events(e)
		}
	}
}

// react does what follows from an event that has just been applied, beyond
// the state itself. It is called with m.mu held, as are the functions below.
func (m *Manager) react(e league.Event) {
	m.changes++
	s := m.state
	switch e := e.(type) {
	case *league.Joined:
		m.reactJoined(e)
	case *league.Started:
		m.emit(Event{Kind: LeagueStarted, Total: s.Rounds(), Paused: s.Paused})
		m.wakeDriver()
	case *league.Assigned:
		m.reactAssigned(e)
	case *league.Reported:
		m.reactReported(e)
	case *league.RoundCompleted:
		m.emit(Event{Kind: RoundCompleted, Round: e.Round, Total: s.Rounds(), Summary: new(s.Summary(e.Round)), Standings: s.Standings()})
	case *league.StatusSet:
		m.reactStatus(e)
	case *league.PaceSet:
		m.emit(Event{Kind: PaceSet, Paused: s.Paused, PaceMS: s.Pace().Milliseconds()})
		m.wakeDriver()
	case *league.Completed:
		for _, c := range m.contacts {
			m.setLife(c, league.Shutdown)
		}
	}
	m.outdate(e)
}

func (m *Manager) reactJoined(e *league.Joined) {
	delete(m.contacts, e.Replaces)
	_, again := m.contacts[e.ID]
	c := m.updateContact(m.state.Members[e.ID])
	m.emitOf(c.Member, Event{Kind: AgentRegistered, State: league.Registered, Dialect: e.Dialect, Again: again})
	if again {
		m.revive(c)
		m.alive(c)
	} else {
		c.life = league.Registered
	}
	m.arrived = true
	if m.state.Over() { // it comes back in time to hear of it
		m.send(protocol.TypeLeagueCompleted, []*contact{c}, m.leagueOver())
	}
	if !m.state.Running() {
		return
	}
	m.forPlayers = nil
	if again {
		// It may have forgotten all it knew, and may have another endpoint or, with a new
		// token, other keys.
		c.stale = c.stale || e.Role == protocol.RolePlayer
		m.outdateMatches(c.Member)
	}
}

// outdateMatches notes that what others know of an agent's matches of the round is wrong:
// of a player's their referee, of a referee's their players and itself.
func (m *Manager) outdateMatches(a *league.Member) {
	for _, p := range m.state.Current() {
		referee := m.state.Referee(p)
		switch {
		case referee == nil || m.state.Done(p):
		case referee == a:
			m.contacts[a.ID].stale = true
			m.outdatePlayers(p)
		case m.state.Plays(p, a):
			m.contacts[referee.ID].stale = true
		}
	}
}

func (m *Manager) outdatePlayers(p game.Match) {
	a, b := m.state.Pair(p)
	m.contacts[a.ID].stale, m.contacts[b.ID].stale = true, true
}

func (m *Manager) reactAssigned(e *league.Assigned) {
	m.forPlayers = nil
	var moved []string
	for i, p := range m.state.Schedule.Round(e.Round) {
		if e.Referees[i] == "" {
			continue
		}
		m.contacts[e.Referees[i]].stale = true
		if m.announced == e.Round { // it was somebody else's
			moved = append(moved, p.ID)
			m.outdatePlayers(p)
		}
	}
	if moved != nil {
		m.emit(Event{Kind: MatchesReassigned, Round: e.Round, Matches: moved})
	}
}

func (m *Manager) reactReported(e *league.Reported) {
	p, _ := m.state.Find(e.Match)
	m.emit(Event{Kind: MatchReported, Round: p.Round, Match: new(m.state.Match(p))})
	c := m.contacts[e.Referee]
	c.conducts = true
	c.reports++
	if c.unable { // it conducts after all
		c.unable = false
		m.alive(c)
	}
	if c.partly && c.Load > 0 { // it is free for the next
		c.partly = false
		m.outdateContact(c)
	}
	if c.Load > 0 {
		m.arm(c, m.cfg.MatchDeadline)
	} else if c.deadline != nil {
		c.deadline.Stop()
	}
	if m.state.Left(p.Round) == 0 {
		m.wakeDriver()
	}
}

// reactStatus tells the referee of the player's match what has become of it; nobody
// waits for a player that is out.
func (m *Manager) reactStatus(e *league.StatusSet) {
	c := m.contacts[e.Player]
	m.emitOf(c.Member, Event{Kind: PlayerStatusSet, State: e.Status})
	switch {
	case m.state.Members[e.Player] == nil: // before the start, so nothing is on its way to it
		delete(m.contacts, e.Player)
	case c.Status != "":
		m.cutOff(c)
	}
	if m.state.Running() {
		m.outdateContact(c)
		m.outdateMatches(c.Member)
	}
}
