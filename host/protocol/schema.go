package protocol

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/rawjson"
)

// SchemaBase is the base of the schemas' $id: a schema refers to another by
// its file name under it. It is a name, not a place; nothing is fetched.
const SchemaBase = "https://strategylab.example/league.v2/"

// Schema returns the JSON Schema (draft 2020-12) of a message type as the mode
// asks for it, in the direction in which the type travels by the book: a
// GAME_JOIN_ACK is an answer, a GAME_ERROR a request. Unknown members are
// allowed. It is written from the table of the type when it is first asked for,
// and must not be changed. The error quotes an unknown type.
func Schema(t Type, mode Mode) ([]byte, error) {
	e := catalog().types[t]
	if e == nil {
		return nil, fmt.Errorf("protocol: no schema for message type %q", t)
	}
	return e.schema(mode, !e.answers()), nil
}

// RequestSchema returns the JSON Schema of a message type as a receiver in the
// mode asks for it where it comes as a request. The error says that the type
// is never one.
func RequestSchema(t Type, mode Mode) ([]byte, error) {
	e := catalog().types[t]
	switch {
	case e == nil || e.Method == "":
		return nil, fmt.Errorf("protocol: %q is no message type that comes as a request", t)
	case mode == Strict && e.answers():
		return e.schema(mode, true), nil
	}
	return Schema(t, mode)
}

// schema returns the schema for a writer, made once.
func (e *entry) schema(mode Mode, request bool) jsontext.Value {
	type key struct {
		of Type
		w  schemaWriter
	}
	k := key{e.Type, schemaWriter{mode, request}}
	made, ok := catalog().schemas.Load(k)
	if !ok {
		made, _ = catalog().schemas.LoadOrStore(k, k.w.message(e))
	}
	raw, _ := made.(jsontext.Value)
	return raw
}

// The patterns of the schemas say the same as ValidID, ParseTimestamp and
// ParseSender do in Go; the agreement test holds them to each other.
const (
	patternID   = `^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`
	patternTime = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-5][0-9](\.[0-9]+)?(Z|\+00:00)$`
	bareID      = `[A-Za-z0-9][A-Za-z0-9_.-]{0,63}`
	agentName   = `[^\x00-\x1f\x7f]{1,128}`
)

// schemaWriter writes a table of field rules as a JSON Schema.
type schemaWriter struct {
	mode    Mode
	request bool
}

// idPattern is the form of ids: tolerant agents take any name.
func (w schemaWriter) idPattern() string {
	if w.mode == Strict {
		return patternID
	}
	return `^` + agentName + `$`
}

func value(v any) jsontext.Value {
	raw, err := json.Marshal(v, plain)
	if err != nil {
		panic(err) // what the tables hold can be written
	}
	return raw
}

// message returns the whole schema of a message type.
func (w schemaWriter) message(e *entry) jsontext.Value {
	doc := rawjson.Object{
		{Name: "$schema", Value: value("https://json-schema.org/draft/2020-12/schema")},
		{Name: "$id", Value: value(SchemaBase + lower(e.Type) + ".json")},
		{Name: "title", Value: value(string(e.Type))},
		{Name: "description", Value: value(e.Title + ".")},
	}
	body := w.object(e.table())
	properties, err := rawjson.Parse(body.Get("properties"))
	if err != nil {
		panic(err)
	}
	for i, m := range properties {
		if m.Name == "message_type" {
			properties[i].Value = w.typeOf(e, m.Value)
		}
	}
	return append(doc, body.Set("properties", properties.Encode())...).Encode()
}

// typeOf returns the schema of message_type: a constant, or in tolerant mode
// anything but another type.
func (w schemaWriter) typeOf(e *entry, general jsontext.Value) jsontext.Value {
	if w.mode == Strict {
		return rawjson.Object{{Name: "description", Value: value("The type of the message.")}, {Name: "const", Value: value(string(e.Type))}}.Encode()
	}
	others := slices.DeleteFunc(Types(), func(t Type) bool { return t == e.Type })
	doc, err := rawjson.Parse(general)
	if err != nil {
		panic(err) // it has just been written
	}
	return append(doc, rawjson.Member{Name: "not", Value: value(map[string]any{"enum": others})}).Encode()
}

func (w schemaWriter) object(s *shape) rawjson.Object {
	var properties rawjson.Object
	var required []string
	var rules []jsontext.Value
	for i := range s.fields {
		f := &s.fields[i]
		properties = append(properties, rawjson.Member{Name: f.name, Value: w.member(f)})
		need := (&checker{mode: w.mode, request: w.request}).demands(f)
		switch {
		case need && w.mode == Strict && len(f.alt) == 0:
			required = append(required, f.name)
		case need:
			rules = append(rules, w.oneIsThere(s, f))
		}
		if len(f.when) > 0 && w.mode == Strict {
			rules = append(rules, value(map[string]any{
				"if":   map[string]any{"properties": map[string]any{s.on: map[string]any{"enum": f.when}}, "required": []string{s.on}},
				"then": map[string]any{"required": []string{f.name}, "properties": map[string]any{f.name: map[string]any{"not": map[string]any{"type": "null"}}}},
			}))
		}
	}
	for _, name := range sortedKeys(s.parts) {
		rules = append(rules, value(map[string]any{
			"if": map[string]any{"properties": map[string]any{s.on: map[string]any{"const": name}}, "required": []string{s.on}},
			"then": map[string]any{"properties": map[string]any{s.part: map[string]any{
				"if": map[string]any{"type": "object"}, "then": w.object(s.parts[name]).Encode(),
			}}},
		}))
	}
	doc := rawjson.Object{{Name: "type", Value: value("object")}, {Name: "properties", Value: properties.Encode()}}
	if required != nil {
		doc = append(doc, rawjson.Member{Name: "required", Value: value(required)})
	}
	if rules != nil {
		doc = append(doc, rawjson.Member{Name: "allOf", Value: value(rules)})
	}
	return doc
}

// oneIsThere demands the field or one that stands in for it. In tolerant mode
// null and "" do not count as there.
func (w schemaWriter) oneIsThere(s *shape, f *field) jsontext.Value {
	names := append([]string{f.name}, f.alt...)
	if w.mode == Tolerant {
		names = append(names, f.wildAlt...)
	}
	var choices []jsontext.Value
	for _, name := range names {
		other := &s.fields[s.index[name]]
		there := map[string]jsontext.Value{"required": value([]string{name})}
		var nothing []jsontext.Value
		if w.mode == Tolerant {
			if !other.null {
				nothing = append(nothing, value(nil))
			}
			if other.kind.mayNotBeEmpty() {
				nothing = append(nothing, value(""))
			}
			there["properties"] = value(map[string]any{name: map[string]any{"not": map[string]any{"enum": nothing}}})
		}
		choices = append(choices, value(there))
	}
	return value(map[string]any{"anyOf": choices})
}

// member returns the schema of a field as a member of an object.
func (w schemaWriter) member(f *field) jsontext.Value {
	if w.mode == Strict {
		return w.described(f, f.null).Encode()
	}
	nothing := []any{nil}
	if f.kind.mayNotBeEmpty() {
		nothing = append(nothing, "")
	}
	var doc rawjson.Object
	if f.doc != "" {
		doc = append(doc, rawjson.Member{Name: "description", Value: value(f.doc)})
	}
	return append(doc, rawjson.Member{Name: "anyOf", Value: value([]any{w.kind(f, f.null).Encode(), map[string]any{"enum": nothing}})}).Encode()
}

func (w schemaWriter) described(f *field, nullable bool) rawjson.Object {
	var doc rawjson.Object
	if f.doc != "" {
		doc = append(doc, rawjson.Member{Name: "description", Value: value(f.doc)})
	}
	return append(doc, w.kind(f, nullable)...)
}

// kind returns the schema of a field's value.
func (w schemaWriter) kind(f *field, nullable bool) rawjson.Object {
	typed := func(name string, more ...rawjson.Member) rawjson.Object {
		doc := rawjson.Object{{Name: "type", Value: value(name)}}
		if nullable {
			doc = rawjson.Object{{Name: "type", Value: value([]string{name, "null"})}}
		}
		return append(doc, more...)
	}
	switch f.kind {
	case kindText:
		return w.text(f, nullable, typed)
	case kindProse:
		return typed("string")
	case kindID:
		return typed("string", rawjson.Member{Name: "pattern", Value: value(w.idPattern())})
	case kindTime:
		return typed("string", rawjson.Member{Name: "format", Value: value("date-time")}, rawjson.Member{Name: "pattern", Value: value(patternTime)})
	case kindSender:
		return typed("string", rawjson.Member{Name: "pattern", Value: value(w.senderPattern(f.roles))})
	case kindVersion:
		return rawjson.Object{{Name: "const", Value: value(Version)}}
	case kindInteger:
		low, high := int64(-rawjson.MaxInteger), int64(rawjson.MaxInteger)
		if f.bounded && w.mode == Strict {
			low, high = f.min, f.max
		}
		return typed("integer", rawjson.Member{Name: "minimum", Value: value(low)}, rawjson.Member{Name: "maximum", Value: value(high)})
	case kindBool:
		return typed("boolean")
	case kindRound:
		if w.mode == Tolerant {
			return rawjson.Object{{Name: "type", Value: value([]string{"integer", "string", "null"})},
				{Name: "minimum", Value: value(-rawjson.MaxInteger)}, {Name: "maximum", Value: value(rawjson.MaxInteger)}}
		}
		return typed("integer", rawjson.Member{Name: "minimum", Value: value(1)}, rawjson.Member{Name: "maximum", Value: value(rawjson.MaxInteger)})
	case kindObject:
		doc := w.object(f.sub)
		return append(typed("object"), doc[1:]...)
	case kindList:
		doc := typed("array", rawjson.Member{Name: "items", Value: w.described(f.elem, false).Encode()})
		if f.nonEmpty && w.mode == Strict {
			doc = append(doc, rawjson.Member{Name: "minItems", Value: value(1)})
		}
		return doc
	case kindDict:
		return typed("object",
			rawjson.Member{Name: "propertyNames", Value: value(map[string]string{"pattern": w.idPattern()})},
			rawjson.Member{Name: "additionalProperties", Value: w.described(f.elem, f.elem.wildNull && w.mode == Tolerant).Encode()})
	default:
		return typed("object")
	}
}

func (w schemaWriter) text(f *field, nullable bool, typed func(string, ...rawjson.Member) rawjson.Object) rawjson.Object {
	switch {
	case f.oneOf != nil && (f.closed || w.mode == Strict):
		values := make([]any, 0, len(f.oneOf)+1)
		for _, v := range f.oneOf {
			values = append(values, v)
		}
		if nullable {
			values = append(values, nil)
		}
		return rawjson.Object{{Name: "enum", Value: value(values)}}
	default:
		return typed("string", rawjson.Member{Name: "minLength", Value: value(1)})
	}
}

func (w schemaWriter) senderPattern(roles []Role) string {
	if w.mode == Tolerant {
		return `^(league_manager(:` + bareID + `)?|launcher|(referee|player):` + agentName + `)$`
	}
	var forms string
	for i, role := range roles {
		if i > 0 {
			forms += "|"
		}
		forms += string(role)
		if role == RoleReferee || role == RolePlayer {
			forms += ":" + agentName
		}
	}
	return "^(" + forms + ")$"
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
