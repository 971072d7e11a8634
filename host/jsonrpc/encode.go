package jsonrpc

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	frameOpen = `{"jsonrpc":"2.0","id":`
	nullID    = "null"
)

// appendID appends id, or null where there is none.
func appendID(dst []byte, id jsontext.Value) []byte {
	if len(id) == 0 {
		return append(dst, nullID...)
	}
	return append(dst, id...)
}

// encodeResult frames a result. It trusts id and result to be valid JSON.
func encodeResult(id, result jsontext.Value) []byte {
	b := make([]byte, 0, len(frameOpen)+len(id)+len(result)+len(`null,"result":}`))
	b = append(b, frameOpen...)
	b = appendID(b, id)
	b = append(b, `,"result":`...)
	b = append(b, result...)
	return append(b, '}')
}

// encodeError frames an error. It trusts id and e.Data to be valid JSON.
func encodeError(id jsontext.Value, e *Error) []byte {
	b := make([]byte, 0, len(frameOpen)+len(id)+len(e.Message)+len(e.Data)+72)
	b = append(b, frameOpen...)
	b = appendID(b, id)
	b = append(b, `,"error":{"code":`...)
	b = strconv.AppendInt(b, int64(e.Code), 10)
	b = append(b, `,"message":`...)
	b = appendQuote(b, e.Message)
	if len(e.Data) > 0 {
		b = append(b, `,"data":`...)
		b = append(b, e.Data...)
	}
	return append(b, "}}"...)
}

// encodeRequest frames a request; without an id it is a notification.
func encodeRequest(id jsontext.Value, method string, params jsontext.Value) []byte {
	b := make([]byte, 0, len(frameOpen)+len(id)+len(method)+len(params)+24)
	b = append(b, `{"jsonrpc":"2.0"`...)
	if len(id) > 0 {
		b = append(b, `,"id":`...)
		b = append(b, id...)
	}
	b = append(b, `,"method":`...)
	b = appendQuote(b, method)
	if len(params) > 0 {
		b = append(b, `,"params":`...)
		b = append(b, params...)
	}
	return append(b, '}')
}

// appendQuote appends s as a JSON string. Invalid UTF-8 becomes U+FFFD: the
// error that AppendQuote reports for it says only that.
func appendQuote(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s)
	return dst
}

// singleLine returns doc without line breaks, which JSON has only between
// tokens. It fails if doc is not JSON.
func singleLine(doc []byte) ([]byte, error) {
	if bytes.IndexByte(doc, '\n') < 0 && bytes.IndexByte(doc, '\r') < 0 {
		return doc, nil
	}
	v := jsontext.Value(bytes.Clone(doc))
	if err := v.Compact(); err != nil {
		return nil, err
	}
	return v, nil
}
