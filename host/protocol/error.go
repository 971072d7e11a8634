package protocol

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/rawjson"
)

// A Violation is one rule that a message breaks. Path is a JSON Pointer into
// the message; Rule names the rule (required, type, id, time, sender, version,
// enum, range, length, consistent) and never holds a value of the message.
type Violation struct {
	Path string `json:"path"`
	Rule string `json:"rule"`
}

// An Error is a refusal by this side: why a message is not accepted, with everything that the
// answer must contain. [Decode] returns it, and agents make theirs with [Refuse].
type Error struct {
	Code       Code           // of the league; empty for an error of JSON-RPC itself
	Original   Type           // of the refused message, if known; the JSON-RPC code depends on it
	Detail     string         // a sentence for a person: what is wrong, where, what to do
	Context    map[string]any // details by name, as values that JSON can hold
	Violations []Violation    // all the rules that the message breaks, sorted
	Canonical  string         // code of a refusal by envelope or tool validation, whose form the data has
	RPC        int            // instead of the JSON-RPC code that the tables give; 0 for none
}

// Refuse returns an Error with a code, for a message of the given type ("" if
// unknown). The detail is a sentence for a person; the violations are sorted.
func Refuse(code Code, original Type, detail string, violations ...Violation) *Error {
	return &Error{Code: code, Original: original, Detail: detail, Violations: violations}
}

// With adds a detail to the context and returns e. It masks a token under the name provided_token.
func (e *Error) With(name string, value any) *Error {
	if token, ok := value.(string); ok && name == "provided_token" {
		value = credential.Mask(token)
	}
	if e.Context == nil {
		e.Context = make(map[string]any)
	}
	e.Context[name] = value
	return e
}

// Error returns the refusal for a log.
func (e *Error) Error() string {
	what := e.Form().Message
	if e.Code != "" {
		what = string(e.Code) + " " + e.Code.Name()
	}
	parts := []string{"protocol", string(e.Original), what, e.Detail}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ": ")
}

// Reason says in a line all that is wrong with the message.
func (e *Error) Reason() string {
	if len(e.Violations) < 2 {
		return strings.TrimSuffix(cmp.Or(e.Detail, e.Form().Message), ".")
	}
	paths := make(map[string][]string)
	for _, v := range e.Violations {
		paths[v.Rule] = append(paths[v.Rule], v.Path)
	}
	var parts []string
	for _, rule := range slices.Sorted(maps.Keys(paths)) {
		parts = append(parts, rule+": "+strings.Join(paths[rule], ", "))
	}
	return "fields break rules (" + strings.Join(parts, "; ") + ")"
}

// Form returns the form of the refusal. Its message is the protocol's text for a numbered error,
// and the name of the code for another. Its HTTP status is 400 for invalid JSON or JSON-RPC, the
// canonical status where there is one, 503 for RATE_LIMITED (the server adds a Retry-After header),
// and 200 for every other refusal of the league, because many clients raise an exception on 4xx
// before they read the body.
func (e *Error) Form() Form {
	if f, is := canonicalForms[e.Canonical]; is {
		return f
	}
	f := Form{HTTP: 200, RPC: e.RPC, Message: e.Code.Name()}
	if text, own := rpcTexts[e.RPC]; own {
		f.Message = text
	} else if e.RPC == 0 {
		f.RPC, f.Message = e.Code.rpcCode(e.Original)
	}
	switch {
	case e.Code == CodeRateLimited:
		f.HTTP = 503
	case f.RPC == RPCParseError || f.RPC == RPCInvalidRequest:
		f.HTTP = 400
	}
	return f
}

// topLevel are the details that stand beside the context as well as in it, besides player_id, which
// is a field of both errors.
var topLevel = []string{
	"max_referees", "current_referees", "max_players", "current_players",
	"display_name", "suggestion", "match_id", "round_id", "league_id",
	"previous_report_time", "same_result", "timeout_seconds",
}

// Data returns the data of the JSON-RPC error: a LEAGUE_ERROR from the manager, a
// GAME_ERROR from another agent, the canonical form where there is one, and the
// bare detail for an error of JSON-RPC itself.
func (e *Error) Data(h Header) (jsontext.Value, error) {
	if _, is := canonicalForms[e.Canonical]; is {
		return json.Marshal(map[string]any{"canonical": e.Canonical, "violations": Tidy(slices.Clone(e.Violations))}, plain)
	}
	if e.Code == "" {
		return json.Marshal(struct {
			Detail   string `json:"detail"`
			Original Type   `json:"original_message_type,omitzero"`
		}{e.Detail, e.Original})
	}
	m, err := e.Message(h)
	if err != nil {
		return nil, err
	}
	return Encode(m)
}

// Message returns e as a message under the header h, whose message type it sets: a LEAGUE_ERROR
// from the manager, a [*GameError] from another agent. A referee that announces a retry fills in
// the rest of that. Those details that belong to the top level go into the header: its own fields,
// and beside them the rest. The error is that of encoding e.Context.
func (e *Error) Message(h Header) (Message, error) {
	h.Protocol, h.MessageType, h.extra = Version, TypeGameError, nil
	if role, _, _ := ParseSender(h.Sender); role == RoleManager {
		h.MessageType = TypeLeagueError
	}
	all := make(map[string]any)
	if e.Code == CodeTokenInvalid && e.Original != "" {
		all["action"] = e.Original // what the token was shown for
	}
	maps.Copy(all, e.Context)
	if len(e.Violations) > 0 {
		all["violations"] = e.Violations
	}
	context, err := json.Marshal(all, plain)
	if err != nil {
		return nil, fmt.Errorf("protocol: encode the context of %s: %w", e.Code, err)
	}
	for _, m := range rawjson.Split(context) {
		if slices.Contains(topLevel, m.Name) && !h.set(m) {
			h.extra = append(h.extra, m)
		}
	}
	player, _ := e.Context["player_id"].(string)
	m := &GameError{
		Header: h, ErrorCode: string(e.Code), ErrorName: e.Code.Name(), ErrorDescription: e.Code.Name(),
		Detail: e.Detail, Retryable: Some(e.Code.Retryable()), OriginalMessageType: e.Original, Context: context,
	}
	if h.MessageType == TypeLeagueError {
		return &leagueError{GameError: *m, PlayerID: player, Context: context}, nil
	}
	m.PlayerID, m.AffectedPlayer = player, player
	return m, nil
}

// leagueError is a refusal by the manager: the data of a JSON-RPC error, or a
// notification. Its header holds copies of the context's details that readers look
// for at the top level, such as previous_report_time.
type leagueError struct {
	GameError
	PlayerID string         `json:"player_id,omitzero" rule:"id" doc:"The player concerned."`
	Context  jsontext.Value `json:"context,omitzero" rule:"strict" doc:"Particulars of the refusal."`
}

// A GameError reports a fault in a match to a player, before each retry and after the last; as the
// data of a JSON-RPC error it is a refusal by a referee or a player. LEAGUE_ERROR has fewer fields.
type GameError struct {
	Header
	PlayerID            string         `json:"player_id,omitzero" rule:"id" doc:"The player concerned."`
	AffectedPlayer      string         `json:"affected_player,omitzero" not:"LEAGUE_ERROR" rule:"id request" doc:"The player at fault."`
	ErrorCode           string         `json:"error_code" rule:"always" doc:"The code, E001 and so on."`
	ErrorName           string         `json:"error_name,omitzero" doc:"The name of the code."`
	ErrorDescription    string         `json:"error_description,omitzero" rule:"strict" doc:"The name of the code; some write a sentence."` // the name again
	Detail              string         `json:"detail,omitzero" rule:"prose" doc:"What is wrong, where, and what to do."`                    // a sentence for people
	GameState           string         `json:"game_state,omitzero" not:"LEAGUE_ERROR" doc:"The state of the match."`
	ActionRequired      string         `json:"action_required,omitzero" not:"LEAGUE_ERROR" rule:"request" doc:"The message that is awaited from the player."` // the message type awaited
	Retryable           Opt[bool]      `json:"retryable,omitzero" doc:"Whether the same message may succeed later."`
	RetryCount          Opt[int]       `json:"retry_count,omitzero" not:"LEAGUE_ERROR" rule:"count request" doc:"The number of the retry about to be made."` // the retry about to be made
	MaxRetries          Opt[int]       `json:"max_retries,omitzero" not:"LEAGUE_ERROR" rule:"count request" doc:"How many retries there are at most."`
	RetryInfo           *RetryInfo     `json:"retry_info,omitzero" not:"LEAGUE_ERROR" doc:"The retry that follows."`
	Consequence         string         `json:"consequence,omitzero" not:"LEAGUE_ERROR" rule:"request" doc:"What happens when no retry succeeds."`
	OriginalMessageType Type           `json:"original_message_type,omitzero" rule:"null" doc:"The type of the refused message."`
	Context             jsontext.Value `json:"context,omitzero" doc:"Particulars of the fault."`
}

// RetryInfo describes the next retry; the last GAME_ERROR of a series has no NextRetryAt.
type RetryInfo struct {
	RetryCount  Opt[int] `json:"retry_count,omitzero" rule:"count" doc:"The number of the retry about to be made."`
	MaxRetries  Opt[int] `json:"max_retries,omitzero" rule:"count" doc:"How many retries there are at most."`
	NextRetryAt string   `json:"next_retry_at,omitzero" rule:"time" doc:"When it will be made."`
}
