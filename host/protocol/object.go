package protocol

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// member is one member of a JSON object. Its value is JSON text.
type member struct {
	name  string
	value jsontext.Value
}

// document is a JSON object whose members keep their order and spelling. It
// serves where a message is rearranged rather than understood: to unwrap, to
// wrap, and to edit for a dialect. Values alias the text they were read from.
type document []member

// decoders lends out decoders, whose buffers are worth keeping: a message is
// read in little more than half the time.
var decoders = sync.Pool{New: func() any { return new(reader) }}

// reader is a decoder over one JSON text at a time. Duplicate keys, invalid
// UTF-8 and nesting beyond 10,000 levels are errors by jsontext's defaults;
// the transport bounds size and depth more closely.
type reader struct {
	jsontext.Decoder
	buffer bytes.Buffer
	text   []byte
}

func openReader(text []byte) *reader {
	r := decoders.Get().(*reader)
	r.text, r.buffer = text, *bytes.NewBuffer(text)
	r.Reset(&r.buffer)
	return r
}

// close gives the reader back. What it read stays valid.
func (r *reader) close() {
	r.text, r.buffer = nil, bytes.Buffer{}
	decoders.Put(r)
}

// value reads the next value, as a part of the text, so that it outlives the
// reader.
func (r *reader) value() (jsontext.Value, error) {
	v, err := r.ReadValue()
	if err != nil {
		return nil, err
	}
	end := int(r.InputOffset())
	return r.text[end-len(v) : end : end], nil
}

// end returns an error unless nothing but white space is left.
func (r *reader) end() error {
	switch _, err := r.ReadToken(); err {
	case io.EOF:
		return nil
	case nil:
		return errors.New("data after the end of the message")
	default:
		return err
	}
}

// parseDocument takes a JSON object apart, one level deep. The error is that
// of reading it: malformed at any depth, a duplicate key, trailing data, or no
// object at all.
func parseDocument(raw []byte) (document, error) {
	return appendMembers(make(document, 0, 16), raw)
}

// appendMembers is parseDocument onto an existing document.
func appendMembers(doc document, raw []byte) (document, error) {
	r := openReader(raw)
	defer r.close()
	if kind := r.PeekKind(); kind != '{' && kind != 0 {
		return nil, errNoObject
	}
	if _, err := r.ReadToken(); err != nil {
		return nil, err
	}
	for r.PeekKind() != '}' {
		name, err := r.ReadValue()
		if err != nil {
			return nil, err
		}
		m := member{name: intern(unquote(name))}
		if m.value, err = r.value(); err != nil {
			return nil, err
		}
		doc = append(doc, m)
	}
	if _, err := r.ReadToken(); err != nil {
		return nil, err
	}
	return doc, r.end()
}

var errNoObject = errors.New("not a JSON object")

// parseElements takes a JSON array apart, one level deep.
func parseElements(raw []byte) ([]jsontext.Value, error) {
	r := openReader(raw)
	defer r.close()
	if _, err := r.ReadToken(); err != nil {
		return nil, err
	}
	var elements []jsontext.Value
	for r.PeekKind() != ']' {
		v, err := r.value()
		if err != nil {
			return nil, err
		}
		elements = append(elements, v)
	}
	return elements, nil
}

// intern returns the name as a string, without a copy for the names that
// stand at the top of nearly every message.
func intern(name []byte) string {
	if known, ok := commonNames[string(name)]; ok {
		return known
	}
	return string(name)
}

// commonNames are the member names of the tables.
var commonNames = indexNames()

func indexNames() map[string]string {
	names := make(map[string]string)
	for _, e := range catalogue {
		e.shape.gather(names)
	}
	return names
}

// gather adds the names of the shape and of all shapes below it.
func (s *shape) gather(names map[string]string) {
	for _, f := range s.fields {
		names[f.name] = f.name
		if f.elem != nil && f.elem.sub != nil {
			f.elem.sub.gather(names)
		}
		if f.sub != nil {
			f.sub.gather(names)
		}
	}
	for _, part := range s.parts {
		part.gather(names)
	}
}

// get returns the value of a member, nil where there is none.
func (d document) get(name string) jsontext.Value {
	for _, m := range d {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// text returns a member that is a string, "" where it is missing or no string.
func (d document) text(name string) string {
	if v := d.get(name); v != nil && v.Kind() == '"' {
		return string(unquote(v))
	}
	return ""
}

// set gives a member a value, in its place or at the end.
func (d document) set(name string, value jsontext.Value) document {
	for i := range d {
		if d[i].name == name {
			d[i].value = value
			return d
		}
	}
	return append(d, member{name, value})
}

// without returns the members whose names are not listed.
func (d document) without(names ...string) document {
	return slices.DeleteFunc(slices.Clone(d), func(m member) bool { return slices.Contains(names, m.name) })
}

// encode writes the object without white space between its members.
func (d document) encode() jsontext.Value {
	size := 2
	for _, m := range d {
		size += len(m.name) + len(m.value) + 4
	}
	out := append(make(jsontext.Value, 0, size), '{')
	for i, m := range d {
		if i > 0 {
			out = append(out, ',')
		}
		// Names come out of parsed JSON or from literals, so they are UTF-8.
		out, _ = jsontext.AppendQuote(out, m.name)
		out = append(out, ':')
		out = append(out, m.value...)
	}
	return append(out, '}')
}

// restore adds to an encoded message the nulls and empty strings that the
// message bore when it was decoded and that its Go fields cannot express. What
// has been given a value since stays as it is.
func restore(encoded, received jsontext.Value) (jsontext.Value, error) {
	switch {
	case encoded.Kind() == '{' && received.Kind() == '{':
		return restoreMembers(encoded, received)
	case encoded.Kind() == '[' && received.Kind() == '[':
		return restoreElements(encoded, received)
	}
	return encoded, nil
}

func restoreMembers(encoded, received jsontext.Value) (jsontext.Value, error) {
	now, err := parseDocument(encoded)
	if err != nil {
		return nil, err
	}
	before, err := parseDocument(received)
	if err != nil {
		return nil, err
	}
	place := make(map[string]int, len(now))
	for i, m := range now {
		place[m.name] = i
	}
	for _, m := range before {
		i, here := place[m.name]
		switch {
		case here:
			if now[i].value, err = restore(now[i].value, m.value); err != nil {
				return nil, err
			}
		case m.value.Kind() == 'n' || string(m.value) == `""`:
			now = append(now, m)
		}
	}
	return now.encode(), nil
}

func restoreElements(encoded, received jsontext.Value) (jsontext.Value, error) {
	now, err := parseElements(encoded)
	if err != nil {
		return nil, err
	}
	before, err := parseElements(received)
	if err != nil || len(now) != len(before) {
		return encoded, err
	}
	out := jsontext.Value{'['}
	for i := range now {
		element, err := restore(now[i], before[i])
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, element...)
	}
	return append(out, ']'), nil
}
