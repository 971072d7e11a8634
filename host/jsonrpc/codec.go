package jsonrpc

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/rawjson"
)

// maxIDBytes bounds an id, which every answer and log record repeats.
const maxIDBytes = 1024

// maxDetailBytes bounds the explanation of a refusal, which may quote a member
// name or number of the message.
const maxDetailBytes = 240

const maxDepth = 128

// parseDocument reads one JSON document no deeper than maxDepth, without duplicate names
// and in valid UTF-8. The error of one that is no object is [rawjson.ErrNoObject].
func parseDocument(raw []byte) (rawjson.Object, error) {
	brackets := bytes.Count(raw, []byte{'{'}) + bytes.Count(raw, []byte{'['})
	if brackets > maxDepth && rawjson.Depth(raw) > maxDepth { // few documents have so many
		return nil, fmt.Errorf("nested deeper than %d levels", maxDepth)
	}
	return rawjson.Parse(raw)
}

func detail(s string) string {
	if len(s) > maxDetailBytes {
		s = s[:maxDetailBytes] + "..."
	}
	return strings.ToValidUTF8(s, "")
}

// parse fills in req from req.Raw, the first time that it is called. If it
// fails, the refusal says why, and req.ID is set if the id could be read.
func (req *Request) parse(lenient bool) *Refusal {
	if !req.parsed {
		req.parsed, req.flaw = true, req.read(lenient)
	}
	return req.flaw
}

func (req *Request) read(lenient bool) *Refusal {
	if lenient {
		req.Raw = withoutMark(req.Raw)
	}
	doc, err := parseDocument(req.Raw)
	version, id, method, params := doc.Get("jsonrpc"), doc.Get("id"), doc.Get("method"), doc.Get("params")
	switch {
	case err == rawjson.ErrNoObject && req.Raw.Kind() == '[':
		return refusal(ReasonBatch, "batches are not supported: send the requests one by one")
	case err == rawjson.ErrNoObject:
		return refusal(ReasonBadShape, "a request is a JSON object")
	case err != nil:
		return refusal(ReasonBadJSON, detail(err.Error()))
	case version == nil && lenient:
		req.Kind = KindObject
		return nil
	case id != nil && (len(id) > maxIDBytes || id.Kind() != '"' && id.Kind() != '0' && id.Kind() != 'n'):
		return refusal(ReasonBadShape, fmt.Sprintf("id must be a string or a number of at most %d bytes", maxIDBytes))
	}
	req.ID = id
	switch {
	case version == nil:
		return refusal(ReasonBadShape, `jsonrpc is missing: it must be "2.0"`)
	case string(rawjson.Text(version)) != "2.0":
		return refusal(ReasonBadShape, `jsonrpc must be "2.0"`)
	case method == nil:
		return refusal(ReasonBadShape, "method is missing")
	case method.Kind() != '"':
		return refusal(ReasonBadShape, "method must be a string")
	case params != nil && !strings.ContainsRune("{[n", rune(params.Kind())):
		return refusal(ReasonBadShape, "params must be an object or an array")
	}
	if id == nil {
		req.Kind = KindNotification
	}
	req.Method, req.Params = string(rawjson.Text(method)), params
	return nil
}

// withoutMark returns a JSON text without the byte order mark before it, which RFC 8259
// (section 8.1) allows a reader to ignore.
func withoutMark(raw []byte) []byte { return bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")) }

// isGzip reports whether the body below a header is compressed by gzip, which has two names
// in any case (RFC 9110, section 8.4.1).
func isGzip(h http.Header) bool {
	encoding := strings.ToLower(h.Get("Content-Encoding"))
	return encoding == "gzip" || encoding == "x-gzip"
}

// frame returns a document of JSON-RPC with an id, unless that is nil. It trusts values to be valid JSON.
func frame(id jsontext.Value, more ...rawjson.Member) []byte {
	doc := append(make(rawjson.Object, 0, 4), rawjson.Member{Name: "jsonrpc", Value: jsontext.Value(`"2.0"`)})
	if len(id) > 0 {
		doc = append(doc, rawjson.Member{Name: "id", Value: id})
	}
	return append(doc, more...).Encode()
}

// encodeError frames an error, with null for an id that is nil.
func encodeError(id jsontext.Value, e *Error) []byte {
	if len(id) == 0 {
		id = jsontext.Value("null")
	}
	fields := rawjson.Object{{Name: "code", Value: strconv.AppendInt(nil, int64(e.Code), 10)}, {Name: "message", Value: rawjson.Quote(e.Message)}}
	if len(e.Data) > 0 {
		fields = append(fields, rawjson.Member{Name: "data", Value: e.Data})
	}
	return frame(id, rawjson.Member{Name: "error", Value: fields.Encode()})
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
