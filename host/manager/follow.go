package manager

import "github.com/strategylab/strategylab/host/protocol"

// follow does what follows from an event that has just been applied, beyond
// the state itself. It is called with m.mu held.
func (m *Manager) follow(e event) {
	m.changes++
	switch e := e.(type) {
	case *registered:
		m.followRegistered(e)
	case *started:
		m.emit(Event{Kind: LeagueStarted, Total: m.state.rounds()})
	case *assigned:
		m.followAssigned(e)
	case *reported:
		m.followReported(e)
	case *roundCompleted:
		sum := m.state.summary(e.Round)
		m.emit(Event{
			Kind: RoundCompleted, Round: e.Round, Total: m.state.rounds(), Summary: &sum, Standings: m.state.standings(),
		})
	case *completed:
		for _, c := range m.contacts {
			m.setLife(c, LifeShutdown)
		}
	}
	if m.views != nil {
		m.views.follow(e)
	}
}

func (m *Manager) followRegistered(e *registered) {
	if e.Replaces != "" {
		delete(m.contacts, e.Replaces)
	}
	_, again := m.contacts[e.ID]
	c := m.meet(m.state.agents[e.ID])
	m.emit(Event{Kind: AgentRegistered, Agent: e.ID, Role: e.Role, Name: e.Name, State: LifeRegistered, Dialect: e.Dialect, Again: again})
	if again {
		m.alive(c)
	} else {
		c.life = LifeRegistered
	}
	m.arrived = true
	if m.state.over() { // it comes back in time to hear of it
		m.send(protocol.TypeLeagueCompleted, []*contact{c}, m.leagueOver())
	}
	if !m.state.running() {
		return
	}
	// An agent that comes back may have forgotten all it was told, and may have
	// another endpoint or, with a new token, other keys.
	m.programme = nil
	if again && e.Role == protocol.RolePlayer {
		c.stale = true
	}
	for _, p := range m.state.schedule.Round(m.state.round()) {
		now := &m.state.matches[p.Index]
		a, b := m.state.seats[p.A], m.state.seats[p.B]
		if !again || now.outcome.over() || now.referee == nil {
			continue
		}
		if now.referee == c.agent {
			c.stale, m.contacts[a.id].stale, m.contacts[b.id].stale = true, true, true
		} else if a == c.agent || b == c.agent {
			m.contacts[now.referee.id].stale = true
		}
	}
}

func (m *Manager) followAssigned(e *assigned) {
	m.programme = nil
	var moved []string
	for i, p := range m.state.schedule.Round(e.Round) {
		if e.Referees[i] == "" {
			continue
		}
		m.contacts[e.Referees[i]].stale = true
		if m.announced == e.Round { // it was somebody else's
			moved = append(moved, p.ID)
			m.contacts[m.state.seats[p.A].id].stale = true
			m.contacts[m.state.seats[p.B].id].stale = true
		}
	}
	if moved != nil {
		m.emit(Event{Kind: MatchesReassigned, Round: e.Round, Matches: moved})
	}
}

func (m *Manager) followReported(e *reported) {
	p, _ := m.state.schedule.Find(e.Match)
	told := m.state.finished(p)
	m.emit(Event{Kind: MatchReported, Round: p.Round, Match: &told})
	if c := m.contacts[e.Referee]; c.agent.load > 0 {
		m.arm(c, m.cfg.MatchDeadline)
	} else if c.deadline != nil {
		c.deadline.Stop()
	}
	if m.state.left[p.Round-1] == 0 {
		m.poke()
	}
}
