package protocol

import (
	"reflect"
	"unsafe"

	"github.com/strategylab/strategylab/host/rawjson"
)

// Decode validates a message of type t against its field rules and returns it
// as its Go type. Of a request it wants the header that [ReadHeader] returns; an
// answer has none, and needs less of one. Members that the type lacks are left out. The
// result shares no memory with the object. The error is an [*Error] that lists everything
// that is wrong. In tolerant mode a message that has what no mode does without comes with it,
// without the members that break their rules.
func Decode(t Type, message rawjson.Object, mode Mode, request *Header) (Message, error) {
	e := messages.byType[t]
	if e == nil {
		return nil, Refuse(CodeUnknownMessageType, t, "The message type is not one of "+Version+".")
	}
	m := e.blank()
	c := checker{mode: mode, request: request != nil}
	c.path = c.room[:0]
	c.object(message, nil, e.table(), placeOf(m))
	// A type that nobody knows, or none, stands for the expected one in tolerant mode.
	if said := TypeOf(message); said != "" && said != t && (mode == Strict || messages.byType[said] != nil) {
		c.foundIn("message_type", "enum", CodeInvalidFieldType)
	}
	m.Head().MessageType = t
	refusal := c.refusal(t)
	switch {
	case refusal == nil:
		return m, nil
	case mode == Strict || c.lacks || c.code == CodeMissingField:
		return nil, refusal
	}
	return m, refusal
}

// placeOf returns where the fields of a message are.
func placeOf(m Message) unsafe.Pointer { return reflect.ValueOf(m).UnsafePointer() }

// keep sets the field of a Go type that holds a member, at a place, to a value of its kind.
func keep[T any](f *field, v T, at unsafe.Pointer) {
	if f.opt {
		*(*Opt[T])(at) = Some(v)
	} else {
		*(*T)(at) = v
	}
}

// TypeOf returns the message type that a message bears, "" where it bears none.
// Unlike [rawjson.Object.Text] it copies no known type.
func TypeOf(message rawjson.Object) Type {
	text := rawjson.Text(message.Get("message_type"))
	if e := messages.byType[Type(text)]; e != nil {
		return e.Type
	}
	return Type(text)
}

// ReadHeader returns the header fields of a message as far as they are strings,
// so that its sender can be authenticated before anything else is validated.
func ReadHeader(message rawjson.Object) (h Header) {
	for _, m := range message {
		h.set(m)
	}
	return h
}

// set sets the field that a member is, if it is of its kind. It reports whether it is a field.
func (h *Header) set(m rawjson.Member) bool {
	f := headerShape().field(m.Name)
	if f == nil {
		return false
	}
	switch at := unsafe.Add(unsafe.Pointer(h), f.offset); {
	case f.kind == kindRound:
		*(*Round)(at) = glanceRound(m.Value)
	case m.Value.Kind() == '"':
		*(*string)(at) = string(rawjson.Text(m.Value))
	}
	return true
}
