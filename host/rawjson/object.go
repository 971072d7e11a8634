// Package rawjson splits JSON objects into members without decoding their values. Members keep
// their order and values their bytes, so a message can be unwrapped, edited and wrapped again
// without loss. It does no I/O; every function is safe for concurrent use.
//
// [Parse] validates untrusted text. [Split], [Elements] and [Walk] take text that [Parse] has
// validated: they only find where values begin and end, and do not detect errors.
package rawjson

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// A Member is one member of a JSON object. Its value is JSON text.
type Member struct {
	Name  string
	Value jsontext.Value
}

// An Object is a JSON object whose members keep their order and spelling.
// Values alias the text they were read from.
type Object []Member

// Parse validates a JSON text and splits it into members, one level deep. The error of
// invalid text says where a syntax error, a duplicate name or data after the end is, with
// the object before that data; other JSON than an object is [ErrNoObject].
func Parse(raw []byte) (Object, error) {
	r := open(raw)
	defer r.close()
	doc, err := r.object()
	if err != nil && err != ErrNoObject {
		return nil, explain(err)
	}
	switch _, end := r.ReadToken(); {
	case end == nil:
		return doc, errors.New("data after the end of the document")
	case end != io.EOF:
		return doc, fmt.Errorf("data after the end of the document: %w", explain(end))
	}
	return doc, err
}

// ErrNoObject is returned for JSON that is not an object.
var ErrNoObject = errors.New("not a JSON object")

// assignNames sets the names of the members: text is all names in a row, and ends[i] is the end of
// name i. The names share one string, which saves an allocation per name.
func (d Object) assignNames(text []byte, ends []int) {
	all, begin := string(text), 0
	for i, end := range ends {
		d[i].Name = all[begin:end]
		begin = end
	}
}

// Get returns the value of a member, or nil if it is missing.
func (d Object) Get(name string) jsontext.Value {
	for _, m := range d {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// First returns the value of the first of these members that exists, or nil.
func (d Object) First(names ...string) jsontext.Value {
	for _, name := range names {
		if v := d.Get(name); v != nil {
			return v
		}
	}
	return nil
}

// Text returns the text of a member, or "" if it is missing or not a string.
func (d Object) Text(name string) string {
	if v := d.Get(name); v != nil && v.Kind() == '"' {
		return string(Unquote(v))
	}
	return ""
}

// Set replaces the value of a member or appends the member. It may modify d.
func (d Object) Set(name string, value jsontext.Value) Object {
	for i := range d {
		if d[i].Name == name {
			d[i].Value = value
			return d
		}
	}
	return append(d, Member{name, value})
}

// Without returns a copy of d without the named members.
func (d Object) Without(names ...string) Object {
	return slices.DeleteFunc(slices.Clone(d), func(m Member) bool { return slices.Contains(names, m.Name) })
}

// Encode returns the object as JSON, without white space between its members.
func (d Object) Encode() jsontext.Value {
	size := 2
	for _, m := range d {
		size += len(m.Name) + len(m.Value) + 4
	}
	out := append(make(jsontext.Value, 0, size), '{')
	for i, m := range d {
		if i > 0 {
			out = append(out, ',')
		}
		// Names come out of parsed JSON or from literals, so they are UTF-8.
		out, _ = jsontext.AppendQuote(out, m.Name)
		out = append(out, ':')
		out = append(out, m.Value...)
	}
	return append(out, '}')
}
