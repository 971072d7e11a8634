package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/protocol"
)

const object = `{"type":"object","properties":{"n":{"type":"integer","minimum":1},"at":{"type":"string","format":"date-time","pattern":"Z$"}},"required":["n"],"additionalProperties":false}`

func registry(t testing.TB, tools ...Tool) *Registry {
	t.Helper()
	r, err := NewRegistry(tools...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func load(t testing.TB, input string) *ToolIO {
	t.Helper()
	io, err := registry(t, Tool{Name: "t", Input: []byte(input), Output: []byte(`true`)}).LoadToolIO("t")
	if err != nil {
		t.Fatal(err)
	}
	return io
}

// TestFingerprint: it depends on what schemas say and not on how they are written.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	print := func(name, in, out string) string {
		io, err := registry(t, Tool{Name: name, Input: []byte(in), Output: []byte(out)}).LoadToolIO(name)
		if err != nil {
			t.Fatal(err)
		}
		return io.Fingerprint
	}
	one := print("t", `{"type":"object","minItems":1.0}`, `true`)
	// printf '{"input":{"minItems":1,"type":"object"},"output":true,"tool":"t"}' | sha256sum
	if one != "d472e8d2f24d397089eeb9d2db074906edd3e9ae1726eee27b807783bc7bb195" {
		t.Errorf("the fingerprint is %s", one)
	}
	if same := print("t", ` { "minItems" : 1 , "typ\u0065":"object"}`, `true`); same != one {
		t.Error("another spelling has another fingerprint")
	}
	for _, other := range []string{print("u", `{"type":"object","minItems":1}`, `true`), print("t", `{"type":"object","minItems":2}`, `true`), print("t", `{"type":"object","minItems":1}`, `{}`)} {
		if other == one {
			t.Error("another tool has the same fingerprint")
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	two := Tool{Name: "a", Aliases: []string{"b"}, Input: []byte(`true`), Output: []byte(`true`)}
	r := registry(t, two)
	for _, tt := range []struct {
		name string
		tool Tool
	}{{"taken", Tool{Name: "b"}}, {"no name", Tool{}}, {"too long", Tool{Name: strings.Repeat("x", 129)}}} {
		if _, err := NewRegistry(two, tt.tool); err == nil {
			t.Errorf("%s: a tool was added", tt.name)
		}
	}
	if _, err := r.LoadToolIO("free"); err == nil || !strings.Contains(err.Error(), "unknown tool") {
		t.Errorf("a tool that there is not: %v", err)
	}
	if tool, ok := r.Find("b"); !ok || tool.Name != "a" {
		t.Errorf("by its alias: %+v", tool)
	}
}

// TestBadSchemas: what is wrong with a schema is said when it is loaded.
func TestBadSchemas(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		`{`:                 "input schema",
		`{"a":1,"a":2}`:     "input schema",
		`{"type":"objekt"}`: "input schema",
		`{"pattern":"("}`:   "input schema",
		`[]`:                "input schema",
		`{"$schema":"http://json-schema.org/draft-07/schema#"}`:          "draft/2020-12",
		`{"$schema":"https://example.com/meta.json"}`:                    "draft/2020-12",
		`{"$ref":"https://example.com/other.json"}`:                      "$ref: this keyword is not supported",
		`{"properties":{"x":{"$dynamicRef":"https://example.com/z#a"}}}`: "$dynamicRef: this keyword is not supported",
		`{"format":"email"}`: `"email", want date-time`,
		`{"minimum":"1"}`:    `within "/minimum"`,
		`{"required":"n"}`:   `within "/required"`,
	} {
		r := registry(t, Tool{Name: "t", Input: []byte(schema), Output: []byte(`true`)})
		_, err := r.LoadToolIO("t")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `tool "t"`) {
			t.Errorf("%s: %v, want %q", schema, err, want)
		}
	}
}

// TestLeagueTools: one tool for each method of the message table, and for every name of it.
func TestLeagueTools(t *testing.T) {
	t.Parallel()
	for _, mode := range []protocol.Mode{protocol.Strict, protocol.Tolerant} {
		tools := LeagueTools(mode)
		all := registry(t, tools...)
		n := 0
		for _, mt := range protocol.Types() {
			about, _ := protocol.Describe(mt)
			if about.Method == "" || about.Answer == "" {
				continue
			}
			n++
			for _, name := range slices.Concat(about.Names, []string{string(mt), strings.ToLower(string(mt))}) {
				io, err := all.LoadToolIO(name)
				if err != nil || io.Name != about.Method {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		if len(tools) != n || n < 15 {
			t.Errorf("%d tools for %d methods", len(tools), n)
		}
	}
	if tools := LeagueTools(protocol.Strict, protocol.TypeLeagueQuery, protocol.TypeLeagueError); len(tools) != 1 || tools[0].Name != "league_query" {
		t.Errorf("the tool of one message, beside a type without an answer: %v", tools)
	}
}

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
		{`{"const":{"b":[1.0]}}`, `{"b":[1]}`, nil},
		{`{"propertyNames":{"maxLength":2},"allOf":[{"minLength":1}]}`, `{"äöü":1}`, v("/äöü", "propertyNames")},
		{`{"enum":["a",null,1]}`, `1.0`, nil},
		{`{"minItems":2,"items":{"type":["null","boolean"]}}`, `[1]`, v("", "minItems", "/0", "type")},
		{`{"format":"date-time"}`, `"1998-12-31t23:59:60z"`, nil},
		{`{"properties":{"a":false}}`, `{"a":1}`, v("/a", "false")},
		{`{"additionalProperties":{"additionalProperties":false}}`, `{"short":{"` + strings.Repeat("x", 300) + `":1}}`, v("/short", "additionalProperties")},
	} {
		if got := load(t, tt.schema).In.Check([]byte(tt.input), "", MaxValues); !reflect.DeepEqual(got, tt.want) {
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
	first := io.In.Check(input, "", MaxValues)
	if len(first) != 32 || first[0] != (protocol.Violation{Path: "/k00/b", Rule: "type"}) || first[1] != (protocol.Violation{Path: "/k00/long0", Rule: "propertyNames"}) {
		t.Fatalf("%d violations: %v", len(first), first)
	}
	for range 50 {
		if again := io.In.Check(input, "", MaxValues); !reflect.DeepEqual(again, first) {
			t.Fatalf("another time: %v\nfirst: %v", again, first)
		}
	}
}
