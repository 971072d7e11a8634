package protocol

import (
	"bytes"
	"os"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// sourceExample is a complete JSON example of one of the documents that the
// protocol was put together from: its values, with sentences of our own.
// Messages that stand there without a header were given one.
type sourceExample struct {
	Source   string         `json:"source"`
	Section  string         `json:"section"`
	Document jsontext.Value `json:"document"`
}

func sourceExamples(t testing.TB) []sourceExample {
	t.Helper()
	text, err := os.ReadFile("testdata/source_examples.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var all []sourceExample
	for line := range bytes.Lines(text) {
		var e sourceExample
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}
