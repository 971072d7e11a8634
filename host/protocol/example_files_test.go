package protocol

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/rawjson"
)

// examples is where the example files of the documentation stand.
const examples = "../../docs/protocol/examples"

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
func (s sample) isVariant() bool { return s.name != lower(s.message.Head().MessageType) }

// rpcID returns a JSON-RPC id that belongs to a message type: an exchange
// bears the same one in both directions.
func rpcID(t Type) jsontext.Value {
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
		return call.Document(rpcID(s.message.Head().MessageType))
	}
	req := openSample(t, d, s.sent, all)
	var r Reply
	if s.message.Head().MessageType == TypeLeagueError {
		r = req.Refuse(*s.message.Head(), duplicateReport())
	} else {
		var err error
		if r, err = req.Reply(s.message); err != nil {
			t.Fatalf("%s in %s: %v", s.name, d.Name, err)
		}
	}
	doc, err := r.Document(rpcID(s.sent), rpcID(s.message.Head().MessageType))
	if err != nil {
		t.Fatalf("%s in %s: %v", s.name, d.Name, err)
	}
	return doc
}

// openSample returns the request of a type as its receiver opens it.
func openSample(t testing.TB, d *Dialect, sent Type, all []sample) *Request {
	t.Helper()
	for _, s := range all {
		if s.message.Head().MessageType != sent {
			continue
		}
		call, err := d.Call(s.message)
		if err != nil {
			t.Fatal(err)
		}
		req, err := openCall(NewCodec(Tolerant, d, Contracts), call)
		if err != nil {
			t.Fatalf("open %s in %s: %v", sent, d.Name, err)
		}
		return req
	}
	t.Fatalf("no sample of %s", sent)
	return nil
}

// openCall opens a call as its receiver does.
func openCall(c *Codec, call Call) (*Request, error) {
	if call.Body != nil {
		return c.OpenBare(call.Body)
	}
	return c.Open(call.Method, call.Params)
}

// exampleFiles returns what the example files hold, by path.
func exampleFiles(t testing.TB) map[string]jsontext.Value {
	files := make(map[string]jsontext.Value)
	all := samples(t)
	for _, d := range Dialects() {
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

// TestExamplesAreWritten holds the example files to the samples; with -update
// it rewrites them.
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

// TestExamples reads every example file as a program that receives it would:
// the document keeps the schema of its dialect, the message in it the schema
// of its type, and the Go type holds all of it.
func TestExamples(t *testing.T) {
	t.Parallel()
	covered := make(map[Type]map[string]bool)
	for path, text := range exampleBytes(t) {
		dialect := dialectOf(path)
		t.Run(filepath.ToSlash(path), func(t *testing.T) {
			wrapping, err := WrappingSchema(dialect.Name)
			if err != nil {
				t.Fatal(err)
			}
			if err := conforms(t, compile(t, wrapping), text); err != nil {
				t.Errorf("the document: %v", err)
			}
			typ, body := carried(t, dialect, text)
			schema, err := Schema(typ)
			if err != nil {
				t.Fatal(err)
			}
			if err := conforms(t, compile(t, schema), body); err != nil {
				t.Errorf("the message: %v", err)
			}
			roundTrip(t, typ, body, Strict, !byType[typ].answers())
			if covered[typ] == nil {
				covered[typ] = make(map[string]bool)
			}
			covered[typ][dialect.Name] = true
		})
	}
	for _, typ := range Types() {
		for _, d := range Dialects() {
			if !covered[typ][d.Name] {
				t.Errorf("no example of %s in dialect %s", typ, d.Name)
			}
		}
	}
}

// dialectOf returns the dialect that an example file is in.
func dialectOf(path string) *Dialect {
	for _, d := range Dialects() {
		if filepath.Dir(path) == d.Name {
			return d
		}
	}
	return Envelope
}

// carried returns the message in the document of an example file, taken out
// of it without the codec.
func carried(t *testing.T, d *Dialect, text []byte) (Type, jsontext.Value) {
	t.Helper()
	doc := parsed(t, text)
	place := d.Answer
	var at jsontext.Value
	switch {
	case place.Bare:
		at = jsontext.Value(text)
	case doc.Get("params") != nil:
		place, at = d.Request, doc.Get("params")
	case doc.Get("error") != nil:
		at = parsed(t, doc.Get("error")).Get("data")
		if d == ToolIO {
			place = Place{}
		}
	default:
		at = doc.Get("result")
	}
	inner := parsed(t, at)
	if place.Header != "" {
		inner = append(parsed(t, inner.Get(place.Header)), parsed(t, inner.Get(place.Message))...)
	} else if place.Message != "" {
		inner = parsed(t, inner.Get(place.Message))
	}
	return Type(inner.Text("message_type")), inner.Encode()
}

func parsed(t testing.TB, raw []byte) rawjson.Object {
	t.Helper()
	doc, err := rawjson.Parse(raw)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return doc
}

// roundTrip decodes a message and encodes it again: nothing is lost.
func roundTrip(t *testing.T, typ Type, body []byte, mode Mode, asRequest bool) Message {
	t.Helper()
	m, err := Decode(typ, body, mode, asRequest)
	if err != nil {
		t.Error(err)
		return nil
	}
	again, err := Encode(m)
	if err != nil {
		t.Error(err)
		return m
	}
	if want, got := canonical(t, body), canonical(t, again); want != got {
		t.Errorf("the message changes when it is read and written:\n%s\n%s", want, got)
	}
	return m
}

// canonical returns JSON in the form of RFC 8785, in which equal values are
// equal texts.
func canonical(t testing.TB, raw []byte) string {
	t.Helper()
	v := jsontext.Value(bytes.Clone(raw))
	if err := v.Canonicalize(); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return string(v)
}
