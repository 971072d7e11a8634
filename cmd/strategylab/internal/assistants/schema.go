package assistants

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/game"
)

// The tags of a Go struct define the bounds of its properties, beside the
// description in the tag "jsonschema":
//
//	min, max   bounds of a number, of a text's length in bytes, or of a list's length
//	default    value of an absent property, as JSON, or legs for that of a league
//	enum       allowed texts, separated by commas
//	pattern    pattern of a text
//
// Both the schemas that clients see and the validation of their input come from
// these tags.

// schemaOf returns the JSON Schema of a struct. limits replace the maxima of the
// tags by property name.
func schemaOf[T any](limits map[string]int) (json.RawMessage, error) {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{})
	if err != nil {
		return nil, fmt.Errorf("schema of %T: %w", *new(T), err)
	}
	if err := annotate(s, reflect.TypeFor[T](), limits); err != nil {
		return nil, fmt.Errorf("schema of %T: %w", *new(T), err)
	}
	return json.Marshal(s)
}

// annotate adds to an object's schema what the tags say.
func annotate(s *jsonschema.Schema, t reflect.Type, limits map[string]int) error {
	for _, f := range fieldsOf(t) {
		p := s.Properties[f.name]
		if p == nil {
			return fmt.Errorf("no property %q", f.name)
		}
		if p.Description == "" && f.field.Type != reflect.TypeFor[json.RawMessage]() {
			return fmt.Errorf("%s has no description", f.name)
		}
		inner := f.field.Type
		if f.optional || inner.Kind() == reflect.Slice { // what is absent is left out, never null
			p.Types = slices.DeleteFunc(p.Types, func(name string) bool { return name == "null" })
			if len(p.Types) == 1 {
				p.Type, p.Types = p.Types[0], nil
			}
		}
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if err := f.bound(p, inner, limits); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		object := p
		if inner.Kind() == reflect.Slice && p.Items != nil {
			inner, object = inner.Elem(), p.Items
		}
		if inner == reflect.TypeFor[Player]() { // its short form is a text
			object.Type, object.Types, object.Pattern = "", []string{"string", "object"}, playerPattern
		}
		if inner.Kind() == reflect.Struct {
			if err := annotate(object, inner, limits); err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
		}
	}
	return nil
}

// outline shortens the schema of an answer to what a model needs to plan with: the
// properties of the answer with their meaning, and only the types of what is below
// them. Clients send all schemas to their model with every question.
func outline(full json.RawMessage) (json.RawMessage, error) {
	s := new(jsonschema.Schema)
	if err := json.Unmarshal(full, s); err != nil {
		return nil, err
	}
	for _, p := range s.Properties {
		p.Properties, p.Required, p.AdditionalProperties = nil, nil, nil
		if p.Items != nil {
			p.Items = &jsonschema.Schema{Type: p.Items.Type, Types: p.Items.Types}
		}
	}
	return json.Marshal(s)
}

// property is a field of a struct that is a property of an object.
type property struct {
	name     string
	optional bool
	field    reflect.StructField
	index    int
}

func fieldsOf(t reflect.Type) []property {
	var all []property
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && name != "-" {
			all = append(all, property{name: name, optional: strings.Contains(options, "omit"), field: f, index: i})
		}
	}
	return all
}

// limit returns a bound of a property: 0 and false if it has none.
func (f property) limit(tag string, limits map[string]int) (int, bool) {
	if n, set := limits[f.name]; set && tag == "max" {
		return n, true
	}
	n, err := strconv.Atoi(f.field.Tag.Get(tag))
	return n, err == nil
}

// standard is the default of a property as JSON, at most its limit; empty for
// none.
func (f property) standard(limits map[string]int) string {
	text := f.field.Tag.Get("default")
	if text == "legs" {
		text = strconv.Itoa(game.DefaultLegs)
	}
	if most, limited := limits[f.name]; limited {
		if n, err := strconv.Atoi(text); err == nil && n > most {
			return strconv.Itoa(most)
		}
	}
	return text
}

// bound puts the bounds of a property into its schema.
func (f property) bound(p *jsonschema.Schema, t reflect.Type, limits map[string]int) error {
	low, hasLow := f.limit("min", limits)
	high, hasHigh := f.limit("max", limits)
	switch t.Kind() {
	case reflect.String:
		if hasLow {
			p.MinLength = &low
		}
		if hasHigh {
			p.MaxLength = &high
		}
	case reflect.Slice:
		if hasLow {
			p.MinItems = &low
		}
		if hasHigh {
			p.MaxItems = &high
		}
	default:
		if hasLow {
			p.Minimum = new(float64(low))
		}
		if hasHigh {
			p.Maximum = new(float64(high))
		}
	}
	p.Pattern = f.field.Tag.Get("pattern")
	if text := f.standard(limits); text != "" {
		if !json.Valid([]byte(text)) {
			return fmt.Errorf("default %s is not JSON", text)
		}
		p.Default = json.RawMessage(text)
	}
	if list := f.field.Tag.Get("enum"); list != "" {
		for _, v := range strings.Split(list, ",") {
			p.Enum = append(p.Enum, v)
		}
	}
	return nil
}

// decode reads the input of a tool, which is valid by its schema, and fills in the
// defaults of absent properties.
func decode[T any](raw json.RawMessage, limits map[string]int) (T, error) {
	var in T
	v := reflect.ValueOf(&in).Elem()
	for _, f := range fieldsOf(v.Type()) {
		text := f.standard(limits)
		if text == "" {
			continue
		}
		if err := json.Unmarshal([]byte(text), v.Field(f.index).Addr().Interface()); err != nil {
			return in, fmt.Errorf("the default of %s: %w", f.name, err)
		}
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return in, mistake("invalid input: %w", err)
	}
	return in, nil
}

// mistake returns a mistake in what a tool was given.
func mistake(format string, args ...any) error {
	return &lab.InputError{Err: fmt.Errorf(format, args...)}
}

// The patterns of texts that become file names. The tags of inputs repeat them for
// the schemas; code that opens files checks them again.
const (
	namePattern   = lab.NamePattern
	playerPattern = `^[A-Za-z0-9][A-Za-z0-9_-]{0,39}(\([A-Za-z0-9_=;. +-]{1,400}\))?(\*[1-8])?$` // a player's short form
	idPattern     = `^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`
)

func isID(text string) bool { return regexp.MustCompile(idPattern).MatchString(text) }
