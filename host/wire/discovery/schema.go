// Package discovery reads what a peer publishes about itself: the tools of an MCP server with the
// schemas of their arguments, and the paths of a server that describes itself by OpenAPI. It says
// which of them fits a message, and fills the arguments that a schema declares from a message. It
// does no I/O; every function is safe for concurrent use.
package discovery

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// A Schema is the published JSON Schema of the arguments of a tool or of the body of a request.
type Schema struct {
	doc        rawjson.Object // without a reference; empty for a schema that is no object
	properties rawjson.Object
	required   []string
	root       jsontext.Value // where references lead to
}

// NewSchema returns the schema of a document that stands alone.
func NewSchema(raw jsontext.Value) Schema { return within(raw, raw, 0) }

// within returns a schema that stands in a document: what its references lead to, and the
// first of alternatives that is not null.
func within(root, raw jsontext.Value, depth int) Schema {
	doc := rawjson.Split(raw)
	if depth < maxDepth {
		if path, ok := strings.CutPrefix(doc.Text("$ref"), "#"); ok {
			return within(root, follow(root, jsontext.Pointer(path)), depth+1)
		}
		for _, e := range rawjson.Elements(doc.Get("anyOf", "oneOf", "allOf")) {
			if inner := within(root, e, depth+1); inner.doc.Text("type") != "null" {
				return inner
			}
		}
	}
	s := Schema{doc: doc, properties: rawjson.Split(doc.Get("properties")), root: root}
	for _, e := range rawjson.Elements(doc.Get("required")) {
		s.required = append(s.required, string(rawjson.Text(e)))
	}
	return s
}

// maxDepth limits the objects in objects, and the references, of a schema.
const maxDepth = 5

// Empty reports whether a schema declares no member.
func (s Schema) Empty() bool { return len(s.properties) == 0 }

// Fill returns the object that the schema declares, with the values of a message: by the names of
// its fields and their synonyms, in the object at the top and in those within. A member that is
// required and that the message has nothing for is filled with its default, or else with an empty
// value; other such members are left out. A schema that declares no member takes the whole message,
// and what an agent says of itself beside it.
func (s Schema) Fill(message rawjson.Object) rawjson.Object {
	if s.Empty() {
		return Spread(message)
	}
	return s.fill(&source{doc: message, flat: flatten(message), left: mostMembers}, 0)
}

// flatten returns the fields of a message and of the description of an agent in
// it, and what follows from them.
func flatten(doc rawjson.Object) rawjson.Object {
	flat := slices.Clone(doc)
	add := func(name string, v jsontext.Value) {
		if flat.Get(name) == nil {
			flat = append(flat, rawjson.Member{Name: name, Value: v})
		}
	}
	for _, meta := range []string{"player_meta", "referee_meta", "game_result", "context"} {
		for _, m := range rawjson.Split(doc.Get(meta)) {
			add(m.Name, m.Value)
		}
	}
	role, id, err := protocol.ParseSender(doc.Text("sender"))
	if err != nil {
		return flat
	}
	if role == protocol.RolePlayer || role == protocol.RoleReferee {
		add(string(role)+"_id", rawjson.Quote(id))
		add("agent_type", rawjson.Quote(string(role)))
		add("role", rawjson.Quote(string(role)))
	}
	if at, err := url.Parse(flat.Text("contact_endpoint")); err == nil && at.Hostname() != "" {
		add("host", rawjson.Quote(at.Hostname()))
		if _, err := strconv.Atoi(at.Port()); err == nil {
			add("port", jsontext.Value(at.Port()))
		}
	}
	return flat
}

type source struct {
	doc, flat rawjson.Object
	left      int // members that may still be filled
}

// mostMembers limits the members that are filled in all: a schema whose members refer
// to the schema itself has its number of members to the power of maxDepth.
const mostMembers = 1000

// Spread repeats what a registration says of the agent beside the object that
// holds it, under its own names and the commonest others.
func Spread(message rawjson.Object) rawjson.Object {
	flat, out := flatten(message), slices.Clone(message)
	for _, name := range []string{"display_name", "name", "contact_endpoint", "endpoint", "version", "protocol_version", "game_types"} {
		if v := protocol.ValueFor(flat, name); v != nil && out.Get(name) == nil {
			out = append(out, rawjson.Member{Name: name, Value: v})
		}
	}
	return out
}

// Add returns an object with more members, each with the value that the message
// has for it: by its name or a synonym, or the message or what an agent says of
// itself as a whole. Those that the message has nothing for are left out.
func Add(object, message rawjson.Object, names []string) rawjson.Object {
	flat := flatten(message)
	for _, name := range names {
		v := protocol.ValueFor(flat, name)
		switch {
		case protocol.HoldsMeta(name) && (v == nil || v.Kind() == '{'):
			if meta := rawjson.Split(message.Get("player_meta", "referee_meta")); meta != nil {
				v = Spread(meta).Encode()
			}
		case v == nil && protocol.HoldsMessage(name):
			v = message.Encode()
		}
		if v != nil && object.Get(name) == nil {
			object = append(object, rawjson.Member{Name: name, Value: v})
		}
	}
	return object
}

func (s Schema) fill(from *source, depth int) rawjson.Object {
	var out rawjson.Object
	for _, p := range s.properties {
		if from.left--; from.left < 0 || depth > maxDepth {
			break
		}
		inner := within(s.root, p.Value, 0)
		v := protocol.ValueFor(from.flat, p.Name)
		if inner.kind() == "object" {
			v = inner.object(p.Name, from, depth)
		}
		if v != nil {
			v = inner.coerce(v)
		}
		if v == nil && slices.Contains(s.required, p.Name) {
			v = inner.blank(from, depth)
		}
		if v != nil {
			out = append(out, rawjson.Member{Name: p.Name, Value: v})
		}
	}
	return out
}

func (s Schema) object(name string, from *source, depth int) jsontext.Value {
	own := from.doc.Get(name)
	switch {
	case !s.Empty() && depth < maxDepth:
		if own.Kind() == '{' && name != "player_meta" && name != "referee_meta" {
			return own
		}
		if filled := s.fill(from, depth+1); len(filled) > 0 {
			return filled.Encode()
		}
	case own != nil:
		return own
	case protocol.HoldsMeta(name):
		return from.doc.Get("player_meta", "referee_meta")
	case protocol.HoldsMessage(name):
		return from.doc.Encode()
	}
	return nil
}

// coerce converts a value to the type that the schema declares, nil where that is not possible.
func (s Schema) coerce(v jsontext.Value) jsontext.Value {
	is := v.Kind()
	switch s.kind() {
	case "string":
		switch is {
		case '[':
			if all := rawjson.Elements(v); len(all) > 0 && all[0].Kind() == '"' {
				return s.allowed(all[0])
			}
			return nil
		case '0', 't', 'f', '{':
			return rawjson.Quote(string(v))
		}
		return s.allowed(v)
	case "array":
		if is != '[' {
			return slices.Concat(jsontext.Value("["), v, jsontext.Value("]"))
		}
	case "integer", "number":
		if is == '"' {
			if n, err := strconv.Atoi(string(rawjson.Text(v))); err == nil {
				return strconv.AppendInt(nil, int64(n), 10)
			}
			return nil
		}
	case "boolean":
		if is != 't' && is != 'f' {
			return nil
		}
	case "object":
		if is != '{' {
			return nil
		}
	}
	return v
}

// allowed returns v, or the value that an enumeration without it spells alike.
func (s Schema) allowed(v jsontext.Value) jsontext.Value {
	values := rawjson.Elements(s.doc.Get("enum"))
	if fixed := s.doc.Get("const"); fixed != nil {
		values = append(values, fixed)
	}
	for _, e := range values {
		if strings.EqualFold(string(e), string(v)) {
			return e
		}
	}
	if len(values) > 0 {
		return values[0]
	}
	return v
}

var blanks = map[string]string{"array": "[]", "integer": "1", "number": "1", "boolean": "true"}

// blank returns the default of a schema, or an empty value of its type.
func (s Schema) blank(from *source, depth int) jsontext.Value {
	if v := s.doc.Get("default"); v != nil {
		return v
	}
	kind := s.kind()
	switch v := blanks[kind]; {
	case kind == "object":
		return s.fill(from, depth+1).Encode()
	case v != "":
		return jsontext.Value(v)
	}
	return s.allowed(rawjson.Quote(""))
}

// kind returns the type that the schema declares, "" where it declares none.
func (s Schema) kind() string {
	declared := s.doc.Get("type")
	for _, e := range append(rawjson.Elements(declared), declared) {
		if name := string(rawjson.Text(e)); name != "" && name != "null" {
			return name
		}
	}
	if s.properties != nil {
		return "object"
	}
	return ""
}

func follow(v jsontext.Value, path jsontext.Pointer) jsontext.Value {
	for name := range path.Tokens() {
		v = rawjson.Split(v).Get(name)
	}
	return v
}
