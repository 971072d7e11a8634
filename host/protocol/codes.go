package protocol

import (
	"cmp"
	"slices"
	"strings"
)

// A Code is a league error code, E001 and so on.
type Code string

// The error codes. Where the sources give one number to two errors, the
// comment says which error lost its number.
const (
	CodeTimeout               Code = "E001"
	CodeInvalidMove           Code = "E002"
	CodeMissingField          Code = "E003" // also called E002
	CodeInvalidParityChoice   Code = "E004"
	CodePlayerNotRegistered   Code = "E005"
	CodeInvalidFieldType      Code = "E006" // also called E003
	CodeInvalidState          Code = "E007" // also called E004
	CodePlayerDisconnect      Code = "E008" // also called E003
	CodeConnectionError       Code = "E009"
	CodeTokenMissing          Code = "E011" // also called E013
	CodeTokenInvalid          Code = "E012"
	CodeVersionMismatch       Code = "E018" // also called E001
	CodeLeagueFull            Code = "E020"
	CodeInvalidTimestamp      Code = "E021"
	CodeDuplicateName         Code = "E022" // also called E021
	CodeLeagueNotStarted      Code = "E030"
	CodeLeagueAlreadyComplete Code = "E031"
	CodeMatchNotFound         Code = "E040"
	CodeDuplicateReport       Code = "E041"
	CodeInvalidQueryType      Code = "E042"
	CodeLeagueNotFound        Code = "E043"
	CodeInvalidEndpoint       Code = "E044"
	CodeUnsupportedGameType   Code = "E045"
	CodeContextMismatch       Code = "E046"
	CodeUnknownMessageType    Code = "E047"
	CodeRateLimited           Code = "E048"
	CodeInternalError         Code = "E049"
)

// The JSON-RPC error codes that the protocol shares with JSON-RPC itself.
const (
	RPCParseError     = -32700
	RPCInvalidRequest = -32600
	RPCMethodNotFound = -32601
	rpcInvalidParams  = -32602
	rpcInternalError  = -32603
)

type codeInfo struct {
	code      Code
	name      string
	retryable bool
	rpc       int // the JSON-RPC code where no numbered refusal applies
}

var codeTable = []codeInfo{
	{CodeTimeout, "TIMEOUT_ERROR", true, 1},
	{CodeInvalidMove, "INVALID_MOVE", true, 2},
	{CodeMissingField, "MISSING_REQUIRED_FIELD", false, rpcInvalidParams},
	{CodeInvalidParityChoice, "INVALID_PARITY_CHOICE", false, 4004},
	{CodePlayerNotRegistered, "PLAYER_NOT_REGISTERED", false, 5},
	{CodeInvalidFieldType, "INVALID_FIELD_TYPE", false, rpcInvalidParams},
	{CodeInvalidState, "INVALID_STATE", false, 7},
	{CodePlayerDisconnect, "PLAYER_DISCONNECT", true, 8},
	{CodeConnectionError, "CONNECTION_ERROR", true, 9},
	{CodeTokenMissing, "AUTH_TOKEN_MISSING", false, 11},
	{CodeTokenInvalid, "AUTH_TOKEN_INVALID", false, 12},
	{CodeVersionMismatch, "PROTOCOL_VERSION_MISMATCH", false, rpcInvalidParams},
	{CodeLeagueFull, "LEAGUE_FULL", false, 20},
	{CodeInvalidTimestamp, "INVALID_TIMESTAMP", false, rpcInvalidParams},
	{CodeDuplicateName, "DUPLICATE_NAME", false, 2002},
	{CodeLeagueNotStarted, "LEAGUE_NOT_STARTED", false, 30},
	{CodeLeagueAlreadyComplete, "LEAGUE_ALREADY_COMPLETE", false, 31},
	{CodeMatchNotFound, "MATCH_NOT_FOUND", false, 40},
	{CodeDuplicateReport, "DUPLICATE_REPORT", false, 5003},
	{CodeInvalidQueryType, "INVALID_QUERY_TYPE", false, 6002},
	{CodeLeagueNotFound, "LEAGUE_NOT_FOUND", false, 43},
	{CodeInvalidEndpoint, "INVALID_ENDPOINT", false, 44},
	{CodeUnsupportedGameType, "UNSUPPORTED_GAME_TYPE", false, 45},
	{CodeContextMismatch, "CONTEXT_MISMATCH", false, rpcInvalidParams},
	{CodeUnknownMessageType, "UNKNOWN_MESSAGE_TYPE", false, RPCMethodNotFound},
	{CodeRateLimited, "RATE_LIMITED", true, 48},
	{CodeInternalError, "INTERNAL_ERROR", false, rpcInternalError},
}

// numbered is a refusal with a number and a text of its own. Its thousands are the area in which
// the code has it.
type numbered struct {
	rpc  int
	text string
	code Code
}

var numberedTable = []numbered{
	{1001, "League full", CodeLeagueFull},
	{1002, "Invalid endpoint", CodeInvalidEndpoint},
	{1003, "Unsupported game type", CodeUnsupportedGameType},
	{2001, "League full", CodeLeagueFull},
	{2002, "Duplicate name", CodeDuplicateName},
	{2003, "Invalid endpoint", CodeInvalidEndpoint},
	{2004, "Unsupported game type", CodeUnsupportedGameType},
	{3001, "Invalid auth token", CodeTokenInvalid},
	{3002, "Player not registered", CodePlayerNotRegistered},
	{4001, "Invalid auth token", CodeTokenInvalid},
	{4002, "Player not found", CodePlayerNotRegistered},
	{4003, "Match not found", CodeMatchNotFound},
	{4004, "Invalid choice", CodeInvalidParityChoice},
	{4005, "Match state error", CodeInvalidState},
	{5001, "Invalid auth token", CodeTokenInvalid},
	{5002, "Match not found", CodeMatchNotFound},
	{5003, "Duplicate report", CodeDuplicateReport},
	{6001, "Invalid auth token", CodeTokenInvalid},
	{6002, "Invalid query type", CodeInvalidQueryType},
	{6003, "League not found", CodeLeagueNotFound},
}

// is reports whether the refusal is that of a code: no token is as wrong as an invalid one.
func (n numbered) is(c Code) bool {
	return n.code == c || n.code == CodeTokenInvalid && c == CodeTokenMissing
}

// rpcTexts are the message texts of JSON-RPC's own codes.
var rpcTexts = map[int]string{
	RPCParseError:     "Parse error",
	RPCInvalidRequest: "Invalid Request",
	RPCMethodNotFound: "Method not found",
	rpcInvalidParams:  "Invalid params",
	rpcInternalError:  "Internal error",
}

// info returns the row of the code; of an unknown one it has neither code nor name.
func (c Code) info() codeInfo {
	for _, row := range codeTable {
		if row.code == c {
			return row
		}
	}
	return codeInfo{rpc: rpcInternalError}
}

// Name returns the name of the code, such as TIMEOUT_ERROR for E001, and "" for an unknown code.
func (c Code) Name() string { return c.info().name }

// Retryable reports whether a retry of the refused message may succeed.
func (c Code) Retryable() bool { return c.info().retryable }

// rpcCode returns the JSON-RPC code and message text of the code for a message of
// type t. The text of an unnumbered league error is its name.
func (c Code) rpcCode(t Type) (int, string) {
	if e, ok := catalog().types[t]; ok {
		for _, n := range numberedTable {
			if area(n.rpc/1000) == e.area && n.is(c) {
				return n.rpc, n.text
			}
		}
	}
	row := c.info()
	if text, ok := rpcTexts[row.rpc]; ok {
		return row.rpc, text
	}
	for _, n := range numberedTable {
		if n.rpc == row.rpc {
			return n.rpc, n.text
		}
	}
	return row.rpc, row.name
}

// wildNames are other names of errors: those that the sources list under a
// number that means something else here, and one that programs use.
var wildNames = map[string]Code{
	"INVALID_PROTOCOL_VERSION": CodeVersionMismatch,
	"AUTH_FAILED":              CodeTokenInvalid,
}

// FindCode returns the error that a peer means: by its name where that is known, because the
// sources give some numbers twice, else by its code, else by its JSON-RPC code. Words outrank
// numbers, which may be the peer's own: a name that league.v2 does not have makes them so, and a
// number of JSON-RPC's private range is not believed against a text that does not know the name of
// the message. It returns "" for an unknown error.
func FindCode(code Code, rpc int, names ...string) Code {
	for _, name := range names {
		if c, ok := wildNames[name]; ok {
			return c
		}
		for _, row := range codeTable {
			if row.name == name && name != "" {
				return row.code
			}
		}
	}
	found := codeOfNumbers(code, rpc)
	for _, name := range names {
		byNumber := rpc > 0 && code.info().code == "" && name != ""
		if found != "" && (byNumber || isName(name)) && name != string(code) && !related(name, found.known()) {
			found = "" // a number of its own
		}
	}
	if found != "" && rpc > 0 && slices.ContainsFunc(names, func(name string) bool { return Says(UnknownName, name) }) {
		return CodeUnknownMessageType
	}
	if found != "" {
		return found
	}
	switch rpc {
	case RPCMethodNotFound:
		return CodeUnknownMessageType
	case rpcInternalError:
		return CodeInternalError
	}
	return ""
}

// codeOfNumbers returns the error of a code, or else of a number of the protocol's own;
// "" for others.
func codeOfNumbers(code Code, rpc int) Code {
	if code == "E013" { // AUTH_TOKEN_MISSING in one of the sources
		return CodeTokenMissing
	}
	if code.info().code != "" {
		return code
	}
	for _, n := range numberedTable {
		if n.rpc == rpc {
			return n.code
		}
	}
	for _, row := range codeTable {
		if row.rpc == rpc && rpc > 0 {
			return row.code
		}
	}
	return ""
}

// known is what the protocol calls an error: its name, and the texts of its numbers.
func (c Code) known() string {
	text := c.Name()
	for _, n := range numberedTable {
		if n.code == c {
			text += " " + n.text
		}
	}
	return text
}

// related reports whether two names of errors have a word in common that says what they are about.
func related(a, b string) bool {
	words := WordsOf(b)
	return slices.ContainsFunc(WordsOf(a), func(w string) bool {
		return slices.Contains(words, w) && !slices.Contains([]string{"invalid", "not", "error", "found", "unknown", "missing"}, w)
	})
}

// isName reports whether a text is the name of an error, as in REGISTRATION_CLOSED.
func isName(text string) bool {
	return strings.Contains(text, "_") && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// The canonical codes of envelope and tool validation.
const (
	CanonicalInvalidEnvelope  = "INVALID_ENVELOPE"
	CanonicalInvalidToolInput = "INVALID_TOOL_INPUT"
	CanonicalToolNotFound     = "TOOL_NOT_FOUND"
	CanonicalInternalError    = "INTERNAL_ERROR"
)

// A Form is how a refusal looks from outside: the HTTP status, and the code and
// message of the JSON-RPC error.
type Form struct {
	HTTP    int
	RPC     int
	Message string
}

var canonicalForms = map[string]Form{
	CanonicalInvalidEnvelope:  {400, RPCInvalidRequest, "Invalid MCP envelope"},
	CanonicalInvalidToolInput: {422, rpcInvalidParams, "Invalid tool input"},
	CanonicalToolNotFound:     {404, -32001, "Unknown tool"},
	CanonicalInternalError:    {500, rpcInternalError, "Internal error"},
}

// Tidy sorts violations by path and rule, drops duplicates and keeps the first 32.
func Tidy(found []Violation) []Violation {
	slices.SortFunc(found, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Rule, b.Rule))
	})
	found = slices.Compact(found)
	return found[:min(len(found), maxFindings)]
}
