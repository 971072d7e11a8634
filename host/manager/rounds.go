package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/protocol"
)

// Run drives the league to its end: it starts the league when it is due, plays
// round after round, and notifies everybody. It returns nil when the league is
// over and everybody is notified or given up on, and an error when ctx ends
// before that or the journal cannot be written. Then nothing of the manager
// runs any more; the handler goes on answering questions about the league.
func (m *Manager) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { m.cancel(context.Cause(ctx)) })
	defer stop()
	err := m.drive()
	m.cancel(cmp.Or(err, errors.New("the league is over"))) // the first cause stands
	if err != nil {
		err = fmt.Errorf("manager of %s: %w", m.cfg.LeagueID, context.Cause(m.ctx))
	}
	return errors.Join(err, m.shut())
}

func (m *Manager) drive() error {
	if m.cfg.Ready != nil && !m.Over() {
		select {
		case <-m.cfg.Ready:
		case <-m.ctx.Done():
			return context.Cause(m.ctx)
		}
	}
	if err := m.begin(); err != nil {
		return err
	}
	var ended time.Time // of the last round
	for {
		m.mu.Lock()
		round, over := m.state.round(), m.state.over()
		m.mu.Unlock()
		if over {
			return m.endLeague()
		}
		if err := m.rest(ended); err != nil {
			return err
		}
		if err := m.playRound(round); err != nil {
			return err
		}
		if err := m.completeRound(round); err != nil {
			return err
		}
		ended = time.Now()
	}
}

// until returns when the condition, which is asked with m.mu held, is true.
func (m *Manager) until(condition func() bool) error {
	for {
		m.mu.Lock()
		ok := condition()
		m.mu.Unlock()
		m.deliverEvents()
		if m.ctx.Err() != nil {
			return context.Cause(m.ctx)
		}
		if ok {
			return nil
		}
		select {
		case <-m.wake:
		case <-m.ctx.Done():
		}
	}
}

// begin waits for the start of the league, and starts it when it is due.
func (m *Manager) begin() error {
	var due bool
	err := m.until(func() bool {
		due = m.due()
		return due || m.state.schedule != nil
	})
	if err != nil || !due {
		return err
	}
	return m.Start(m.ctx)
}

// playRound plays a round, or what is left of it, until every match has a
// result. Whatever happens in the meantime (a referee dies, another one comes, a
// player returns at another address) leaves marks, and the loop does what the
// marks say.
func (m *Manager) playRound(round int) error {
	m.mu.Lock()
	m.forPlayers, m.announced = nil, 0
	for _, c := range m.contacts {
		c.stale = true
	}
	m.mu.Unlock()
	for {
		if err := m.assign(round); err != nil {
			return err
		}
		m.announce(round)
		var again bool
		err := m.until(func() bool {
			m.checkOverdue()
			again = m.assignment(round) != nil || m.anyStale()
			return again || m.state.left[round-1] == 0
		})
		if err != nil || !again {
			return err
		}
	}
}

// assign gives matches without a referee to one.
func (m *Manager) assign(round int) error {
	e := m.reserveAssignment(round)
	if e == nil {
		return nil
	}
	err := m.record(m.ctx, e)
	m.release(m.touched(e)...)
	return err
}

// reserveAssignment returns an assignment of matches that are out of the reach
// of reports until they are released: otherwise a report by the old referee
// could stand behind the assignment to the new one in the journal.
func (m *Manager) reserveAssignment(round int) *assigned {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.assignment(round)
	if e != nil {
		m.reserve(m.touched(e)...)
	}
	return e
}

// touched returns the ids of the matches that an assignment changes.
func (m *Manager) touched(e *assigned) []string {
	var ids []string
	for i, p := range m.state.schedule.Round(e.Round) {
		if e.Referees[i] != "" {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// announce sends the current round to everybody that does not know it: the
// players first, and the referees when all players have acknowledged or had
// their time, since a referee begins at once.
func (m *Manager) announce(round int) {
	m.mu.Lock()
	players := m.takeStale(protocol.RolePlayer)
	m.mu.Unlock()
	if len(players) > 0 {
		m.broadcast(round, players, notice{protocol.TypeRoundAnnouncement, func(c *contact) protocol.Message { return m.announcement(round, c) }})
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	referees := m.takeStale(protocol.RoleReferee)
	m.announced = round
	m.changes++
	if len(referees) > 0 {
		m.send(protocol.TypeRoundAnnouncement, referees, func(c *contact) protocol.Message { return m.announcement(round, c) })
	}
}

// takeStale returns the agents of a role that need a new announcement of the round, in
// the order of their registration. It is called with m.mu held.
func (m *Manager) takeStale(role protocol.Role) []*contact {
	var stale []*contact
	for _, a := range *m.state.list(role) {
		c := m.contacts[a.id]
		if c.stale && !(c.unable && a.load > 0) {
			stale = append(stale, c)
		}
		c.stale = false
	}
	return stale
}

func (m *Manager) anyStale() bool {
	for _, c := range m.contacts {
		if c.stale {
			return true
		}
	}
	return false
}

// checkOverdue looks after the referees whose deadline has passed: where others are
// alive they are given up, and else notified again. It is called with m.mu held.
func (m *Manager) checkOverdue() {
	for _, a := range m.state.referees {
		c := m.contacts[a.id]
		if !c.late {
			continue
		}
		c.late = false
		if a.load == 0 || c.unable {
			continue
		}
		if m.unproven(c) && c.patience < m.cfg.MatchDeadline {
			m.sayQuiet(c)
			continue
		}
		if m.foreign(c) && !c.conducts {
			m.tryNextForm(c, "it acknowledges its matches, and neither invites players nor reports")
			continue
		}
		m.cfg.Log.Warn("referee is silent and owes reports", "referee", a.id, "matches", a.load, "for", c.patience)
		m.setLife(c, LifeSuspended)
		m.changes++
		if m.othersAlive(c) {
			c.dead = true
			continue
		}
		c.stale = true
	}
}

func (m *Manager) othersAlive(not *contact) bool {
	return slices.ContainsFunc(m.state.referees, func(a *member) bool {
		c := m.contacts[a.id]
		return c != not && !c.dead
	})
}

// completeRound notifies everybody of the standings and of the round's end, and
// records that. After a crash in between they are notified again.
func (m *Manager) completeRound(round int) error {
	m.mu.Lock()
	table, over := m.standingsUpdate(round), m.roundOver(round)
	m.mu.Unlock()
	m.broadcast(round, nil, notice{protocol.TypeLeagueStandingsUpdate, table}, notice{protocol.TypeRoundCompleted, over})
	if m.ctx.Err() != nil {
		return context.Cause(m.ctx)
	}
	m.mu.Lock()
	e := &roundCompleted{Round: round, At: m.cfg.Now(), Draws: m.judgedDraws(round)}
	clear(m.verdicts)
	m.mu.Unlock()
	return m.record(m.ctx, e)
}

// endLeague notifies everybody that the league is over. It waits for agents that are
// tried again, since nobody will try them later.
func (m *Manager) endLeague() error {
	m.mu.Lock()
	if m.state.concluded {
		m.mu.Unlock()
		return nil
	}
	table, write := m.state.standings(), m.leagueOver()
	m.emit(Event{Kind: LeagueCompleted, Total: m.state.rounds(), Standings: table})
	m.mu.Unlock()
	m.broadcast(0, nil, notice{protocol.TypeLeagueCompleted, write})
	m.flushEvents()
	m.finish()
	if err := m.until(func() bool { return m.busy == 0 }); err != nil {
		return err
	}
	return m.record(m.ctx, &completed{Champion: table[0].PlayerID, At: m.cfg.Now()})
}

// notice is a message to many.
type notice struct {
	kind  protocol.Type
	build func(c *contact) protocol.Message
}

// broadcast sends messages, one after the other to each, to the given agents or
// to everybody, and returns when all have had an attempt at each or are not
// waited for.
func (m *Manager) broadcast(round int, to []*contact, notices ...notice) {
	m.mu.Lock()
	if to == nil {
		for _, role := range []protocol.Role{protocol.RolePlayer, protocol.RoleReferee} {
			for _, a := range *m.state.list(role) {
				to = append(to, m.contacts[a.id])
			}
		}
	}
	fanouts := make([]*fanout, len(notices))
	for i, n := range notices {
		fanouts[i] = m.send(n.kind, to, n.build)
	}
	m.mu.Unlock()
	for i, t := range fanouts {
		m.wait(t)
		m.mu.Lock()
		m.close(notices[i].kind, round, t)
		m.mu.Unlock()
	}
	m.deliverEvents()
}
