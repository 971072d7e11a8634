package manager

import (
	"fmt"

	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/manager/league"
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
	if m.state.Round() != round || m.state.Over() || m.state.Left(round) == 0 {
		return nil
	}
	h := m.header(protocol.TypeRoundAnnouncement, c, fmt.Sprintf("round-%d", round))
	h.RoundID = protocol.RoundNumber(round)
	if c.Role == protocol.RoleReferee {
		a := &protocol.RoundAnnouncement{Header: h, Byes: m.state.Byes(round), Matches: m.assignments(round, c.Member)}
		if m.cfg.Progress && c.Keyed { // others may be strict about members that they do not know
			a.ReportProgress = protocol.Some(true)
		}
		return a
	}
	if m.forPlayers == nil {
		a := &protocol.RoundAnnouncement{Header: h, Byes: m.state.Byes(round)}
		for _, p := range m.state.Schedule.Round(round) {
			a.Matches = append(a.Matches, m.announcedMatch(p))
		}
		m.forPlayers = protocol.Broadcast(a)
	}
	return m.forPlayers(h)
}

// announcedMatch is a match in an announcement.
func (m *Manager) announcedMatch(p game.Match) protocol.AnnouncedMatch {
	a, b := m.state.Pair(p)
	e := protocol.AnnouncedMatch{MatchID: p.ID, GameType: protocol.GameEvenOdd, PlayerAID: a.ID, PlayerBID: b.ID}
	if referee := m.state.Referee(p); referee != nil {
		e.RefereeID, e.RefereeEndpoint = referee.ID, referee.Endpoint
		if !referee.Keyed && m.cfg.Mode == protocol.Tolerant {
			e.MatchKeys = protocol.Some(false)
		}
	}
	return e
}

// assignments returns the matches of the round that are not over, as a referee sees them: its own
// with the players' endpoints and the match keys, which nobody else is sent.
func (m *Manager) assignments(round int, referee *league.Member) []protocol.AnnouncedMatch {
	orders := []protocol.AnnouncedMatch{}
	for _, p := range m.state.Schedule.Round(round) {
		if m.state.Done(p) {
			continue
		}
		e := m.announcedMatch(p)
		if m.state.Referee(p) == referee {
			a, b := m.state.Pair(p)
			e.PlayerAEndpoint, e.PlayerBEndpoint = a.Endpoint, b.Endpoint
			e.PlayerADialect, e.PlayerBDialect = dialectHint(a.Dialect), dialectHint(b.Dialect)
			e.PlayerAKeys, e.PlayerBKeys = m.matchKeys(a, p, referee), m.matchKeys(b, p, referee)
			for _, player := range []*league.Member{a, b} {
				switch {
				case player.Status != "":
					e.Forfeits = append(e.Forfeits, player.ID)
				case player.Absent() && m.contacts[player.ID].life == league.Suspended: // it answers nobody
					e.Absent = append(e.Absent, player.ID)
				}
			}
		}
		orders = append(orders, e)
	}
	return orders
}

func (m *Manager) matchKeys(player *league.Member, p game.Match, referee *league.Member) *credential.KeyPair {
	keys := player.Key.MatchKeys(m.cfg.LeagueID, p.ID, referee.ID)
	keys.Optional = m.cfg.Mode == protocol.Tolerant
	return &keys
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
		Header: protocol.Header{MessageType: protocol.TypeLeagueStandingsUpdate}, Standings: onWire(m.state.Standings()),
	})
}

// roundOver returns what writes ROUND_COMPLETED.
func (m *Manager) roundOver(round int) func(*contact) protocol.Message {
	sum := m.state.Summary(round)
	next := protocol.Round{Opt: protocol.Null[int]()}
	if round < m.state.Rounds() {
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
	standings := m.state.Standings()
	first := standings[0]
	return m.sameForAll(0, "over", &protocol.LeagueCompleted{
		Header:      protocol.Header{MessageType: protocol.TypeLeagueCompleted},
		TotalRounds: protocol.Some(m.state.Rounds()), TotalMatches: protocol.Some(m.state.Matches()),
		Champion: &protocol.Champion{
			PlayerID: first.PlayerID, DisplayName: first.DisplayName, Points: protocol.Some(first.Points),
		},
		FinalStandings: onWire(standings),
	})
}

// onWire returns a table as messages hold it.
func onWire(table []league.Standing) []protocol.Standing {
	rows := make([]protocol.Standing, len(table))
	for i, s := range table {
		rows[i] = protocol.Standing{
			Rank: s.Rank, PlayerID: s.PlayerID, DisplayName: s.DisplayName, Played: protocol.Some(s.Played),
			Wins: protocol.Some(s.Wins), Draws: protocol.Some(s.Draws), Losses: protocol.Some(s.Losses), Points: s.Points, Status: string(s.Status),
		}
	}
	return rows
}

// bench returns the referees that matches may be given to, in the order of their numbers,
// with no matches yet: those that answer; if there are none, those that are not given
// up; if there are none of these either, those that may come back, or all.
func (m *Manager) bench() (shares []league.Share) {
	for _, fit := range []func(*contact) bool{
		func(c *contact) bool { return !c.dead && c.life != league.Suspended },
		func(c *contact) bool { return !c.dead },
		func(c *contact) bool { return !c.unable },
		func(*contact) bool { return true },
	} {
		for _, a := range league.ByNumber(m.state.Referees) {
			if fit(m.contacts[a.ID]) {
				shares = append(shares, league.Share{Referee: a})
			}
		}
		if shares != nil {
			break
		}
	}
	return shares
}

// assignment returns the referees for the matches of a round that nobody
// conducts, or only a referee that is given up; nil if there are none.
func (m *Manager) assignment(round int) *league.Assigned {
	shares := m.bench()
	if len(shares) == 0 {
		return nil
	}
	for i := range shares {
		shares[i].Load = shares[i].Referee.Load
	}
	hopeless := m.contacts[shares[0].Referee.ID].dead // then all are
	pairings := m.state.Schedule.Round(round)
	e, any := &league.Assigned{Round: round, Referees: make([]string, len(pairings))}, false
	for i, p := range pairings {
		referee := m.state.Referee(p)
		if m.state.Done(p) || m.reserved[p.ID] != nil || referee != nil && (hopeless || !m.contacts[referee.ID].dead) {
			continue
		}
		e.Referees[i], any = league.LeastLoaded(shares, m.state.Forfeited(p)).ID, true
	}
	if !any {
		return nil
	}
	return e
}

// plan returns the referees that the matches of a round will have if nothing
// changes until it begins.
func (m *Manager) plan(round int) []*league.Member {
	pairings := m.state.Schedule.Round(round)
	referees := make([]*league.Member, len(pairings))
	shares := m.bench()
	for i, p := range pairings {
		referees[i] = m.state.Referee(p)
		if referees[i] == nil && len(shares) > 0 {
			referees[i] = league.LeastLoaded(shares, m.state.Forfeited(p))
		}
	}
	return referees
}
