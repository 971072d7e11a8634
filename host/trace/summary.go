package trace

import (
	"fmt"
	"strings"

	"github.com/strategylab/strategylab/host/protocol"
)

// summary says in a few words what a message holds, for those of whom the type
// does not say all.
func summary(m protocol.Message) string {
	switch m := m.(type) {
	case *protocol.LeagueRegisterRequest:
		return fmt.Sprintf("%q at %s", m.Meta.DisplayName, m.Meta.ContactEndpoint)
	case *protocol.RefereeRegisterRequest:
		return fmt.Sprintf("%q at %s", m.Meta.DisplayName, m.Meta.ContactEndpoint)
	case *protocol.LeagueRegisterResponse:
		return registered(m.Status, m.PlayerID, m.Reason)
	case *protocol.RefereeRegisterResponse:
		return registered(m.Status, m.RefereeID, m.Reason)
	case *protocol.RoundAnnouncement:
		return announced(m)
	case *protocol.LeagueStandingsUpdate:
		return table(m.Standings)
	case *protocol.GameInvitation:
		return words(m.RoleInMatch, against(m.OpponentID))
	case *protocol.GameJoinAck:
		return joined(m)
	case *protocol.ChooseParityCall:
		if m.Deadline != "" {
			return "until " + m.Deadline
		}
	case *protocol.ChooseParityResponse:
		return string(m.Chosen())
	case *protocol.GameOver:
		return over(m)
	case *protocol.MatchResultReport:
		return reported(m)
	case *protocol.GameError:
		return words(m.ErrorCode, m.ErrorName, m.AffectedPlayer)
	case *protocol.LeagueCompleted:
		return table(m.FinalStandings)
	case *protocol.LeagueQuery:
		return m.QueryType
	case *protocol.LeagueQueryResponse:
		return m.QueryType
	case *protocol.LeagueStatus:
		return m.Status
	}
	return ""
}

func words(parts ...string) string {
	var all []string
	for _, p := range parts {
		if p != "" {
			all = append(all, p)
		}
	}
	return strings.Join(all, " ")
}

func against(id string) string {
	if id == "" {
		return ""
	}
	return "against " + id
}

func registered(status, id string, reason protocol.Opt[string]) string {
	why, _ := reason.Get()
	return words(status, id, why)
}

func announced(m *protocol.RoundAnnouncement) string {
	var matches []string
	for _, x := range m.Matches {
		matches = append(matches, fmt.Sprintf("%s %s-%s", x.MatchID, x.PlayerAID, x.PlayerBID))
	}
	return clip(matches, 6)
}

// clip joins the first of a list and says how many more there are.
func clip(list []string, most int) string {
	if n := len(list); n > most {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), n-most)
	}
	return strings.Join(list, ", ")
}

func table(standings []protocol.Standing) string {
	var rows []string
	for _, s := range standings {
		rows = append(rows, fmt.Sprintf("%d. %s %d", s.Rank, s.PlayerID, s.Points))
	}
	return clip(rows, 6)
}

func joined(m *protocol.GameJoinAck) string {
	switch joins, said := m.Joins(); {
	case !said:
		return "arrived, the answer is still to come"
	case joins:
		return "joins"
	}
	return "declines"
}

func over(m *protocol.GameOver) string {
	if r := m.GameResult; r != nil {
		text := r.Status
		if w, ok := r.WinnerPlayerID.Get(); ok && w != "" {
			text += ", " + w + " wins"
		}
		if n, ok := r.DrawnNumber.Get(); ok {
			text += fmt.Sprintf(", drawn %d", n)
		}
		return text
	}
	if n, ok := m.DrawnNumber.Get(); ok {
		return fmt.Sprintf("%s, drawn %d", m.Result, n)
	}
	return m.Result
}

func reported(m *protocol.MatchResultReport) string {
	if w, ok := m.Result.Winner.Get(); ok && w != "" {
		return w + " wins"
	}
	return "no winner"
}
