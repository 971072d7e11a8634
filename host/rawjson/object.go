// Package rawjson splits JSON objects into members without decoding their values. Members keep
// their order and values their bytes, so a message can be unwrapped, edited and wrapped again
// without loss. It does no I/O; every function is safe for concurrent use.
//
// [Parse] validates untrusted text. [Split], [Elements] and [Walk] take text that [Parse] has
// validated: they only find where values begin and end, and do not detect errors.
package rawjson

import (
	"bytes"
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
// Names and values alias the text they were read from, which must not change.
type Object []Member

// ErrNoObject is returned for JSON that is not an object.
var ErrNoObject = errors.New("not a JSON object")

// Parse validates a JSON text and splits it into members, one level deep. Duplicate names, invalid
// UTF-8 and nesting beyond 10,000 levels are errors; the transport bounds size and depth more
// closely. The error of invalid text says where a syntax error, a duplicate name or data after the
// end is, with the object before that data; other JSON than an object is [ErrNoObject].
func Parse(raw []byte) (Object, error) {
	if !jsontext.Value(raw).IsValid() {
		return explain(raw)
	}
	if doc := Split(raw); doc != nil {
		return doc, nil
	}
	return nil, ErrNoObject
}

// explain reads invalid text again to say what is wrong with it, and where.
func explain(raw []byte) (Object, error) {
	r := jsontext.NewDecoder(bytes.NewReader(raw))
	first, err := r.ReadValue()
	if err == nil {
		doc := Split(bytes.Clone(first))
		if _, err = r.ReadToken(); err == nil {
			return doc, errors.New("data after the end of the document")
		}
		return doc, fmt.Errorf("data after the end of the document: %w", located(err))
	}
	return nil, located(err)
}

// located rewrites an error of jsontext so that it names the place.
func located(err error) error {
	syntax, is := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("empty document")
	case !is:
		return err
	case errors.Is(err, jsontext.ErrDuplicateName):
		return fmt.Errorf("duplicate name at %s", syntax.JSONPointer)
	case syntax.JSONPointer == "":
		return fmt.Errorf("%w at offset %d", syntax.Err, syntax.ByteOffset)
	}
	return fmt.Errorf("%w at offset %d, within %s", syntax.Err, syntax.ByteOffset, syntax.JSONPointer)
}

// Get returns the value of the first of these members that exists, or nil.
func (d Object) Get(names ...string) jsontext.Value {
	for _, name := range names {
		for _, m := range d {
			if m.Name == name {
				return m.Value
			}
		}
	}
	return nil
}

// Text returns the text of a member, or "" if it is missing or not a string.
func (d Object) Text(name string) string { return string(Text(d.Get(name))) }

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
