package dialect

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// namedExamples are the files that one of the protocol's sources names; they
// are the envelope forms of these messages.
var namedExamples = map[string]string{
	"league_register_request":  "register_player_request.json",
	"referee_register_request": "register_referee_request.json",
	"match_result_report":      "match_result_report.json",
}

// examplePath returns the file of a sample in a dialect.
func examplePath(d *Dialect, name string) string {
	if named, ok := namedExamples[name]; ok && d == Envelope {
		return named
	}
	return filepath.Join(d.Name, name+".json")
}

// isVariant reports whether a sample shows another look of a type that has an
// example already; variants are written in one dialect only.
func (s sample) isVariant() bool {
	return s.name != strings.ToLower(string(s.message.Head().MessageType))
}

// rpcID returns a JSON-RPC id that belongs to a message type: an exchange
// bears the same one in both directions.
func rpcID(t protocol.Type) jsontext.Value {
	h := sha256.Sum256([]byte(t))
	h[6], h[8] = h[6]&0x0f|0x50, h[8]&0x3f|0x80 // a UUID of version 5
	return value(fmt.Sprintf("%x-%x-%x-%x-%x", h[:4], h[4:6], h[6:8], h[8:10], h[10:16]))
}

// wire returns the whole document that carries a sample in a dialect.
func (s sample) wire(t testing.TB, d *Dialect, all []sample) jsontext.Value {
	t.Helper()
	if s.sent == "" {
		call, err := d.Call(s.message)
		if err != nil {
			t.Fatalf("%s in %s: %v", s.name, d.Name, err)
		}
		call.ID = rpcID(s.message.Head().MessageType)
		return ordered(t, call.Encode())
	}
	req := openSample(t, d, s.sent, all)
	var r jsonrpc.Response
	if s.message.Head().MessageType == protocol.TypeLeagueError {
		r = req.Refuse(*s.message.Head(), duplicateReport())
	} else {
		var err error
		if r, err = req.Reply(s.message); err != nil {
			t.Fatalf("%s in %s: %v", s.name, d.Name, err)
		}
	}
	return ordered(t, r.Encode(&jsonrpc.Request{ID: rpcID(s.sent)}))
}

// ordered returns a document of JSON-RPC with its id last, as the example files have it.
func ordered(t testing.TB, raw []byte) jsontext.Value {
	doc := parsed(t, raw)
	if id := doc.Get("id"); id != nil && doc.Get("jsonrpc") != nil {
		doc = append(doc.Without("id"), rawjson.Member{Name: "id", Value: id})
	}
	return doc.Encode()
}

// openSample returns the request of a type as its receiver opens it.
func openSample(t testing.TB, d *Dialect, sent protocol.Type, all []sample) *Request {
	t.Helper()
	for _, s := range all {
		if s.message.Head().MessageType != sent {
			continue
		}
		call, err := d.Call(s.message)
		if err != nil {
			t.Fatal(err)
		}
		req, err := openCall(NewCodec(protocol.Tolerant, append([]*Dialect{d}, known...)...), call)
		if err != nil {
			t.Fatalf("open %s in %s: %v", sent, d.Name, err)
		}
		return req
	}
	t.Fatalf("no sample of %s", sent)
	return nil
}

// openCall opens a call as its receiver does.
func openCall(c *Codec, call jsonrpc.Message) (*Request, error) {
	if call.Body != nil {
		return c.OpenBare(call.Body)
	}
	return c.Open(call.Method, call.Params)
}

// exampleFiles returns what the example files hold, by path.
func exampleFiles(t testing.TB) map[string]jsontext.Value {
	files := make(map[string]jsontext.Value)
	all := samples(t)
	for _, d := range OfProtocol() {
		for _, s := range all {
			if s.isVariant() && d != Contracts {
				continue
			}
			path := examplePath(d, s.name)
			if files[path] != nil {
				t.Fatalf("two samples are written to %s", path)
			}
			files[path] = s.wire(t, d, all)
		}
	}
	return files
}

// TestExamplesAreWritten holds the example files to the samples; with -update it rewrites them.
func TestExamplesAreWritten(t *testing.T) {
	want := exampleFiles(t)
	for path, raw := range want {
		name := filepath.Join(examples, path)
		text := indented(t, raw)
		if *update {
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(name)
		if err != nil {
			t.Errorf("%v; run with -update", err)
		} else if !bytes.Equal(got, text) {
			t.Errorf("%s is not what the codec writes; run with -update", name)
		}
	}
	for path := range exampleBytes(t) {
		if want[path] == nil {
			t.Errorf("%s belongs to no sample; remove it", path)
		}
	}
}

// exampleBytes reads all example files, by path.
func exampleBytes(t testing.TB) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	err := fs.WalkDir(os.DirFS(examples), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := os.ReadFile(filepath.Join(examples, path))
		files[filepath.FromSlash(path)] = raw
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestExamples: the document of every example file keeps the schema of its dialect.
func TestExamples(t *testing.T) {
	t.Parallel()
	wrappings := make(map[*Dialect]*jsonschema.Schema)
	decoded := func(text []byte, err error) any {
		doc, failed := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil || failed != nil {
			t.Fatal(err, failed)
		}
		return doc
	}
	for _, d := range OfProtocol() {
		c := jsonschema.NewCompiler()
		err := c.AddResource(d.Name, decoded(WrappingSchema(d.Name)))
		if err == nil {
			wrappings[d], err = c.Compile(d.Name)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range exampleBytes(t) {
		d := Envelope // of the named examples
		if in, err := Named(filepath.Dir(path)); err == nil {
			d = in
		}
		if err := wrappings[d].Validate(decoded(text, nil)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}
