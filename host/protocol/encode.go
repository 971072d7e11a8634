package protocol

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/rawjson"
)

var (
	// plain are the options for writing: maps in the order of their keys, so
	// that the same message is always the same bytes.
	plain = json.JoinOptions(json.Deterministic(true))

	// generous are the options for reading integers that may be written 1.0.
	generous = json.WithUnmarshalers(json.UnmarshalFromFunc(readInteger))
)

// readInteger reads an integer in any notation.
func readInteger(dec *jsontext.Decoder, n *int) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if raw.Kind() == 'n' {
		*n = 0
		return nil
	}
	v, ok := rawjson.Integer(raw)
	if !ok {
		return errors.New("no whole number within 2^53-1 of zero")
	}
	*n = int(v)
	return nil
}

// Encode writes a message as a JSON object, its header first, without white
// space. The same message yields the same bytes. The error names the field that
// cannot be encoded: a text that is not UTF-8, an Extra that is not an object or
// repeats a field, or a Go type that does not fit the header's message type.
func Encode(m Message) (jsontext.Value, error) {
	h := m.Head()
	raw, err := encode(m, h)
	if err != nil {
		return nil, fmt.Errorf("protocol: encode %s: %w", h.MessageType, err)
	}
	if h.odd != nil {
		return restore(raw, h.odd.text, h.odd.shape), nil
	}
	return raw, nil
}

func encode(m Message, h *Header) (jsontext.Value, error) {
	if c, ok := m.(*broadcastCopy); ok {
		if c.of.err != nil {
			return nil, c.of.err
		}
		w := memberWriter{dst: make([]byte, 0, messageRoom+len(c.of.fields))}
		w.header(h)
		w.dst = append(w.dst, c.of.fields...)
		return w.object()
	}
	e := catalog().types[h.MessageType]
	if e != nil && reflect.TypeOf(m).Elem() != e.goType {
		return nil, fmt.Errorf("the message is a %T", m)
	}
	if e == nil || e.plain() == nil || len(h.Extra) > 0 {
		return json.Marshal(m, plain)
	}
	w := memberWriter{dst: make([]byte, 0, messageRoom)}
	w.header(h)
	w.members(reflect.ValueOf(m).UnsafePointer(), e.plain())
	return w.object()
}

const messageRoom = 512

// Decode validates a message of type t against its field rules and returns it
// as its Go type. Of a request it wants the header that [ReadHeader] returns; an
// answer has none, and needs less of one. The result shares no memory with the
// object. The error is an [*Error] that lists everything that is wrong.
func Decode(t Type, message rawjson.Object, mode Mode, request *Header) (Message, error) {
	e := catalog().types[t]
	if e == nil {
		return nil, Refuse(CodeUnknownMessageType, t, "The message type is not one of "+Version+".")
	}
	c := checker{mode: mode, request: request != nil}
	c.path = c.room[:0]
	c.object(message, e.table())
	// A type that nobody knows may stand for the expected one in tolerant mode.
	if said := TypeOf(message); said != "" && said != t && (mode == Strict || catalog().types[said] != nil) {
		c.foundIn("message_type", "enum", CodeInvalidFieldType)
	}
	if refusal := c.refusal(t); refusal != nil {
		return nil, refusal
	}
	m := e.blank()
	h := m.Head()
	if request == nil {
		request = h
	}
	rest := h.take(message, request)
	if len(rest) > 0 && !readPlain(m, e.plain(), rest) {
		// That no name stands twice was seen when the document was taken apart.
		options := []json.Options{jsontext.AllowDuplicateNames(true), nil}
		if c.respelt {
			options[1] = generous
		}
		if err := json.Unmarshal(rest.Encode(), m, options...); err != nil {
			return nil, Refuse(CodeInvalidFieldType, t, "The message does not fit its type: "+err.Error())
		}
	}
	if h.MessageType == "" {
		h.MessageType = t
	}
	if c.odd {
		h.odd = &odd{message.Encode(), e.table()}
	}
	return m, nil
}

// restore adds to an encoded message what it had when it was decoded and its Go fields cannot
// express: nulls, empty strings, and members that the shape of an object lacks. Fields set since
// keep their value.
func restore(encoded, received jsontext.Value, s *shape) jsontext.Value {
	switch {
	case encoded.Kind() == '{' && received.Kind() == '{':
		return restoreMembers(encoded, received, s)
	case encoded.Kind() == '[' && received.Kind() == '[':
		now, before := rawjson.Elements(encoded), rawjson.Elements(received)
		if len(now) != len(before) {
			return encoded
		}
		out := jsontext.Value{'['}
		for i := range now {
			out = append(append(out, restore(now[i], before[i], s)...), ',')
		}
		return append(out[:max(1, len(out)-1)], ']')
	}
	return encoded
}

func restoreMembers(encoded, received jsontext.Value, s *shape) jsontext.Value {
	now, before := rawjson.Split(encoded), rawjson.Split(received)
	place := make(map[string]int, len(now))
	for i, m := range now {
		place[m.Name] = i
	}
	for _, m := range before {
		var below *shape
		n, known := 0, s == nil // an open object, or one from ids
		if s != nil {
			if n, known = s.index[m.Name]; known {
				below = s.fields[n].inner()
			}
		}
		if i, here := place[m.Name]; here {
			now[i].Value = restore(now[i].Value, m.Value, below)
		} else if !known || m.Value.Kind() == 'n' || string(m.Value) == `""` {
			now = append(now, m)
		}
	}
	return now.Encode()
}

// Broadcast prepares a message for many receivers: its fields are encoded once, and each copy adds
// the header for its receiver, whose message type is that of m. A message that cannot be encoded is
// reported when a copy is encoded. The function returned is safe for concurrent use.
func Broadcast(m Message) func(Header) Message {
	body := &broadcast{kind: m.Head().MessageType}
	body.fields, body.err = fieldsOf(m)
	return func(h Header) Message {
		h.MessageType, h.Extra, h.odd = body.kind, nil, nil
		return &broadcastCopy{h, body}
	}
}

type broadcast struct {
	kind   Type
	fields []byte // the members behind the header, each with a comma before it
	err    error
}

// fieldsOf encodes the members of a message that are not in its header, each
// with a comma before it.
func fieldsOf(m Message) ([]byte, error) {
	raw, err := encode(m, m.Head())
	if err != nil {
		return nil, err
	}
	var w memberWriter
	w.header(m.Head())
	header, err := w.object()
	if err != nil {
		return nil, err
	}
	fields := raw[len(header)-1 : len(raw)-1]
	if len(fields) > 0 && fields[0] != ',' {
		fields = append([]byte{','}, fields...)
	}
	return fields, nil
}

type broadcastCopy struct {
	Header
	of *broadcast
}
