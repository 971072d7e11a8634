package dialect

import (
	"cmp"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

func (p Place) structured() bool { return !p.Bare && (p.Message != "" || p.Header != "") }

// fits reports whether params look like a request in this place.
func (p Place) fits(method string, params rawjson.Object) bool {
	switch {
	case p.Method != "" && p.Method != method:
		return false
	case p.Header != "":
		return params.Get(p.Header) != nil
	case p.Name != "":
		return params.Get(p.Name, p.Message) != nil
	default:
		return params.Get(p.Message) != nil && params.Get("message_type") == nil
	}
}

// unwrap returns the message that params hold in this place, and the name beside it.
func (p Place) unwrap(params rawjson.Object) (message rawjson.Object, name string, refusal *protocol.Error) {
	if p.Name != "" {
		name = params.Text(p.Name)
		if broken := p.Broken(params); broken != nil {
			return nil, name, refuseTool(protocol.CanonicalInvalidToolInput,
				"A tool is called with a name in params."+p.Name+" and an object in params."+p.Message+".", broken...)
		}
		return rawjson.Split(params.Get(p.Message)), name, nil // missing input is empty
	}
	if p.Header != "" {
		if params.Get(p.Header) == nil {
			return nil, "", protocol.Refuse(protocol.CodeMissingField, "", "The method "+p.Method+" wants the header in params."+p.Header+".",
				protocol.Violation{Path: "/" + p.Header, Rule: "required"})
		}
		message, refusal = p.join(params)
		return message, "", refusal
	}
	message = rawjson.Split(params.Get(p.Message))
	if message == nil {
		return nil, "", refuseShape("", "params."+p.Message+" does not hold a message: "+rawjson.ErrNoObject.Error()+".")
	}
	return message, "", nil
}

// Broken returns what breaks the form of a tool call in this place: its name is no text,
// or its input is there and no object.
func (p Place) Broken(params rawjson.Object) (broken []protocol.Violation) {
	switch {
	case params.Get(p.Name) == nil:
		broken = append(broken, protocol.Violation{Path: "/params/" + p.Name, Rule: "required"})
	case params.Text(p.Name) == "":
		broken = append(broken, protocol.Violation{Path: "/params/" + p.Name, Rule: "type"})
	}
	if input := params.Get(p.Message); input != nil && input.Kind() != '{' {
		broken = append(broken, protocol.Violation{Path: "/params/" + p.Message, Rule: "type"})
	}
	return broken
}

// join puts together a message whose header is apart. Members beside the header and the rest belong
// to the message; a member in two places must have the same value in both. The message is whole also
// where it is refused.
func (p Place) join(params rawjson.Object) (message rawjson.Object, refusal *protocol.Error) {
	known := make(map[string]jsontext.Value, 16)
	for _, name := range []string{p.Header, p.Message, ""} {
		part := rawjson.Split(params.Get(name))
		switch {
		case name == "":
			part = params.Without(p.Header, p.Message)
		case part == nil && params.Get(name) != nil:
			refusal = cmp.Or(refusal, protocol.Refuse(protocol.CodeInvalidFieldType, "", "params."+name+" is not an object.",
				protocol.Violation{Path: "/" + name, Rule: "type"}))
		}
		for _, m := range part {
			other, twice := known[m.Name]
			switch {
			case !twice:
				known[m.Name] = m.Value
				message = append(message, m)
			case refusal == nil && !rawjson.Equal(other, m.Value):
				refusal = p.twice(m.Name)
			}
		}
	}
	return message, refusal
}

// twice is the error for a field with two values. An unknown field is not
// named, since its name may be any text.
func (p Place) twice(name string) *protocol.Error {
	const wrong = "stands in two places with different values; give it once."
	if !protocol.KnownField(name) {
		return protocol.Refuse(protocol.CodeContextMismatch, "", "A field "+wrong)
	}
	return protocol.Refuse(protocol.CodeContextMismatch, "", "The field "+name+" "+wrong, protocol.Violation{Path: "/" + name, Rule: "consistent"})
}

// wrap wraps an encoded message, which is a JSON object, for this place. Name is that of
// the request or tool; refused marks a refusal.
func (p Place) wrap(raw jsontext.Value, name string, refused bool) jsontext.Value {
	switch {
	case p.Header != "":
		return p.split(raw)
	case p.Text:
		return rawjson.Quote(string(raw))
	case p.Message == "" && !p.Content:
		return raw
	}
	var out rawjson.Object
	if p.Name != "" {
		out = append(out, rawjson.Member{Name: p.Name, Value: rawjson.Quote(name)})
	}
	if p.Content {
		text := fmt.Appendf(nil, `[{"type":"text","text":%s}]`, rawjson.Quote(string(raw)))
		out = append(out, rawjson.Member{Name: "content", Value: text})
	}
	if p.Message != "" {
		out = append(out, rawjson.Member{Name: p.Message, Value: raw})
	}
	if p.Content {
		out = append(out, rawjson.Member{Name: "isError", Value: rawjson.Bool(refused)})
	}
	if p.Flat {
		for _, m := range rawjson.Split(raw) {
			if out.Get(m.Name) == nil {
				out = append(out, m)
			}
		}
	}
	return out.Encode()
}

// split separates the header fields of a message from the rest.
func (p Place) split(raw jsontext.Value) jsontext.Value {
	var header, rest rawjson.Object
	for _, m := range rawjson.Split(raw) {
		if protocol.IsHeaderField(m.Name) {
			header = append(header, m)
		} else {
			rest = append(rest, m)
		}
	}
	return rawjson.Object{{Name: p.Header, Value: header.Encode()}, {Name: p.Message, Value: rest.Encode()}}.Encode()
}
