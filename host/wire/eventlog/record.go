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
	now := l.now().UTC()
	b = now.AppendFormat(append(b, `{"timestamp":"`...), time.RFC3339) // the layout that has a fast path
	b = appendThousandths(b[:len(b)-1], now.Nanosecond()/1_000_000)
	b = append(append(append(b, `Z","ids":{"event":"`...), l.newID()...), `","request":`...)
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
		b = appendThousandths(strconv.AppendInt(b, r.Duration.Milliseconds(), 10), int(r.Duration.Microseconds()%1000))
	}
	b = append(append(append(b, `,"error":`...), failure...), `,"metadata":{"schemaVersion":"`+schemaVersion+`","deterministic":`...)
	return append(strconv.AppendBool(b, l.cfg.Seed != ""), "}}\n"...)
}

// appendThousandths writes a point and n with three digits.
func appendThousandths(b []byte, n int) []byte {
	return append(b, '.', byte('0'+n/100), byte('0'+n/10%10), byte('0'+n%10))
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
