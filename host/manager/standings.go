package manager

import (
	"encoding/json"
	"slices"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// Standing is a player's line of the table. The first has rank 1, and no rank
// is shared.
type Standing struct {
	Rank            int    `json:"rank"`
	PlayerID        string `json:"player_id"`
	DisplayName     string `json:"display_name"`
	Played          int    `json:"played"`
	Wins            int    `json:"wins"`
	Draws           int    `json:"draws"`
	Losses          int    `json:"losses"` // technical losses among them
	TechnicalLosses int    `json:"technical_losses"`
	Points          int    `json:"points"`
	// Status is LifeWithdrawn or LifeSuspended if the organiser has taken the player
	// out, and else empty.
	Status AgentLife `json:"status,omitempty"`
}

// standings returns the table, first rank first. Before the start it has the
// players in the order of their numbers, with nothing played. The caller must
// not change it.
func (s *state) standings() []Standing {
	if s.ranked != nil {
		return s.ranked
	}
	seats, rows := s.seats, []game.Row(nil)
	if s.schedule == nil {
		seats = s.seating()
		rows = make([]game.Row, len(seats))
		for i := range rows {
			rows[i].Seat = i
		}
	} else {
		rows = s.table.Ranking()
	}
	s.ranked = make([]Standing, len(rows))
	for i, r := range rows {
		a := seats[r.Seat]
		s.ranked[i] = Standing{
			Rank: i + 1, PlayerID: a.id, DisplayName: a.reg.Name, Played: r.Played, Wins: r.Wins, Draws: r.Ties,
			Losses: r.Losses, TechnicalLosses: r.TechnicalLosses, Points: r.Points, Status: a.status,
		}
	}
	return s.ranked
}

// onWire returns a table as messages hold it.
func onWire(table []Standing) []protocol.Standing {
	rows := make([]protocol.Standing, len(table))
	for i, s := range table {
		rows[i] = protocol.Standing{
			Rank: s.Rank, PlayerID: s.PlayerID, DisplayName: s.DisplayName, Played: protocol.Some(s.Played),
			Wins: protocol.Some(s.Wins), Draws: protocol.Some(s.Draws), Losses: protocol.Some(s.Losses), Points: s.Points, Status: string(s.Status),
		}
	}
	return rows
}

// Summary counts the matches of a round by how they ended. Wins, Draws and
// TechnicalLosses add up to Matches.
type Summary struct {
	Matches         int `json:"matches"`
	Wins            int `json:"wins"`
	Draws           int `json:"draws"`
	TechnicalLosses int `json:"technical_losses"`
}

func (s *state) summary(round int) Summary {
	pairings := s.schedule.Round(round)
	sum := Summary{Matches: len(pairings)}
	for _, p := range pairings {
		switch v := s.matches[p.Index].outcome.verdict(); {
		case v.Technical():
			sum.TechnicalLosses++
		case v.ResultA == game.Tie:
			sum.Draws++
		default:
			sum.Wins++
		}
	}
	return sum
}

// Match is a match whose result was accepted.
type Match struct {
	Index     int // in the schedule, from 0
	Round     int
	ID        string
	Seats     [2]int // of A and B, from 0
	Players   [2]string
	RefereeID string

	Results [2]game.Result // of A and B
	Points  [2]int
	Choices [2]game.Parity // NoParity where none was made or reported
	// Number is the number drawn; Drawn is false where none was drawn or reported.
	Number int
	Drawn  bool
}

// MarshalJSON writes the match in the words of the protocol, for event streams.
func (m Match) MarshalJSON() ([]byte, error) {
	v := struct {
		ID      string            `json:"match_id"`
		Round   int               `json:"round_id"`
		Referee string            `json:"referee_id"`
		A       string            `json:"player_A_id"`
		B       string            `json:"player_B_id"`
		Status  string            `json:"status"`
		Winner  *string           `json:"winner"`
		Score   map[string]int    `json:"score"`
		Choices map[string]string `json:"choices"`
		Number  *int              `json:"drawn_number"`
	}{
		ID: m.ID, Round: m.Round, Referee: m.RefereeID, A: m.Players[0], B: m.Players[1], Status: m.Status(),
		Score: map[string]int{}, Choices: map[string]string{},
	}
	for i, id := range m.Players {
		v.Score[id] = m.Points[i]
		if m.Choices[i] != game.NoParity {
			v.Choices[id] = m.Choices[i].String()
		}
	}
	if winner := m.Winner(); winner != "" {
		v.Winner = &winner
	}
	if m.Drawn {
		v.Number = &m.Number
	}
	return json.Marshal(v)
}

// Winner returns the winner's id, or "".
func (m Match) Winner() string {
	if i := slices.Index(m.Results[:], game.Win); i >= 0 {
		return m.Players[i]
	}
	return ""
}

// Status returns "WIN", "DRAW" or "TECHNICAL_LOSS".
func (m Match) Status() string {
	switch {
	case m.Results[0] == game.TechnicalLoss || m.Results[1] == game.TechnicalLoss:
		return protocol.StatusTechnicalLoss
	case m.Results[0] == game.Tie:
		return protocol.StatusDraw
	}
	return protocol.StatusWin
}

// finished describes a match that is over.
func (s *state) finished(p game.Match) Match {
	m := &s.matches[p.Index]
	v := m.outcome.verdict()
	told := Match{
		Index: p.Index, Round: p.Round, ID: p.ID, Seats: [2]int{p.A, p.B},
		Players: [2]string{s.seats[p.A].id, s.seats[p.B].id}, RefereeID: m.referee.id,
		Results: m.outcome.results, Points: [2]int{v.PointsA, v.PointsB}, Choices: m.outcome.choices,
	}
	if m.outcome.number != noNumber {
		told.Number, told.Drawn = int(m.outcome.number), true
	}
	return told
}
