package protocol

import "slices"

// A Circular is a message that goes to many. Its fields are encoded once, and
// each copy adds the header for whom it is sent to. It is safe for concurrent
// use.
type Circular struct {
	kind   Type
	fields []byte // the members behind the header, each with a comma before it
	err    error
}

// NewCircular returns the circular of a message whose header, besides its type,
// does not count. A message that cannot be encoded is told of when a copy is.
func NewCircular(m Message) *Circular {
	c := &Circular{kind: m.Head().MessageType}
	raw, err := Encode(m)
	if err != nil {
		c.err = err
		return c
	}
	doc, err := splitDocument(raw)
	if err != nil {
		c.err = err
		return c
	}
	for _, m := range doc {
		if !slices.Contains(headerNames, m.name) {
			c.fields = append(appendName(append(c.fields, ','), m.name), m.value...)
		}
	}
	return c
}

// With returns a copy with its header, which is of the circular's type.
func (c *Circular) With(h Header) Message {
	h.MessageType, h.Extra, h.odd = c.kind, nil, nil
	return &circularCopy{h, c}
}

type circularCopy struct {
	Header
	of *Circular
}

func (c *circularCopy) appendFields(dst []byte) ([]byte, error) {
	return append(slices.Grow(dst, len(c.of.fields)+1), c.of.fields...), c.of.err
}
