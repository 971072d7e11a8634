package eventlog

import (
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// schemaVersion is the version of the record format.
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

// appendRecord adds a record as a line.
func (l *Log) appendRecord(b []byte, r *Record) []byte {
	b = append(b, `{"timestamp":"`...)
	b = l.clock.appendTime(b, l.now())
	b = append(b, `","ids":{"event":"`...)
	b = append(b, l.newID()...)
	b = append(b, `","request":`...)
	b = appendID(b, r.Request)
	b = append(b, `,"conversation":`...)
	if r.Conversation == "" {
		b = append(b, "null"...)
	} else {
		b = appendText(b, r.Conversation)
	}
	b = append(b, `},"transport":`...)
	b = appendText(b, r.Transport)
	b = append(b, `,"route":`...)
	b = appendText(b, r.Route)
	b = append(b, `,"method":`...)
	b = appendText(b, r.Method)
	b = append(b, `,"status":`...)
	if r.Error == nil {
		b = append(b, `"ok"`...)
	} else {
		b = append(b, `"error"`...)
	}
	b = append(b, `,"http_status":`...)
	b = strconv.AppendInt(b, int64(r.Status), 10)
	b = append(b, `,"duration_ms":`...)
	b = l.appendDuration(b, r.Duration)
	b = append(b, `,"error":`...)
	if r.Error == nil {
		b = append(b, "null"...)
	} else {
		b = append(b, r.Error...)
	}
	b = append(b, `,"metadata":{"schemaVersion":"`+schemaVersion+`","deterministic":`...)
	b = strconv.AppendBool(b, l.cfg.Seed != "")
	return append(b, "}}\n"...)
}

// appendDuration writes milliseconds, to the microsecond.
func (l *Log) appendDuration(b []byte, d time.Duration) []byte {
	if l.cfg.Seed != "" || d < 0 {
		return append(b, '0')
	}
	us := d.Microseconds()
	b = strconv.AppendInt(b, us/1000, 10)
	return appendThousandths(append(b, '.'), int(us%1000))
}

// clock formats times. It caches the last second, which many records share.
type clock struct {
	second int64
	text   []byte
}

// appendTime writes a time in UTC, to the millisecond.
func (c *clock) appendTime(b []byte, t time.Time) []byte {
	if second := t.Unix(); second != c.second || c.text == nil {
		c.second, c.text = second, t.UTC().AppendFormat(c.text[:0], "2006-01-02T15:04:05.")
	}
	b = append(b, c.text...)
	return append(appendThousandths(b, t.Nanosecond()/1_000_000), 'Z')
}

// appendThousandths writes three digits.
func appendThousandths(b []byte, n int) []byte {
	return append(b, byte('0'+n/100), byte('0'+n/10%10), byte('0'+n%10))
}

// appendID writes a JSON-RPC id: a string, cut to a bounded length, or a short
// number; null for anything else.
func appendID(b []byte, id jsontext.Value) []byte {
	switch id.Kind() {
	case '"':
		if len(id) <= maxText {
			return append(b, id...)
		}
		if text, err := jsontext.AppendUnquote(nil, id); err == nil {
			return appendText(b, string(text))
		}
	case '0':
		if len(id) <= maxText {
			return append(b, id...)
		}
	}
	return append(b, "null"...)
}

// appendText writes a string, cut to a bounded length.
func appendText(b []byte, s string) []byte {
	if len(s) > maxText {
		end := maxText
		for end > 0 && !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end]
	}
	b, _ = jsontext.AppendQuote(b, s) // the error only reports invalid UTF-8
	return b
}
