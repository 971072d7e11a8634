package protocol

// A Code is a league error code, E001 and so on.
type Code string

// The error codes. Where the sources give one number to two errors, the
// comment says which error lost its number.
const (
	Timeout               Code = "E001"
	InvalidMove           Code = "E002"
	MissingField          Code = "E003" // also called E002
	InvalidParityChoice   Code = "E004"
	PlayerNotRegistered   Code = "E005"
	InvalidFieldType      Code = "E006" // also called E003
	InvalidState          Code = "E007" // also called E004
	PlayerDisconnect      Code = "E008" // also called E003
	ConnectionError       Code = "E009"
	TokenMissing          Code = "E011" // also called E013
	TokenInvalid          Code = "E012"
	VersionMismatch       Code = "E018" // also called E001
	LeagueFull            Code = "E020"
	InvalidTimestamp      Code = "E021"
	DuplicateName         Code = "E022" // also called E021
	LeagueNotStarted      Code = "E030"
	LeagueAlreadyComplete Code = "E031"
	MatchNotFound         Code = "E040"
	DuplicateReport       Code = "E041"
	InvalidQueryType      Code = "E042"
	LeagueNotFound        Code = "E043"
	InvalidEndpoint       Code = "E044"
	UnsupportedGameType   Code = "E045"
	ContextMismatch       Code = "E046"
	UnknownMessageType    Code = "E047"
	RateLimited           Code = "E048"
	InternalError         Code = "E049"
)

// The JSON-RPC error codes that the protocol shares with JSON-RPC itself.
const (
	RPCParseError     = -32700
	RPCInvalidRequest = -32600
	RPCMethodNotFound = -32601
	RPCInvalidParams  = -32602
	RPCInternalError  = -32603

	// RPCTimeout is read from agents that tell their counterpart of its
	// timeout in this way; the side that waited never sends it.
	RPCTimeout = -1
)

// codeInfo is a row of the error table.
type codeInfo struct {
	code      Code
	name      string
	retryable bool
	rpc       int // the JSON-RPC code where no numbered refusal applies
}

var codeTable = []codeInfo{
	{Timeout, "TIMEOUT_ERROR", true, 1},
	{InvalidMove, "INVALID_MOVE", true, 2},
	{MissingField, "MISSING_REQUIRED_FIELD", false, RPCInvalidParams},
	{InvalidParityChoice, "INVALID_PARITY_CHOICE", false, 4004},
	{PlayerNotRegistered, "PLAYER_NOT_REGISTERED", false, 5},
	{InvalidFieldType, "INVALID_FIELD_TYPE", false, RPCInvalidParams},
	{InvalidState, "INVALID_STATE", false, 7},
	{PlayerDisconnect, "PLAYER_DISCONNECT", true, 8},
	{ConnectionError, "CONNECTION_ERROR", true, 9},
	{TokenMissing, "AUTH_TOKEN_MISSING", false, 11},
	{TokenInvalid, "AUTH_TOKEN_INVALID", false, 12},
	{VersionMismatch, "PROTOCOL_VERSION_MISMATCH", false, RPCInvalidParams},
	{LeagueFull, "LEAGUE_FULL", false, 20},
	{InvalidTimestamp, "INVALID_TIMESTAMP", false, RPCInvalidParams},
	{DuplicateName, "DUPLICATE_NAME", false, 2002},
	{LeagueNotStarted, "LEAGUE_NOT_STARTED", false, 30},
	{LeagueAlreadyComplete, "LEAGUE_ALREADY_COMPLETE", false, 31},
	{MatchNotFound, "MATCH_NOT_FOUND", false, 40},
	{DuplicateReport, "DUPLICATE_REPORT", false, 5003},
	{InvalidQueryType, "INVALID_QUERY_TYPE", false, 6002},
	{LeagueNotFound, "LEAGUE_NOT_FOUND", false, 43},
	{InvalidEndpoint, "INVALID_ENDPOINT", false, 44},
	{UnsupportedGameType, "UNSUPPORTED_GAME_TYPE", false, 45},
	{ContextMismatch, "CONTEXT_MISMATCH", false, RPCInvalidParams},
	{UnknownMessageType, "UNKNOWN_MESSAGE_TYPE", false, RPCMethodNotFound},
	{RateLimited, "RATE_LIMITED", true, 48},
	{InternalError, "INTERNAL_ERROR", false, RPCInternalError},
}

// numbered is a refusal to which the protocol gives a number and a text of its
// own, by what is done and what is wrong with it.
type numbered struct {
	rpc  int
	text string
	area area
	code Code
}

var numberedTable = []numbered{
	{1001, "League full", areaRefereeSignup, LeagueFull},
	{1002, "Invalid endpoint", areaRefereeSignup, InvalidEndpoint},
	{1003, "Unsupported game type", areaRefereeSignup, UnsupportedGameType},
	{2001, "League full", areaPlayerSignup, LeagueFull},
	{2002, "Duplicate name", areaPlayerSignup, DuplicateName},
	{2003, "Invalid endpoint", areaPlayerSignup, InvalidEndpoint},
	{2004, "Unsupported game type", areaPlayerSignup, UnsupportedGameType},
	{3001, "Invalid auth token", areaAnnouncement, TokenInvalid},
	{3001, "Invalid auth token", areaAnnouncement, TokenMissing},
	{3002, "Player not registered", areaAnnouncement, PlayerNotRegistered},
	{4001, "Invalid auth token", areaMatch, TokenInvalid},
	{4001, "Invalid auth token", areaMatch, TokenMissing},
	{4002, "Player not found", areaMatch, PlayerNotRegistered},
	{4003, "Match not found", areaMatch, MatchNotFound},
	{4004, "Invalid choice", areaMatch, InvalidParityChoice},
	{4005, "Match state error", areaMatch, InvalidState},
	{5001, "Invalid auth token", areaReport, TokenInvalid},
	{5001, "Invalid auth token", areaReport, TokenMissing},
	{5002, "Match not found", areaReport, MatchNotFound},
	{5003, "Duplicate report", areaReport, DuplicateReport},
	{6001, "Invalid auth token", areaQuery, TokenInvalid},
	{6001, "Invalid auth token", areaQuery, TokenMissing},
	{6002, "Invalid query type", areaQuery, InvalidQueryType},
	{6003, "League not found", areaQuery, LeagueNotFound},
}

// rpcTexts are the message texts of JSON-RPC's own codes.
var rpcTexts = map[int]string{
	RPCParseError:     "Parse error",
	RPCInvalidRequest: "Invalid Request",
	RPCMethodNotFound: "Method not found",
	RPCInvalidParams:  "Invalid params",
	RPCInternalError:  "Internal error",
}

func (c Code) info() (codeInfo, bool) {
	for _, row := range codeTable {
		if row.code == c {
			return row, true
		}
	}
	return codeInfo{}, false
}

// Name returns the name of the code, TIMEOUT_ERROR for E001, and "" for a
// code that the protocol does not have.
func (c Code) Name() string {
	row, _ := c.info()
	return row.name
}

// Retryable reports whether a message refused with the code may succeed when
// it is sent again.
func (c Code) Retryable() bool {
	row, _ := c.info()
	return row.retryable
}

// Codes returns all codes in order.
func Codes() []Code {
	codes := make([]Code, len(codeTable))
	for i, row := range codeTable {
		codes[i] = row.code
	}
	return codes
}

// rpcCode returns the JSON-RPC code and message text with which the code is
// sent in refusal of a message of type t. The text of an unnumbered league
// error is its name.
func (c Code) rpcCode(t Type) (int, string) {
	if e, ok := byType[t]; ok {
		for _, n := range numberedTable {
			if n.area == e.area && n.code == c {
				return n.rpc, n.text
			}
		}
	}
	row, ok := c.info()
	if !ok {
		return RPCInternalError, rpcTexts[RPCInternalError]
	}
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

// wildNames are names under which the sources list an error by a number that
// means something else here.
var wildNames = map[string]Code{
	"INVALID_PROTOCOL_VERSION": VersionMismatch,
}

// codeOf finds out which error a peer means. The name decides where it is
// known, because the sources give some numbers twice; then the code; then the
// JSON-RPC code. It returns "" for an error that the protocol does not have.
func codeOf(code Code, rpc int, names ...string) Code {
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
	if code == "E013" { // AUTH_TOKEN_MISSING in one of the sources
		return TokenMissing
	}
	if _, ok := code.info(); ok {
		return code
	}
	if rpc == RPCTimeout {
		return Timeout
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
	switch rpc {
	case RPCMethodNotFound:
		return UnknownMessageType
	case RPCInternalError:
		return InternalError
	}
	return ""
}
