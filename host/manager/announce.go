package manager

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// The functions of this file write what the manager sends. They are called with
// m.mu held, and what they return shares slices that nobody changes.

// header is the header of a message to an agent. The conversation is that of the
// league, followed by about.
func (m *Manager) header(t protocol.Type, c *contact, about string) protocol.Header {
	h := protocol.NewHeader(t, sender, protocol.Timestamp(m.cfg.Now()), m.cfg.LeagueID+"-"+about)
	h.AuthToken, h.LeagueID = c.token, m.cfg.LeagueID
	return h
}

// announcement tells an agent about the current round: a player about all its
// matches, a referee of those that are not over, with what it needs to conduct
// its own. With nothing left to announce it returns nil.
func (m *Manager) announcement(round int, c *contact) protocol.Message {
	if m.state.round() != round || m.state.over() || m.state.left[round-1] == 0 {
		return nil
	}
	h := m.header(protocol.TypeRoundAnnouncement, c, fmt.Sprintf("round-%d", round))
	h.RoundID = protocol.RoundNumber(round)
	if c.member.role == protocol.RoleReferee {
		a := &protocol.RoundAnnouncement{Header: h, Byes: m.byes(round), Matches: m.assignments(round, c.member)}
		if m.cfg.Progress && c.member.reg.Keyed { // others may be strict about members that they do not know
			a.ReportProgress = protocol.Some(true)
		}
		return a
	}
	if m.forPlayers == nil {
		a := &protocol.RoundAnnouncement{Header: h, Byes: m.byes(round)}
		for _, p := range m.state.schedule.Round(round) {
			a.Matches = append(a.Matches, m.announcedMatch(p))
		}
		m.forPlayers = protocol.Broadcast(a)
	}
	return m.forPlayers(h)
}

func (m *Manager) byes(round int) []string {
	byes := []string{}
	if seat, ok := m.state.schedule.Bye(round); ok {
		byes = append(byes, m.state.seats[seat].id)
	}
	return byes
}

// announcedMatch is a match in an announcement.
func (m *Manager) announcedMatch(p game.Match) protocol.AnnouncedMatch {
	e := protocol.AnnouncedMatch{
		MatchID: p.ID, GameType: protocol.GameEvenOdd,
		PlayerAID: m.state.seats[p.A].id, PlayerBID: m.state.seats[p.B].id,
	}
	if referee := m.state.matches[p.Index].referee; referee != nil {
		e.RefereeID, e.RefereeEndpoint = referee.id, referee.reg.Endpoint
		if !referee.reg.Keyed && m.cfg.Mode == protocol.Tolerant {
			e.MatchKeys = protocol.Some(false)
		}
	}
	return e
}

// assignments returns the matches of the round that are not over, as a referee sees
// them: its own with the players' endpoints and the match keys, which nobody
// else is sent.
func (m *Manager) assignments(round int, referee *member) []protocol.AnnouncedMatch {
	orders := []protocol.AnnouncedMatch{}
	for _, p := range m.state.schedule.Round(round) {
		now := &m.state.matches[p.Index]
		if now.outcome.over() {
			continue
		}
		e := m.announcedMatch(p)
		if now.referee == referee {
			a, b := m.state.seats[p.A], m.state.seats[p.B]
			e.PlayerAEndpoint, e.PlayerBEndpoint = a.reg.Endpoint, b.reg.Endpoint
			e.PlayerADialect, e.PlayerBDialect = dialectHint(a.reg.Dialect), dialectHint(b.reg.Dialect)
			forA := a.verifier.MatchKeys(m.cfg.LeagueID, p.ID, referee.id)
			forB := b.verifier.MatchKeys(m.cfg.LeagueID, p.ID, referee.id)
			forA.Optional, forB.Optional = m.cfg.Mode == protocol.Tolerant, m.cfg.Mode == protocol.Tolerant
			e.PlayerAKeys, e.PlayerBKeys = &forA, &forB
			e.Forfeits, e.Absent = m.conditions(a, b)
		}
		orders = append(orders, e)
	}
	return orders
}

// dialectHint returns the name of a dialect that the referee has to know.
func dialectHint(name string) string {
	if name == dialect.Contracts.Name {
		return ""
	}
	return name
}

// standingsUpdate returns what writes LEAGUE_STANDINGS_UPDATE after a round.
func (m *Manager) standingsUpdate(round int) func(*contact) protocol.Message {
	return m.sameForAll(round, fmt.Sprintf("table-%d", round), &protocol.LeagueStandingsUpdate{
		Header: protocol.Header{MessageType: protocol.TypeLeagueStandingsUpdate}, Standings: onWire(m.state.standings()),
	})
}

// roundOver returns what writes ROUND_COMPLETED.
func (m *Manager) roundOver(round int) func(*contact) protocol.Message {
	sum := m.state.summary(round)
	next := protocol.NoRound()
	if round < m.state.rounds() {
		next = protocol.RoundNumber(round + 1)
	}
	return m.sameForAll(round, fmt.Sprintf("round-%d-over", round), &protocol.RoundCompleted{
		Header: protocol.Header{MessageType: protocol.TypeRoundCompleted}, NextRoundID: next,
		MatchesCompleted: protocol.Some(sum.Matches), MatchesPlayed: protocol.Some(sum.Matches),
		Summary: &protocol.RoundSummary{
			TotalMatches: protocol.Some(sum.Matches), Wins: protocol.Some(sum.Wins),
			Draws: protocol.Some(sum.Draws), TechnicalLosses: protocol.Some(sum.TechnicalLosses),
		},
	})
}

// sameForAll returns what writes the copies of a message that is the same for
// everybody, about a round or, with 0, about the league.
func (m *Manager) sameForAll(round int, about string, message protocol.Message) func(*contact) protocol.Message {
	copyFor := protocol.Broadcast(message)
	return func(to *contact) protocol.Message {
		h := m.header(message.Head().MessageType, to, about)
		if round > 0 {
			h.RoundID = protocol.RoundNumber(round)
		}
		return copyFor(h)
	}
}

// leagueOver returns what writes LEAGUE_COMPLETED.
func (m *Manager) leagueOver() func(*contact) protocol.Message {
	standings := m.state.standings()
	first := standings[0]
	return m.sameForAll(0, "over", &protocol.LeagueCompleted{
		Header:      protocol.Header{MessageType: protocol.TypeLeagueCompleted},
		TotalRounds: protocol.Some(m.state.rounds()), TotalMatches: protocol.Some(len(m.state.matches)),
		Champion: &protocol.Champion{
			PlayerID: first.PlayerID, DisplayName: first.DisplayName, Points: protocol.Some(first.Points),
		},
		FinalStandings: onWire(standings),
	})
}

// candidates returns the referees that matches may be given to, in the order of
// their numbers: those that answer; if there are none, those that are not given
// up; if there are none of these either, those that may come back, or all. It is called with m.mu held.
func (m *Manager) candidates() []*contact {
	var fit, alive, able, all []*contact
	for _, a := range m.state.referees {
		c := m.contacts[a.id]
		all = append(all, c)
		if !c.unable {
			able = append(able, c)
		}
		if !c.dead {
			alive = append(alive, c)
			if c.life != LifeSuspended {
				fit = append(fit, c)
			}
		}
	}
	switch {
	case len(fit) > 0:
		all = fit
	case len(alive) > 0:
		all = alive
	case len(able) > 0:
		all = able
	}
	slices.SortFunc(all, func(a, b *contact) int { return cmp.Compare(a.member.number, b.member.number) })
	return all
}

// refereeLoad is the part of a round's matches that a referee is given.
type refereeLoad struct {
	referee        *member
	load, capacity int
}

// leastLoaded gives one more match to the referee that has the least to do, measured
// by how many matches it conducts at once. If somebody forfeits the match, a referee
// of this program goes first: others ask the player all the same, and wait.
func leastLoaded(shares []refereeLoad, forfeit bool) *member {
	best := &shares[0]
	for i := range shares {
		s := &shares[i]
		keyed, before := s.referee.reg.Keyed, best.referee.reg.Keyed
		if forfeit && keyed != before {
			if keyed {
				best = s
			}
			continue
		}
		if (s.load+1)*best.capacity < (best.load+1)*s.capacity {
			best = s
		}
	}
	best.load++
	return best.referee
}

// loads returns what the referees on the bench have to do at present, or
// nothing for a round that is still to come. It is called with m.mu held.
func (m *Manager) loads(present bool) []refereeLoad {
	bench := m.candidates()
	shares := make([]refereeLoad, len(bench))
	for i, c := range bench {
		shares[i] = refereeLoad{referee: c.member, capacity: max(c.member.reg.Capacity, 1)}
		if present {
			shares[i].load = c.member.load
		}
	}
	return shares
}

// assignment returns the referees for the matches of a round that nobody
// conducts, or only a referee that is given up; nil if there are none. It is
// called with m.mu held.
func (m *Manager) assignment(round int) *assigned {
	shares := m.loads(true)
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
			e.Referees[i], any = leastLoaded(shares, m.state.forfeited(p)).id, true
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
	shares := m.loads(false)
	for i, p := range pairings {
		referees[i] = m.state.matches[p.Index].referee
		if referees[i] == nil && len(shares) > 0 {
			referees[i] = leastLoaded(shares, m.state.forfeited(p))
		}
	}
	return referees
}

// refereeOf returns the referee that a match has or will have. It is called
// with m.mu held.
func (m *Manager) refereeOf(p game.Match) *member {
	first := m.state.schedule.Round(p.Round)[0].Index
	return m.plan(p.Round)[p.Index-first]
}
