package protocol

import (
	"bytes"
	"testing"
)

// FuzzSplit holds the quick reader to the one that checks: of every text that
// is JSON it sees the same members and elements, and it comes to an end on
// every other.
func FuzzSplit(f *testing.F) {
	for _, s := range samples(f) {
		raw, err := Encode(s.message)
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(raw))
	}
	for _, text := range []string{
		"{}", " { } ", `{"a":1}`, "{ \"a\" :\t[ 1 , 2 ],\r\n\"b\" : { } }", `{"":"","\\":"\"","A":"}{"}`, `[]`, `[[],{},"]",-1.5e3,null]`,
		`{"a":"\\\"`, `{"a"`, `{`, `{"a":[`, `{,}`, `{:}`, `nope`, ``, `"`, `{"a":}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		quick, quickErr := splitDocument(text)
		elements := splitElements(text)
		careful, err := parseDocument(text)
		if err == nil {
			if quickErr != nil || len(quick) != len(careful) {
				t.Fatalf("%s: %v: %d members, want %d", text, quickErr, len(quick), len(careful))
			}
			for i := range careful {
				if quick[i].name != careful[i].name || !bytes.Equal(quick[i].value, careful[i].value) {
					t.Errorf("%s: member %d is %q: %s, want %q: %s", text, i, quick[i].name, quick[i].value, careful[i].name, careful[i].value)
				}
			}
			return
		}
		list := append(append([]byte(`{"list":`), text...), '}')
		wrapped, err := parseDocument(list)
		if err != nil || len(wrapped) != 1 || wrapped[0].value.Kind() != '[' {
			return // no JSON, or neither object nor array
		}
		r := openReader(text)
		defer r.close()
		r.ReadToken()
		for i := range elements {
			if want, err := r.value(); err != nil || !bytes.Equal(elements[i], want) {
				t.Errorf("%s: element %d is %s, want %s, %v", text, i, elements[i], want, err)
			}
		}
		if r.PeekKind() != ']' {
			t.Errorf("%s: %d elements are not all", text, len(elements))
		}
	})
}
