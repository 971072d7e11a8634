package league

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// Standing is a player's line of the table. The first has rank 1, and no rank is shared.
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
	// Status is Withdrawn or Suspended if the organiser has taken the player out, and else empty.
	Status Life `json:"status,omitempty"`
}

// Standings returns the table, first rank first. Before the start it has the players in the order
// of their numbers, with nothing played. The caller must not change it; no later event does.
func (s *State) Standings() []Standing {
	if s.ranked != nil {
		return s.ranked
	}
	seats, rows := s.Seats, []game.Row(nil)
	if s.Schedule == nil {
		seats = s.Seating()
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
			Rank: i + 1, PlayerID: a.ID, DisplayName: a.Name, Played: r.Played, Wins: r.Wins, Draws: r.Ties,
			Losses: r.Losses, TechnicalLosses: r.TechnicalLosses, Points: r.Points, Status: a.Status,
		}
	}
	return s.ranked
}

// Draws counts the numbers that were drawn in the rounds that are over, by what the
// players said of them.
type Draws struct {
	// Verified counts numbers that a player could verify, and none could not.
	Verified int `json:"verified"`
	// Unverified counts numbers that a player could not verify, although the referee
	// had committed to a key.
	Unverified int `json:"unverified"`
	Drawn      int `json:"drawn"`
}

// Unchecked is how many numbers no player has spoken of: the referee committed to no
// key for them, the players do not know verifiable draws, or did not answer in time.
func (d Draws) Unchecked() int { return d.Drawn - d.Verified - d.Unverified }

// Judged counts the numbers of a round by the verdicts of the players on the one of their match.
func (s *State) Judged(round int, verdicts map[string]bool) (d Draws) {
	for _, p := range s.Schedule.Round(round) {
		if s.matches[p.Index].outcome.number == noNumber {
			continue
		}
		d.Drawn++
		a, ofA := verdicts[s.Seats[p.A].ID]
		b, ofB := verdicts[s.Seats[p.B].ID]
		switch {
		case ofA && !a, ofB && !b:
			d.Unverified++
		case ofA, ofB:
			d.Verified++
		}
	}
	return d
}

// Summary counts the matches of a round by how they ended. Wins, Draws and
// TechnicalLosses add up to Matches.
type Summary struct {
	Matches         int `json:"matches"`
	Wins            int `json:"wins"`
	Draws           int `json:"draws"`
	TechnicalLosses int `json:"technical_losses"`
}

// Summary returns how the matches of a round that is over have ended.
func (s *State) Summary(round int) Summary {
	pairings := s.Schedule.Round(round)
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

// Match is a match and, once it is over, its result.
type Match struct {
	Index     int // in the schedule, from 0
	Round     int
	ID        string
	Seats     [2]int // of A and B, from 0
	Players   [2]string
	RefereeID string // empty until it is assigned

	Results [2]game.Result // of A and B
	Points  [2]int
	Choices [2]game.Parity // NoParity where none was made or reported
	// Number is the number drawn; Drawn is false where none was drawn or reported.
	Number int
	Drawn  bool
}

// Match describes a match.
func (s *State) Match(p game.Match) Match {
	m := &s.matches[p.Index]
	o, v := m.outcome, m.outcome.verdict()
	told := Match{
		Index: p.Index, Round: p.Round, ID: p.ID, Seats: [2]int{p.A, p.B}, Players: [2]string{s.Seats[p.A].ID, s.Seats[p.B].ID},
		Results: o.results, Points: [2]int{v.PointsA, v.PointsB}, Choices: o.choices,
	}
	if m.referee != nil {
		told.RefereeID = m.referee.ID
	}
	if o.over() && o.number != noNumber {
		told.Number, told.Drawn = int(o.number), true
	}
	return told
}

// Over reports whether the match has a result.
func (m Match) Over() bool { return m.Results[0] != game.NoResult }

// Results returns the matches that are over, in the order of the schedule.
func (s *State) Results() (all []Match) {
	for i := range s.matches {
		if p := s.Schedule.Matches()[i]; s.Done(p) {
			all = append(all, s.Match(p))
		}
	}
	return all
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
	case slices.Contains(m.Results[:], game.TechnicalLoss):
		return protocol.StatusTechnicalLoss
	case m.Results[0] == game.Tie:
		return protocol.StatusDraw
	}
	return protocol.StatusWin
}

// Result returns the result as a report has it.
func (m Match) Result() protocol.MatchResult {
	d := &protocol.ResultDetails{
		DrawnNumber: protocol.Null[int](), NumberParity: protocol.Null[string](),
		Choices: map[string]protocol.Choice{}, Status: m.Status(),
	}
	r := protocol.MatchResult{Winner: protocol.Null[string](), Score: map[string]int{}, Details: d}
	for i, id := range m.Players {
		r.Score[id] = m.Points[i]
		if m.Choices[i] != game.NoParity {
			d.Choices[id] = protocol.Choice(m.Choices[i].String())
		}
		if m.Results[i] == game.TechnicalLoss {
			d.TechnicalLossPlayerIDs = append(d.TechnicalLossPlayerIDs, id)
		}
	}
	if winner := m.Winner(); winner != "" {
		r.Winner = protocol.Some(winner)
	}
	if m.Drawn {
		d.DrawnNumber, d.NumberParity = protocol.Some(m.Number), protocol.Some(game.ParityOf(m.Number).String())
	}
	return r
}

// MarshalJSON writes the match in the words of the protocol, for event streams.
func (m Match) MarshalJSON() ([]byte, error) {
	r := m.Result()
	return json.Marshal(struct {
		ID      string                     `json:"match_id"`
		Round   int                        `json:"round_id"`
		Referee string                     `json:"referee_id"`
		A       string                     `json:"player_A_id"`
		B       string                     `json:"player_B_id"`
		Status  string                     `json:"status"`
		Winner  protocol.Opt[string]       `json:"winner"`
		Score   map[string]int             `json:"score"`
		Choices map[string]protocol.Choice `json:"choices"`
		Number  protocol.Opt[int]          `json:"drawn_number"`
	}{m.ID, m.Round, m.RefereeID, m.Players[0], m.Players[1], m.Status(), r.Winner, r.Score, r.Details.Choices, r.Details.DrawnNumber}, json.Deterministic(true))
}

// AgentsFile lists the agents of a league, as the other files below for people and tools.
type AgentsFile struct {
	LeagueID string      `json:"league_id"`
	Updated  string      `json:"updated"`
	Referees []agentLine `json:"referees"`
	Players  []agentLine `json:"players"`
}

type agentLine struct {
	RefereeID  string   `json:"referee_id,omitempty"`
	PlayerID   string   `json:"player_id,omitempty"`
	Name       string   `json:"display_name"`
	Version    string   `json:"version,omitempty"`
	Games      []string `json:"game_types,omitempty"`
	Endpoint   string   `json:"contact_endpoint"`
	Capacity   int      `json:"max_concurrent_matches,omitzero"`
	Dialect    string   `json:"dialect"`
	Registered string   `json:"registered_at"`
}

// AgentsFile returns the agents, at the time of a timestamp.
func (s *State) AgentsFile(updated string) AgentsFile {
	f := AgentsFile{LeagueID: s.ID, Updated: updated, Referees: []agentLine{}, Players: []agentLine{}}
	for _, a := range slices.Concat(s.Referees, s.Seating()) {
		line := agentLine{
			Name: a.Name, Version: a.Version, Games: a.Games, Endpoint: a.Endpoint, Capacity: a.Capacity,
			Dialect: a.Dialect, Registered: protocol.Timestamp(a.At),
		}
		if a.Role == protocol.RoleReferee {
			line.RefereeID = a.ID
			f.Referees = append(f.Referees, line)
		} else {
			line.PlayerID = a.ID
			f.Players = append(f.Players, line)
		}
	}
	return f
}

// TableFile returns how far the league is, at the time of a timestamp.
func (s *State) TableFile(updated string) any {
	status, _ := s.Status()
	return map[string]any{
		"league_id": s.ID, "updated": updated, "status": status, "rounds_completed": s.Closed, "total_rounds": s.Rounds(),
		"matches_completed": s.Reports, "standings": s.Standings(),
	}
}

// Status returns how far the league is, in the two words of GET_STATUS.
func (s *State) Status() (status, state string) {
	switch {
	case s.Over():
		return protocol.LeagueFinished, "LEAGUE_COMPLETED"
	case s.Running():
		return protocol.LeagueRunning, "RUNNING_LEAGUE"
	}
	return protocol.LeagueWaiting, "WAITING_FOR_REGISTRATIONS"
}

// MatchFile returns a match that is over.
func (s *State) MatchFile(p game.Match) any {
	m := s.Match(p)
	return map[string]any{
		"league_id": s.ID, "round_id": m.Round, "match_id": m.ID, "game_type": protocol.GameEvenOdd, "player_A_id": m.Players[0], "player_B_id": m.Players[1],
		"referee_id": m.RefereeID, "reported_at": protocol.Timestamp(time.Unix(0, s.matches[p.Index].at)), "result": m.Result(),
	}
}
