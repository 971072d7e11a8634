package protocol

import (
	"bytes"
	"errors"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
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
func roundTrip(t *testing.T, typ Type, body []byte, mode Mode, asRequest bool) Message {
	t.Helper()
	m, err := decodeText(typ, body, mode, asRequest)
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

// canonical returns JSON in the form of RFC 8785, in which equal values are equal texts.
func canonical(t testing.TB, raw []byte) string {
	t.Helper()
	v := jsontext.Value(bytes.Clone(raw))
	if err := v.Canonicalize(); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return string(v)
}

// decodeText decodes a message from its text; request says that it is one.
func decodeText(typ Type, text []byte, mode Mode, request bool) (Message, error) {
	message, err := rawjson.Parse(text)
	if err != nil {
		return nil, err
	}
	if !request {
		return Decode(typ, message, mode, nil)
	}
	header := ReadHeader(message)
	return Decode(typ, message, mode, &header)
}

// codeOf returns the code of a refusal, "" for anything else.
func codeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// headerNames are the names of the fields of a header.
var headerNames = func() (names []string) {
	for _, f := range headerFields() {
		names = append(names, f.name)
	}
	return names
}()
