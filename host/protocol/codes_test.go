package protocol

import (
	"strings"
	"testing"
)

// TestRefusalOnTheWire: JSON-RPC code, text and HTTP status of each refusal.
func TestRefusalOnTheWire(t *testing.T) {
	t.Parallel()
	tests := []struct {
		code Code
		of   Type
		rpc  int
		text string
	}{
		{CodeLeagueFull, TypeRefereeRegisterRequest, 1001, "League full"},
		{CodeUnsupportedGameType, TypeRefereeRegisterRequest, 1003, "Unsupported game type"},
		{CodeLeagueFull, TypeLeagueRegisterRequest, 2001, "League full"},
		{CodeDuplicateName, TypeLeagueRegisterRequest, 2002, "Duplicate name"},
		{CodeTokenInvalid, TypeRoundAnnouncement, 3001, "Invalid auth token"},
		{CodeTokenMissing, TypeRoundCompleted, 3001, "Invalid auth token"},
		{CodePlayerNotRegistered, TypeRoundAnnouncement, 3002, "Player not registered"},
		{CodeTokenInvalid, TypeGameInvitation, 4001, "Invalid auth token"},
		{CodeTokenMissing, TypeGameError, 4001, "Invalid auth token"},
		{CodePlayerNotRegistered, TypeGameInvitation, 4002, "Player not found"},
		{CodeMatchNotFound, TypeChooseParityCall, 4003, "Match not found"},
		{CodeInvalidParityChoice, TypeChooseParityResponse, 4004, "Invalid choice"},
		{CodeInvalidState, TypeChooseParityCall, 4005, "Match state error"},
		{CodeTokenInvalid, TypeMatchResultReport, 5001, "Invalid auth token"},
		{CodeMatchNotFound, TypeMatchResultReport, 5002, "Match not found"},
		{CodeDuplicateReport, TypeMatchResultReport, 5003, "Duplicate report"},
		{CodeTokenMissing, TypeLeagueQuery, 6001, "Invalid auth token"},
		{CodeInvalidQueryType, TypeLeagueQuery, 6002, "Invalid query type"},
		{CodeLeagueNotFound, TypeLeagueQuery, 6003, "League not found"},
		// Without a number of its own a code is sent as its own number.
		{CodeTokenMissing, TypeStartLeague, 11, "AUTH_TOKEN_MISSING"},
		{CodeTimeout, TypeLeagueQuery, 1, "TIMEOUT_ERROR"},
		// What is wrong with the fields is JSON-RPC's own code.
		{CodeMissingField, TypeGameOver, -32602, "Invalid params"},
		{CodeContextMismatch, TypeGameOver, -32602, "Invalid params"},
		{CodeUnknownMessageType, "", -32601, "Method not found"},
		{CodeInternalError, TypeGameOver, -32603, "Internal error"},
	}
	for _, tt := range tests {
		want := Form{200, tt.rpc, tt.text}
		if got := Refuse(tt.code, tt.of, "").Form(); got != want {
			t.Errorf("%s of %q: %+v, want %+v", tt.code, tt.of, got, want)
		}
	}
}

// TestFormOfRefusals: a busy server and what is no request have an HTTP status of their own.
func TestFormOfRefusals(t *testing.T) {
	t.Parallel()
	for want, e := range map[Form]*Error{
		{503, 48, "RATE_LIMITED"}:        Refuse(CodeRateLimited, "", "Too much."),
		{400, -32700, "Parse error"}:     {RPC: RPCParseError, Detail: "x"},
		{400, -32600, "Invalid Request"}: {RPC: RPCInvalidRequest, Detail: "x"},
	} {
		if got := e.Form(); got != want {
			t.Errorf("%v: %+v, want %+v", e, got, want)
		}
	}
}

// TestCanonical: the data of canonical errors. TestReferencePage has their forms.
func TestCanonical(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"", "invalid_envelope", "NO_SUCH_CODE"} {
		if c, err := Canonical(code); err == nil {
			t.Errorf("Canonical(%q) = %+v, want an error", code, c)
		}
	}
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
