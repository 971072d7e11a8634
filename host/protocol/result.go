package protocol

import (
	"cmp"
	"maps"
)

// GameOver reports the result of a match to a player, in GameResult; the fields after it are the
// flat form that some referees use. Stated reads both.
type GameOver struct {
	Header
	GameResult     *GameResult       `json:"game_result,omitzero" rule:"strict" doc:"How the match ended."`
	PlayerID       string            `json:"player_id,omitzero" rule:"id" doc:"The receiver of this message."`
	Result         string            `json:"result,omitzero" doc:"How the match ended for this player, read from referees who use the flat form."`
	YourChoice     Choice            `json:"your_choice,omitzero" doc:"Flat form: this player's choice."`
	OpponentChoice Choice            `json:"opponent_choice,omitzero" doc:"Flat form: the other's choice."`
	DrawnNumber    Opt[int]          `json:"drawn_number,omitzero" rule:"null" doc:"Flat form: the number drawn."`
	PointsEarned   Opt[int]          `json:"points_earned,omitzero" doc:"Flat form: this player's points."`
	Reason         string            `json:"reason,omitzero" rule:"prose" doc:"Flat form: how it came about."`
	DrawKey        string            `json:"draw_key,omitzero" doc:"The key of the draw, revealed to a player that got a commitment to it."`
	DrawNonces     map[string]string `json:"draw_nonces,omitzero" doc:"What the players added to the draw, by player."`
}

// Stated returns the result that the message states, nested or flat, to the player self about its
// match against opponent. Where an id is empty, that player's choice in the flat form is left out.
func (m *GameOver) Stated(self, opponent string) GameResult {
	var r GameResult
	if m.GameResult != nil {
		r = *m.GameResult
	}
	if r.WinnerPlayerID == (Opt[string]{}) {
		r.Status = cmp.Or(m.Result, r.Status)
	}
	if r.DrawnNumber == (Opt[int]{}) {
		r.DrawnNumber = m.DrawnNumber
	}
	r.Reason = cmp.Or(r.Reason, m.Reason)
	flat := map[string]Choice{self: m.YourChoice, opponent: m.OpponentChoice}
	maps.DeleteFunc(flat, func(id string, c Choice) bool { return id == "" || c == "" })
	if r.Choices == nil && len(flat) > 0 { // else nothing is said, not that nobody chose
		r.Choices = flat
	}
	return r
}

// GameResult is the outcome of a match for its players.
type GameResult struct {
	Status         string      `json:"status,omitzero" rule:"strict one=WIN,DRAW,TECHNICAL_LOSS" doc:"How the match ended."`
	WinnerPlayerID Opt[string] `json:"winner_player_id,omitzero" rule:"id strict null when=status:WIN" doc:"The winner; null without one."` // null without a winner
	ResultDetails              // but for its status
}

// MatchResultReport reports the result of a match to the manager.
type MatchResultReport struct {
	Header
	Result MatchResult `json:"result" rule:"always" doc:"How the match ended."`
}

// Stated returns the result that the report states, as a player is told it.
func (m *MatchResultReport) Stated() GameResult {
	r := GameResult{WinnerPlayerID: m.Result.Winner}
	if d := m.Result.Details; d != nil {
		r.Status, r.ResultDetails = d.Status, *d
	}
	return r
}

// MatchResult is the outcome of a match for the manager.
type MatchResult struct {
	Winner  Opt[string]    `json:"winner,omitzero" rule:"id always null" doc:"The winner; null without one."` // null without a winner
	Score   map[string]int `json:"score,omitzero" rule:"strict" doc:"The points of each player."`
	Details *ResultDetails `json:"details,omitzero" rule:"strict" doc:"How it came about."`
}

// ResultDetails explains a result. After a technical loss DrawnNumber and
// NumberParity are null, and Choices holds only the choices that were made.
type ResultDetails struct {
	DrawnNumber            Opt[int]          `json:"drawn_number,omitzero" rule:"strict null min=1 max=10 when=status:WIN,DRAW" doc:"The number drawn, 1 to 10; null after a technical loss."`
	NumberParity           Opt[string]       `json:"number_parity,omitzero" rule:"one=even,odd strict null when=status:WIN,DRAW" optional:"MATCH_RESULT_REPORT" doc:"The parity of the number; null after a technical loss."`
	Choices                map[string]Choice `json:"choices,omitzero" rule:"strict" doc:"The choices that were made, by player."`
	Status                 string            `json:"status,omitzero" rule:"one=WIN,DRAW,TECHNICAL_LOSS" doc:"How the match ended."`
	TechnicalLossPlayerIDs []string          `json:"technical_loss_player_ids,omitzero" rule:"each=id" doc:"The players at fault."`
	Reason                 string            `json:"reason,omitzero" rule:"prose strict" optional:"MATCH_RESULT_REPORT" doc:"How it came about, for people."`
}

// MatchResultAck confirms that a report was recorded.
type MatchResultAck struct {
	Header
	Status   string    `json:"status,omitzero" rule:"strict one=ACCEPTED,recorded" doc:"ACCEPTED or recorded."` // "ACCEPTED", or "recorded"
	Recorded Opt[bool] `json:"recorded,omitzero" doc:"Whether the result was taken down."`
}

// MatchProgress is how far the matches of a referee are, for people who watch. It holds no choice,
// and no result depends on it. A referee sends it only to a manager whose announcement asks for it.
type MatchProgress struct {
	Header
	Matches []MatchState `json:"matches" rule:"always" doc:"The matches of which there is something new."`
}

// MatchState is how far a match is. Asked, Chosen and Retried are players.
type MatchState struct {
	MatchID    string            `json:"match_id" rule:"id always" doc:"The match."`
	Asked      []string          `json:"asked,omitzero" rule:"each=id" doc:"The players who are asked for their choice."`                                 // for their choice
	Chosen     []string          `json:"chosen,omitzero" rule:"each=id" doc:"The players whose choice is in."`                                            // their choice is in
	Retried    []string          `json:"retried,omitzero" rule:"each=id" doc:"The players who had to be asked again."`                                    // they had to be asked again
	TimeLeftMS Opt[int]          `json:"time_left_ms,omitzero" rule:"count" doc:"The time left to choose, in milliseconds, when the message is written."` // to choose, when the message is written
	Faults     map[string]string `json:"faults,omitzero" rule:"each=prose" doc:"Why players have lost the match by technical loss, for people."`          // why a player has lost, by player, for people
}
