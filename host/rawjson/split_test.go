package rawjson

import (
	"bytes"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// FuzzSplit holds the quick reader to the one that checks: of every text that is JSON it sees the
// same members and elements, and it comes to an end on every other.
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
		quick := Split(text)
		elements := Elements(text)
		careful, err := Parse(text)
		if err == nil {
			if quick == nil || len(quick) != len(careful) {
				t.Fatalf("%s: %d members, want %d", text, len(quick), len(careful))
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
	for name, read := range map[string]func([]byte) Object{"parse": func(text []byte) Object { doc, _ := Parse(text); return doc }, "split": Split} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if read(text) == nil {
					b.Fatal("it is not read")
				}
			}
		})
	}
}

func TestInteger(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0": 0, "-0": 0, "1": 1, "-17": -17, "1.0": 1, "1.50e1": 15, "100e-2": 1, "0e999999999999999999999": 0, "0.000": 0, "-2.0": -2, "1E+2": 100,
		"9007199254740991": 9007199254740991, "-9007199254740991": -9007199254740991, "9007199254740991.000": 9007199254740991, "0.0000000000000000000001e22": 1,
	} {
		if got, ok := Integer(jsontext.Value(text)); !ok || got != want {
			t.Errorf("%s is read as %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{
		"0.5", "1.5", "1e-1", "9007199254740992", "-9007199254740992", "9007199254740991.2", "99999999999999999999", "1e16", "1e300", "1e99999999999999999999",
		"-1e-99999999999999999999", "1e1048577", `"1"`, "true", "null", "[]",
	} {
		if got, ok := Integer(jsontext.Value(text)); ok {
			t.Errorf("%s is read as the integer %d", text, got)
		}
	}
}

// FuzzInteger compares the reading of integers with exact arithmetic.
func FuzzInteger(f *testing.F) {
	for _, text := range []string{"0", "-1", "1.0", "12e-1", "120e-1", "9007199254740991", "9007199254740992.0", "1e15", "0.00100e3", "-0.0e9"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v := jsontext.Value(text)
		if !v.IsValid() || v.Kind() != '0' || len(text) > 40 {
			return
		}
		var f64 float64
		if json.Unmarshal(v, &f64) != nil || f64 > 1e20 || f64 < -1e20 || f64 > -1e-30 && f64 < 1e-30 {
			return // too large or too small to be worked out exactly
		}
		if err := v.Compact(); err != nil {
			return
		}
		exact, ok := new(big.Rat).SetString(string(v))
		if !ok {
			return
		}
		limit := big.NewRat(MaxInteger, 1)
		want := exact.IsInt() && exact.Cmp(limit) <= 0 && new(big.Rat).Neg(exact).Cmp(limit) <= 0
		got, ok := Integer(v)
		if ok != want || ok && big.NewRat(got, 1).Cmp(exact) != 0 {
			t.Errorf("%s is read as %d, %v", text, got, ok)
		}
	})
}
