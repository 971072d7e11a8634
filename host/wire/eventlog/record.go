package eventlog

import (
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

const schemaVersion = "1"

// maxText bounds each text of the sender in a record, in bytes.
const maxText = 128

// A Record describes one request and its outcome.
type Record struct {
	// Request is the JSON-RPC id as it was written, nil for none.
	Request jsontext.Value
	// Conversation is the conversation of the message, empty for none.
	Conversation string
	// Transport is "http" or "stdio", Route the path or "stdio".
	Transport, Route string
	// Method is the JSON-RPC method, empty if it could not be read.
	Method string
	// Status is the HTTP status, over STDIO the one that HTTP would have.
	Status int
	// Duration is the time that handling the request took.
	Duration time.Duration
	// Error is the error object, nil for none. It is written unchanged and must
	// not contain a value of an input.
	Error jsontext.Value
}

func (l *Log) appendRecord(b []byte, r *Record) []byte {
	status, failure := "ok", jsontext.Value("null")
	if r.Error != nil {
		status, failure = "error", r.Error
	}
	b = l.now().UTC().AppendFormat(b, `{"timestamp":"2006-01-02T15:04:05.000Z`)
	b = append(append(append(b, `","ids":{"event":"`...), l.newID()...), `","request":`...)
	b = append(appendID(b, r.Request), `,"conversation":`...)
	if r.Conversation == "" {
		b = append(b, "null"...)
	} else {
		b = appendText(b, r.Conversation)
	}
	b = appendText(append(b, `},"transport":`...), r.Transport)
	b = appendText(append(b, `,"route":`...), r.Route)
	b = appendText(append(b, `,"method":`...), r.Method)
	b = append(append(append(b, `,"status":"`...), status...), `","http_status":`...)
	b = append(strconv.AppendInt(b, int64(r.Status), 10), `,"duration_ms":`...)
	if l.cfg.Seed != "" || r.Duration < 0 {
		b = append(b, '0')
	} else {
		b = strconv.AppendFloat(b, float64(r.Duration.Microseconds())/1000, 'f', 3, 64)
	}
	b = append(append(append(b, `,"error":`...), failure...), `,"metadata":{"schemaVersion":"`+schemaVersion+`","deterministic":`...)
	return append(strconv.AppendBool(b, l.cfg.Seed != ""), "}}\n"...)
}

// appendID writes a JSON-RPC id: a string, cut to a bounded length, or a short
// number; null for anything else.
func appendID(b []byte, id jsontext.Value) []byte {
	switch kind := id.Kind(); {
	case (kind == '"' || kind == '0') && len(id) <= maxText:
		return append(b, id...)
	case kind == '"':
		text, _ := jsontext.AppendUnquote(nil, id) // the transport has read it
		return appendText(b, string(text))
	}
	return append(b, "null"...)
}

func appendText(b []byte, s string) []byte {
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "")
	}
	b, _ = jsontext.AppendQuote(b, s) // the error only reports invalid UTF-8
	return b
}
