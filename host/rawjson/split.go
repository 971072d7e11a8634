package rawjson

import (
	"bytes"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"
)

// cursor walks over JSON text that is known to be well formed. It only finds where values begin and
// end, which takes a fraction of the time of decoding them. On malformed text its results are
// meaningless, but it always terminates.
type cursor struct {
	text    []byte
	at      int
	deepest int // nesting of the values that it has stepped over
}

// Depth returns how deep the objects and arrays of a JSON text nest.
func Depth(raw []byte) int {
	c := cursor{text: raw}
	c.Value()
	return c.deepest
}

// Walk returns a cursor before the first member or element of an object or an array.
func Walk(raw []byte) cursor {
	c := cursor{text: raw}
	c.space()
	c.at++
	return c
}

// More reports whether another member or element follows.
func (c *cursor) More() bool {
	c.space()
	return c.at < len(c.text) && c.text[c.at] != '}' && c.text[c.at] != ']'
}

func (c *cursor) space() {
	for c.at < len(c.text) {
		switch c.text[c.at] {
		case ' ', '\t', '\r', '\n', ',', ':':
			c.at++
		default:
			return
		}
	}
}

// Value returns the next value, a slice of the text, empty at the end.
func (c *cursor) Value() jsontext.Value {
	c.space()
	start := c.at
	for depth := 0; c.at < len(c.text); {
		switch c.text[c.at] {
		case '"':
			c.quoted()
		case '{', '[':
			depth++
			c.at++
			c.deepest = max(c.deepest, depth)
		case '}', ']':
			depth--
			c.at++
		default:
			c.at++
			if depth > 0 {
				continue
			}
			c.literal()
		}
		if depth <= 0 {
			return c.text[start:c.at:c.at]
		}
	}
	return c.text[start:c.at:c.at]
}

func (c *cursor) quoted() {
	for c.at++; c.at < len(c.text); c.at++ {
		switch c.text[c.at] {
		case '"':
			c.at++
			return
		case '\\':
			c.at++
		}
	}
	c.at = len(c.text)
}

// literal steps over the rest of a number, true, false or null.
func (c *cursor) literal() {
	for ; c.at < len(c.text); c.at++ {
		switch c.text[c.at] {
		case ' ', '\t', '\r', '\n', ',', '}', ']':
			return
		}
	}
}

// Split is [Parse] for well-formed text. It returns nil for a value that is not an
// object, and only for such a value.
func Split(raw []byte) Object {
	if jsontext.Value(raw).Kind() != '{' {
		return nil
	}
	room := 16
	if bytes.HasPrefix(raw, []byte(`{"jsonrpc"`)) { // which has a few members only
		room = 6
	}
	doc := make(Object, 0, room)
	for c := Walk(raw); c.More(); {
		name := Text(c.Value()) // as the values do, it may alias raw, which nobody changes
		doc = append(doc, Member{Name: unsafe.String(unsafe.SliceData(name), len(name)), Value: c.Value()})
	}
	return doc
}

// Elements returns the elements of a well-formed JSON array, none of what is no array.
func Elements(raw jsontext.Value) []jsontext.Value {
	if raw.Kind() != '[' {
		return nil
	}
	var elements []jsontext.Value
	c := Walk(raw)
	for c.More() {
		elements = append(elements, c.Value())
	}
	return elements
}
