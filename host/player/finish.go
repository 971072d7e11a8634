package player

import (
	"context"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/protocol"
)

// Some managers never say that their league is over. When nothing has come for a while
// after a match, the agent asks for the schedule or, if the manager has no schedule, for the table.
const (
	// settleTime is the silence after which it asks, and the time between two questions.
	settleTime = 5 * time.Second
	// tableTime is the silence after which a table in which everybody has met everybody is
	// believed to be the last: another leg may follow, which only a schedule would show.
	tableTime = 4 * settleTime
	// mostQuestions bounds how often it asks after one match; a longer silence is that of
	// Config.IdleExit.
	mostQuestions = 12
)

// lateTime is how long results are awaited after the end of the league.
const lateTime = 2 * time.Second

// awaitResults ends the league a little later if the agent has chosen in matches whose
// results have not come, and reports whether it does.
func (p *Player) awaitResults() bool {
	p.mu.Lock()
	s := p.league
	wait := p.cfg.Mode == protocol.Tolerant && p.cfg.League == nil && !s.closing && s.owed()
	s.closing = s.closing || wait
	p.mu.Unlock()
	if wait {
		p.inBackground(func() {
			if agent.Wait(p.life, lateTime) == nil {
				p.endLeague(p.life, Completed)
			}
		})
	}
	return wait
}

// owed reports whether a result is to come. The player's lock is held.
func (s *leagueState) owed() bool {
	for _, m := range s.matches {
		if m.answered && !m.ended {
			return true
		}
	}
	return false
}

// lookForEnd finds out, in the background, whether the match that has just ended was the
// last one of the league.
func (p *Player) lookForEnd(s *leagueState) {
	if p.cfg.Watch < 0 || p.cfg.Mode == protocol.Strict || p.cfg.League != nil || p.knowsIDs() {
		return
	}
	p.mu.Lock()
	looking := s.looking
	s.looking = true
	p.mu.Unlock()
	if looking {
		return
	}
	p.inBackground(func() {
		for asked := 0; asked < mostQuestions; {
			if agent.Wait(p.life, settleTime) != nil {
				return
			}
			p.mu.Lock()
			over := s.completed || p.league != s
			p.mu.Unlock()
			if over {
				return
			}
			silence := p.member.Silence()
			if silence < settleTime {
				asked = 0
				continue
			}
			asked++
			if p.played(s, silence) {
				p.endLeague(p.life, Completed)
				return
			}
		}
		p.mu.Lock()
		s.looking = false
		p.mu.Unlock()
	})
}

// played reports whether the manager's schedule, or its table after a longer silence,
// shows that all matches of the league have been played.
func (p *Player) played(s *leagueState, silence time.Duration) bool {
	ctx, cancel := context.WithTimeout(p.life, queryTime)
	defer cancel()
	if schedule, err := ask[protocol.ScheduleData](ctx, p, protocol.QuerySchedule); err == nil && len(schedule.Rounds) > 0 {
		return p.finished(s, schedule.Rounds)
	}
	if silence < tableTime {
		return false
	}
	data, err := ask[protocol.StandingsData](ctx, p, protocol.QueryStandings)
	if err != nil || len(data.Standings) < 2 {
		return false
	}
	first, others := data.Standings[0].Played.Value(), len(data.Standings)-1
	uneven := slices.ContainsFunc(data.Standings, func(row protocol.Standing) bool { return row.Played.Value() != first })
	p.mu.Lock()
	defer p.mu.Unlock()
	if uneven || first == 0 || first%others != 0 || first != s.standing.Played {
		return false
	}
	s.table = data.Standings
	return true
}

// finished reports whether every own match of a schedule has ended, and no other one is
// said to be open.
func (p *Player) finished(s *leagueState, rounds []protocol.ScheduledRound) bool {
	own := p.ID()
	p.mu.Lock()
	defer p.mu.Unlock()
	ended := 0
	for _, r := range rounds {
		for _, m := range r.Matches {
			if m.PlayerAID == own || m.PlayerBID == own {
				if known := s.matches[m.MatchID]; known == nil || !known.ended {
					return false
				}
				ended++
			} else if m.Status == protocol.MatchPending || m.Status == protocol.MatchRunning {
				return false
			}
		}
	}
	return ended > 0
}
