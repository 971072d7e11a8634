package manager

import (
	"fmt"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// The functions of this file write what the manager sends. They are called with
// m.mu held, and what they return shares slices that nobody changes.

// head is the header of a message to an agent. The conversation is that of the
// league, followed by about.
func (m *Manager) head(t protocol.Type, c *contact, about string) protocol.Header {
	h := protocol.NewHeader(t, sender, protocol.Timestamp(m.cfg.Now()), m.cfg.LeagueID+"-"+about)
	h.AuthToken, h.LeagueID = c.token, m.cfg.LeagueID
	return h
}

// announcement tells an agent of the round under way: a player of all its
// matches, a referee of those that are not over, with what it needs to conduct
// its own. When there is nothing left to tell it returns nil.
func (m *Manager) announcement(round int, c *contact) protocol.Message {
	if m.state.round() != round || m.state.over() || m.state.left[round-1] == 0 {
		return nil
	}
	a := &protocol.RoundAnnouncement{
		Header: m.head(protocol.TypeRoundAnnouncement, c, fmt.Sprintf("round-%d", round)),
		Byes:   m.byes(round),
	}
	a.RoundID = protocol.RoundNumber(round)
	if c.agent.role == protocol.RolePlayer {
		a.Matches = m.programmeOf(round)
	} else {
		a.Matches = m.orders(round, c.agent)
	}
	return a
}

func (m *Manager) byes(round int) []string {
	byes := []string{}
	if seat, ok := m.state.schedule.Bye(round); ok {
		byes = append(byes, m.state.seats[seat].id)
	}
	return byes
}

// programmeOf returns the matches of the round as everybody may see them. They
// are written once for all players.
func (m *Manager) programmeOf(round int) []protocol.AnnouncedMatch {
	if m.programme == nil {
		for _, p := range m.state.schedule.Round(round) {
			m.programme = append(m.programme, m.entry(p))
		}
	}
	return m.programme
}

// entry is a match in an announcement.
func (m *Manager) entry(p game.Pairing) protocol.AnnouncedMatch {
	e := protocol.AnnouncedMatch{
		MatchID: p.ID, GameType: protocol.GameEvenOdd,
		PlayerAID: m.state.seats[p.A].id, PlayerBID: m.state.seats[p.B].id,
	}
	if referee := m.state.matches[p.Index].referee; referee != nil {
		e.RefereeID, e.RefereeEndpoint = referee.id, referee.reg.Endpoint
	}
	return e
}

// orders returns the matches of the round that are not over, as a referee sees
// them: its own with the players' endpoints and the match keys, which nobody
// else is sent.
func (m *Manager) orders(round int, referee *agent) []protocol.AnnouncedMatch {
	orders := []protocol.AnnouncedMatch{}
	for _, p := range m.state.schedule.Round(round) {
		now := &m.state.matches[p.Index]
		if now.outcome.over() {
			continue
		}
		e := m.entry(p)
		if now.referee == referee {
			a, b := m.state.seats[p.A], m.state.seats[p.B]
			e.PlayerAEndpoint, e.PlayerBEndpoint = a.reg.Endpoint, b.reg.Endpoint
			forA := a.verifier.MatchKeys(m.cfg.LeagueID, p.ID, referee.id)
			forB := b.verifier.MatchKeys(m.cfg.LeagueID, p.ID, referee.id)
			e.PlayerAKeys, e.PlayerBKeys = &forA, &forB
		}
		orders = append(orders, e)
	}
	return orders
}

// standingsUpdate returns what writes LEAGUE_STANDINGS_UPDATE after a round.
func (m *Manager) standingsUpdate(round int) func(*contact) protocol.Message {
	table := onWire(m.state.standings())
	return func(c *contact) protocol.Message {
		h := m.head(protocol.TypeLeagueStandingsUpdate, c, fmt.Sprintf("table-%d", round))
		h.RoundID = protocol.RoundNumber(round)
		return &protocol.LeagueStandingsUpdate{Header: h, Standings: table}
	}
}

// roundOver returns what writes ROUND_COMPLETED.
func (m *Manager) roundOver(round int) func(*contact) protocol.Message {
	sum := m.state.summary(round)
	next := protocol.NoRound()
	if round < m.state.rounds() {
		next = protocol.RoundNumber(round + 1)
	}
	return func(c *contact) protocol.Message {
		h := m.head(protocol.TypeRoundCompleted, c, fmt.Sprintf("round-%d-over", round))
		h.RoundID = protocol.RoundNumber(round)
		return &protocol.RoundCompleted{
			Header: h, NextRoundID: next,
			MatchesCompleted: protocol.Some(sum.Matches), MatchesPlayed: protocol.Some(sum.Matches),
			Summary: &protocol.RoundSummary{
				TotalMatches: protocol.Some(sum.Matches), Wins: protocol.Some(sum.Wins),
				Draws: protocol.Some(sum.Draws), TechnicalLosses: protocol.Some(sum.TechnicalLosses),
			},
		}
	}
}

// leagueOver returns what writes LEAGUE_COMPLETED.
func (m *Manager) leagueOver() func(*contact) protocol.Message {
	standings := m.state.standings()
	table, first := onWire(standings), standings[0]
	return func(c *contact) protocol.Message {
		return &protocol.LeagueCompleted{
			Header:      m.head(protocol.TypeLeagueCompleted, c, "over"),
			TotalRounds: protocol.Some(m.state.rounds()), TotalMatches: protocol.Some(len(m.state.matches)),
			Champion: &protocol.Champion{
				PlayerID: first.PlayerID, DisplayName: first.DisplayName, Points: protocol.Some(first.Points),
			},
			FinalStandings: table,
		}
	}
}
