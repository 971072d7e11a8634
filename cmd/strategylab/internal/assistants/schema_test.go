package assistants

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/mcptools"
)

// Every property of every tool is described, inputs are closed, and every tool can
// be served. A client sends all definitions to its model with every question, so they are
// short.
func TestToolsAreDescribed(t *testing.T) {
	t.Parallel()
	all, answers, err := newTools(config{mcpOptions: mcpOptions{AllowSave: true, MaxRuns: 123, AtOnce: 1}, log: slog.New(slog.DiscardHandler)}).tools()
	if err != nil || len(all) != 8 {
		t.Fatalf("%d tools, want 8, %v", len(all), err)
	}
	for _, tool := range all {
		if tool.Title == "" || len(tool.Description) < 40 {
			t.Errorf("%s is described by %q", tool.Name, tool.Description)
		}
		for what, raw := range map[string]json.RawMessage{"input": tool.Input, "answer": answers[tool.Name]} {
			var s jsonschema.Schema
			if err := json.Unmarshal(raw, &s); err != nil {
				t.Fatalf("%s: %s: %v", tool.Name, what, err)
			}
			allDescribed(t, tool.Name+" "+what, &s)
			if what == "answer" && (s.Properties["summary"] == nil || s.Required[0] != "summary") {
				t.Errorf("%s has no summary", tool.Name)
			}
			if runs := s.Properties["runs"]; what == "input" && runs != nil && (*runs.Maximum != 123 || string(runs.Default) != "123") {
				t.Errorf("%s: %s and at most %v runs, want what the server allows", tool.Name, runs.Default, *runs.Maximum)
			}
		}
	}
	server, err := mcptools.New(mcptools.Config{Name: "lab", Tools: all})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	ask := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	ask.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	server.Handler().ServeHTTP(answer, ask)
	const most, known = 20_000, `"comparison":{"type":"object","description":"the player (a) against the baseline (b)"}`
	if list := answer.Body.String(); len(list) > most || len(list) < 5000 || !strings.Contains(list, "save_strategy") || !strings.Contains(list, known) {
		t.Errorf("tools/list has %d bytes, want at most %d: shorten descriptions\n%.500s", len(list), most, list)
	}
	if without, _, err := newTools(config{mcpOptions: mcpOptions{MaxRuns: 1, AtOnce: 1}}).tools(); len(without) != 7 {
		t.Errorf("%d tools where nothing may be saved, want 7; %v", len(without), err)
	}
}

func allDescribed(t *testing.T, where string, s *jsonschema.Schema) {
	t.Helper()
	if s.Items != nil {
		allDescribed(t, where+"[]", s.Items)
	}
	if s.Type == "object" || len(s.Properties) > 0 {
		if s.AdditionalProperties == nil {
			t.Errorf("%s is not closed", where)
		}
	}
	for name, p := range s.Properties {
		if len(p.Description) < 5 {
			t.Errorf("%s.%s is described by %q", where, name, p.Description)
		}
		allDescribed(t, where+"."+name, p)
	}
}

// What a schema promises as a default is what decode puts there. A player is a name, a
// name with copies, or an object.
func TestDecodePutsDefaults(t *testing.T) {
	t.Parallel()
	in, err := decode[RunInput](json.RawMessage(`{"players":["council","random*3",{"name":"mine","language":"lua","source":"x"}],"legs":4}`), nil)
	want := RunInput{Players: []Player{{Name: "council", Copies: 1}, {Name: "random", Copies: 3}, {Name: "mine", Language: "lua", Source: "x", Copies: 1}}, Runs: 200, Legs: 4, Draw: "uniform:1-10"}
	if err != nil || !reflect.DeepEqual(in, want) {
		t.Errorf("got %+v, %v; want %+v", in, err, want)
	}
	in, err = decode[RunInput](json.RawMessage(`{"players":[]}`), map[string]int{"runs": 50})
	if err != nil || in.Runs != 50 {
		t.Errorf("where 50 leagues are allowed, %d are played if nothing is said, %v", in.Runs, err)
	}
	check, err := decode[CheckInput](json.RawMessage(`{"language":"lua","source":"x"}`), nil)
	if err != nil || check.Name != "draft" {
		t.Errorf("got %+v, %v", check, err)
	}
	var wrong *lab.InputError
	if _, err := decode[RunInput](json.RawMessage(`{"players":7}`), nil); !errors.As(err, &wrong) {
		t.Errorf("a field that is a number: %v, want a mistake of the caller", err)
	}
}
