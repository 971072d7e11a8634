package dialect

import (
	"cmp"
	"path"
	"slices"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// wrapped returns the dialect by whose place a request is wrapped, or [Contracts].
func (c *Codec) wrapped(method string, params rawjson.Object) (*Dialect, *protocol.Error) {
	var found, owner *Dialect
	for _, d := range known {
		switch p := d.Request; {
		case !p.structured() || d.Marks != nil:
		case !p.fits(method, params):
			if p.Method == method {
				owner = d
			} else if p.Header != "" && params.Get(p.Header).Kind() == '{' {
				return d, refuseShape("", "params."+p.Header+" goes with the method "+p.Method+".")
			}
		case found == nil:
			found = d
		case p.Name != "" && found.Request.Name != "" && p.Name != found.Request.Name:
			return found, refuseTool(protocol.CanonicalInvalidToolInput, "A tool is called in one form at a time.",
				protocol.Violation{Path: "/params/" + found.Request.Name, Rule: "exclusive"}, protocol.Violation{Path: "/params/" + p.Name, Rule: "exclusive"})
		}
	}
	if c.mode == protocol.Tolerant && params.Get("message_type") != nil {
		owner = nil // else it lacks something
	}
	return cmp.Or(found, owner, Contracts), nil
}

// refined returns the dialect of a message with the wrapping of d: the first whose marks it has, or
// else the first without marks; where there is no wrapping, of those that use the method for its type.
func (d *Dialect) refined(method string, message rawjson.Object) *Dialect {
	t, best := protocol.TypeOf(message), (*Dialect)(nil)
	for _, other := range known {
		if other.Request != d.Request || best != nil && other.Marks == nil {
			continue
		}
		named := d.Request.structured() || d == Bare || other.nameOf(t) == method
		switch {
		case !named:
		case other.Marks == nil:
			best = other
		case other.Marks(message):
			return other
		}
	}
	return cmp.Or(best, d)
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
	assigning := func(name string) bool { return slices.Contains(protocol.AssignmentNames, name) }
	means, assigns := said, assigning(string(said)) || !known && assigning(name)
	if assigns {
		means = protocol.TypeRoundAnnouncement
	}
	switch {
	case means != "" && found && named != means:
		return refuseShape(said, "The message is called by "+name+", which is for "+string(named)+".")
	case assigns:
		return r.readAssignment(cmp.Or(string(said), name))
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
