package protocol

import "github.com/go-json-experiment/json/jsontext"

// GameOver reports the result of a match to a player, in GameResult; the fields
// after it are the flat form that some referees use. ToldOutcome of host/dialect
// reads both. DrawKey and DrawNonces, by player, open the referee's commitment to a
// verifiable draw.
type GameOver struct {
	Header
	GameResult     *GameResult       `json:"game_result,omitzero"`
	PlayerID       string            `json:"player_id,omitzero"`
	Result         string            `json:"result,omitzero"`
	YourChoice     Choice            `json:"your_choice,omitzero"`
	OpponentChoice Choice            `json:"opponent_choice,omitzero"`
	DrawnNumber    Opt[int]          `json:"drawn_number,omitzero"`
	PointsEarned   Opt[int]          `json:"points_earned,omitzero"`
	PlayerChoices  map[string]Choice `json:"player_choices,omitzero"`
	Reason         string            `json:"reason,omitzero"`
	DrawKey        string            `json:"draw_key,omitzero"`
	DrawNonces     map[string]string `json:"draw_nonces,omitzero"`
}

// GameResult is the outcome of a match for its players. After a technical loss
// DrawnNumber and NumberParity are null, and Choices holds only the choices that
// were made.
type GameResult struct {
	Status                 string            `json:"status,omitzero"`
	WinnerPlayerID         Opt[string]       `json:"winner_player_id,omitzero"` // null without a winner
	DrawnNumber            Opt[int]          `json:"drawn_number,omitzero"`
	NumberParity           Opt[string]       `json:"number_parity,omitzero"`
	Choices                map[string]Choice `json:"choices,omitzero"`
	PlayerChoices          map[string]Choice `json:"player_choices,omitzero"`
	TechnicalLossPlayerIDs []string          `json:"technical_loss_player_ids,omitzero"`
	Reason                 string            `json:"reason,omitzero"`
	Extra                  jsontext.Value    `json:",embed"`
}

// MatchResultReport reports the result of a match to the manager.
type MatchResultReport struct {
	Header
	Result MatchResult `json:"result"`
}

// MatchResult is the outcome of a match for the manager.
type MatchResult struct {
	Winner  Opt[string]    `json:"winner,omitzero"` // null without a winner
	Score   map[string]int `json:"score,omitzero"`
	Details *ResultDetails `json:"details,omitzero"`
	Extra   jsontext.Value `json:",embed"`
}

// ResultDetails explains a reported result.
type ResultDetails struct {
	DrawnNumber            Opt[int]          `json:"drawn_number,omitzero"`
	NumberParity           Opt[string]       `json:"number_parity,omitzero"`
	Choices                map[string]Choice `json:"choices,omitzero"`
	Status                 string            `json:"status,omitzero"`
	TechnicalLossPlayerIDs []string          `json:"technical_loss_player_ids,omitzero"`
	Reason                 string            `json:"reason,omitzero"`
	Extra                  jsontext.Value    `json:",embed"`
}

// MatchResultAck confirms that a report was recorded.
type MatchResultAck struct {
	Header
	Status   string    `json:"status,omitzero"` // "ACCEPTED", or "recorded"
	Recorded Opt[bool] `json:"recorded,omitzero"`
}

// statusRecorded is the other word for ACCEPTED in a [MatchResultAck].
const statusRecorded = "recorded"

// drawn holds the fields of a result's draw. A match that was played has a
// number between 1 and 10; one that was decided by a fault has none.
func drawn(number field, more ...field) *shape {
	return fields(append([]field{
		text("status", "How the match ended.").strict().values(statuses...),
		number.strict().nullable().within(1, 10).whenIs(StatusWin, StatusDraw),
		list("technical_loss_player_ids", "The players at fault.", ident("", "")),
		prose("reason", "How it came about, for people."),
	}, more...)...).switching("status")
}

var statuses = []string{StatusWin, StatusDraw, StatusTechnicalLoss}

var (
	drawnNumber = number("drawn_number", "The number drawn, 1 to 10; null after a technical loss.")
	choiceMade  = field{kind: kindText, oneOf: []string{string(Even), string(Odd)}, wildNull: true}
	choices     = dict("choices", "The choices that were made, by player.", choiceMade)
	wildChoices = dict("player_choices", "Another name of choices, read from referees who use it.", choiceMade)
)

func gameOverShape() *shape {
	return message([]Role{RoleReferee},
		ident("match_id", "The match.").always(),
		text("game_type", "The game that was played.").strict(),
		object("game_result", "How the match ended.", drawn(drawnNumber,
			ident("winner_player_id", "The winner; null without one.").strict().nullable().whenIs(StatusWin),
			parity("number_parity", "The parity of the number; null after a technical loss.").
				strict().nullable().whenIs(StatusWin, StatusDraw),
			choices.strict().orWild("player_choices"),
			wildChoices,
			prose("reason", "How it came about, for people.").strict(),
		)).strict(),
		ident("player_id", "The receiver of this message."),
		text("result", "How the match ended for this player, read from referees who use the flat form."),
		parity("your_choice", "Flat form: this player's choice."),
		parity("opponent_choice", "Flat form: the other's choice."),
		number("drawn_number", "Flat form: the number drawn.").nullable(),
		number("points_earned", "Flat form: this player's points."),
		wildChoices,
		prose("reason", "Flat form: how it came about."),
		text("draw_key", "The key of the draw, revealed to a player that got a commitment to it."),
		dict("draw_nonces", "What the players added to the draw, by player.", text("", "")),
	)
}

func matchResultReportShape() *shape {
	return message([]Role{RoleReferee},
		ident("league_id", "The league.").strict(),
		round("round_id", "The round.").strict(),
		ident("match_id", "The match.").always(),
		text("game_type", "The game that was played.").strict(),
		object("result", "How the match ended.", fields(
			ident("winner", "The winner; null without one.").always().nullable(),
			dict("score", "The points of each player.", number("", "")).strict(),
			object("details", "How it came about.", drawn(drawnNumber,
				// Two of the sources leave it out; Outcome derives it then.
				text("status", "How the match ended.").values(statuses...),
				parity("number_parity", "The parity of the number; null after a technical loss.").nullable(),
				choices.strict(),
			)).strict(),
		)).always(),
	)
}

func matchResultAckShape() *shape {
	return message([]Role{RoleManager},
		text("status", "ACCEPTED or recorded.").strict().values(StatusAccepted, statusRecorded),
		boolean("recorded", "Whether the result was taken down."),
		ident("match_id", "The match.").strict(),
		round("round_id", "The round.").strict(),
	)
}
