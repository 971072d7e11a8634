package protocol

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// A Code is a league error code, E001 and so on.
type Code string

// The JSON-RPC error codes that the protocol shares with JSON-RPC itself.
const (
	RPCParseError     = -32700
	RPCInvalidRequest = -32600
	RPCMethodNotFound = -32601
	rpcInvalidParams  = -32602
	rpcInternalError  = -32603
)

// A codeInfo is what the protocol says of a code.
type codeInfo struct {
	code      Code
	name      string
	retryable bool
	rpc       int // the JSON-RPC code where no numbered refusal applies
	numbered  texts
}

// texts are refusals with a number and a text of their own; the thousands of a number are its area.
type texts map[int]string

// codes are the lines of the table of codes.
type codes []codeInfo

// add adds a line, as the declaration of a code does.
func (all *codes) add(c Code, name string, retryable bool, rpc int, numbered texts) Code {
	*all = append(*all, codeInfo{c, name, retryable, rpc, numbered})
	return c
}

// codeTable is complete when the package is initialized, and stays as it is.
var codeTable codes

// badToken are the numbers of both errors with tokens: no token is as wrong as an invalid one.
var badToken = texts{
	3001: "Invalid auth token", 4001: "Invalid auth token", 5001: "Invalid auth token", 6001: "Invalid auth token",
}

// The error codes. Where the sources give one number to two errors, the
// comment says which error lost its number.
var (
	CodeTimeout               = codeTable.add("E001", "TIMEOUT_ERROR", true, 1, nil)
	CodeInvalidMove           = codeTable.add("E002", "INVALID_MOVE", true, 2, nil)
	CodeMissingField          = codeTable.add("E003", "MISSING_REQUIRED_FIELD", false, rpcInvalidParams, nil) // also called E002
	CodeInvalidParityChoice   = codeTable.add("E004", "INVALID_PARITY_CHOICE", false, 4004, texts{4004: "Invalid choice"})
	CodePlayerNotRegistered   = codeTable.add("E005", "PLAYER_NOT_REGISTERED", false, 5, texts{3002: "Player not registered", 4002: "Player not found"})
	CodeInvalidFieldType      = codeTable.add("E006", "INVALID_FIELD_TYPE", false, rpcInvalidParams, nil)          // also called E003
	CodeInvalidState          = codeTable.add("E007", "INVALID_STATE", false, 7, texts{4005: "Match state error"}) // also called E004
	CodePlayerDisconnect      = codeTable.add("E008", "PLAYER_DISCONNECT", true, 8, nil)                           // also called E003
	CodeConnectionError       = codeTable.add("E009", "CONNECTION_ERROR", true, 9, nil)
	CodeTokenMissing          = codeTable.add("E011", "AUTH_TOKEN_MISSING", false, 11, badToken) // also called E013
	CodeTokenInvalid          = codeTable.add("E012", "AUTH_TOKEN_INVALID", false, 12, badToken)
	CodeVersionMismatch       = codeTable.add("E018", "PROTOCOL_VERSION_MISMATCH", false, rpcInvalidParams, nil) // also called E001
	CodeLeagueFull            = codeTable.add("E020", "LEAGUE_FULL", false, 20, texts{1001: "League full", 2001: "League full"})
	CodeInvalidTimestamp      = codeTable.add("E021", "INVALID_TIMESTAMP", false, rpcInvalidParams, nil)
	CodeDuplicateName         = codeTable.add("E022", "DUPLICATE_NAME", false, 2002, texts{2002: "Duplicate name"}) // also called E021
	CodeLeagueNotStarted      = codeTable.add("E030", "LEAGUE_NOT_STARTED", false, 30, nil)
	CodeLeagueAlreadyComplete = codeTable.add("E031", "LEAGUE_ALREADY_COMPLETE", false, 31, nil)
	CodeMatchNotFound         = codeTable.add("E040", "MATCH_NOT_FOUND", false, 40, texts{4003: "Match not found", 5002: "Match not found"})
	CodeDuplicateReport       = codeTable.add("E041", "DUPLICATE_REPORT", false, 5003, texts{5003: "Duplicate report"})
	CodeInvalidQueryType      = codeTable.add("E042", "INVALID_QUERY_TYPE", false, 6002, texts{6002: "Invalid query type"})
	CodeLeagueNotFound        = codeTable.add("E043", "LEAGUE_NOT_FOUND", false, 43, texts{6003: "League not found"})
	CodeInvalidEndpoint       = codeTable.add("E044", "INVALID_ENDPOINT", false, 44, texts{1002: "Invalid endpoint", 2003: "Invalid endpoint"})
	CodeUnsupportedGameType   = codeTable.add("E045", "UNSUPPORTED_GAME_TYPE", false, 45, texts{1003: "Unsupported game type", 2004: "Unsupported game type"})
	CodeContextMismatch       = codeTable.add("E046", "CONTEXT_MISMATCH", false, rpcInvalidParams, nil)
	CodeUnknownMessageType    = codeTable.add("E047", "UNKNOWN_MESSAGE_TYPE", false, RPCMethodNotFound, nil)
	CodeRateLimited           = codeTable.add("E048", "RATE_LIMITED", true, 48, nil)
	CodeInternalError         = codeTable.add("E049", "INTERNAL_ERROR", false, rpcInternalError, nil)
)

// rpcTexts are the message texts of JSON-RPC's own codes.
var rpcTexts = texts{
	RPCParseError:     "Parse error",
	RPCInvalidRequest: "Invalid Request",
	RPCMethodNotFound: "Method not found",
	rpcInvalidParams:  "Invalid params",
	rpcInternalError:  "Internal error",
}

// rowOf returns the last row of which something is true; without one, a row without code and name.
func rowOf(is func(codeInfo) bool) codeInfo {
	for _, row := range slices.Backward(codeTable) {
		if is(row) {
			return row
		}
	}
	return codeInfo{rpc: rpcInternalError}
}

func (c Code) info() codeInfo { return rowOf(func(row codeInfo) bool { return row.code == c }) }

// Name returns the name of the code, such as TIMEOUT_ERROR for E001, and "" for an unknown code.
func (c Code) Name() string { return c.info().name }

// Retryable reports whether a retry of the refused message may succeed.
func (c Code) Retryable() bool { return c.info().retryable }

// rpcCode returns the JSON-RPC code and message text of the code for a message of
// type t. The text of an unnumbered league error is its name.
func (c Code) rpcCode(t Type) (int, string) {
	row := c.info()
	for n, text := range row.numbered {
		if e := messages.byType[t]; e != nil && area(n/1000) == e.area {
			return n, text
		}
	}
	return row.rpc, cmp.Or(rpcTexts[row.rpc], row.numbered[row.rpc], row.name)
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
		row := rowOf(func(row codeInfo) bool { return row.name == name && name != "" })
		if c := cmp.Or(wildNames[name], row.code); c != "" {
			return c
		}
	}
	found := codeOfNumbers(code, rpc)
	for _, name := range names {
		byNumber := rpc > 0 && code.info().code == "" && name != ""
		if found != "" && (byNumber || isName(name)) && name != string(code) && !related(name, found.known()) {
			found = "" // a number of its own
		}
	}
	switch {
	case found != "" && rpc > 0 && slices.ContainsFunc(names, func(name string) bool { return Says(UnknownName, name) }):
		return CodeUnknownMessageType
	case found == "" && (rpc == RPCMethodNotFound || rpc == rpcInternalError):
		return rowOf(func(row codeInfo) bool { return row.rpc == rpc }).code
	}
	return found
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
	return rowOf(func(row codeInfo) bool { return row.numbered[rpc] != "" || row.rpc == rpc && rpc > 0 }).code
}

// known is what the protocol calls an error: its name, and the texts of its numbers.
func (c Code) known() string {
	row := c.info()
	return row.name + " " + strings.Join(slices.Collect(maps.Values(row.numbered)), " ")
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
