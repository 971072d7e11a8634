package protocol

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/rawjson"
)

// SchemaBase is the base of the schemas' $id: a schema refers to another by
// its file name under it. It is a name, not a place; nothing is fetched.
const SchemaBase = "https://strategylab.example/league.v2/"

// Schema returns the JSON Schema (draft 2020-12) of a message type as the mode asks for it, where
// it comes as a request or as an answer; nil for an unknown type. Unknown members are allowed.
func Schema(t Type, mode Mode, request bool) []byte {
	e := messages.byType[t]
	if e == nil {
		return nil
	}
	return schemaWriter{mode, request}.message(e)
}

// The patterns of the schemas say the same as ValidID, ParseTimestamp and
// ParseSender do in Go; the agreement test holds them to each other.
const (
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
		return `^` + bareID + `$`
	}
	return `^` + agentName + `$`
}

func value(v any) jsontext.Value {
	if doc, is := v.(rawjson.Object); is {
		return doc.Encode()
	}
	raw, err := json.Marshal(v, plain)
	if err != nil {
		panic(err) // what the tables hold can be written
	}
	return raw
}

// members returns an object of names and values in turn.
func members(pairs ...any) rawjson.Object {
	var doc rawjson.Object
	for i := 0; i < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		doc = append(doc, rawjson.Member{Name: name, Value: value(pairs[i+1])})
	}
	return doc
}

func (w schemaWriter) message(e *entry) jsontext.Value {
	doc := members("$schema", "https://json-schema.org/draft/2020-12/schema", "$id", SchemaBase+lower(e.Type)+".json",
		"title", e.Type, "description", e.Title+".")
	return append(doc, w.object(e.table(), e.Type)...).Encode()
}

// typeOf adds to the schema of message_type: it is a constant, or in tolerant mode
// anything but another type.
func (w schemaWriter) typeOf(t Type, general rawjson.Object) rawjson.Object {
	if w.mode == Strict {
		return append(general[:1], members("const", t)...) // after the description
	}
	others := slices.DeleteFunc(Types(), func(other Type) bool { return other == t })
	return append(general, members("not", map[string]any{"enum": others})...)
}

// object returns the schema of an object; of is the type of message that it is, "" for
// an object within one.
func (w schemaWriter) object(s *shape, of Type) rawjson.Object {
	var properties rawjson.Object
	var required []string
	var rules []jsontext.Value
	for i := range s.fields {
		f := &s.fields[i]
		property := w.member(f)
		if of != "" && f.name == "message_type" {
			property = w.typeOf(of, property)
		}
		properties = append(properties, rawjson.Member{Name: f.name, Value: property.Encode()})
		need := (&checker{mode: w.mode, request: w.request}).demands(f)
		switch {
		case need && w.mode == Strict && !f.standIn(Strict):
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
	for _, name := range slices.Sorted(maps.Keys(s.parts)) {
		rules = append(rules, value(map[string]any{
			"if": map[string]any{"properties": map[string]any{s.on: map[string]any{"const": name}}, "required": []string{s.on}},
			"then": map[string]any{"properties": map[string]any{s.part: map[string]any{
				"if": map[string]any{"type": "object"}, "then": w.object(s.parts[name], "").Encode(),
			}}},
		}))
	}
	doc := members("type", "object", "properties", properties)
	if required != nil {
		doc = append(doc, members("required", required)...)
	}
	if rules != nil {
		doc = append(doc, members("allOf", rules)...)
	}
	return doc
}

// oneIsThere demands the field or one that stands in for it. In tolerant mode
// null and "" do not count as there.
func (w schemaWriter) oneIsThere(s *shape, f *field) jsontext.Value {
	names := []string{f.name}
	if f.standIn(w.mode) {
		names = append(names, f.alt)
	}
	var choices []map[string]any
	for _, name := range names {
		other := &s.fields[s.index[name]]
		there := map[string]any{"required": []string{name}}
		if w.mode == Tolerant {
			there["properties"] = map[string]any{name: map[string]any{"not": map[string]any{"enum": other.nothing(!other.null)}}}
		}
		choices = append(choices, there)
	}
	return value(map[string]any{"anyOf": choices})
}

// nothing returns the values that stand for a missing member in tolerant mode.
func (f *field) nothing(null bool) []any {
	var values []any
	if null {
		values = append(values, nil)
	}
	if fieldKinds[f.kind].filled {
		values = append(values, "")
	}
	return values
}

func (w schemaWriter) member(f *field) rawjson.Object {
	doc := members("description", f.doc)
	if w.mode == Strict {
		return append(doc, w.kind(f, f.null)...)
	}
	return append(doc, members("anyOf", []any{w.kind(f, f.null).Encode(), map[string]any{"enum": f.nothing(true)}})...)
}

func (w schemaWriter) kind(f *field, nullable bool) rawjson.Object {
	strict, name := w.mode == Strict, fieldKinds[f.kind].name
	doc, more := members("type", name), rawjson.Object(nil)
	if nullable {
		doc = members("type", []string{name, "null"})
	}
	switch f.kind {
	case kindText:
		if f.oneOf == nil || f.code == "" && !strict {
			more = members("minLength", 1)
			break
		}
		values := make([]any, 0, len(f.oneOf)+1)
		for _, v := range f.oneOf {
			values = append(values, v)
		}
		if nullable {
			values = append(values, nil)
		}
		return members("enum", values)
	case kindID:
		more = members("pattern", w.idPattern())
	case kindTime:
		more = members("format", "date-time", "pattern", patternTime)
	case kindSender:
		more = members("pattern", w.senderPattern(f.roles))
	case kindVersion:
		return members("const", Version)
	case kindInteger, kindRound:
		if f.kind == kindRound && !strict {
			doc = members("type", []string{name, "string", "null"})
		}
		if f.bounded && strict {
			more = members("minimum", f.min, "maximum", f.max)
		} else {
			more = members("minimum", -rawjson.MaxInteger, "maximum", rawjson.MaxInteger)
		}
	case kindObject:
		more = w.object(f.sub, "")[1:]
	case kindList:
		more = members("items", w.kind(f.elem, false))
		if f.nonEmpty && strict {
			more = append(more, members("minItems", 1)...)
		}
	case kindDict:
		more = members("propertyNames", map[string]string{"pattern": w.idPattern()},
			"additionalProperties", w.kind(f.elem, f.elem.wildNull && !strict))
	}
	return append(doc, more...)
}

func (w schemaWriter) senderPattern(roles []Role) string {
	if w.mode == Tolerant {
		return `^(league_manager(:` + bareID + `)?|launcher|(referee|player):` + agentName + `)$`
	}
	var forms []string
	for _, role := range roles {
		form := string(role)
		if role == RoleReferee || role == RolePlayer {
			form += ":" + agentName
		}
		forms = append(forms, form)
	}
	return "^(" + strings.Join(forms, "|") + ")$"
}
