package manager

import (
	"cmp"
	"slices"

	"github.com/strategylab/strategylab/host/game"
)

// bench returns the referees that matches may be given to, in the order of
// their numbers: those that answer; if there are none, those that are not given
// up; if there are none of these either, all. It is called with m.mu held.
func (m *Manager) bench() []*contact {
	var fit, alive, all []*contact
	for _, a := range m.state.referees {
		c := m.contacts[a.id]
		all = append(all, c)
		if !c.dead {
			alive = append(alive, c)
			if c.life != LifeSuspended {
				fit = append(fit, c)
			}
		}
	}
	for _, tier := range [][]*contact{fit, alive} {
		if len(tier) > 0 {
			all = tier
			break
		}
	}
	slices.SortFunc(all, func(a, b *contact) int { return cmp.Compare(a.agent.number, b.agent.number) })
	return all
}

// share is the part of a round's matches that a referee is given.
type share struct {
	referee        *member
	load, capacity int
}

// give gives one more match to the referee that has the least to do, measured
// by how many matches it conducts at once.
func give(shares []share) *member {
	best := &shares[0]
	for i := range shares {
		if s := &shares[i]; (s.load+1)*best.capacity < (best.load+1)*s.capacity {
			best = s
		}
	}
	best.load++
	return best.referee
}

// shares returns what the referees on the bench have to do at present, or
// nothing for a round that is still to come. It is called with m.mu held.
func (m *Manager) shares(present bool) []share {
	bench := m.bench()
	shares := make([]share, len(bench))
	for i, c := range bench {
		shares[i] = share{referee: c.agent, capacity: max(c.agent.reg.Capacity, 1)}
		if present {
			shares[i].load = c.agent.load
		}
	}
	return shares
}

// assignment returns who is to conduct the matches of a round that nobody
// conducts, or only a referee that is given up; nil if there are none. It is
// called with m.mu held.
func (m *Manager) assignment(round int) *assigned {
	shares := m.shares(true)
	if len(shares) == 0 {
		return nil
	}
	hopeless := m.contacts[shares[0].referee.id].dead // then all are
	pairings := m.state.schedule.Round(round)
	e, any := &assigned{Round: round, Referees: make([]string, len(pairings))}, false
	for i, p := range pairings {
		now := &m.state.matches[p.Index]
		switch {
		case now.outcome.over() || m.reserved[p.ID] != nil:
		case now.referee == nil, m.contacts[now.referee.id].dead && !hopeless:
			e.Referees[i], any = give(shares).id, true
		}
	}
	if !any {
		return nil
	}
	return e
}

// plan returns the referees that the matches of a round will have if nothing
// changes until it begins. It is called with m.mu held.
func (m *Manager) plan(round int) []*member {
	pairings := m.state.schedule.Round(round)
	referees := make([]*member, len(pairings))
	shares := m.shares(false)
	for i, p := range pairings {
		referees[i] = m.state.matches[p.Index].referee
		if referees[i] == nil && len(shares) > 0 {
			referees[i] = give(shares)
		}
	}
	return referees
}

// refereeOf returns the referee that a match has or will have. It is called
// with m.mu held.
func (m *Manager) refereeOf(p game.Pairing) *member {
	first := m.state.schedule.Round(p.Round)[0].Index
	return m.plan(p.Round)[p.Index-first]
}
