package protocol

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/rawjson"
)

// examples is where the example files of the documentation stand, one for each
// sample, in the dialect with a method for each message.
const examples = "../../docs/protocol/examples/contracts"

// rpcID returns a JSON-RPC id that belongs to a message type: an exchange
// bears the same one in both directions.
func rpcID(t Type) jsontext.Value {
	h := sha256.Sum256([]byte(t))
	h[6], h[8] = h[6]&0x0f|0x50, h[8]&0x3f|0x80 // a UUID of version 5
	return value(fmt.Sprintf("%x-%x-%x-%x-%x", h[:4], h[4:6], h[6:8], h[8:10], h[10:16]))
}

// exampleOf returns the whole document that carries a sample.
func exampleOf(t *testing.T, s sample) jsontext.Value {
	t.Helper()
	raw, err := Encode(s.message)
	if err != nil {
		t.Fatal(err)
	}
	doc := rawjson.Object{{Name: "jsonrpc", Value: value("2.0")}}
	typ := s.message.Head().MessageType
	switch {
	case s.sent == "":
		doc = append(doc, rawjson.Member{Name: "method", Value: value(catalog().types[typ].Method)}, rawjson.Member{Name: "params", Value: raw})
	case typ == TypeLeagueError:
		e := duplicateReport()
		doc = append(doc, rawjson.Member{Name: "error", Value: rawjson.Object{
			{Name: "code", Value: value(e.Form().RPC)}, {Name: "message", Value: value(e.Form().Message)}, {Name: "data", Value: raw},
		}.Encode()})
	default:
		doc = append(doc, rawjson.Member{Name: "result", Value: raw})
	}
	if s.sent != "" {
		typ = s.sent
	}
	return append(doc, rawjson.Member{Name: "id", Value: rpcID(typ)}).Encode()
}

// TestExamplesAreWritten holds the example files to the samples; with -update
// it rewrites them. The tests of host/dialect do so for the other dialects.
func TestExamplesAreWritten(t *testing.T) {
	written := make(map[string]bool)
	for _, s := range samples(t) {
		name := filepath.Join(examples, s.name+".json")
		written[name] = true
		want := indented(t, exampleOf(t, s))
		if *update {
			if err := os.WriteFile(name, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the sample says (%v); run with -update", name, err)
		}
	}
	files, err := filepath.Glob(filepath.Join(examples, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if !written[name] {
			t.Errorf("%s belongs to no sample; remove it", name)
		}
	}
}
