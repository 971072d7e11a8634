package schema

import (
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
	one := print("t", `{"type":"object","minProperties":1.0}`, `true`)
	// printf '{"input":{"minProperties":1,"type":"object"},"output":true,"tool":"t"}' | sha256sum
	if one != "102230dc184310452b9ad8a40bbf2cbe648d38c4876f4f8b1f0ed79854531e3a" {
		t.Errorf("the fingerprint is %s", one)
	}
	if same := print("t", ` { "minProperties" : 1 , "typ\u0065":"object"}`, `true`); same != one {
		t.Error("another spelling has another fingerprint")
	}
	for _, other := range []string{print("u", `{"type":"object","minProperties":1}`, `true`), print("t", `{"type":"object","minProperties":2}`, `true`), print("t", `{"type":"object","minProperties":1}`, `{}`)} {
		if other == one {
			t.Error("another tool has the same fingerprint")
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	r := registry(t, Tool{Name: "a", Aliases: []string{"b"}, Input: []byte(`true`), Output: []byte(`true`)})
	for _, tt := range []struct {
		name string
		tool Tool
	}{{"taken", Tool{Name: "b"}}, {"no name", Tool{}}, {"too long", Tool{Name: strings.Repeat("x", 129)}}} {
		if err := r.Add(Tool{Name: "free"}, tt.tool); err == nil {
			t.Errorf("%s: a tool was added", tt.name)
		}
	}
	if _, err := r.LoadToolIO("free"); err == nil || !strings.Contains(err.Error(), "unknown tool") {
		t.Errorf("a tool that was refused: %v", err)
	}
	if _, err := NewRegistry(Tool{Name: "x"}, Tool{Name: "x"}); err == nil {
		t.Error("a registry has two tools of one name")
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
		`{"$schema":"http://json-schema.org/draft-07/schema#"}`:           "draft/2020-12",
		`{"$ref":"https://example.com/other.json"}`:                       "schemas are never fetched",
		`{"$ref":"http://127.0.0.1:1/x"}`:                                 "schemas are never fetched",
		`{"$ref":"file:///etc/passwd"}`:                                   "schemas are never fetched",
		`{"$id":"https://example.com/a.json","$ref":"league_query.json"}`: "schemas are never fetched",
		`{"$ref":"no_such_message.json"}`:                                 `no embedded schema "no_such_message.json"`,
		`{"$ref":"../../../etc/passwd"}`:                                  "schemas are never fetched",
		`{"$ref":"LEAGUE_QUERY.json"}`:                                    "no embedded schema",
		`{"$schema":"https://example.com/meta.json"}`:                     "draft/2020-12",
		`{"properties":{"x":{"$dynamicRef":"https://example.com/z#a"}}}`:  "#/properties/x/$dynamicRef: this keyword is not supported",
		`{"$ref":"#/$defs/a","$defs":{"a":{"not":{"$ref":"#/$defs/a"}}}}`: "refers to itself",
		`{"$ref":"#/$defs/a"}`:                                            `there is no "#/$defs/a"`,
		`{"format":"email"}`:                                              `"email", want date-time or uuid`,
		`{"minimum":"1"}`:                                                 `within "/minimum"`,
		`{"required":"n"}`:                                                `within "/required"`,
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
		tools, err := LeagueTools(mode)
		if err != nil {
			t.Fatal(err)
		}
		all := registry(t, tools...)
		n := 0
		for _, mt := range protocol.Types() {
			about, _ := protocol.Describe(mt)
			if about.Method == "" || about.Answer == "" {
				continue
			}
			n++
			for _, name := range append(about.Aliases, about.Method, string(mt), strings.ToLower(string(mt))) {
				io, err := all.LoadToolIO(name)
				if err != nil || io.Tool != about.Method {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		if len(tools) != n || n < 15 {
			t.Errorf("%d tools for %d methods", len(tools), n)
		}
	}
	if tools, err := LeagueTools(protocol.Strict, protocol.TypeLeagueQuery); err != nil || len(tools) != 1 || tools[0].Name != "league_query" {
		t.Errorf("the tool of one message: %v, %v", tools, err)
	}
	if _, err := LeagueTools(protocol.Strict, protocol.TypeLeagueError); err == nil {
		t.Error("an error report is a tool")
	}
}
