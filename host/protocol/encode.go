package protocol

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/rawjson"
)

// plain are the options for writing: maps in the order of their keys, so
// that the same message is always the same bytes.
var plain = json.JoinOptions(json.Deterministic(true))

const messageRoom = 512

// Encode writes a message as a JSON object, its header first, without white
// space. The same message yields the same bytes. The error names the field that
// cannot be encoded, as a text is that is not UTF-8, or says that the Go type does
// not fit the header's message type.
func Encode(m Message) (jsontext.Value, error) {
	h := m.Head()
	fields, err := fieldsOf(m)
	if err != nil {
		return nil, err
	}
	room := messageRoom
	for _, e := range h.extra {
		room += len(e.Name) + len(`,"":`) + len(e.Value)
	}
	w := memberWriter{dst: make([]byte, 0, room)}
	w.members(headerShape().fields, unsafe.Pointer(h))
	w.members(fields, placeOf(m))
	for _, e := range h.extra {
		w.name(e.Name)
		w.dst = append(w.dst, e.Value...)
	}
	raw, err := w.closed(0)
	if err != nil {
		return nil, fmt.Errorf("protocol: encode %s: %w", h.MessageType, err)
	}
	return raw, nil
}

// fieldsOf returns the fields of a message that are not in its header.
func fieldsOf(m Message) ([]field, error) {
	if c, ok := m.(*broadcastCopy); ok {
		return nil, c.err
	}
	e := messages.byType[m.Head().MessageType]
	if e == nil || reflect.TypeOf(m).Elem() != e.goType {
		return nil, fmt.Errorf("protocol: encode %s: the message is a %T", m.Head().MessageType, m)
	}
	return e.table().fields[len(headerShape().fields):], nil
}

// A memberWriter appends members of an object, each with a comma before it, until one
// of them cannot be encoded.
type memberWriter struct {
	dst []byte
	err error // names the member
}

// closed makes an object of the members that were appended since there were so many bytes.
func (w *memberWriter) closed(start int) (jsontext.Value, error) {
	if w.err != nil {
		return nil, w.err
	}
	if len(w.dst) == start {
		w.dst = append(w.dst, ',')
	}
	w.dst[start] = '{'
	w.dst = append(w.dst, '}')
	return w.dst, nil
}

// members writes the fields of the struct that is at a place.
func (w *memberWriter) members(fields []field, of unsafe.Pointer) {
	for i := range fields {
		f := &fields[i]
		at := unsafe.Add(of, f.offset)
		if f.omit && f.zero(at) {
			continue
		}
		w.name(f.name)
		if w.value(f, at); w.err != nil {
			return
		}
	}
}

// name appends a name that needs no escapes, and a colon.
func (w *memberWriter) name(name string) {
	w.dst = append(append(append(w.dst, ',', '"'), name...), '"', ':')
}

// zero reports whether the field holds its zero value.
func (f *field) zero(at unsafe.Pointer) bool {
	switch {
	case f.kind >= kindObject:
		return *(*unsafe.Pointer)(at) == nil
	case f.opt:
		return *(*presence)(at) == absent
	case f.kind == kindInteger:
		return *(*int)(at) == 0
	case f.kind == kindBool:
		return !*(*bool)(at)
	}
	return *(*string)(at) == ""
}

// held returns the value of a field.
func held[T any](f *field, at unsafe.Pointer) T {
	if f.opt {
		return (*Opt[T])(at).value
	}
	return *(*T)(at)
}

func (w *memberWriter) value(f *field, at unsafe.Pointer) {
	switch {
	case f.opt && f.kind == kindObject:
		if at = *(*unsafe.Pointer)(at); at == nil {
			w.null()
			return
		}
	case f.opt && *(*presence)(at) != present:
		w.null()
		return
	}
	switch f.kind {
	case kindBool:
		w.dst = strconv.AppendBool(w.dst, held[bool](f, at))
	case kindInteger:
		w.dst = strconv.AppendInt(w.dst, int64(held[int](f, at)), 10)
	case kindRound:
		r := (*Round)(at)
		if r.isText {
			w.text(f, r.text)
		} else {
			w.dst = strconv.AppendInt(w.dst, int64(r.value), 10)
		}
	case kindObject:
		start := len(w.dst)
		w.members(f.sub.fields, at)
		_, _ = w.closed(start) // the error stays
	case kindOpen:
		dst, err := jsontext.AppendFormat(w.dst, *(*jsontext.Value)(at))
		w.wrote(f, dst, err)
	case kindList:
		w.list(f, reflect.NewAt(f.goType, at).Elem())
	case kindDict:
		w.dict(f, reflect.NewAt(f.goType, at).Elem())
	default:
		w.text(f, held[string](f, at))
	}
}

func (w *memberWriter) null() { w.dst = append(w.dst, "null"...) }

func (w *memberWriter) text(f *field, s string) {
	if s == "" && f.wildNull {
		w.null()
		return
	}
	dst, err := jsontext.AppendQuote(w.dst, s)
	w.wrote(f, dst, err)
}

func (w *memberWriter) wrote(f *field, dst []byte, err error) {
	if w.dst = dst; err != nil && w.err == nil {
		w.err = fmt.Errorf("%s: %w", f.name, err)
	}
}

func (w *memberWriter) list(f *field, list reflect.Value) {
	w.dst = append(w.dst, '[')
	for i := range list.Len() {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.value(f.elem, unsafe.Add(list.UnsafePointer(), i*f.size))
	}
	w.dst = append(w.dst, ']')
}

// dict writes a map in the order of its keys.
func (w *memberWriter) dict(f *field, dict reflect.Value) {
	keys := dict.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	start, element := len(w.dst), reflect.New(f.goType.Elem())
	for _, key := range keys {
		w.dst = append(w.dst, ',')
		w.text(f, key.String())
		w.dst = append(w.dst, ':')
		element.Elem().Set(dict.MapIndex(key))
		w.value(f.elem, element.UnsafePointer())
	}
	_, _ = w.closed(start)
}

// Broadcast prepares a message for many receivers: its fields are encoded once, and each copy adds
// the header for its receiver, whose message type is that of m. A message that cannot be encoded is
// reported when a copy is encoded. The function returned is safe for concurrent use.
func Broadcast(m Message) func(Header) Message {
	kind := m.Head().MessageType
	raw, err := Encode(m)
	fields := slices.DeleteFunc(rawjson.Split(raw), func(m rawjson.Member) bool { return IsHeaderField(m.Name) })
	return func(h Header) Message {
		h.MessageType, h.extra = kind, fields
		return &broadcastCopy{h, err}
	}
}

// A broadcastCopy has its fields, as they are written, in the header.
type broadcastCopy struct {
	Header
	err error
}
