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
	"github.com/santhosh-tekuri/jsonschema/v6"
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

// roundTrip decodes a message and encodes it again: nothing is lost.
func roundTrip(t *testing.T, typ protocol.Type, body []byte, mode protocol.Mode, asRequest bool) protocol.Message {
	t.Helper()
	m, err := decodeText(typ, body, mode, asRequest)
	if err != nil {
		t.Error(err)
		return nil
	}
	again, err := protocol.Encode(m)
	if err != nil {
		t.Error(err)
		return m
	}
	if want, got := canonical(t, body), canonical(t, again); want != got {
		t.Errorf("the message changes when it is read and written:\n%s\n%s", want, got)
	}
	return m
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

// message returns an encoded sample, as a document that can be changed.
func sampleBody(t testing.TB, name string) rawjson.Object {
	t.Helper()
	for _, s := range samples(t) {
		if s.name == name {
			raw, err := protocol.Encode(s.message)
			if err != nil {
				t.Fatal(err)
			}
			return parsed(t, raw)
		}
	}
	t.Fatalf("no sample %s", name)
	return nil
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
	a, err := protocol.Encode(got)
	if err != nil {
		t.Error(err)
		return
	}
	b, err := protocol.Encode(want)
	if err != nil {
		t.Error(err)
		return
	}
	if diff := cmp.Diff(string(b), string(a)); diff != "" {
		t.Errorf("the message has changed on its way: %s", diff)
	}
}

// compile returns the validator of a schema.
func compile(t testing.TB, schema []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	const name = "schema.json"
	if err := c.AddResource(name, doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// conforms reports whether a JSON text keeps a schema.
func conforms(t testing.TB, s *jsonschema.Schema, raw []byte) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return s.Validate(doc)
}

// clock returns the time of day at which a sample was sent.
func clock(hhmmss string) string { return "2026-03-14T" + hhmmss + "Z" }

// withType adds the message type to a body.
func withType(typ protocol.Type, body string) string {
	return `{"message_type":"` + string(typ) + `",` + strings.TrimPrefix(body, "{")
}

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
func samples(t testing.TB) []sample {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(examples, Contracts.Name, "*.json"))
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
		body := doc.First("params", "result")
		if body == nil {
			body = parsed(t, doc.Get("error")).Get("data")
		}
		typ := protocol.Type(parsed(t, body).Text("message_type"))
		if doc.Get("params") == nil {
			s.sent = sentFor(typ)
		}
		if s.message, err = decodeText(typ, body, protocol.Strict, s.sent == ""); err != nil {
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

// decodeText decodes a message from its text; request says that it is one.
func decodeText(typ protocol.Type, text []byte, mode protocol.Mode, request bool) (protocol.Message, error) {
	message, err := rawjson.Parse(text)
	if err != nil {
		return nil, err
	}
	if !request {
		return protocol.Decode(typ, message, mode, nil)
	}
	header := protocol.ReadHeader(message)
	return protocol.Decode(typ, message, mode, &header)
}
