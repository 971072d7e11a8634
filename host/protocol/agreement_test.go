package protocol

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/strategylab/strategylab/host/rawjson"
)

// compile returns the validator of a schema.
func compile(t testing.TB, schema []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	const name = "schema.json"
	if err := c.AddResource(name, doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// conforms reports whether a JSON text keeps a schema.
func conforms(t testing.TB, s *jsonschema.Schema, raw []byte) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return s.Validate(doc)
}

// replacements are values that stand in for every value of a message in turn.
// They are chosen at the edges of the field rules.
var replacements = []string{
	`"GAME_OVER"`, `"ROUND_ANNOUNCEMENT_ACK"`, `"SOME_TYPE"`,
	`null`, `true`, `false`, `[]`, `{}`, `[null]`, `[""]`, `["x"]`, `[1]`, `[{}]`, `{"a":1}`, `{"P01":"even"}`, `{"P01":null}`, `{"../x":"even"}`,
	`""`, `"x"`, `" "`, `"even"`, `"odd"`, `"Even"`, `"\u0065ven"`, `"DRAW"`, `"WIN"`, `"TECHNICAL_LOSS"`, `"ACCEPTED"`, `"REJECTED"`, `"recorded"`, `"ACKNOWLEDGED"`,
	`"player_a"`, `"PLAYER_B"`, `"running"`, `"GET_STATUS"`, `"GET_STANDINGS"`, `"GET_NEXT_MATCH"`, `"league.v1"`, `"league.v2"`,
	`"P01"`, `"../P01"`, `"-P01"`, `"P 01"`, `"P01\n"`, `"` + strings.Repeat("a", 64) + `"`, `"` + strings.Repeat("a", 65) + `"`,
	`"league_manager"`, `"league_manager:LM01"`, `"launcher"`, `"referee:REF01"`, `"referee:"`, `"player:P01"`, `"player:a name"`, `"player:a\u0007"`,
	`"player:` + strings.Repeat("é", 128) + `"`, `"player:` + strings.Repeat("é", 129) + `"`, `"players:P01"`,
	`"2025-01-15T10:30:00Z"`, `"2025-01-15T10:30:00.123456789123Z"`, `"2025-01-15T10:30:00.Z"`, `"2025-01-15T10:30:00+00:00"`, `"2025-01-15T10:30:00-00:00"`,
	`"2025-01-15T10:30:00+02:00"`, `"2025-01-15T10:30:00"`, `"2025-01-15t10:30:00z"`, `"2025-02-29T10:30:00Z"`, `"2024-02-29T10:30:00Z"`, `"1900-02-29T10:30:00Z"`,
	`"2025-04-31T10:30:00Z"`, `"2025-13-01T10:30:00Z"`, `"2025-00-10T10:30:00Z"`, `"2025-01-15T24:00:00Z"`, `"2025-01-15T10:60:00Z"`, `"2016-12-31T23:59:60Z"`, `"25-01-15T10:30:00Z"`,
	`0`, `1`, `-1`, `1.0`, `10`, `11`, `1e0`, `10e-1`, `1.5`, `0.0`, `-0`, `1e2`, `12345e-2`, `9007199254740991`, `9007199254740992`, `-9007199254740991`, `-9007199254740992`, `9007199254740991.0`, `9007199254740991.5`, `1e300`,
}

// fullHeaders are the messages whose header fields are replaced by everything:
// one for each kind of sender and direction.
var fullHeaders = []Type{"LEAGUE_REGISTER_RESPONSE", TypeRoundCompleted, TypeGameError, TypeGameJoinAck, TypeLeagueQuery}

// alike are samples that differ from others only in values that are replaced anyway.
var alike = []string{
	"round_completed_last", "game_over_draw", "game_join_ack_posted", "match_result_report_draw",
	"match_result_report_both_at_fault", "league_query_schedule", "league_query_response_no_next_match",
}

// fewReplacements stand in for the values of header fields in most messages:
// the rules of these are common to all.
var fewReplacements = []string{`null`, `""`, `1`, `"x"`, `"../x"`, `"league_manager"`, `"GAME_OVER"`}

// mutate calls f with every message that differs from doc in one place: a
// value replaced, a member removed, or one added. The path says where.
func mutate(t testing.TB, raw jsontext.Value, replacements []string, f func(path string, mutated jsontext.Value)) {
	t.Helper()
	for _, r := range replacements {
		f("="+r, jsontext.Value(r))
	}
	switch raw.Kind() {
	case '{':
		doc, err := rawjson.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		f("+unknown", append(doc.Without(), rawjson.Member{Name: "unknown", Value: jsontext.Value(`[null]`)}).Encode())
		for _, m := range doc {
			f("-"+m.Name, doc.Without(m.Name).Encode())
			values := replacements
			if slices.Contains(headerNames, m.Name) && doc.Text("message_type") != "" && !slices.Contains(fullHeaders, Type(doc.Text("message_type"))) {
				values = fewReplacements
			}
			mutate(t, m.Value, values, func(path string, mutated jsontext.Value) {
				f("/"+m.Name+path, doc.Without().Set(m.Name, mutated).Encode())
			})
		}
	case '[':
		elements := rawjson.Elements(raw)
		// The elements of a list have one table; the first stands for all.
		if len(elements) > 0 {
			mutate(t, elements[0], replacements, func(path string, mutated jsontext.Value) {
				f("/0"+path, jsontext.Value("["+string(mutated)+"]"))
			})
		}
	}
}

// TestSchemasAndRulesAgree holds the validator that runs in a league to the
// JSON Schemas that are published: of every message of the samples, and of
// every message that differs from one in one place, both say the same.
func TestSchemasAndRulesAgree(t *testing.T) {
	t.Parallel()
	cases := 0
	for _, mode := range []Mode{Strict, Tolerant} {
		for _, asRequest := range []bool{false, true} {
			for _, s := range samples(t) {
				e := messages.byType[s.message.Head().MessageType]
				if asRequest && e.Method == "" || !asRequest && !e.Answers {
					continue // it never travels that way
				}
				if slices.Contains(alike, s.name) {
					continue
				}
				if cases++; cases%8 != 0 && os.Getenv("WHOLE_TESTS") == "" {
					continue // an eighth is a sample
				}
				t.Run(fmt.Sprintf("%v/request=%v/%s", mode, asRequest, s.name), func(t *testing.T) {
					t.Parallel()
					agree(t, e, s.message, schemaWriter{mode, asRequest})
				})
			}
		}
	}
}

func agree(t *testing.T, e *entry, m Message, w schemaWriter) {
	raw, err := Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	schema := compile(t, w.message(e))
	if _, err := decodeText(e.Type, raw, w.mode, w.request); err != nil {
		t.Fatalf("the sample itself is refused: %v", err)
	}
	accepted, refused := 0, 0
	mutate(t, raw, replacements, func(path string, mutated jsontext.Value) {
		bySchema := conforms(t, schema, mutated)
		_, byRules := decodeText(e.Type, mutated, w.mode, w.request)
		if (bySchema == nil) != (byRules == nil) {
			t.Errorf("%s:\n rules: %v\n schema: %v", path, byRules, bySchema)
		}
		if byRules == nil {
			accepted++
		} else {
			refused++
		}
	})
	if accepted == 0 || refused == 0 {
		t.Errorf("%d mutations accepted, %d refused: the comparison says nothing", accepted, refused)
	}
}
