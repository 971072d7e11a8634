package protocol

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/rawjson"
)

// sampleBody returns an encoded sample, as a document that can be changed.
func sampleBody(t testing.TB, name string) rawjson.Object {
	t.Helper()
	raw, err := Encode(named(t, name, 1)[0].message)
	if err != nil {
		t.Fatal(err)
	}
	return parsed(t, raw)
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

// TestChoices: any spelling but the two is a technical loss, in both modes and under both
// names; of several faults the first row of the error table wins.
func TestChoices(t *testing.T) {
	t.Parallel()
	const good = `"parity_choice":"odd"`
	for _, tt := range []struct {
		with             string // instead of the choice
		strict, tolerant Code
	}{
		{good, "", ""},
		{`"choice":"odd"`, CodeMissingField, ""},
		{`"x":1`, CodeMissingField, CodeMissingField},
		{`"parity_choice":"Even"`, CodeInvalidParityChoice, CodeInvalidParityChoice},
		{`"parity_choice":" even"`, CodeInvalidParityChoice, CodeInvalidParityChoice},
		{`"parity_choice":"even "`, CodeInvalidParityChoice, CodeInvalidParityChoice},
		{`"parity_choice":"0"`, CodeInvalidParityChoice, CodeInvalidParityChoice},
		{good + `,"choice":"EVEN"`, CodeInvalidParityChoice, CodeInvalidParityChoice},
		{good + `,"choice":"e"`, CodeInvalidParityChoice, CodeInvalidParityChoice},
		{`"parity_choice":"Even","timestamp":"yesterday"`, CodeInvalidTimestamp, CodeInvalidTimestamp},
		{`"parity_choice":"Even","timestamp":"yesterday","protocol":"league.v1"`, CodeVersionMismatch, CodeVersionMismatch},
		{`"parity_choice":"Even","timestamp":"yesterday","protocol":"league.v1","player_id":17`, CodeInvalidFieldType, CodeInvalidFieldType},
		{`"choice":"Even","timestamp":"yesterday","protocol":"league.v1","player_id":17`, CodeMissingField, CodeInvalidFieldType},
	} {
		body := sampleBody(t, "choose_parity_response").Without("parity_choice")
		for _, m := range parsed(t, []byte("{"+tt.with+"}")) {
			body = body.Set(m.Name, m.Value)
		}
		for mode, want := range map[Mode]Code{Strict: tt.strict, Tolerant: tt.tolerant} {
			if _, err := decodeText(TypeChooseParityResponse, body.Encode(), mode, false); codeOf(err) != want {
				t.Errorf("%v: %s: %v, want %q", mode, tt.with, err, want)
			}
		}
	}
}
