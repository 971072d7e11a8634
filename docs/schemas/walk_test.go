package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/strategylab/strategylab/analysis"
)

// document has a field of every kind that files have.
type document struct {
	Name     string          `json:"name"`
	Seed     uint64          `json:"seed,string"`
	Count    uint64          `json:"count"`
	Runs     int             `json:"runs"`
	Share    float64         `json:"share"`
	Measured analysis.Number `json:"measured"`
	Done     bool            `json:"done"`
	Pair     [2]int          `json:"pair"`
	List     []part          `json:"list"`
	ByName   map[string]part `json:"by_name"`
	Maybe    *part           `json:"maybe,omitempty"`
	Nullable *part           `json:"nullable"`
	Inner
	Skipped int `json:"-"`
	secret  int
}

// Inner is embedded, so its fields are those of the document.
type Inner struct {
	Note string `json:"note,omitempty"`
}

type part struct {
	Points int `json:"points"`
}

func example() document {
	one := part{1}
	return document{
		Name: "a", Seed: math.MaxUint64, Count: 3, Runs: -1, Share: 0.5, Measured: 0.25, Done: true, Pair: [2]int{1, 2}, List: []part{one},
		ByName: map[string]part{"x": one}, Maybe: &one, Nullable: &one, Inner: Inner{"said"}, Skipped: 7, secret: 8,
	}
}

// compiled returns the schema of a type, ready to validate, as a file has it.
func compiled(t *testing.T, of reflect.Type) *jsonschema.Schema {
	t.Helper()
	w := walker{comments: newComments("../.."), defs: map[string]*node{}}
	s, err := w.schema(of)
	must(t, err)
	s.Defs = w.defs
	text, err := json.Marshal(s)
	must(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	c := jsonschema.NewCompiler()
	must(t, c.AddResource("document.json", doc))
	compiled, err := c.Compile("document.json")
	must(t, err)
	return compiled
}

// asJSON returns what encoding/json writes, as a validator takes it.
func asJSON(t *testing.T, v any) map[string]any {
	t.Helper()
	text, err := json.Marshal(v)
	must(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	must(t, err)
	return doc.(map[string]any)
}

// A reader who trusts a schema can read every file that the type writes.
func TestSchemaAcceptsWhatTheTypeWrites(t *testing.T) {
	s := compiled(t, reflect.TypeFor[document]())
	bare := example()
	bare.Maybe, bare.Nullable, bare.Note = nil, nil, ""
	bare.Measured = analysis.Number(math.NaN())
	for name, d := range map[string]document{"all": example(), "as little as there can be": bare} {
		if err := s.Validate(asJSON(t, d)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A schema that accepts anything says nothing: each of these changes is found, and where.
func TestSchemaRefusesWhatTheTypeNeverWrites(t *testing.T) {
	s := compiled(t, reflect.TypeFor[document]())
	for name, tt := range map[string]struct {
		change func(doc map[string]any)
		at     string
	}{
		"a property that there is not":  {func(d map[string]any) { d["skipped"] = json.Number("1") }, ""},
		"the name of a Go field":        {func(d map[string]any) { d["Skipped"] = json.Number("1") }, ""},
		"a field that is not exported":  {func(d map[string]any) { d["secret"] = json.Number("1") }, ""},
		"a property that is missing":    {func(d map[string]any) { delete(d, "runs") }, ""},
		"null for a pointer left out":   {func(d map[string]any) { d["maybe"] = nil }, "maybe"},
		"null for a text":               {func(d map[string]any) { d["name"] = nil }, "name"},
		"a seed as a number":            {func(d map[string]any) { d["seed"] = json.Number("5") }, "seed"},
		"a seed that is none":           {func(d map[string]any) { d["seed"] = "-5" }, "seed"},
		"a count below zero":            {func(d map[string]any) { d["count"] = json.Number("-1") }, "count"},
		"half a run":                    {func(d map[string]any) { d["runs"] = json.Number("0.5") }, "runs"},
		"a number as a text":            {func(d map[string]any) { d["measured"] = "NaN" }, "measured"},
		"three of a pair":               {func(d map[string]any) { d["pair"] = []any{json.Number("1"), json.Number("2"), json.Number("3")} }, "pair"},
		"one of a pair":                 {func(d map[string]any) { d["pair"] = []any{json.Number("1")} }, "pair"},
		"a stranger in a list":          {func(d map[string]any) { d["list"] = []any{map[string]any{"goals": json.Number("1")}} }, "list/0"},
		"a stranger under a name":       {func(d map[string]any) { d["by_name"] = map[string]any{"y": true} }, "by_name/y"},
		"a number for an embedded text": {func(d map[string]any) { d["note"] = json.Number("1") }, "note"},
	} {
		doc := asJSON(t, example())
		tt.change(doc)
		err, ok := s.Validate(doc).(*jsonschema.ValidationError)
		if !ok {
			t.Errorf("%s: it is accepted", name)
			continue
		}
		var places []string
		leaves(err, &places)
		if !slices.Contains(places, tt.at) {
			t.Errorf("%s: found at %q, want %q", name, places, tt.at)
		}
	}
}

func leaves(e *jsonschema.ValidationError, places *[]string) {
	if len(e.Causes) == 0 {
		*places = append(*places, strings.Join(e.InstanceLocation, "/"))
	}
	for _, cause := range e.Causes {
		leaves(cause, places)
	}
}

// A type that JSON Schema has no word for is an error that says which field has it.
func TestTypesWithoutASchema(t *testing.T) {
	type wrong struct {
		Events chan int `json:"events"`
	}
	w := walker{comments: newComments("../.."), defs: map[string]*node{}}
	_, err := w.schema(reflect.TypeFor[[]wrong]())
	if err == nil || !strings.HasSuffix(err.Error(), "wrong.Events: no schema for chan int") {
		t.Errorf("%v", err)
	}
}

// Properties stand in the order of the fields, in which people look for them.
func TestPropertiesKeepTheirOrder(t *testing.T) {
	w := walker{comments: newComments("../.."), defs: map[string]*node{}}
	if _, err := w.schema(reflect.TypeFor[document]()); err != nil {
		t.Fatal(err)
	}
	got := w.defs["document"].Properties.names
	want := []string{"name", "seed", "count", "runs", "share", "measured", "done", "pair", "list", "by_name", "maybe", "nullable", "note"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if required := w.defs["document"].Required; slices.Contains(required, "maybe") || !slices.Contains(required, "nullable") {
		t.Errorf("required are %q", required)
	}
}

// The comment of a field in the source is the description that readers get, on one line,
// and the constants of a type are all that its text may be.
func TestDescriptionsAreTheComments(t *testing.T) {
	text, err := schema("summary.schema.json", "../..")
	must(t, err)
	var doc struct {
		Defs map[string]struct {
			Description string
			Enum        []string
			Properties  map[string]struct{ Description string }
		} `json:"$defs"`
	}
	must(t, json.Unmarshal(text, &doc))
	if len(doc.Defs) < 2 {
		t.Fatalf("%d definitions", len(doc.Defs))
	}
	enums := 0
	for name, d := range doc.Defs {
		if d.Description == "" || strings.Contains(d.Description, "\n") {
			t.Errorf("%s is described as %q", name, d.Description)
		}
		if len(d.Enum) > 0 {
			enums++
		}
		for property, p := range d.Properties {
			if strings.ContainsAny(p.Description, "\n\t") {
				t.Errorf("%s.%s is described as %q", name, property, p.Description)
			}
		}
	}
	if _, err := schema("plan.schema.json", "no-such-folder"); err == nil || !strings.Contains(err.Error(), "read the comments of") {
		t.Errorf("without the source: %v", err)
	}
	if enums == 0 {
		t.Error("no text is one of the constants of its type")
	}
}

// must ends a test at the first of some errors.
func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
