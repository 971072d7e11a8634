package schema

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/strategylab/strategylab/host/protocol"
)

// TestAgreement compares the validator with a library that implements all of JSON Schema:
// on the examples of the documentation, and on what is left of them after random changes,
// against the schema of every tool of the league.
func TestAgreement(t *testing.T) {
	t.Parallel()
	docs := exampleObjects(t)
	r := rand.New(rand.NewPCG(7, 11))
	accepted, refused, most := 0, 0, 2*len(docs)
	if os.Getenv("WHOLE_TESTS") == "" {
		most /= 5
	}
	for name, raw := range leagueSchemas(t) {
		ours, err := Compile(raw)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		theirs := library(t, raw)
		for i := range most {
			text, err := json.Marshal(mutate(r, docs[i%len(docs)], r.IntN(4)))
			if err != nil {
				t.Fatal(err)
			}
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			found, err := ours.ValidateJSON(text)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			want := theirs.Validate(doc)
			if (want == nil) != (len(found) == 0) {
				t.Fatalf("%s: %s\n ours: %v\n theirs: %v", name, text, found, want)
			}
			if want == nil {
				accepted++
			} else {
				refused++
			}
		}
	}
	if accepted < most || refused < 10*most {
		t.Errorf("%d documents are valid, %d are not: too few to compare", accepted, refused)
	}
}

// leagueSchemas returns the schemas of the league's tools by name.
func leagueSchemas(t *testing.T) map[string][]byte {
	all := map[string][]byte{}
	for _, mode := range []protocol.Mode{protocol.Strict, protocol.Tolerant} {
		tools := LeagueTools(mode)
		for _, tool := range tools {
			all[tool.Name+" input"], all[tool.Name+" output"] = tool.Input, tool.Output
		}
	}
	return all
}

// library compiles a schema by the library.
func library(t *testing.T, raw []byte) *jsonschema.Schema {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddResource("https://example.com/schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("https://example.com/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// exampleObjects returns the objects in the examples of the documentation: envelopes and messages.
func exampleObjects(t *testing.T) (docs []map[string]any) {
	files, err := filepath.Glob("../../../docs/protocol/examples/*/*.json")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d examples: %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var doc map[string]any
		if json.Unmarshal(text, &doc) != nil {
			continue // a batch
		}
		docs = append(docs, doc)
		for _, part := range []string{"params", "result"} {
			if message, ok := doc[part].(map[string]any); ok {
				docs = append(docs, message)
			}
		}
	}
	return docs
}

// mutate returns a document with this many random changes.
func mutate(r *rand.Rand, doc map[string]any, changes int) map[string]any {
	changed := maps.Clone(doc)
	for range changes {
		names := slices.Sorted(maps.Keys(changed))
		if len(names) == 0 {
			break
		}
		name := names[r.IntN(len(names))]
		switch inner, isObject := changed[name].(map[string]any); {
		case isObject && r.IntN(3) > 0:
			changed[name] = mutate(r, inner, 1)
		case r.IntN(4) == 0:
			delete(changed, name)
		case r.IntN(4) == 0:
			changed[name+"x"] = changed[name]
		default:
			values := []any{nil, true, "", "x", "even", "2026-01-01T00:00:00Z", "2026-01-01 00:00", -1, 0, 1, 1.5, 1e9, []any{}, []any{1, "a"}, map[string]any{}, strings.Repeat("y", 300)}
			changed[name] = values[r.IntN(len(values))]
		}
	}
	return changed
}
