package protocol

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/rawjson"
)

// Broadcast prepares a message for many receivers: its fields are encoded once,
// and each copy adds the header for its receiver, whose message type is that of
// m. A message that cannot be encoded is reported when a copy is encoded. The
// function returned is safe for concurrent use.
func Broadcast(m Message) func(Header) Message {
	body := &broadcast{kind: m.Head().MessageType}
	body.fields, body.err = fieldsOf(m)
	return func(h Header) Message {
		h.MessageType, h.Extra, h.odd = body.kind, nil, nil
		return &broadcastCopy{h, body}
	}
}

type broadcast struct {
	kind   Type
	fields []byte // the members behind the header, each with a comma before it
	err    error
}

// fieldsOf encodes the members of a message that are not in its header, each
// with a comma before it.
func fieldsOf(m Message) ([]byte, error) {
	raw, err := Encode(m)
	if err != nil {
		return nil, err
	}
	doc, err := rawjson.Split(raw)
	if err != nil {
		return nil, err
	}
	doc = doc.Without(headerNames...)
	if len(doc) == 0 {
		return nil, nil
	}
	fields := doc.Encode()
	fields[0] = ','
	return fields[:len(fields)-1], nil
}

type broadcastCopy struct {
	Header
	of *broadcast
}

func (c *broadcastCopy) Encode() (jsontext.Value, error) {
	if c.of.err != nil {
		return nil, c.of.err
	}
	header, err := json.Marshal(&c.Header, plain)
	if err != nil {
		return nil, fmt.Errorf("protocol: encode %s: %w", c.of.kind, err)
	}
	raw := slices.Grow(header[:len(header)-1], len(c.of.fields)+1)
	return append(append(raw, c.of.fields...), '}'), nil
}
