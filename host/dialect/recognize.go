package dialect

import (
	"cmp"
	"path"
	"slices"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// recognize returns the dialect of a request, found by its wrapping or, where it has none, by
// the name of its method; a message that fits several is in the one that comes first.
func (c *Codec) recognize(method string, params rawjson.Object) (*Dialect, *protocol.Error) {
	var wrapped, owner, flat *Dialect
	t := protocol.TypeOf(params)
	for _, d := range known {
		p := d.Request
		switch {
		case d.Marks != nil || p.Bare: // marks are compared after unwrapping
		case !p.structured():
			if flat == nil && d.nameOf(t) == method {
				flat = d
			}
		case !p.fits(method, params):
			if p.Method == method {
				owner = d
			} else if p.Header != "" && params.Get(p.Header).Kind() == '{' {
				return d, refuseShape("", "params."+p.Header+" goes with the method "+p.Method+".")
			}
		case wrapped == nil:
			wrapped = d
		case p.Name != "" && wrapped.Request.Name != "":
			return wrapped, refuseTool(protocol.CanonicalInvalidToolInput, "A tool is called in one form at a time.",
				protocol.Violation{Path: "/params/" + wrapped.Request.Name, Rule: "exclusive"}, protocol.Violation{Path: "/params/" + p.Name, Rule: "exclusive"})
		}
	}
	if owner != nil && (c.mode == protocol.Strict || params.Get("message_type") == nil) {
		flat = owner // which lacks something
	}
	return cmp.Or(wrapped, flat, Contracts), nil
}

// refine returns the dialect with the wrapping and names of d whose marks the
// message has, or d itself.
func refine(d *Dialect, method string, message rawjson.Object) *Dialect {
	for _, other := range known {
		if other.Marks != nil && other.Request == d.Request && other.Marks(message) &&
			(d.Request.structured() || other.nameOf(protocol.TypeOf(message)) == method) {
			return other
		}
	}
	return d
}

// dispatch determines the message type: by message_type, with which the name that the message was
// called by must agree, be it beside the message, or the method where each request has its own. A
// missing message_type is inferred in any mode; the field rules report it later.
func (r *Request) dispatch() *protocol.Error {
	name := r.Method
	if r.Dialect.Request.Method != "" {
		name = r.tool // empty where all that share the method have none
	}
	said := r.Header.MessageType
	about, known := protocol.Describe(said)
	named, found := protocol.TypeOfMethod(name)
	if protocol.Assigns(string(said)) || !known && protocol.Assigns(name) {
		if found && named != protocol.TypeRoundAnnouncement {
			return refuseMethod(said, name, named)
		}
		return r.readAssignment(cmp.Or(string(said), name))
	}
	if said != "" && found && named != said {
		return refuseMethod(said, name, named)
	}
	switch {
	case !known && found:
		about, _ = protocol.Describe(named)
	case !known && r.Dialect.Request.Name != "":
		return refuseTool(protocol.CanonicalToolNotFound, "There is no tool of that name.", protocol.Violation{Path: "/params/" + r.Dialect.Request.Name, Rule: "known"})
	case !known && said == "" && name == "":
		return protocol.Refuse(protocol.CodeMissingField, "", "The field /message_type is missing.", protocol.Violation{Path: "/message_type", Rule: "required"})
	case !known:
		return protocol.Refuse(protocol.CodeUnknownMessageType, said, "Neither the method nor the message type is one of "+protocol.Version+".")
	}
	r.Type = about.Type
	if about.Method == "" {
		return protocol.Refuse(protocol.CodeUnknownMessageType, said, "A message of this type is an answer and cannot be a request.")
	}
	return nil
}

// Infer determines the type of a message that [Codec.Open] has found none for: of
// the types, the one that its name of a method or a tool, or what it calls its own
// type, fits best. It reports whether there is one.
func (r *Request) Infer(types []protocol.Type) bool {
	if _, known := protocol.Describe(r.Header.MessageType); known {
		return false // it was refused for something else
	}
	names := []string{string(r.Header.MessageType), r.tool, r.Method}
	for _, member := range append(protocol.NamesOf("message_type")[1:], "tool", "method") {
		names = append(names, textOf(r.doc, member))
	}
	names = append(names, path.Base(r.path))
	for _, name := range names {
		if known, found := protocol.TypeOfMethod(name); found && !slices.Contains(types, known) {
			return false // it is known for something else
		}
		best := 0
		for _, t := range types {
			if score := protocol.Fit(name, t); score > best {
				best, r.Type = score, t
			}
		}
		if best > 0 {
			r.respell()
			return true
		}
	}
	return false
}
