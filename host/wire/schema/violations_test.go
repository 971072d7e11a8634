package schema

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/protocol"
)

func TestViolations(t *testing.T) {
	t.Parallel()
	v := func(pairs ...string) (want []protocol.Violation) {
		for i := 0; i < len(pairs); i += 2 {
			want = append(want, protocol.Violation{Path: pairs[i], Rule: pairs[i+1]})
		}
		return want
	}
	choice := `{"anyOf":[{"required":["a"]},{"required":["b"]}]}`
	for _, tt := range []struct {
		schema, input string
		want          []protocol.Violation
	}{
		{object, `{"n":1}`, nil},
		{object, `{"n":1.0}`, nil},
		{object, `{"n":10e-1}`, nil},
		{object, `{"n":1e2,"at":"2026-01-01T00:00:00Z"}`, nil},
		{object, `{}`, v("/n", "required")},
		{object, `[]`, v("", "type")},
		{object, `{"n":1.5}`, v("/n", "type")},
		{object, `{"n":0}`, v("/n", "minimum")},
		{object, `{"n":-1e999999999}`, v("/n", "minimum")},
		{object, `{"n":1e999999999}`, nil},
		{object, `{"n":"secret","at":"2026-01-01T00:00:00+02:00","x/y~":1}`, v("/at", "pattern", "/n", "type", "/x~1y~0", "additionalProperties")},
		{object, `{"n":1,"at":"yesterday Z"}`, v("/at", "format")},
		{object, `{"n":1,"n":1}`, v("", "json")},
		{object, `{"n":1} 2`, v("", "json")},
		{object, ``, v("", "json")},
		{`true`, "[" + strings.Repeat("1,", MaxValues-2) + "1]", nil},
		{`true`, "[" + strings.Repeat("1,", MaxValues-1) + "1]", v("", "size")},
		{`true`, strings.Repeat("[", 200) + strings.Repeat("]", 200), v("", "depth")},
		{`{"properties":{"a":{"items":{"type":"string"}}}}`, `{"a":["x",1,"y",null]}`, v("/a/1", "type", "/a/3", "type")},
		{choice, `{"c":1}`, v("/a", "required")},
		{`{"anyOf":[{"type":"string"},{"type":"integer"}]}`, `null`, v("", "anyOf")},
		{`{"not":{"required":["a"]}}`, `{"a":1}`, v("", "not")},
		{`{"if":{"required":["a"]},"then":{"required":["b"]}}`, `{"a":1}`, v("/b", "required")},
		{`{"if":{"required":["a"]},"else":{"const":{"b":[1.0]}}}`, `{"b":[1]}`, nil},
		{`{"propertyNames":{"maxLength":2},"allOf":[{"minLength":1}]}`, `{"äöü":1}`, v("/äöü", "propertyNames")},
		{`{"$ref":"#/$defs/n","$defs":{"n":{"enum":["a",null,1]}}}`, `1.0`, nil},
		{`{"minItems":2,"items":{"type":["null","boolean"]}}`, `[1]`, v("", "minItems", "/0", "type")},
		{`{"format":"date-time"}`, `"1998-12-31t23:59:60z"`, nil},
		{`{"properties":{"a":false}}`, `{"a":1}`, v("/a", "false")},
		{`{"additionalProperties":{"additionalProperties":false}}`, `{"short":{"` + strings.Repeat("x", 300) + `":1}}`, v("/short", "additionalProperties")},
		{`{"$ref":"league_query.json","required":["query_params"]}`, `{}`, v(
			"/conversation_id", "required", "/league_id", "required", "/message_type", "required", "/protocol", "required",
			"/query_params", "required", "/query_type", "required", "/sender", "required", "/timestamp", "required")},
	} {
		if got := load(t, tt.schema).CheckInput([]byte(tt.input), ""); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%.200s by %s:\n got %v\nwant %v", tt.input, tt.schema, got, tt.want)
		}
	}
}

// TestViolationsAreStable: the same document has the same violations each
// time, in the same order, however the validator walks over it.
func TestViolationsAreStable(t *testing.T) {
	t.Parallel()
	io := load(t, `{"additionalProperties":{"propertyNames":{"maxLength":2},"additionalProperties":{"type":"string"}}}`)
	var doc strings.Builder
	for i := range 40 {
		fmt.Fprintf(&doc, `,"k%02d":{"long%d":"","b":%d}`, i, i, i)
	}
	input := []byte("{" + doc.String()[1:] + "}")
	first := io.CheckInput(input, "")
	if len(first) != 32 || first[0] != (protocol.Violation{Path: "/k00/b", Rule: "type"}) || first[1] != (protocol.Violation{Path: "/k00/long0", Rule: "propertyNames"}) {
		t.Fatalf("%d violations: %v", len(first), first)
	}
	for range 50 {
		if again := io.CheckInput(input, ""); !reflect.DeepEqual(again, first) {
			t.Fatalf("another time: %v\nfirst: %v", again, first)
		}
	}
}
