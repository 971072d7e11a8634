package rawjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// readers reuses decoders with their buffers, which nearly halves the time to read a message.
var readers = sync.Pool{New: func() any { return new(reader) }}

// A reader is a decoder over one JSON text at a time. Duplicate keys, invalid
// UTF-8 and nesting beyond 10,000 levels are errors by jsontext's defaults;
// the transport bounds size and depth more closely.
type reader struct {
	jsontext.Decoder
	buffer bytes.Buffer
	text   []byte
}

// open returns a reader of a text, which must not change before close.
func open(text []byte) *reader {
	r := readers.Get().(*reader)
	r.text, r.buffer = text, *bytes.NewBuffer(text)
	r.Reset(&r.buffer)
	return r
}

func (r *reader) close() {
	r.text, r.buffer = nil, bytes.Buffer{}
	readers.Put(r)
}

// object reads an object; of another value it returns ErrNoObject.
func (r *reader) object() (Object, error) {
	if kind := r.PeekKind(); kind != '{' {
		if _, err := r.ReadValue(); err != nil {
			return nil, err
		}
		return nil, ErrNoObject
	}
	if _, err := r.ReadToken(); err != nil {
		return nil, err
	}
	room := 16
	if bytes.HasPrefix(r.text, []byte(`{"jsonrpc"`)) { // which has a few members only
		room = 6
	}
	doc := make(Object, 0, room)
	names, ends := make([]byte, 0, 256), make([]int, 0, 24)
	for r.PeekKind() != '}' {
		name, err := r.ReadValue()
		if err != nil {
			return nil, err
		}
		names = append(names, Unquote(name)...)
		ends = append(ends, len(names))
		value, err := r.ReadValue()
		if err != nil {
			return nil, err
		}
		end := int(r.InputOffset()) // a slice of the text outlives the reader
		doc = append(doc, Member{Value: r.text[end-len(value) : end : end]})
	}
	doc.assignNames(names, ends)
	_, err := r.ReadToken()
	return doc, err
}

// explain rewrites an error of jsontext so that it names the place.
func explain(err error) error {
	syntax, is := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("empty document")
	case !is:
		return err
	case errors.Is(err, jsontext.ErrDuplicateName):
		return fmt.Errorf("duplicate name at %s", syntax.JSONPointer)
	case syntax.JSONPointer == "":
		return fmt.Errorf("%w at offset %d", syntax.Err, syntax.ByteOffset)
	}
	return fmt.Errorf("%w at offset %d, within %s", syntax.Err, syntax.ByteOffset, syntax.JSONPointer)
}
