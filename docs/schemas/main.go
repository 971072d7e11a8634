// Command schemas writes the JSON Schemas of the files of a run from the Go types
// that write them, with their comments as descriptions:
//
//	go generate ./docs/schemas
package main

//go:generate go run .

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"reflect"

	"github.com/strategylab/strategylab/analysis/population"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/host/results"
)

// files are the schemas by file name. Documents with versions have theirs in the property "schema".
var files = map[string]struct {
	title    string
	versions []string
	of       reflect.Type
}{
	"plan.schema.json":    {"plan.json of a run: what is played", []string{results.PlanSchema, results.PlanSchema2, results.PlanSchema1}, reflect.TypeFor[results.Plan]()},
	"summary.schema.json": {"summary.json of a run, and what experiment --format json prints", []string{report.Schema}, reflect.TypeFor[report.Document]()},
	"mirrors.schema.json": {"mirrors.json of a run: its strategies against copies of themselves", nil, reflect.TypeFor[[]population.Mirror]()},
}

func main() {
	for name := range files {
		text, err := schema(name, "../..")
		if err == nil {
			err = os.WriteFile(name, text, 0o644)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
}

// schema returns the text of a file; root is the folder of the module.
func schema(name, root string) ([]byte, error) {
	f := files[name]
	w := walker{comments: newComments(root), defs: map[string]*node{}}
	s, err := w.schema(f.of)
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w", name, err)
	}
	s.Schema, s.Title, s.Defs = "https://json-schema.org/draft/2020-12/schema", f.title, w.defs
	if f.versions != nil {
		w.defs[f.of.Name()].Properties.set("schema", &node{Enum: f.versions})
	}
	text, err := json.MarshalIndent(s, "", "  ")
	for _, c := range "<>&" { // which are escaped for pages
		text = bytes.ReplaceAll(text, fmt.Appendf(nil, "\\u%04x", c), []byte(string(c)))
	}
	return append(text, '\n'), err
}
