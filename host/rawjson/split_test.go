package rawjson

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// FuzzSplit holds the quick reader to the one that checks: of every text that
// is JSON it sees the same members and elements, and it comes to an end on
// every other.
func FuzzSplit(f *testing.F) {
	examples, err := filepath.Glob("../../docs/protocol/examples/contracts/*.json")
	if err != nil || len(examples) == 0 {
		f.Fatal("no examples of messages", err)
	}
	for _, name := range examples {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	for _, text := range []string{
		"{}", " { } ", `{"a":1}`, "{ \"a\" :\t[ 1 , 2 ],\r\n\"b\" : { } }", `{"":"","\\":"\"","A":"}{"}`, `[]`, `[[],{},"]",-1.5e3,null]`,
		`{"a":"\\\"`, `{"a"`, `{`, `{"a":[`, `{,}`, `{:}`, `nope`, ``, `"`, `{"a":}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		quick, quickErr := Split(text)
		elements := Elements(text)
		careful, err := Parse(text)
		if err == nil {
			if quickErr != nil || len(quick) != len(careful) {
				t.Fatalf("%s: %v: %d members, want %d", text, quickErr, len(quick), len(careful))
			}
			for i := range careful {
				if quick[i].Name != careful[i].Name || !bytes.Equal(quick[i].Value, careful[i].Value) {
					t.Errorf("%s: member %d is %q: %s, want %q: %s", text, i, quick[i].Name, quick[i].Value, careful[i].Name, careful[i].Value)
				}
			}
			return
		}
		list := append(append([]byte(`{"list":`), text...), '}')
		wrapped, err := Parse(list)
		if err != nil || len(wrapped) != 1 || wrapped[0].Value.Kind() != '[' {
			return // no JSON, or neither object nor array
		}
		r := jsontext.NewDecoder(bytes.NewReader(text))
		_, _ = r.ReadToken()
		for i := range elements {
			if want, err := r.ReadValue(); err != nil || !bytes.Equal(elements[i], want) {
				t.Errorf("%s: element %d is %s, want %s, %v", text, i, elements[i], want, err)
			}
		}
		if r.PeekKind() != ']' {
			t.Errorf("%s: %d elements are not all", text, len(elements))
		}
	})
}

// BenchmarkRead compares reading a message that comes from outside with
// splitting one that has been read before.
func BenchmarkRead(b *testing.B) {
	text, err := os.ReadFile("../../docs/protocol/examples/contracts/choose_parity_call.json")
	if err != nil {
		b.Fatal(err)
	}
	for name, read := range map[string]func([]byte) (Object, error){"parse": Parse, "split": Split} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := read(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
