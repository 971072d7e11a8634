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

	// generous are the options for reading where an integer may be spelt 1.0.
	generous = json.WithUnmarshalers(json.UnmarshalFromFunc(readInteger))
)

// readInteger reads an integer however it is spelt.
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
// space. The same message yields the same bytes. The error says which field
// cannot be written: a text that is not UTF-8, an Extra that is no object or
// repeats a field, or a Go type that does not fit the header's message type.
func Encode(m Message) (jsontext.Value, error) {
	h := m.Head()
	if c, ok := m.(*broadcastCopy); ok {
		return c.Encode()
	}
	if want, known := goTypes[h.MessageType]; known && reflect.TypeOf(m) != want {
		return nil, fmt.Errorf("protocol: encode %s: the message is a %T", h.MessageType, m)
	}
	raw, err := json.Marshal(m, plain)
	if err != nil {
		return nil, fmt.Errorf("protocol: encode %s: %w", h.MessageType, err)
	}
	if h.odd != nil {
		return restore(raw, h.odd)
	}
	return raw, nil
}

// goTypes holds the Go type of each message type.
var goTypes = indexGoTypes()

func indexGoTypes() map[Type]reflect.Type {
	index := make(map[Type]reflect.Type, len(catalog))
	for _, e := range catalog {
		index[e.Type] = reflect.TypeOf(e.blank())
	}
	return index
}

// Decode validates a message of type t against its field rules and returns it
// as its Go type. Of a request it wants the header that [ReadHeader] returns; an
// answer has none, and needs less of one. The result shares no memory with the
// object. The error is an [*Error] that lists everything that is wrong.
func Decode(t Type, message rawjson.Object, mode Mode, request *Header) (Message, error) {
	m, e := decode(t, message, mode, request)
	if e != nil {
		return nil, e
	}
	return m, nil
}

func decode(t Type, doc rawjson.Object, mode Mode, glanced *Header) (Message, *Error) {
	e := byType[t]
	if e == nil {
		return nil, Refuse(CodeUnknownMessageType, t, "The message type is not one of "+Version+".")
	}
	c := checker{mode: mode, request: glanced != nil}
	c.path = c.room[:0]
	c.object(doc, e.shape)
	// A type that nobody knows may stand for the expected one in tolerant mode.
	if said := Type(doc.Text("message_type")); said != "" && said != t && (mode == Strict || byType[said] != nil) {
		c.foundIn("message_type", "enum", CodeInvalidFieldType)
	}
	if refusal := c.refusal(t); refusal != nil {
		return nil, refusal
	}
	m := e.blank()
	h := m.Head()
	if glanced == nil {
		glanced = h
	}
	rest := h.take(doc, glanced)
	if len(rest) > 0 {
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
		h.odd = doc.Encode()
	}
	return m, nil
}
