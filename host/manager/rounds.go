package manager

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/protocol"
)

// Run drives the league to its end: it starts the league when it is due, plays round after round,
// and notifies everybody. It returns nil when the league is over and everybody is notified or given
// up on, and an error when ctx ends before that or the journal cannot be written. Then nothing of
// the manager runs any more; the handler goes on answering questions about the league.
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

// drive and what it calls hold m.mu but while they wait.
func (m *Manager) drive() error {
	if m.cfg.Ready != nil && !m.Over() {
		select {
		case <-m.cfg.Ready:
		case <-m.ctx.Done():
			return context.Cause(m.ctx)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.state
	if err := m.until(func() bool { return s.Schedule != nil || s.Due(m.cfg.Players) }); err != nil {
		return err
	}
	if s.Schedule == nil {
		if err := m.unlocked(func() error { return m.Start(m.ctx) }); err != nil {
			return err
		}
	}
	var ended time.Time // the last round
	for !s.Over() {
		if err := m.rest(ended); err != nil {
			return err
		}
		if err := m.playRound(s.Round()); err != nil {
			return err
		}
		if err := m.completeRound(s.Round()); err != nil {
			return err
		}
		ended = time.Now()
	}
	return m.endLeague()
}

// until returns when the condition is true.
func (m *Manager) until(condition func() bool) error {
	for {
		ok := condition()
		m.mu.Unlock()
		m.deliverEvents()
		if !ok {
			select {
			case <-m.wake:
			case <-m.ctx.Done():
			}
		}
		m.mu.Lock()
		switch {
		case m.ctx.Err() != nil:
			return context.Cause(m.ctx)
		case ok:
			return nil
		}
	}
}

// unlocked does something without m.mu.
func (m *Manager) unlocked(do func() error) error {
	m.mu.Unlock()
	defer m.mu.Lock()
	return do()
}

// rest waits until the next round is due: after the pace since the last one ended, the
// zero time if that is not known, and not while the league is paused. A round that has
// begun, before a restart, goes on at once.
func (m *Manager) rest(ended time.Time) error {
	due := time.AfterFunc(league.MaxPace, m.wakeDriver)
	defer due.Stop()
	return m.until(func() bool {
		left := time.Until(ended.Add(m.state.Pace()))
		if m.state.Begun() || !m.state.Paused && left <= 0 {
			return true
		}
		if left > 0 {
			due.Reset(left)
		}
		return false
	})
}

// playRound plays a round, or what is left of it, until every match has a result. Whatever happens
// in the meantime (a referee dies, another one comes, a player returns at another address) leaves
// marks, and the loop does what the marks say.
func (m *Manager) playRound(round int) error {
	m.forPlayers, m.announced = nil, 0
	for _, c := range m.contacts {
		c.stale = true
	}
	for {
		if err := m.assign(round); err != nil {
			return err
		}
		if err := m.announce(round); err != nil {
			return err
		}
		var again bool
		err := m.until(func() bool {
			m.checkOverdue()
			again = m.assignment(round) != nil
			for _, c := range m.contacts {
				again = again || c.stale
			}
			return again || m.state.Left(round) == 0
		})
		if err != nil || !again {
			return err
		}
	}
}

// assign gives matches without a referee to one. They are out of the reach of reports until
// that is in the journal: otherwise a report by the old referee could stand behind the
// assignment to the new one.
func (m *Manager) assign(round int) error {
	e := m.assignment(round)
	if e == nil {
		return nil
	}
	var touched []string
	for i, p := range m.state.Schedule.Round(round) {
		if e.Referees[i] != "" {
			touched = append(touched, p.ID)
		}
	}
	m.reserve(touched...)
	defer m.release(touched...)
	return m.unlocked(func() error { return m.record(m.ctx, e) })
}

// announce sends the current round to everybody that does not know it: the players first, and the
// referees when all players have acknowledged or had their time, since a referee begins at once.
func (m *Manager) announce(round int) error {
	write := func(c *contact) protocol.Message { return m.announcement(round, c) }
	if players := m.takeStale(m.state.Players); len(players) > 0 {
		if err := m.broadcast(round, players, notice{protocol.TypeRoundAnnouncement, write}); err != nil {
			return err
		}
	}
	m.announced = round
	m.changes++
	m.send(protocol.TypeRoundAnnouncement, m.takeStale(m.state.Referees), write)
	return nil
}

// takeStale returns those of some agents that need a new announcement of the round.
func (m *Manager) takeStale(agents []*league.Member) (stale []*contact) {
	for _, a := range agents {
		c := m.contacts[a.ID]
		if c.stale && !(c.unable && a.Load > 0) {
			stale = append(stale, c)
		}
		c.stale = false
	}
	return stale
}

// checkOverdue looks after the referees whose deadline has passed: where others are
// alive they are given up, and else notified again.
func (m *Manager) checkOverdue() {
	for _, a := range m.state.Referees {
		c := m.contacts[a.ID]
		late := c.late && a.Load > 0 && !c.unable
		c.late = false
		switch {
		case !late:
		case m.unproven(c) && c.patience < m.cfg.MatchDeadline:
			m.sayQuiet(c)
		case m.foreign(c) && !c.conducts:
			m.tryNextForm(c, "it acknowledges its matches, and neither invites players nor reports")
		default:
			m.cfg.Log.Warn("referee is silent and owes reports", "referee", a.ID, "matches", a.Load, "for", c.patience)
			m.setLife(c, league.Suspended)
			m.changes++
			others := slices.ContainsFunc(m.state.Referees, func(a *league.Member) bool { return a != c.Member && !m.contacts[a.ID].dead })
			c.dead, c.stale = others, c.stale || !others
		}
	}
}

// completeRound notifies everybody of the standings and of the round's end, and
// records that. After a crash in between they are notified again.
func (m *Manager) completeRound(round int) error {
	err := m.broadcast(round, nil, notice{protocol.TypeLeagueStandingsUpdate, m.standingsUpdate(round)}, notice{protocol.TypeRoundCompleted, m.roundOver(round)})
	if err != nil {
		return err
	}
	e := &league.RoundCompleted{Round: round, At: m.cfg.Now(), Draws: m.state.Judged(round, m.verdicts)}
	clear(m.verdicts)
	return m.unlocked(func() error { return m.record(m.ctx, e) })
}

// endLeague notifies everybody that the league is over. It waits for agents that are
// tried again, since nobody will try them later.
func (m *Manager) endLeague() error {
	if m.state.Concluded {
		return nil
	}
	table := m.state.Standings()
	m.emit(Event{Kind: LeagueCompleted, Total: m.state.Rounds(), Standings: table})
	if err := m.broadcast(0, nil, notice{protocol.TypeLeagueCompleted, m.leagueOver()}); err != nil {
		return err
	}
	m.mu.Unlock()
	m.flushEvents()
	m.mu.Lock()
	m.finish()
	if err := m.until(func() bool { return m.busy == 0 }); err != nil {
		return err
	}
	return m.unlocked(func() error { return m.record(m.ctx, &league.Completed{Champion: table[0].PlayerID, At: m.cfg.Now()}) })
}

// notice is a message to many.
type notice struct {
	kind  protocol.Type
	write func(c *contact) protocol.Message
}

// broadcast sends messages, one after the other to each, to the given agents or to everybody, and
// returns when all have had an attempt at each, or are not waited for, or had their time.
func (m *Manager) broadcast(round int, to []*contact, notices ...notice) error {
	if to == nil {
		for _, a := range slices.Concat(m.state.Players, m.state.Referees) {
			to = append(to, m.contacts[a.ID])
		}
	}
	fanouts := make([]*fanout, len(notices))
	for i, n := range notices {
		fanouts[i] = m.send(n.kind, to, n.write)
	}
	for i, f := range fanouts {
		end := time.Now().Add(m.cfg.Timeout)
		timer := time.AfterFunc(m.cfg.Timeout, m.wakeDriver)
		err := m.until(func() bool { return f.open == 0 || !time.Now().Before(end) })
		timer.Stop()
		if err != nil {
			return err
		}
		for _, n := range f.notifications {
			n.count(false)
		}
		slices.Sort(f.missing)
		m.emit(Event{Kind: Notified, Message: notices[i].kind, Round: round, Acked: f.acked, Missing: f.missing})
	}
	return nil
}
