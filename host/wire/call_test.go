package wire_test

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

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
		{"broken schema", "unusable", `{"n":1}`, `{"n":2}`, nil, "INTERNAL_ERROR", nil, false},
		{"own error", "count", `{"n":1}`, ``, errOwn, "", nil, true},
		{"a refusal of the league", "count", `{"n":1}`, ``, league, "", nil, true},
	} {
		var log strings.Builder
		p := chain(t, wire.Config{Errors: slog.New(slog.NewTextHandler(&log, nil))})
		called := false
		var input jsontext.Value
		if tt.input != "" {
			input = []byte(tt.input)
		}
		got, err := p.Call(t.Context(), wire.Call{Transport: "http", Route: "/mcp", Tool: tt.tool, Input: input}, func(context.Context) (jsontext.Value, error) {
			called = true
			return []byte(tt.output), tt.err
		})
		refusal := wire.Canonical(err)
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
