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
	h := m.head(protocol.TypeRoundAnnouncement, c, fmt.Sprintf("round-%d", round))
	h.RoundID = protocol.RoundNumber(round)
	if c.agent.role == protocol.RoleReferee {
		return &protocol.RoundAnnouncement{Header: h, Byes: m.byes(round), Matches: m.orders(round, c.agent)}
	}
	if m.programme == nil {
		a := &protocol.RoundAnnouncement{Header: h, Byes: m.byes(round)}
		for _, p := range m.state.schedule.Round(round) {
			a.Matches = append(a.Matches, m.entry(p))
		}
		m.programme = protocol.Broadcast(a)
	}
	return m.programme(h)
}

func (m *Manager) byes(round int) []string {
	byes := []string{}
	if seat, ok := m.state.schedule.Bye(round); ok {
		byes = append(byes, m.state.seats[seat].id)
	}
	return byes
}

// entry is a match in an announcement.
func (m *Manager) entry(p game.Pairing) protocol.AnnouncedMatch {
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

// orders returns the matches of the round that are not over, as a referee sees
// them: its own with the players' endpoints and the match keys, which nobody
// else is sent.
func (m *Manager) orders(round int, referee *member) []protocol.AnnouncedMatch {
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
			e.PlayerADialect, e.PlayerBDialect = unusual(a.reg.Dialect), unusual(b.reg.Dialect)
			forA := a.verifier.MatchKeys(m.cfg.LeagueID, p.ID, referee.id)
			forB := b.verifier.MatchKeys(m.cfg.LeagueID, p.ID, referee.id)
			e.PlayerAKeys, e.PlayerBKeys = &forA, &forB
		}
		orders = append(orders, e)
	}
	return orders
}

// unusual returns the name of a dialect that has to be told.
func unusual(dialect string) string {
	if dialect == protocol.DialectContracts {
		return ""
	}
	return dialect
}

// standingsUpdate returns what writes LEAGUE_STANDINGS_UPDATE after a round.
func (m *Manager) standingsUpdate(round int) func(*contact) protocol.Message {
	return m.circular(round, fmt.Sprintf("table-%d", round), &protocol.LeagueStandingsUpdate{
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
	return m.circular(round, fmt.Sprintf("round-%d-over", round), &protocol.RoundCompleted{
		Header: protocol.Header{MessageType: protocol.TypeRoundCompleted}, NextRoundID: next,
		MatchesCompleted: protocol.Some(sum.Matches), MatchesPlayed: protocol.Some(sum.Matches),
		Summary: &protocol.RoundSummary{
			TotalMatches: protocol.Some(sum.Matches), Wins: protocol.Some(sum.Wins),
			Draws: protocol.Some(sum.Draws), TechnicalLosses: protocol.Some(sum.TechnicalLosses),
		},
	})
}

// circular returns what writes the copies of a message that is the same for
// everybody, about a round or, with 0, about the league.
func (m *Manager) circular(round int, about string, message protocol.Message) func(*contact) protocol.Message {
	copyFor := protocol.Broadcast(message)
	return func(to *contact) protocol.Message {
		h := m.head(message.Head().MessageType, to, about)
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
	return m.circular(0, "over", &protocol.LeagueCompleted{
		Header:      protocol.Header{MessageType: protocol.TypeLeagueCompleted},
		TotalRounds: protocol.Some(m.state.rounds()), TotalMatches: protocol.Some(len(m.state.matches)),
		Champion: &protocol.Champion{
			PlayerID: first.PlayerID, DisplayName: first.DisplayName, Points: protocol.Some(first.Points),
		},
		FinalStandings: onWire(standings),
	})
}
