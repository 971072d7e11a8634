package protocol

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/rawjson"
)

// message returns an encoded sample, as a document that can be changed.
func sampleBody(t testing.TB, name string) rawjson.Object {
	t.Helper()
	for _, s := range samples(t) {
		if s.name == name {
			raw, err := Encode(s.message)
			if err != nil {
				t.Fatal(err)
			}
			return parsed(t, raw)
		}
	}
	t.Fatalf("no sample %s", name)
	return nil
}

// refusal returns the error as an [*Error] and fails the test if it is none.
func refusal(t testing.TB, err error) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a refusal", err)
	}
	return e
}

func TestDispatch(t *testing.T) {
	t.Parallel()
	invitation := sampleBody(t, "game_invitation")
	untyped := invitation.Without("message_type")
	typed := func(name string) rawjson.Object { return invitation.Without().Set("message_type", rawjson.Quote(name)) }
	tests := []struct {
		name, method string
		body         rawjson.Object
		want         Type
		rpc          int
	}{
		{"by the book", "handle_game_invitation", invitation, TypeGameInvitation, 0},
		{"the type as method", "GAME_INVITATION", invitation, TypeGameInvitation, 0},
		{"the type in lower case", "game_invitation", invitation, TypeGameInvitation, 0},
		{"an unknown method", "receive_game_invitation", invitation, TypeGameInvitation, 0},
		{"no method to speak of", "unknown", invitation, TypeGameInvitation, 0},
		{"an alias", "choose_parity", sampleBody(t, "choose_parity_call"), TypeChooseParityCall, 0},
		{"an asynchronous join", "game_join_ack", sampleBody(t, "game_join_ack"), TypeGameJoinAck, 0},
		{"a method that contradicts", "notify_round", invitation, "", RPCInvalidRequest},
		{"an alias that contradicts", "choose_parity", invitation, "", RPCInvalidRequest},
		{"a type that contradicts", "GAME_OVER", invitation, "", RPCInvalidRequest},
		{"a known method, an unknown type", "notify_round", typed("NO_SUCH_TYPE"), "", RPCInvalidRequest},
		{"neither known", "no_such_method", typed("NO_SUCH_TYPE"), "", RPCMethodNotFound},
		{"no type, unknown method", "no_such_method", untyped, "", RPCMethodNotFound},
		{"keys match exactly", "no_such_method", append(untyped.Without(), rawjson.Member{Name: "Message_Type", Value: rawjson.Quote("GAME_INVITATION")}), "", RPCMethodNotFound},
		{"an answer as a request", "game_over_ack", sampleBody(t, "game_over_ack"), TypeGameOverAck, RPCMethodNotFound},
	}
	for _, mode := range []Mode{Strict, Tolerant} {
		for _, tt := range tests {
			req, err := NewCodec(mode, Dialects()...).Open(tt.method, tt.body.Encode())
			if req == nil || req.Dialect != Contracts {
				t.Fatalf("%v: %s: the request is %+v", mode, tt.name, req)
			}
			if tt.rpc == 0 {
				if err != nil || req.Type != tt.want {
					t.Errorf("%v: %s: type %q, %v", mode, tt.name, req.Type, err)
				}
				continue
			}
			if e := refusal(t, err); e.RPCCode() != tt.rpc {
				t.Errorf("%v: %s: %d (%v), want %d", mode, tt.name, e.RPCCode(), e, tt.rpc)
			}
		}
	}
}

// TestInferredType: without a message type the method decides, and strict mode
// still says that the field is missing.
func TestInferredType(t *testing.T) {
	t.Parallel()
	body := sampleBody(t, "game_invitation").Without("message_type").Encode()
	req, err := NewCodec(Tolerant).Open("handle_game_invitation", body)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := req.Decode(); err != nil || m.Head().MessageType != TypeGameInvitation {
		t.Errorf("tolerant: %+v, %v", m, err)
	}
	req, err = NewCodec(Strict).Open("handle_game_invitation", body)
	if err != nil {
		t.Fatal(err)
	}
	_, err = req.Decode()
	if e := refusal(t, err); e.Code != CodeMissingField || !slices.Equal(e.Violations, []Violation{{"/message_type", "required"}}) {
		t.Errorf("strict: %v %v", e, e.Violations)
	}
}

// TestHeaderRules: which header fields each mode wants of requests and of
// answers, and how it says so.
func TestHeaderRules(t *testing.T) {
	t.Parallel()
	const ok = Code("")
	tests := []struct {
		field, value      string // "" removes the field
		strict, tolerant  Code   // of a request
		strictAns, tolAns Code   // of an answer
	}{
		{"protocol", "", CodeMissingField, ok, CodeMissingField, ok},
		{"protocol", `"league.v1"`, CodeVersionMismatch, CodeVersionMismatch, CodeVersionMismatch, CodeVersionMismatch},
		{"protocol", `2`, CodeInvalidFieldType, CodeInvalidFieldType, CodeInvalidFieldType, CodeInvalidFieldType},
		{"message_type", "", CodeMissingField, ok, CodeMissingField, ok},
		{"sender", "", CodeMissingField, ok, ok, ok},
		{"sender", `"somebody"`, CodeInvalidFieldType, CodeInvalidFieldType, CodeInvalidFieldType, CodeInvalidFieldType},
		{"sender", `"league_manager"`, CodeInvalidFieldType, ok, CodeInvalidFieldType, ok},
		{"sender", `"league_manager:LM01"`, CodeInvalidFieldType, ok, CodeInvalidFieldType, ok},
		{"timestamp", "", CodeMissingField, ok, CodeMissingField, ok},
		{"timestamp", `"2026-03-14T09:00:00.250+00:00"`, ok, ok, ok, ok},
		{"timestamp", `"2026-03-14T09:00:00+01:00"`, CodeInvalidTimestamp, CodeInvalidTimestamp, CodeInvalidTimestamp, CodeInvalidTimestamp},
		{"timestamp", `"2026-03-14T09:00:00"`, CodeInvalidTimestamp, CodeInvalidTimestamp, CodeInvalidTimestamp, CodeInvalidTimestamp},
		{"timestamp", `"1970-01-01T00:00:00Z"`, ok, ok, ok, ok}, // age is never checked
		{"conversation_id", "", CodeMissingField, ok, ok, ok},
		{"conversation_id", `7`, CodeInvalidFieldType, CodeInvalidFieldType, CodeInvalidFieldType, CodeInvalidFieldType},
		{"conversation_id", `null`, CodeInvalidFieldType, ok, CodeInvalidFieldType, ok},
		{"auth_token", "", ok, ok, ok, ok}, // authentication has its own codes
		{"game_type", "", ok, ok, ok, ok},  // emitted always, demanded never
		{"match_id", `"../../etc/passwd"`, CodeInvalidFieldType, CodeInvalidFieldType, CodeInvalidFieldType, CodeInvalidFieldType},
		{"league_id", `"a/b"`, CodeInvalidFieldType, CodeInvalidFieldType, CodeInvalidFieldType, CodeInvalidFieldType},
		{"round_id", `1.0`, ok, ok, ok, ok},
		{"round_id", `"ROUND_1"`, CodeInvalidFieldType, ok, CodeInvalidFieldType, ok},
		{"something_else", `{"any": ["thing"]}`, ok, ok, ok, ok},
	}
	for _, tt := range tests {
		for _, when := range []struct {
			sample  string
			mode    Mode
			request bool
			want    Code
		}{
			{"game_error", Strict, true, tt.strict}, {"game_error", Tolerant, true, tt.tolerant},
			{"game_join_ack", Strict, false, tt.strictAns}, {"game_join_ack", Tolerant, false, tt.tolAns},
		} {
			body := sampleBody(t, when.sample)
			typ := Type(body.Text("message_type"))
			if tt.value == "" {
				body = body.Without(tt.field)
			} else {
				body = body.Set(tt.field, jsontext.Value(tt.value))
			}
			_, err := Decode(typ, body.Encode(), when.mode, when.request)
			if CodeOf(err) != when.want {
				t.Errorf("%s with %s %s, %v: %v, want %q", when.sample, tt.field, tt.value, when.mode, err, when.want)
			}
		}
	}
}

// TestBadJSON: what is no JSON as this protocol takes it, wherever it stands.
func TestBadJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"a":1`, `{"a":1}}`, `{"a":1} x`, `{"a":1,"a":2}`, `{"a":{"b":1,"b":1}}`, `{"a":[{"b":1,"\u0062":2}]}`,
		`{'a':1}`, `{"a":01}`, `{"a":NaN}`, "{\"a\":\"\x01\"}", "{\"a\":\"\xff\"}", `{"a":"\ud800"}`, `{"a":1,}`, "\ufeff{}",
	} {
		_, err := NewCodec(Tolerant).Open("notify_round", []byte(text))
		if e := refusal(t, err); e.RPCCode() != RPCParseError || e.HTTPStatus() != 400 {
			t.Errorf("%q is refused with %v", text, e)
		}
		_, err = NewCodec(Tolerant).OpenBare([]byte(text))
		if e := refusal(t, err); e.RPCCode() != RPCParseError {
			t.Errorf("%q without JSON-RPC is refused with %v", text, e)
		}
		if _, err := ParseAnswer(200, []byte(text)); err == nil {
			t.Errorf("%q is read as an answer", text)
		}
	}
	for _, text := range []string{`[]`, `1`, `"text"`, `true`} {
		_, err := NewCodec(Tolerant).Open("notify_round", []byte(text))
		if e := refusal(t, err); e.RPCCode() != RPCInvalidRequest {
			t.Errorf("params %s are refused with %v", text, e)
		}
	}
	deep := `{"message_type":"START_LEAGUE","x":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`
	_, err := NewCodec(Tolerant).Open("start_league", []byte(deep))
	if e := refusal(t, err); e.RPCCode() != RPCParseError {
		t.Errorf("nesting without end is refused with %v", e)
	}
}

// TestEmptyParams: a request may have no params at all where nothing is
// demanded.
func TestEmptyParams(t *testing.T) {
	t.Parallel()
	for _, params := range []string{"", "null", "{}", " {} "} {
		req, err := NewCodec(Tolerant).Open("start_league", []byte(params))
		if err != nil {
			t.Fatal(err)
		}
		if m, err := req.Decode(); err != nil || m.Head().MessageType != TypeStartLeague {
			t.Errorf("params %q: %v, %v", params, m, err)
		}
		req, err = NewCodec(Strict).Open("start_league", []byte(params))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := req.Decode(); CodeOf(err) != CodeMissingField {
			t.Errorf("strict, params %q: %v", params, err)
		}
	}
}

// TestHeaderBeforeFields: the sender can be authenticated although the rest of
// the message is wrong.
func TestHeaderBeforeFields(t *testing.T) {
	t.Parallel()
	body := `{"message_type":"MATCH_RESULT_REPORT","sender":"referee:REF01","auth_token":"t","league_id":7,"round_id":"ROUND_2","conversation_id":"c","result":[]}`
	req, err := NewCodec(Strict).Open("report_match_result", []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	h := req.Header
	if h.Sender != "referee:REF01" || h.AuthToken != "t" || h.LeagueID != "" || h.RoundID.String() != "ROUND_2" || h.ConversationID != "c" {
		t.Errorf("header %+v", h)
	}
	_, err = req.Decode()
	e := refusal(t, err)
	want := []Violation{
		{"/game_type", "required"}, {"/league_id", "type"}, {"/match_id", "required"}, {"/protocol", "required"},
		{"/result", "type"}, {"/round_id", "type"}, {"/timestamp", "required"},
	}
	if e.Code != CodeMissingField || !slices.Equal(e.Violations, want) {
		t.Errorf("%s %v", e.Code, e.Violations)
	}
	if !strings.Contains(e.Detail, "is missing") || !strings.Contains(e.Detail, "one of 7 things") {
		t.Errorf("the detail %q does not say what to do", e.Detail)
	}
}

// TestManyViolations: a hostile message does not make for a larger answer, and
// the code is still that of the first row.
func TestManyViolations(t *testing.T) {
	t.Parallel()
	body := withType(TypeLeagueStandingsUpdate, `{"timestamp":"x","standings":[`+strings.Repeat(`{"rank":"x","player_id":"P01","points":0},`, 5000)+`{"rank":1,"player_id":"P01"}]}`)
	_, err := Decode(TypeLeagueStandingsUpdate, []byte(body), Tolerant, true)
	e := refusal(t, err)
	if e.Code != CodeMissingField || len(e.Violations) != maxFindings || !strings.Contains(e.Detail, "/standings/5000/points is missing") || !strings.Contains(e.Detail, "one of 5002 things") {
		t.Errorf("%s with %d violations: %s", e.Code, len(e.Violations), e.Detail)
	}
}

// TestCodePriority: of several faults the first row of the error table wins.
func TestCodePriority(t *testing.T) {
	t.Parallel()
	body := sampleBody(t, "choose_parity_response")
	for _, step := range []struct {
		field, value string
		want         Code
	}{
		{"parity_choice", `"Even"`, CodeInvalidParityChoice},
		{"timestamp", `"yesterday"`, CodeInvalidTimestamp},
		{"protocol", `"league.v1"`, CodeVersionMismatch},
		{"player_id", `17`, CodeInvalidFieldType},
	} {
		body = body.Set(step.field, jsontext.Value(step.value))
		if _, err := Decode(TypeChooseParityResponse, body.Encode(), Strict, false); CodeOf(err) != step.want {
			t.Errorf("with %s: %v, want %s", step.field, err, step.want)
		}
	}
	if _, err := Decode(TypeChooseParityResponse, body.Without("match_id").Encode(), Strict, false); CodeOf(err) != CodeMissingField {
		t.Errorf("without match_id: %v", err)
	}
}

// TestParityIsExact: any spelling but the two is a technical loss, in both
// modes and under both names.
func TestParityIsExact(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{`"Even"`, `"EVEN"`, `" even"`, `"even "`, `"e"`, `"0"`} {
		for _, mode := range []Mode{Strict, Tolerant} {
			for _, name := range []string{"parity_choice", "choice"} {
				body := sampleBody(t, "choose_parity_response").Set(name, jsontext.Value(bad)).Encode()
				_, err := Decode(TypeChooseParityResponse, body, mode, false)
				if e := refusal(t, err); e.Code != CodeInvalidParityChoice || e.RPCCode() != 4004 {
					t.Errorf("%v: %s %s: %v", mode, name, bad, err)
				}
			}
		}
	}
	for _, bad := range []string{`1`, `true`, `["even"]`} {
		body := sampleBody(t, "choose_parity_response").Set("parity_choice", jsontext.Value(bad)).Encode()
		if _, err := Decode(TypeChooseParityResponse, body, Tolerant, false); CodeOf(err) != CodeInvalidFieldType {
			t.Errorf("%s: %v", bad, err)
		}
	}
	body := sampleBody(t, "choose_parity_response").Without("parity_choice")
	if _, err := Decode(TypeChooseParityResponse, body.Encode(), Tolerant, false); CodeOf(err) != CodeMissingField {
		t.Errorf("no choice at all: %v", err)
	}
	m, err := Decode(TypeChooseParityResponse, body.Set("choice", rawjson.Quote("odd")).Encode(), Tolerant, false)
	if err != nil || m.(*ChooseParityResponse).Chosen() != Odd {
		t.Errorf("the other name: %v, %v", m, err)
	}
	if _, err := Decode(TypeChooseParityResponse, body.Encode(), Strict, false); CodeOf(err) != CodeMissingField {
		t.Errorf("the other name in strict mode: %v", err)
	}
}
