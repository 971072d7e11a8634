package dialect

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

func parsed(t testing.TB, raw []byte) rawjson.Object {
	t.Helper()
	doc, err := rawjson.Parse(raw)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return doc
}

// canonical returns JSON in the form of RFC 8785, in which equal values are equal texts.
func canonical(t testing.TB, raw []byte) string {
	t.Helper()
	v := jsontext.Value(bytes.Clone(raw))
	if err := v.Canonicalize(); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return string(v)
}

// named returns the sample of a name.
func named(t testing.TB, name string) sample { return matching(t, name)[0] }

// sampleBody returns an encoded sample, as a document that can be changed.
func sampleBody(t testing.TB, name string) rawjson.Object {
	t.Helper()
	raw, err := protocol.Encode(named(t, name).message)
	if err != nil {
		t.Fatal(err)
	}
	return parsed(t, raw)
}

// refusal returns the error as an [*Error] and fails the test if it is none.
func refusal(t testing.TB, err error) *protocol.Error {
	t.Helper()
	var e *protocol.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a refusal", err)
	}
	return e
}

// indented returns JSON as it stands in files: two spaces, a final newline.
func indented(t *testing.T, raw jsontext.Value) []byte {
	t.Helper()
	raw = raw.Clone()
	if err := raw.Indent(jsontext.WithIndent("  ")); err != nil {
		t.Fatal(err)
	}
	return append(raw, '\n')
}

func value(v any) jsontext.Value {
	raw, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic(err) // a literal of this file
	}
	return raw
}

// sameMessage compares messages by what they encode to.
func sameMessage(t *testing.T, got, want protocol.Message) {
	t.Helper()
	a, failed := protocol.Encode(got)
	b, err := protocol.Encode(want)
	if diff := cmp.Diff(string(b), string(a)); diff != "" || failed != nil || err != nil {
		t.Errorf("the message has changed on its way: %s, %v, %v", diff, failed, err)
	}
}

// clock returns the time of day at which a sample was sent.
func clock(hhmmss string) string { return "2026-03-14T" + hhmmss + "Z" }

// examples is where the example files of the documentation stand.
const examples = "../../docs/protocol/examples"

// The league that the samples are taken from.
const (
	cup     = "autumn_cup"
	heron   = "P01"
	otter   = "P02"
	manager = "league_manager"
)

// header returns the header of a sample by the manager or to it.
func header(t protocol.Type, sender, hhmmss, conversation string) protocol.Header {
	h := protocol.NewHeader(t, sender, clock(hhmmss), conversation)
	h.LeagueID = cup
	return h
}

// sample is a message under the name that its example file bears.
type sample struct {
	name    string
	message protocol.Message
	sent    protocol.Type // the type of the request that it answers; empty for a request
}

// samples returns the messages of the example files in the dialect Contracts,
// which a test of host/protocol writes.
func samples(t testing.TB) []sample { return matching(t, "*") }

// matching returns the samples whose names match a pattern.
func matching(t testing.TB, pattern string) []sample {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(examples, Contracts.Name, pattern+".json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no examples of messages", err)
	}
	var all []sample
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s := sample{name: strings.TrimSuffix(filepath.Base(file), ".json")}
		doc := parsed(t, text)
		body := doc.Get("params", "result")
		if body == nil {
			body = parsed(t, doc.Get("error")).Get("data")
		}
		message := parsed(t, body)
		typ, header := protocol.TypeOf(message), new(protocol.Header)
		if *header = protocol.ReadHeader(message); doc.Get("params") == nil {
			s.sent, header = sentFor(typ), nil
		}
		if s.message, err = protocol.Decode(typ, message, protocol.Strict, header); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, s)
	}
	return all
}

// sentFor returns the type that is answered with a message of the type typ.
func sentFor(typ protocol.Type) protocol.Type {
	if typ == protocol.TypeLeagueError {
		return protocol.TypeMatchResultReport
	}
	for _, t := range protocol.Types() {
		if about, _ := protocol.Describe(t); about.Answer == typ {
			return t
		}
	}
	return ""
}

// isRequest reports whether messages of the type may be requests.
func isRequest(typ protocol.Type) bool {
	about, _ := protocol.Describe(typ)
	return about.Method != ""
}

// duplicateReport is the refusal that the LEAGUE_ERROR of the samples says.
func duplicateReport() *protocol.Error {
	return protocol.Refuse(protocol.CodeDuplicateReport, protocol.TypeMatchResultReport, "The result of R1M1 was taken down at 09:10:23; this report says the same.").
		With("match_id", "R1M1").With("previous_report_time", clock("09:10:23")).With("same_result", true)
}

var update = flag.Bool("update", false, "rewrite the examples")
