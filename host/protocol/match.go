package protocol

import "cmp"

// The roles of the two players of a match.
const (
	PlayerA = "PLAYER_A"
	PlayerB = "PLAYER_B"
)

// GameEvenOdd is the game_type of the only game the league plays.
const GameEvenOdd = "even_odd"

// The values of a match's status.
const (
	StatusWin           = "WIN"
	StatusDraw          = "DRAW"
	StatusTechnicalLoss = "TECHNICAL_LOSS"
)

// GameInvitation asks a player to join a match.
type GameInvitation struct {
	Header
	RoleInMatch string `json:"role_in_match,omitzero" rule:"strict one=PLAYER_A,PLAYER_B" doc:"The invited player's role."`
	OpponentID  string `json:"opponent_id,omitzero" rule:"id strict" doc:"The other player."`
}

// GameJoinAck is a player's answer to an invitation or, from an asynchronous player, a request of
// its own. The answer is in Accept; [GameJoinAck.Joins] also reads the other places.
type GameJoinAck struct {
	Header
	PlayerID         string    `json:"player_id,omitzero" rule:"id strict" doc:"The player who answers."`
	ArrivalTimestamp string    `json:"arrival_timestamp,omitzero" rule:"time strict" doc:"When the player arrived."`
	Accept           Opt[bool] `json:"accept,omitzero" rule:"strict" doc:"Whether the player joins."`
	Accepted         Opt[bool] `json:"accepted,omitzero" doc:"Another name of accept, read from players who use it."`
	Status           string    `json:"status,omitzero" doc:"ACCEPTED, ACK or RECEIVED, read from players who use it."`
	DrawScheme       string    `json:"draw_scheme,omitzero" doc:"The verifiable draws that the player understands."`
}

// ChooseParityCall asks a player for its choice.
type ChooseParityCall struct {
	Header
	PlayerID       string         `json:"player_id,omitzero" rule:"id strict" doc:"The player who is asked."`
	Context        *ChoiceContext `json:"context,omitzero" rule:"strict" doc:"What the player may want to know."`
	Deadline       string         `json:"deadline,omitzero" rule:"time strict" doc:"When the choice must have arrived."`
	DrawCommitment string         `json:"draw_commitment,omitzero" doc:"The referee's commitment to the key of the draw."`
}

// ChoiceContext is what a player may want to know for its choice.
type ChoiceContext struct {
	OpponentID    string        `json:"opponent_id,omitzero" rule:"id strict" doc:"The other player."`
	RoundID       Round         `json:"round_id,omitzero" rule:"strict" doc:"The round."`
	YourStandings *OwnStandings `json:"your_standings,omitzero" rule:"strict" doc:"The asked player's record."`
}

// OwnStandings is the record of the player that is asked.
type OwnStandings struct {
	Wins   Opt[int] `json:"wins,omitzero" rule:"count strict" doc:"Matches won."`
	Losses Opt[int] `json:"losses,omitzero" rule:"count strict" doc:"Matches lost."`
	Draws  Opt[int] `json:"draws,omitzero" rule:"count strict" doc:"Matches drawn."`
	Points Opt[int] `json:"points,omitzero" rule:"strict" doc:"Points won."`
}

// ChooseParityResponse is a player's choice, as an answer or, from an asynchronous player, as a
// request of its own. Some players write choice instead of parity_choice;
// [ChooseParityResponse.Chosen] reads both.
type ChooseParityResponse struct {
	Header
	PlayerID     string `json:"player_id,omitzero" rule:"id strict" doc:"The player who chose."`
	ParityChoice Choice `json:"parity_choice,omitzero" rule:"always only=E004 orwild=choice" doc:"The choice."`
	Choice       Choice `json:"choice,omitzero" rule:"only=E004" doc:"Another name of parity_choice, read from players who use it."`
	DrawNonce    string `json:"draw_nonce,omitzero" doc:"What the player adds to the draw."`
}

// Joins returns whether the player joins, and whether the message says so: by Accept, else by
// Accepted, else by its Status. A Status of ACKNOWLEDGED only confirms receipt; the answer follows.
func (m *GameJoinAck) Joins() (joins, said bool) {
	for _, answer := range []Opt[bool]{m.Accept, m.Accepted} {
		if v, ok := answer.Get(); ok {
			return v, true
		}
	}
	return joining(m.Status)
}

// Chosen returns the choice under either of its names, "" without one.
func (m *ChooseParityResponse) Chosen() Choice { return cmp.Or(m.ParityChoice, m.Choice) }
