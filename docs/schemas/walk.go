package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/analysis"
)

// walker turns types into schemas. Named structs and texts with constants become
// definitions. A struct allows no property that the type does not have.
type walker struct {
	comments comments
	defs     map[string]*node
}

func (w *walker) schema(t reflect.Type) (*node, error) {
	if t == reflect.TypeFor[analysis.Number]() {
		return &node{Type: []string{"number", "null"}}, nil
	}
	switch t.Kind() {
	case reflect.Bool:
		return &node{Type: "boolean"}, nil
	case reflect.Int, reflect.Int64:
		return &node{Type: "integer"}, nil
	case reflect.Uint64:
		return &node{Type: "integer", Minimum: new(int)}, nil
	case reflect.Float64:
		return &node{Type: "number"}, nil
	case reflect.String:
		return w.text(t)
	case reflect.Slice:
		items, err := w.schema(t.Elem())
		return &node{Type: "array", Items: items}, err
	case reflect.Array:
		items, err := w.schema(t.Elem())
		return &node{Type: "array", Items: items, MinItems: t.Len(), MaxItems: t.Len()}, err
	case reflect.Map:
		values, err := w.schema(t.Elem())
		return &node{Type: "object", Additional: values}, err
	case reflect.Pointer:
		s, err := w.schema(t.Elem())
		return &node{AnyOf: []*node{s, {Type: "null"}}}, err
	case reflect.Struct:
		return w.object(t)
	}
	return nil, fmt.Errorf("no schema for %s", t)
}

// text returns the schema of a text, which for a type with constants is one of them.
func (w *walker) text(t reflect.Type) (*node, error) {
	values, err := w.comments.constants(t)
	if err != nil || values == nil {
		return &node{Type: "string"}, err
	}
	about, err := w.comments.text(t, "")
	w.defs[t.Name()] = &node{Comment: t.String(), Description: about, Enum: values}
	return &node{Ref: "#/$defs/" + t.Name()}, err
}

// object returns a reference to the schema of a struct.
func (w *walker) object(t reflect.Type) (*node, error) {
	name := t.Name()
	if taken := w.defs[name]; taken != nil && taken.Comment != t.String() {
		name = t.String() // analysis.Player beside report.Player
	}
	ref := &node{Ref: "#/$defs/" + name}
	if t == reflect.TypeFor[analysis.Estimate]() { // null without a league
		ref = &node{AnyOf: []*node{ref, {Type: "null"}}}
	}
	if w.defs[name] != nil {
		return ref, nil
	}
	about, err := w.comments.text(t, "")
	if err != nil {
		return nil, err
	}
	s := &node{Comment: t.String(), Description: about, Type: "object", Properties: &properties{of: map[string]*node{}}, Additional: false}
	w.defs[name] = s
	return ref, w.fields(s, t)
}

// fields adds the fields of a struct, those of embedded structs among them, as
// encoding/json names them.
func (w *walker) fields(s *node, t reflect.Type) error {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			if err := w.fields(s, f.Type); err != nil {
				return err
			}
			continue
		}
		if !f.IsExported() || name == "-" {
			continue
		}
		optional, of := strings.Contains(options, "omitempty"), f.Type
		if optional && of.Kind() == reflect.Pointer {
			of = of.Elem() // absent, never null
		}
		p, err := w.schema(of)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", t, f.Name, err)
		}
		if strings.Contains(options, "string") {
			p = &node{Type: "string", Pattern: "^[0-9]+$"}
		}
		if p.Description, err = w.comments.text(t, f.Name); err != nil {
			return err
		}
		s.Properties.set(name, p)
		if !optional && !slices.Contains(s.Required, name) {
			s.Required = append(s.Required, name)
		}
	}
	return nil
}
