package conformance

import (
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/host/protocol"
)

// afterTurn asks for the table when a round is over and nothing is reported.
func (p managerT) afterTurn(t *turn) {
	s := p.season
	table := fmt.Sprintf("table.%d", len(s.turns))
	a := p.shoot(table, p.query(0, protocol.QueryStandings))
	one, other := s.probes["report.twice"], s.probes["report.twice.other"]
	if s.doubled == "" && other != nil && taken(one.answer) && taken(other.answer) && p.countsTwice(a, t) {
		s.doubled = table
		if s.spoilt == "" {
			s.spoilt, t.spoilt = "report.twice", true
		}
	}
	p.mu.Lock()
	t.closed = p.order
	p.mu.Unlock()
}

// countsTwice reports whether a table has more matches of somebody than were
// played.
func (p managerT) countsTwice(a *Answer, t *turn) bool {
	told := standing{rows: list(object(a.Message["data"])["standings"])}
	return slices.ContainsFunc(p.table(p.season.ends[:t.ends]), func(l line) bool { return count(told.row(l.id)["played"]) > l.played })
}

// afterwards looks at the league when it is over.
func (p managerT) afterwards() {
	s := p.season
	if len(s.turns) == 0 {
		return
	}
	if s.halt != "" {
		return
	}
	p.until(p.patience(), func() bool {
		return p.everybodyHeard(protocol.TypeLeagueCompleted) || len(s.closing) < 2 && !p.completed()
	})
	p.afterEnd()
	p.mu.Lock()
	p.parting = true
	p.notify()
	p.mu.Unlock()
	// What should not come any more would come now.
	p.mu.Lock()
	before := len(p.heard)
	p.mu.Unlock()
	p.until(p.aMoment(), func() bool { return len(p.heard) > before })
}

// afterEnd asks when the league is over. The manager may leave then; somebody who
// has not acknowledged the end keeps it for as long as that takes.
func (p managerT) afterEnd() {
	ask := func(name string, ask func() *Answer) {
		if a := p.shoot(name, ask); a.Err != nil && p.unreachable {
			delete(p.season.probes, name)
			p.season.missing[name] = "the manager left when its league was complete"
		}
	}
	ask("over.start", func() *Answer { return p.send(p.starting(p.counter.opts.AdminToken)) })
	ask("over.status", p.query(0, protocol.QueryStatus))
	ask("over.standings", p.query(0, protocol.QueryStandings))
	ask("over.schedule", p.query(0, protocol.QuerySchedule))
	ask("over.next", p.query(0, protocol.QueryNextMatch))
	f := p.season.turns[0].fixtures[0]
	ask("over.report", func() *Answer { return p.send(p.reporting(f, p.conductor(f), f.ended.other())) })
}

// everybodyHeard reports whether a message of a kind has come to every agent. The
// lock is held.
func (s *managerSide) everybodyHeard(kind protocol.Type) bool {
	for _, to := range s.members {
		if !slices.ContainsFunc(s.heard, func(m *told) bool { return m.to == to && m.kind == kind }) {
			return false
		}
	}
	return true
}

// query asks as one of the players.
func (p managerT) query(player int, query string) func() *Answer {
	return func() *Answer { return p.send(p.asking(p.players()[player], query)) }
}

// other is a different ending of the same match.
func (e *ending) other() *ending {
	kind := kinds['w']
	if e.points == kind.points {
		kind = kinds['l']
	}
	kind.players = e.players
	return &kind
}
