package main

import (
	"bytes"
	"encoding/json"
)

// node is a JSON Schema, in the order in which it is written.
type node struct {
	Schema      string           `json:"$schema,omitempty"`
	Title       string           `json:"title,omitempty"`
	Comment     string           `json:"$comment,omitempty"` // the Go type
	Description string           `json:"description,omitempty"`
	Ref         string           `json:"$ref,omitempty"`
	AnyOf       []*node          `json:"anyOf,omitempty"`
	Type        any              `json:"type,omitempty"` // a text or several
	Enum        []string         `json:"enum,omitempty"`
	Pattern     string           `json:"pattern,omitempty"`
	Minimum     *int             `json:"minimum,omitempty"`
	Items       *node            `json:"items,omitempty"`
	MinItems    int              `json:"minItems,omitempty"`
	MaxItems    int              `json:"maxItems,omitempty"`
	Properties  *properties      `json:"properties,omitempty"`
	Required    []string         `json:"required,omitempty"`
	Additional  any              `json:"additionalProperties,omitempty"` // a node, or false
	Defs        map[string]*node `json:"$defs,omitempty"`
}

// properties keep the order of the fields of a struct.
type properties struct {
	names []string
	of    map[string]*node
}

func (p *properties) set(name string, n *node) {
	if p.of[name] == nil {
		p.names = append(p.names, name)
	}
	p.of[name] = n
}

// MarshalJSON implements [json.Marshaler].
func (p *properties) MarshalJSON() ([]byte, error) {
	buf := bytes.NewBufferString("{")
	for k, name := range p.names {
		if k > 0 {
			buf.WriteByte(',')
		}
		text, err := json.Marshal(p.of[name])
		if err != nil {
			return nil, err
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		buf.Write(key)
		buf.WriteByte(':')
		buf.Write(text)
	}
	return append(buf.Bytes(), '}'), nil
}
