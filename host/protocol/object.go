package protocol

import (
	"errors"
	"slices"

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

// parseDocument takes a JSON object apart, one level deep. The error is that
// of reading it: malformed at any depth, a duplicate key, trailing data, or
// [errNoObject].
func parseDocument(raw []byte) (document, error) {
	r := openReader(raw)
	defer r.close()
	if kind := r.PeekKind(); kind != '{' && kind != 0 {
		return nil, errNoObject
	}
	if _, err := r.ReadToken(); err != nil {
		return nil, err
	}
	doc := make(document, 0, 16)
	names := newNameList()
	for r.PeekKind() != '}' {
		name, err := r.ReadValue()
		if err != nil {
			return nil, err
		}
		names.add(unquote(name))
		value, err := r.value()
		if err != nil {
			return nil, err
		}
		doc = append(doc, member{value: value})
	}
	if _, err := r.ReadToken(); err != nil {
		return nil, err
	}
	names.assign(doc)
	return doc, r.end()
}

// errNoObject is returned for JSON that is not an object.
var errNoObject = errors.New("not a JSON object")

// nameList collects the names of an object's members in one string, which
// takes one allocation where a string for each name takes a dozen.
type nameList struct {
	text []byte
	ends []int
}

func newNameList() nameList {
	return nameList{make([]byte, 0, 256), make([]int, 0, 16)}
}

func (l *nameList) add(name []byte) {
	l.text = append(l.text, name...)
	l.ends = append(l.ends, len(l.text))
}

// assign names the members in the order in which the names were added.
func (l *nameList) assign(doc document) {
	text, begin := string(l.text), 0
	for i, end := range l.ends {
		doc[i].name = text[begin:end]
		begin = end
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

// first returns the first of the members that is there.
func (d document) first(names ...string) jsontext.Value {
	for _, name := range names {
		if v := d.get(name); v != nil {
			return v
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
