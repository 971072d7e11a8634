package protocol

import "github.com/go-json-experiment/json/jsontext"

// LeagueError is a refusal by the manager: the data of a JSON-RPC error, or a
// notification. Extra bears copies of the context's particulars that readers
// look for at the top level, such as previous_report_time.
type LeagueError struct {
	Header
	ErrorCode           string         `json:"error_code"`
	ErrorName           string         `json:"error_name,omitzero"`
	ErrorDescription    string         `json:"error_description,omitzero"` // the name again
	Detail              string         `json:"detail,omitzero"`            // a sentence for people
	Retryable           Opt[bool]      `json:"retryable,omitzero"`
	OriginalMessageType Type           `json:"original_message_type,omitzero"`
	PlayerID            string         `json:"player_id,omitzero"`
	Context             jsontext.Value `json:"context,omitzero"`
}

// GameError tells a player of a fault in its match, before each retry and
// after the last; as the data of a JSON-RPC error it is a refusal by a referee
// or a player.
type GameError struct {
	Header
	PlayerID            string         `json:"player_id,omitzero"`
	AffectedPlayer      string         `json:"affected_player,omitzero"`
	ErrorCode           string         `json:"error_code"`
	ErrorName           string         `json:"error_name,omitzero"`
	ErrorDescription    string         `json:"error_description,omitzero"` // the name again
	Detail              string         `json:"detail,omitzero"`            // a sentence for people
	GameState           string         `json:"game_state,omitzero"`
	ActionRequired      string         `json:"action_required,omitzero"` // the message type awaited
	Retryable           Opt[bool]      `json:"retryable,omitzero"`
	RetryCount          Opt[int]       `json:"retry_count,omitzero"` // the retry about to be made
	MaxRetries          Opt[int]       `json:"max_retries,omitzero"`
	RetryInfo           *RetryInfo     `json:"retry_info,omitzero"`
	Consequence         string         `json:"consequence,omitzero"`
	OriginalMessageType Type           `json:"original_message_type,omitzero"`
	Context             jsontext.Value `json:"context,omitzero"`
}

// RetryInfo says which retry follows and when; the last GAME_ERROR of a series
// has no NextRetryAt.
type RetryInfo struct {
	RetryCount  Opt[int]       `json:"retry_count,omitzero"`
	MaxRetries  Opt[int]       `json:"max_retries,omitzero"`
	NextRetryAt string         `json:"next_retry_at,omitzero"`
	Extra       jsontext.Value `json:",embed"`
}

// faultFields are the fields of both kinds of error.
func faultFields() []field {
	return []field{
		text("error_code", "The code, E001 and so on.").always(),
		text("error_name", "The name of the code."),
		text("error_description", "The name of the code; some write a sentence.").strict(),
		prose("detail", "What is wrong, where, and what to do."),
		boolean("retryable", "Whether the same message may succeed later."),
		text("original_message_type", "The type of the refused message.").nullable(),
		ident("player_id", "The player concerned."),
	}
}

var leagueErrorShape = message([]Role{RoleManager}, append(faultFields(),
	open("context", "Particulars of the refusal.").strict(),
)...)

var gameErrorShape = message([]Role{RoleReferee, RolePlayer}, append(faultFields(),
	ident("match_id", "The match.").inRequest(),
	ident("affected_player", "The player at fault.").inRequest().orWild("player_id"),
	text("action_required", "The message that is awaited from the player.").inRequest(),
	text("game_state", "The state of the match."),
	count("retry_count", "The number of the retry about to be made.").inRequest(),
	count("max_retries", "How many retries there are at most.").inRequest(),
	object("retry_info", "The retry that follows.", fields(
		count("retry_count", "The number of the retry about to be made."),
		count("max_retries", "How many retries there are at most."),
		instant("next_retry_at", "When it will be made."),
	)),
	text("consequence", "What happens when no retry succeeds.").inRequest(),
	open("context", "Particulars of the fault."),
)...)
