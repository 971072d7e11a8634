package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/protocol"
)

// A Validator is a compiled schema. It is safe for concurrent use.
//
// It knows the keywords of JSON Schema that describe messages and tools, and no others,
// since the libraries that know all of them compile the metaschemas of every draft when a
// process starts, which costs more than the rest of its start.
type Validator struct {
	never bool // the schema false

	types    []string
	constant []any // none, or one
	enum     []any
	bounds   map[string]*big.Rat // by keyword
	pattern  *regexp.Regexp
	format   string

	required     []string
	properties   map[string]*Validator
	parts        map[string]*Validator // by keyword
	allOf, anyOf []*Validator
}

// Compile compiles a schema. A $ref reaches into its $defs or names a schema that load
// returns. The error says which keyword is wrong, or unknown.
func Compile(schema jsontext.Value, load func(name string) (jsontext.Value, error)) (*Validator, error) {
	doc, err := decode(schema, MaxValues)
	if err != nil {
		return nil, err
	}
	return (&compiler{root: doc, load: load}).compile(doc, "#")
}

type compiler struct {
	root any
	load func(name string) (jsontext.Value, error)
	open []string // the references that are being followed
}

// annotations are the keywords that accept every document.
var annotations = []string{
	"$schema", "$id", "$comment", "$defs", "title", "description", "default", "examples",
	"deprecated", "readOnly", "writeOnly",
}

// compile compiles the schema at a place of the document.
func (c *compiler) compile(doc any, at string) (*Validator, error) {
	switch doc := doc.(type) {
	case bool:
		return &Validator{never: !doc}, nil
	case map[string]any:
		v := &Validator{bounds: make(map[string]*big.Rat), parts: make(map[string]*Validator)}
		for _, keyword := range slices.Sorted(maps.Keys(doc)) {
			if err := c.keyword(v, keyword, doc[keyword], at+"/"+keyword); err != nil {
				return nil, err
			}
		}
		return v, nil
	}
	return nil, fmt.Errorf("%s is %s, want an object, true or false", at, kindOf(doc))
}

func (c *compiler) keyword(v *Validator, keyword string, value any, at string) (err error) {
	switch keyword {
	case "type":
		v.types, err = typesOf(value, at)
	case "const":
		v.constant = []any{value}
	case "enum":
		v.enum, err = as[[]any](value, at)
	case "required":
		v.required, err = textsOf(value, at)
	case "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		v.bounds[keyword], err = bound(value, at)
	case "pattern":
		var text string
		if text, err = as[string](value, at); err == nil {
			if v.pattern, err = regexp.Compile(text); err != nil {
				err = fmt.Errorf("%s: %w", at, err)
			}
		}
	case "format":
		if v.format, err = as[string](value, at); err == nil && formats[v.format] == nil {
			err = fmt.Errorf("%s is %.100q, want %s", at, v.format, strings.Join(slices.Sorted(maps.Keys(formats)), " or "))
		}
	case "properties":
		v.properties, err = c.members(value, at)
	case "additionalProperties", "propertyNames", "items", "not", "if", "then", "else":
		v.parts[keyword], err = c.compile(value, at)
	case "anyOf":
		v.anyOf, err = c.list(value, at)
	case "allOf":
		var all []*Validator
		all, err = c.list(value, at)
		v.allOf = append(v.allOf, all...)
	case "$ref":
		var target *Validator
		target, err = c.follow(value, at)
		v.allOf = append(v.allOf, target)
	default:
		if !slices.Contains(annotations, keyword) {
			err = fmt.Errorf("%s: this keyword is not supported", at)
		}
	}
	return err
}

// follow compiles what a $ref refers to.
func (c *compiler) follow(value any, at string) (*Validator, error) {
	ref, err := as[string](value, at)
	if err != nil {
		return nil, err
	}
	if slices.Contains(c.open, ref) {
		return nil, fmt.Errorf("%s: %.100q refers to itself", at, ref)
	}
	if name, local := strings.CutPrefix(ref, "#/$defs/"); local {
		root, _ := c.root.(map[string]any)
		defs, _ := root["$defs"].(map[string]any)
		target, ok := defs[name]
		if !ok {
			return nil, fmt.Errorf("%s: there is no %.100q", at, ref)
		}
		inner := compiler{c.root, c.load, append(slices.Clip(c.open), ref)}
		return inner.compile(target, ref)
	}
	if id := idOf(c.root); id != "" && !strings.HasPrefix(id, protocol.SchemaBase) {
		return nil, fmt.Errorf("%s: %.100q stands beside %.100q; %w", at, ref, id, ErrRemoteRef)
	}
	text, err := c.load(ref)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	doc, err := decode(text, MaxValues)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	inner := compiler{doc, c.load, append(slices.Clip(c.open), ref)}
	return inner.compile(doc, ref)
}

// idOf returns the $id of a document, which references are relative to.
func idOf(doc any) string {
	root, _ := doc.(map[string]any)
	id, _ := root["$id"].(string)
	return id
}

func (c *compiler) members(value any, at string) (map[string]*Validator, error) {
	members, err := as[map[string]any](value, at)
	if err != nil {
		return nil, err
	}
	all := make(map[string]*Validator, len(members))
	for name, member := range members {
		if all[name], err = c.compile(member, at+"/"+name); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (c *compiler) list(value any, at string) (all []*Validator, err error) {
	list, err := as[[]any](value, at)
	if err != nil {
		return nil, err
	}
	for i, item := range list {
		one, err := c.compile(item, fmt.Sprintf("%s/%d", at, i))
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// as returns the value of a keyword that must be of type T.
func as[T any](value any, at string) (T, error) {
	v, ok := value.(T)
	if !ok {
		return v, fmt.Errorf("%s is %s, want %s", at, kindOf(value), kindOf(*new(T)))
	}
	return v, nil
}

func textsOf(value any, at string) (texts []string, err error) {
	list, err := as[[]any](value, at)
	for _, item := range list {
		text, err := as[string](item, at)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, err
}

func typesOf(value any, at string) ([]string, error) {
	if one, ok := value.(string); ok {
		value = []any{one}
	}
	types, err := textsOf(value, at)
	for _, name := range types {
		if !slices.Contains([]string{"null", "boolean", "string", "number", "integer", "array", "object"}, name) {
			return nil, fmt.Errorf("%s: there is no type %.100q", at, name)
		}
	}
	return types, err
}

func bound(value any, at string) (*big.Rat, error) {
	if kindOf(value) != "number" {
		return nil, fmt.Errorf("%s is %s, want a number", at, kindOf(value))
	}
	return rational(value), nil
}

func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number, float64:
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

// embedded returns the schema of a message of the league, and no other.
func embedded(ref string) (jsontext.Value, error) {
	name := strings.TrimPrefix(ref, protocol.SchemaBase)
	if strings.ContainsAny(name, "/#:") {
		return nil, ErrRemoteRef
	}
	base := strings.TrimSuffix(name, ".json")
	if base == strings.ToLower(base) && base != name {
		if raw, err := protocol.Schema(protocol.Type(strings.ToUpper(base)), protocol.Strict); err == nil {
			return raw, nil
		}
	}
	return nil, fmt.Errorf("there is no embedded schema %.100q; %w", name, ErrRemoteRef)
}
