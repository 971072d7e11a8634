package protocol

import (
	"errors"
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
		{"match_id", `"../../etc/passwd"`, CodeInvalidFieldType, ok, CodeInvalidFieldType, ok},
		{"league_id", `"a/b"`, CodeInvalidFieldType, ok, CodeInvalidFieldType, ok},
		{"league_id", `"a\u0007b"`, CodeInvalidFieldType, CodeInvalidFieldType, CodeInvalidFieldType, CodeInvalidFieldType},
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
			_, err := decodeText(typ, body.Encode(), when.mode, when.request)
			if codeOf(err) != when.want {
				t.Errorf("%s with %s %s, %v: %v, want %q", when.sample, tt.field, tt.value, when.mode, err, when.want)
			}
		}
	}
}

// TestManyViolations: a hostile message does not make for a larger answer, and
// the code is still that of the first row.
func TestManyViolations(t *testing.T) {
	t.Parallel()
	body := withType(TypeLeagueStandingsUpdate, `{"timestamp":"x","standings":[`+strings.Repeat(`{"rank":"x","player_id":"P01","points":0},`, 5000)+`{"rank":1,"player_id":"P01"}]}`)
	_, err := decodeText(TypeLeagueStandingsUpdate, []byte(body), Tolerant, true)
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
		if _, err := decodeText(TypeChooseParityResponse, body.Encode(), Strict, false); codeOf(err) != step.want {
			t.Errorf("with %s: %v, want %s", step.field, err, step.want)
		}
	}
	if _, err := decodeText(TypeChooseParityResponse, body.Without("match_id").Encode(), Strict, false); codeOf(err) != CodeMissingField {
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
				_, err := decodeText(TypeChooseParityResponse, body, mode, false)
				if e := refusal(t, err); e.Code != CodeInvalidParityChoice || e.Form().RPC != 4004 {
					t.Errorf("%v: %s %s: %v", mode, name, bad, err)
				}
			}
		}
	}
	body := sampleBody(t, "choose_parity_response").Without("parity_choice")
	if _, err := decodeText(TypeChooseParityResponse, body.Encode(), Tolerant, false); codeOf(err) != CodeMissingField {
		t.Errorf("no choice at all: %v", err)
	}
	m, err := decodeText(TypeChooseParityResponse, body.Set("choice", rawjson.Quote("odd")).Encode(), Tolerant, false)
	if err != nil || m.(*ChooseParityResponse).Choice != Odd {
		t.Errorf("the other name: %v, %v", m, err)
	}
	if _, err := decodeText(TypeChooseParityResponse, body.Encode(), Strict, false); codeOf(err) != CodeMissingField {
		t.Errorf("the other name in strict mode: %v", err)
	}
}
