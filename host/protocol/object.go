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
// of reading it: malformed at any depth, a duplicate key, trailing data, or no
// object at all.
func parseDocument(raw []byte) (document, error) {
	doc := make(document, 0, 16)
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

// intern returns the name as a string, without a copy for the names that
// stand at the top of nearly every message.
func intern(name []byte) string {
	if known, ok := commonNames[string(name)]; ok {
		return known
	}
	return string(name)
}

// internValue is intern for what many messages say.
func internValue(value []byte) string {
	if known, ok := commonValues[string(value)]; ok {
		return known
	}
	return string(value)
}

// commonValues are the texts that stand in nearly every message.
var commonValues = indexValues()

func indexValues() map[string]string {
	values := map[string]string{Version: Version, GameEvenOdd: GameEvenOdd, StatusAcknowledged: StatusAcknowledged}
	for _, e := range catalogue {
		values[string(e.typ)] = string(e.typ)
	}
	return values
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
		return internValue(unquote(v))
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
