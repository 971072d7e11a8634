package protocol

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// structured reports whether the place wraps messages in params, so that it
// can be told from the flat one.
func (p Place) structured() bool { return !p.Bare && (p.Message != "" || p.Header != "") }

// fits reports whether params look like a request in this place.
func (p Place) fits(method string, params document) bool {
	switch {
	case p.Method != "" && p.Method != method:
		return false
	case p.Header != "":
		return params.get(p.Header) != nil
	case p.Name != "":
		return params.get(p.Name) != nil || params.get(p.Message) != nil
	default:
		return params.get(p.Message) != nil && params.get("message_type") == nil
	}
}

// take returns the message that params hold in this place, and the name that
// stands beside it.
func (p Place) take(params document) (message document, name string, refusal *Error) {
	if p.Name != "" {
		return p.takeTool(params)
	}
	if p.Header != "" {
		message, refusal = p.join(params)
		return message, "", refusal
	}
	message, err := p.inner(params.get(p.Message))
	if err != nil {
		return nil, "", refuseShape("", "params."+p.Message+" does not hold a message: "+err.Error()+".")
	}
	return message, "", nil
}

// takeTool takes the input of a tool call. Input that is missing is empty.
func (p Place) takeTool(params document) (document, string, *Error) {
	var broken []Violation
	name := params.text(p.Name)
	switch {
	case params.get(p.Name) == nil:
		broken = append(broken, Violation{"/params/" + p.Name, "required"})
	case name == "":
		broken = append(broken, Violation{"/params/" + p.Name, "type"})
	}
	var message document
	if value := params.get(p.Message); value != nil {
		var err error
		if message, err = p.inner(value); err != nil {
			broken = append(broken, Violation{"/params/" + p.Message, "type"})
		}
	}
	if broken != nil {
		return nil, name, refuseTool(CanonicalInvalidToolInput,
			"A tool is called with a name in params."+p.Name+" and an object in params."+p.Message+".", broken...)
	}
	return message, name, nil
}

// inner takes apart the object that holds a message, as JSON or as text.
func (p Place) inner(value jsontext.Value) (document, error) {
	if p.Text && value.Kind() == '"' {
		return parseDocument(unquote(value))
	}
	return splitDocument(value)
}

// join puts a message together whose header stands apart. Members beside the
// header and the rest count as the message's own; one that stands in two
// places must have the same value in both.
func (p Place) join(params document) (document, *Error) {
	var message document
	known := make(map[string]jsontext.Value, 16)
	for _, name := range []string{p.Header, p.Message, ""} {
		part, refusal := p.part(params, name)
		if refusal != nil {
			return message, refusal
		}
		for _, m := range part {
			other, twice := known[m.name]
			switch {
			case !twice:
				known[m.name] = m.value
				message = append(message, m)
			case !sameValue(other, m.value):
				return message, p.twice(m.name)
			}
		}
	}
	return message, nil
}

// twice is the Error for a field with two values. An unknown field is not
// named: its name is anybody's text.
func (p Place) twice(name string) *Error {
	e := Refuse(CodeContextMismatch, "", "A field stands in two places with different values; give it once.")
	if fieldNames[name] {
		e.Detail = "The field " + name + " stands in two places with different values; give it once."
		e.Violations = []Violation{{"/" + name, "consistent"}}
	}
	return e
}

// part returns the members of one part of params: those of the object of that
// name, or with no name those that stand beside both.
func (p Place) part(params document, name string) (document, *Error) {
	if name == "" {
		return params.without(p.Header, p.Message), nil
	}
	value := params.get(name)
	if value == nil {
		return nil, nil
	}
	members, err := splitDocument(value)
	if err != nil {
		e := Refuse(CodeInvalidFieldType, "", "params."+name+" is not an object.")
		e.Violations = []Violation{{"/" + name, "type"}}
		return nil, e
	}
	return members, nil
}

// put wraps an encoded message for this place. The name is that of the request
// or tool, refused says that the message is a refusal.
func (p Place) put(raw jsontext.Value, name string, refused bool) (jsontext.Value, error) {
	if p.Header != "" {
		return p.split(raw)
	}
	if p.Message == "" && !p.Content && !p.Text {
		return raw, nil
	}
	var out document
	if p.Name != "" {
		out = append(out, member{p.Name, quoted(name)})
	}
	if p.Content {
		content := document{{"type", quoted("text")}, {"text", quoted(string(raw))}}.encode()
		out = append(out, member{"content", slices.Concat(jsontext.Value{'['}, content, jsontext.Value{']'})})
	}
	if p.Message != "" {
		value := raw
		if p.Text {
			value = quoted(string(raw))
		}
		out = append(out, member{p.Message, value})
	}
	if p.Content {
		out = append(out, member{"isError", literal(refused)})
	}
	if p.Flat {
		own, err := splitDocument(raw)
		if err != nil {
			return nil, err
		}
		for _, m := range own {
			if out.get(m.name) == nil {
				out = append(out, m)
			}
		}
	}
	if p.Text && p.Message == "" && !p.Content {
		return quoted(string(raw)), nil
	}
	return out.encode(), nil
}

// split puts the header fields of a message apart from the rest.
func (p Place) split(raw jsontext.Value) (jsontext.Value, error) {
	doc, err := splitDocument(raw)
	if err != nil {
		return nil, err
	}
	var header, rest document
	for _, m := range doc {
		if slices.Contains(headerNames, m.name) {
			header = append(header, m)
		} else {
			rest = append(rest, m)
		}
	}
	return document{{p.Header, header.encode()}, {p.Message, rest.encode()}}.encode(), nil
}
