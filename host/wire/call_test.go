package wire

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire/schema"
)

const object = `{"type":"object","properties":{"n":{"type":"integer","minimum":1},"at":{"type":"string","format":"date-time","pattern":"Z$"}},"required":["n"],"additionalProperties":false}`

func registry(t testing.TB, tools ...schema.Tool) *schema.Registry {
	t.Helper()
	r, err := schema.NewRegistry(tools...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// tools are one that is in order, and one whose schema is broken.
func tools(t testing.TB) *schema.Registry {
	return registry(t,
		schema.Tool{Name: "count", Input: []byte(object), Output: []byte(object)},
		schema.Tool{Name: "broken", Input: []byte(object), Output: []byte(`{"$ref":"https://example.com/x"}`)},
	)
}

func chain(t testing.TB, cfg Config) *Chain {
	t.Helper()
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCall(t *testing.T) {
	t.Parallel()
	errOwn := errors.New("the strategy does not load")
	league := protocol.Refuse(protocol.CodeTokenInvalid, protocol.TypeLeagueQuery, "no")
	for _, tt := range []struct {
		name, tool, input, output string
		err                       error
		code                      string // of the refusal; empty for none
		violations                []protocol.Violation
		called                    bool
	}{
		{"as it should be", "count", `{"n":1}`, `{"n":2}`, nil, "", nil, true},
		{"unknown tool", "other", `{"n":1}`, `{"n":2}`, nil, "TOOL_NOT_FOUND", []protocol.Violation{{Path: "/params/name", Rule: "known"}}, false},
		{"no input", "count", ``, `{"n":2}`, nil, "INVALID_TOOL_INPUT", []protocol.Violation{{Path: "/params/arguments/n", Rule: "required"}}, false},
		{"bad input", "count", `{"n":"x"}`, `{"n":2}`, nil, "INVALID_TOOL_INPUT", []protocol.Violation{{Path: "/params/arguments/n", Rule: "type"}}, false},
		{"bad output", "count", `{"n":1}`, `{"n":"2"}`, nil, "INTERNAL_ERROR", []protocol.Violation{{Path: "/n", Rule: "type"}}, true},
		{"no output", "count", `{"n":1}`, ``, nil, "INTERNAL_ERROR", []protocol.Violation{{Path: "", Rule: "json"}}, true},
		{"broken schema", "broken", `{"n":1}`, `{"n":2}`, nil, "INTERNAL_ERROR", nil, false},
		{"own error", "count", `{"n":1}`, ``, errOwn, "", nil, true},
		{"a refusal of the league", "count", `{"n":1}`, ``, league, "", nil, true},
	} {
		var log strings.Builder
		p := chain(t, Config{Registry: tools(t), Errors: slog.New(slog.NewTextHandler(&log, nil))})
		called := false
		var input jsontext.Value
		if tt.input != "" {
			input = []byte(tt.input)
		}
		got, err := p.Call(t.Context(), Call{Transport: "http", Route: "/mcp", Tool: tt.tool, Input: input}, func(context.Context) (jsontext.Value, error) {
			called = true
			return []byte(tt.output), tt.err
		})
		refusal := Canonical(err)
		if (refusal != nil) != (tt.code != "") || tt.code != "" && (refusal.Canonical != tt.code || !reflect.DeepEqual(refusal.Violations, tt.violations)) {
			t.Errorf("%s: %v, want %s %v", tt.name, err, tt.code, tt.violations)
		}
		if called != tt.called {
			t.Errorf("%s: the tool was called: %v", tt.name, called)
		}
		if tt.err != nil && err != tt.err || tt.err == nil && tt.code == "" && (err != nil || string(got) != tt.output) {
			t.Errorf("%s: %s %v", tt.name, got, err)
		}
		if told := strings.Contains(log.String(), "level=ERROR"); told != (tt.code == "INTERNAL_ERROR") {
			t.Errorf("%s: the log says %q", tt.name, log.String())
		}
	}
}

func readFile(t testing.TB, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
