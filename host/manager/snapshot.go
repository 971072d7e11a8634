package manager

import (
	"cmp"
	"time"
)

// Snapshot is a league at one moment, as spectators may see it: it holds no token, no
// key and no endpoint.
type Snapshot struct {
	League string
	// Status is as in GET_STATUS, such as protocol.LeagueRunning.
	Status string
	// Round is the current round: 0 before the start, the last one at the end.
	Round, Rounds int
	Played, Total int // matches
	Wanted        int // players at which the league starts by itself; 0 if it does not
	// Paused says that the organiser lets no further round begin; Pace is the pause after
	// each round.
	Paused   bool
	Pace     time.Duration
	Players  []Member
	Referees []Member
	// MatchRound is the round of Matches and Byes: the one before Round until that has
	// referees, so that its results are seen in the pause between the two.
	MatchRound int
	Matches    []Current
	Byes       []string // ids of the players without a match
	Standings  []Standing
	Draws      Draws
}

// Member is a registered agent.
type Member struct {
	ID, Name string
	Life     AgentLife
	Load     int // matches that a referee conducts and that are not over
}

// Current is a match of the current round.
type Current struct {
	ID       string
	Players  [2]string // ids of A and B
	Referee  string    // empty until it is assigned
	Finished *Match    // nil until the result is accepted
}

// Snapshot returns the league as it is. The caller must not change the standings.
func (m *Manager) Snapshot() Snapshot {
	status := m.status()
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.state
	shot := Snapshot{
		League: s.league, Status: status.Status, Round: s.round(), Rounds: s.rounds(), Played: s.reports, Total: len(s.matches),
		Wanted: m.cfg.Players, Paused: s.paused, Pace: m.pace(), Players: m.members(s.seating()), Referees: m.members(s.referees), Standings: s.standings(), Draws: s.draws,
	}
	if s.schedule == nil {
		return shot
	}
	shot.MatchRound = s.round()
	if !s.begun() && s.round() > 1 {
		shot.MatchRound--
	}
	shot.Byes = m.byes(shot.MatchRound)
	for _, p := range s.schedule.Round(shot.MatchRound) {
		now := &s.matches[p.Index]
		c := Current{ID: p.ID, Players: [2]string{s.seats[p.A].id, s.seats[p.B].id}}
		if now.referee != nil {
			c.Referee = now.referee.id
		}
		if now.outcome.over() {
			told := s.finished(p)
			c.Finished = &told
		}
		shot.Matches = append(shot.Matches, c)
	}
	return shot
}

// members describes agents. It is called with m.mu held.
func (m *Manager) members(list []*member) []Member {
	all := make([]Member, len(list))
	for i, a := range list {
		all[i] = Member{ID: a.id, Name: a.reg.Name, Life: cmp.Or(a.status, m.contacts[a.id].life), Load: a.load}
	}
	return all
}
