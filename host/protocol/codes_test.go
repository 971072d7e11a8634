package protocol

import (
	"strings"
	"testing"
)

// TestRefusalOnTheWire: JSON-RPC code, text and HTTP status of refusals, the codes of which
// TestReferencePage holds to the page: those of each area, of no area, and of JSON-RPC itself.
func TestRefusalOnTheWire(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		refusal *Error
		want    Form
	}{
		{Refuse(CodeUnsupportedGameType, TypeRefereeRegisterRequest, ""), Form{200, 1003, "Unsupported game type"}},
		{Refuse(CodeDuplicateName, TypeLeagueRegisterRequest, ""), Form{200, 2002, "Duplicate name"}},
		{Refuse(CodeTokenMissing, TypeRoundCompleted, ""), Form{200, 3001, "Invalid auth token"}},
		{Refuse(CodePlayerNotRegistered, TypeRoundAnnouncement, ""), Form{200, 3002, "Player not registered"}},
		{Refuse(CodePlayerNotRegistered, TypeGameInvitation, ""), Form{200, 4002, "Player not found"}},
		{Refuse(CodeTokenInvalid, TypeGameError, ""), Form{200, 4001, "Invalid auth token"}},
		{Refuse(CodeInvalidParityChoice, TypeChooseParityResponse, ""), Form{200, 4004, "Invalid choice"}},
		{Refuse(CodeInvalidState, TypeChooseParityCall, ""), Form{200, 4005, "Match state error"}},
		{Refuse(CodeDuplicateReport, TypeMatchResultReport, ""), Form{200, 5003, "Duplicate report"}},
		{Refuse(CodeLeagueNotFound, TypeLeagueQuery, ""), Form{200, 6003, "League not found"}},
		{Refuse(CodeTokenMissing, TypeStartLeague, ""), Form{200, 11, "AUTH_TOKEN_MISSING"}},
		{Refuse(CodeTimeout, TypeLeagueQuery, ""), Form{200, 1, "TIMEOUT_ERROR"}},
		{Refuse(CodeMissingField, TypeGameOver, ""), Form{200, -32602, "Invalid params"}},
		{Refuse(CodeUnknownMessageType, "", ""), Form{200, -32601, "Method not found"}},
		{Refuse(CodeInternalError, TypeGameOver, ""), Form{200, -32603, "Internal error"}},
		{Refuse(CodeRateLimited, "", ""), Form{503, 48, "RATE_LIMITED"}},
		{&Error{RPC: RPCParseError}, Form{400, -32700, "Parse error"}},
		{&Error{RPC: RPCInvalidRequest}, Form{400, -32600, "Invalid Request"}},
	} {
		if got := tt.refusal.Form(); got != tt.want {
			t.Errorf("%v: %+v, want %+v", tt.refusal, got, tt.want)
		}
	}
}

// TestCanonical: the data of canonical errors. TestReferencePage has their forms.
func TestCanonical(t *testing.T) {
	t.Parallel()
	e := Error{Canonical: CanonicalInvalidToolInput, Violations: []Violation{{"/params/tool", "type"}, {"/params/input", "required"}, {"/params/tool", "required"}}}
	got, err := e.Data(Header{})
	want := `{"canonical":"INVALID_TOOL_INPUT","violations":[` +
		`{"path":"/params/input","rule":"required"},{"path":"/params/tool","rule":"required"},{"path":"/params/tool","rule":"type"}]}`
	if err != nil || string(got) != want {
		t.Errorf("data %s, %v\n   want %s", got, err, want)
	}
	e.Violations = nil
	if got, err := e.Data(Header{}); err != nil || !strings.HasSuffix(string(got), `"violations":[]}`) {
		t.Errorf("data without violations: %s, %v", got, err)
	}
}

// TestLeagueErrorData: the particulars stand in the context and, those that
// readers look for, at the top level too; a token is never echoed whole.
func TestLeagueErrorData(t *testing.T) {
	t.Parallel()
	token := sampleToken(heron)
	h := NewHeader("", manager, clock("09:00:00"), "c")
	m, err := Refuse(CodeDuplicateName, TypeLeagueRegisterRequest, "Heron is taken; choose another name.").
		With("display_name", "Heron").With("suggestion", "Heron 2").With("provided_token", token).
		With("player_id", heron).With("league_id", cup).With("round_id", 2).With("action", "register").Message(h)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"protocol":"league.v2","message_type":"LEAGUE_ERROR","sender":"league_manager","timestamp":"2026-03-14T09:00:00Z","conversation_id":"c",` +
		`"league_id":"autumn_cup","round_id":2,"error_code":"E022","error_name":"DUPLICATE_NAME","error_description":"DUPLICATE_NAME",` +
		`"detail":"Heron is taken; choose another name.","retryable":false,"original_message_type":"LEAGUE_REGISTER_REQUEST","player_id":"P01",` +
		`"context":{"action":"register","display_name":"Heron","league_id":"autumn_cup","player_id":"P01","provided_token":"tok-P01-***","round_id":2,"suggestion":"Heron 2"},` +
		`"display_name":"Heron","suggestion":"Heron 2"}`
	if string(raw) != want {
		t.Errorf("got  %s\nwant %s", raw, want)
	}
	if _, err := Refuse(CodeInternalError, "", "").With("previous_report_time", func() {}).Message(h); err == nil {
		t.Error("a context that JSON cannot hold is encoded")
	}
}

// TestFindCode: a peer's error is known by its name first, since two documents
// give some numbers differently, then by its code, then by the JSON-RPC code.
func TestFindCode(t *testing.T) {
	t.Parallel()
	tests := []struct {
		code Code
		rpc  int
		name string
		want Code
	}{
		{"E001", 0, "TIMEOUT_ERROR", CodeTimeout},
		{"E001", 0, "INVALID_PROTOCOL_VERSION", CodeVersionMismatch},
		{"E002", 0, "MISSING_REQUIRED_FIELD", CodeMissingField},
		{"E003", 0, "INVALID_FIELD_TYPE", CodeInvalidFieldType},
		{"E003", 0, "PLAYER_DISCONNECT", CodePlayerDisconnect},
		{"E004", 0, "INVALID_STATE", CodeInvalidState},
		{"E013", 0, "", CodeTokenMissing},
		{"E021", 0, "DUPLICATE_NAME", CodeDuplicateName},
		{"E005", 0, "Player ID not found", CodePlayerNotRegistered},
		{"", 4003, "", CodeMatchNotFound},
		{"", 6002, "", CodeInvalidQueryType},
		{"", 12, "", CodeTokenInvalid},
		{"", -1, "", ""},
		{"", -32601, "", CodeUnknownMessageType},
		{"", -32603, "", CodeInternalError},
		{"", -32602, "", ""},
		{"", 0, "", ""},
		{"E777", 777, "NO_SUCH_ERROR", ""},
		{"", 4002, "Invalid method: register_player", CodeUnknownMessageType},
		{"", 7, "params must be an array", ""},
		{"", 4002, "No such player", CodePlayerNotRegistered},
		{"E018", 0, "REGISTRATION_CLOSED", ""},
		{"E012", 4001, "BAD_TOKEN", CodeTokenInvalid},
		{"", 2001, "LEAGUE_IS_FULL", CodeLeagueFull},
	}
	for _, tt := range tests {
		if got := FindCode(tt.code, tt.rpc, tt.name); got != tt.want {
			t.Errorf("FindCode(%q, %d, %q) = %q, want %q", tt.code, tt.rpc, tt.name, got, tt.want)
		}
	}
}

func TestErrorText(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"protocol: GAME_OVER: E003 MISSING_REQUIRED_FIELD: The field /match_id is missing.": Refuse(CodeMissingField, TypeGameOver, "The field /match_id is missing."),
		"protocol: Invalid Request": &Error{RPC: RPCInvalidRequest},
	} {
		if err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}
