package protocol

import (
	"cmp"

	"github.com/go-json-experiment/json/jsontext"
)

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
	RoleInMatch string `json:"role_in_match,omitzero"`
	OpponentID  string `json:"opponent_id,omitzero"`
}

// GameJoinAck is a player's answer to an invitation or, from an asynchronous
// player, a request of its own. The answer is in Accept; [GameJoinAck.Joins]
// also reads the other places. DrawScheme names the verifiable draws that the
// player understands, as package host/draws does.
type GameJoinAck struct {
	Header
	PlayerID         string    `json:"player_id,omitzero"`
	ArrivalTimestamp string    `json:"arrival_timestamp,omitzero"`
	Accept           Opt[bool] `json:"accept,omitzero"`
	Accepted         Opt[bool] `json:"accepted,omitzero"`
	Status           string    `json:"status,omitzero"`
	DrawScheme       string    `json:"draw_scheme,omitzero"`
}

// ChooseParityCall asks a player for its choice. DrawCommitment is the referee's
// commitment to the key of a verifiable draw, for a player that understands it.
type ChooseParityCall struct {
	Header
	PlayerID       string         `json:"player_id,omitzero"`
	Context        *ChoiceContext `json:"context,omitzero"`
	Deadline       string         `json:"deadline,omitzero"`
	DrawCommitment string         `json:"draw_commitment,omitzero"`
}

// ChoiceContext is what a player may want to know for its choice.
type ChoiceContext struct {
	OpponentID    string         `json:"opponent_id,omitzero"`
	RoundID       Round          `json:"round_id,omitzero"`
	YourStandings *OwnStandings  `json:"your_standings,omitzero"`
	Extra         jsontext.Value `json:",embed"`
}

// OwnStandings is the record of the player that is asked.
type OwnStandings struct {
	Wins   Opt[int]       `json:"wins,omitzero"`
	Losses Opt[int]       `json:"losses,omitzero"`
	Draws  Opt[int]       `json:"draws,omitzero"`
	Points Opt[int]       `json:"points,omitzero"`
	Extra  jsontext.Value `json:",embed"`
}

// ChooseParityResponse is a player's choice, as an answer or, from an
// asynchronous player, as a request of its own. Some players write choice instead
// of parity_choice; [ChooseParityResponse.Chosen] reads both. DrawNonce is the player's
// part in a verifiable draw.
type ChooseParityResponse struct {
	Header
	PlayerID     string `json:"player_id,omitzero"`
	ParityChoice Choice `json:"parity_choice,omitzero"`
	Choice       Choice `json:"choice,omitzero"`
	DrawNonce    string `json:"draw_nonce,omitzero"`
}

// Joins returns whether the player joins, and whether the message says so: by
// Accept, else by Accepted, else by its Status. A Status of ACKNOWLEDGED only
// confirms receipt; the answer follows.
func (m *GameJoinAck) Joins() (joins, said bool) {
	for _, answer := range []Opt[bool]{m.Accept, m.Accepted} {
		if v, ok := answer.Get(); ok {
			return v, true
		}
	}
	if m.Status == "" {
		return false, false
	}
	joins = Means(Joining, m.Status)
	return joins, joins || Means(Declining, m.Status)
}

// Chosen returns the choice under either of its names, "" without one.
func (m *ChooseParityResponse) Chosen() Choice { return cmp.Or(m.ParityChoice, m.Choice) }

func gameInvitationShape() *shape {
	return message([]Role{RoleReferee},
		ident("league_id", "The league.").strict(),
		round("round_id", "The round.").strict(),
		ident("match_id", "The match.").always(),
		text("game_type", "The game that is played.").strict(),
		text("role_in_match", "The invited player's role.").strict().values(PlayerA, PlayerB),
		ident("opponent_id", "The other player.").strict(),
	)
}

func gameJoinAckShape() *shape {
	return message([]Role{RolePlayer},
		ident("match_id", "The match.").strict(),
		ident("player_id", "The player who answers.").strict(),
		instant("arrival_timestamp", "When the player arrived.").strict(),
		boolean("accept", "Whether the player joins.").strict(),
		boolean("accepted", "Another name of accept, read from players who use it."),
		text("status", "ACCEPTED, ACK or RECEIVED, read from players who use it."),
		text("draw_scheme", "The verifiable draws that the player understands."),
	)
}

func chooseParityCallShape() *shape {
	return message([]Role{RoleReferee},
		ident("match_id", "The match.").always(),
		ident("player_id", "The player who is asked.").strict(),
		text("game_type", "The game that is played.").strict(),
		object("context", "What the player may want to know.", fields(
			ident("opponent_id", "The other player.").strict(),
			round("round_id", "The round.").strict(),
			object("your_standings", "The asked player's record.", fields(
				count("wins", "Matches won.").strict(),
				count("losses", "Matches lost.").strict(),
				count("draws", "Matches drawn.").strict(),
				number("points", "Points won.").strict(),
			)).strict(),
		)).strict(),
		instant("deadline", "When the choice must have arrived.").strict(),
		text("draw_commitment", "The referee's commitment to the key of the draw."),
	)
}

func chooseParityResponseShape() *shape {
	return message([]Role{RolePlayer},
		ident("match_id", "The match.").strict(),
		ident("player_id", "The player who chose.").strict(),
		text("parity_choice", "The choice.").always().
			only(CodeInvalidParityChoice, string(Even), string(Odd)).orWild("choice"),
		text("choice", "Another name of parity_choice, read from players who use it.").
			only(CodeInvalidParityChoice, string(Even), string(Odd)),
		text("draw_nonce", "What the player adds to the draw."),
	)
}
