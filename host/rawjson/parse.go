package rawjson

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// decoders reuses decoders with their buffers, which nearly halves the time to
// read a message.
var decoders = sync.Pool{New: func() any { return new(Reader) }}

// A Reader is a decoder over one JSON text at a time. Duplicate keys, invalid
// UTF-8 and nesting beyond 10,000 levels are errors by jsontext's defaults;
// the transport bounds size and depth more closely.
type Reader struct {
	jsontext.Decoder
	buffer bytes.Buffer
	text   []byte
}

// Open returns a reader of a text, which must not change before Close.
func Open(text []byte) *Reader {
	r := decoders.Get().(*Reader)
	r.text, r.buffer = text, *bytes.NewBuffer(text)
	r.Reset(&r.buffer)
	return r
}

// Close returns the reader to the pool. The values it read stay valid.
func (r *Reader) Close() {
	r.text, r.buffer = nil, bytes.Buffer{}
	decoders.Put(r)
}

// Value reads the next value. It is a slice of the text, so it outlives the
// reader.
func (r *Reader) Value() (jsontext.Value, error) {
	v, err := r.ReadValue()
	if err != nil {
		return nil, err
	}
	end := int(r.InputOffset())
	return r.text[end-len(v) : end : end], nil
}

// end returns an error unless only white space is left.
func (r *Reader) end() error {
	switch _, err := r.ReadToken(); err {
	case io.EOF:
		return nil
	case nil:
		return errors.New("data after the end of the message")
	default:
		return err
	}
}
