package protocol

import "github.com/strategylab/strategylab/host/rawjson"

// need is when a field is required.
type need uint8

const (
	optional  need = iota
	inRequest      // strict mode, and only where the message is a request
	inStrict       // strict mode: the sources call the field required
	always         // both modes: the message is useless without it
)

// kind is the type of a field on the wire.
type kind uint8

const (
	kindText    kind = iota // a string with at least one character
	kindProse               // a string for people, may be empty
	kindID                  // a string as ValidID has it, in tolerant mode as ValidForeignID has it
	kindTime                // a string as ParseTimestamp has it
	kindSender              // a string as ParseSender has it
	kindVersion             // the string "league.v2"
	kindInteger             // a whole number within ±maxInteger
	kindBool
	kindRound  // a round number; in tolerant mode also a string
	kindObject // an object with the fields of sub
	kindOpen   // an object with any members
	kindList   // an array of elem
	kindDict   // an object from ids to elem
)

// mayNotBeEmpty reports whether the kind is a string with at least one character.
func (k kind) mayNotBeEmpty() bool {
	switch k {
	case kindText, kindID, kindTime, kindSender, kindVersion:
		return true
	}
	return false
}

// A field is one rule of a message's table: the type of a member and when it is
// required. The methods below return changed copies, so that a table has one
// line per field.
type field struct {
	name, doc string
	kind      kind
	need      need
	null      bool     // null is a value of this field
	wildNull  bool     // null is a value in tolerant mode, of an element too
	oneOf     []string // the only values, in strict mode
	closed    bool     // ... and in tolerant mode too
	code      Code     // what a value outside oneOf is refused with
	min, max  int64    // bounds of an integer in strict mode
	bounded   bool
	nonEmpty  bool     // the list has at least one element
	alt       []string // members that may stand in for this one
	wildAlt   []string // likewise, in tolerant mode only
	when      []string // demanded, and not null, where the shape's switch has one of these values
	sub       *shape
	elem      *field
	roles     []Role // who may sign, for kindSender
}

func text(name, doc string) field    { return field{name: name, doc: doc, kind: kindText} }
func prose(name, doc string) field   { return field{name: name, doc: doc, kind: kindProse} }
func ident(name, doc string) field   { return field{name: name, doc: doc, kind: kindID} }
func instant(name, doc string) field { return field{name: name, doc: doc, kind: kindTime} }
func boolean(name, doc string) field { return field{name: name, doc: doc, kind: kindBool} }
func round(name, doc string) field   { return field{name: name, doc: doc, kind: kindRound} }
func open(name, doc string) field    { return field{name: name, doc: doc, kind: kindOpen} }

func object(name, doc string, sub *shape) field {
	return field{name: name, doc: doc, kind: kindObject, sub: sub}
}

func list(name, doc string, elem field) field {
	return field{name: name, doc: doc, kind: kindList, elem: &elem}
}

func dict(name, doc string, elem field) field {
	return field{name: name, doc: doc, kind: kindDict, elem: &elem}
}

// count is an integer that is at least 0 in strict mode, number any integer.
func count(name, doc string) field { return number(name, doc).within(0, rawjson.MaxInteger) }

func number(name, doc string) field {
	return field{name: name, doc: doc, kind: kindInteger, min: -rawjson.MaxInteger, max: rawjson.MaxInteger}
}

// parity is a field that holds "even" or "odd".
func parity(name, doc string) field {
	return text(name, doc).values(string(Even), string(Odd))
}

func (f field) always() field    { f.need = always; return f }
func (f field) strict() field    { f.need = inStrict; return f }
func (f field) inRequest() field { f.need = inRequest; return f }
func (f field) nullable() field  { f.null = true; return f }
func (f field) notEmpty() field  { f.nonEmpty = true; return f }

// values restricts a text in strict mode only.
func (f field) values(v ...string) field { f.oneOf = v; return f }

// only restricts a text in both modes; another value is refused with code.
func (f field) only(code Code, v ...string) field {
	f.oneOf, f.closed, f.code = v, true, code
	return f
}

func (f field) within(low, high int64) field {
	f.min, f.max, f.bounded = low, high, true
	return f
}

// or names substitutes for the field.
func (f field) or(names ...string) field { f.alt = names; return f }

// orWild is or, in tolerant mode only.
func (f field) orWild(names ...string) field { f.wildAlt = names; return f }

// whenIs requires the field where the shape's switch has one of the values.
func (f field) whenIs(v ...string) field { f.when = v; return f }

// A shape is the table of an object's fields.
type shape struct {
	fields []field
	index  map[string]int

	// on names the field whose value the fields' when refers to.
	on string

	// part and parts give one member, an object, the shape for the value of on.
	part  string
	parts map[string]*shape
}

// fields makes a shape of rules. A later rule replaces an earlier one of the same
// name, so that a general table can be refined.
func fields(rules ...field) *shape {
	s := &shape{index: make(map[string]int, len(rules))}
	for _, f := range rules {
		if i, ok := s.index[f.name]; ok {
			s.fields[i] = f
			continue
		}
		s.index[f.name] = len(s.fields)
		s.fields = append(s.fields, f)
	}
	return s
}

// switching sets the field that conditions refer to.
func (s *shape) switching(on string) *shape {
	s.on = on
	return s
}

// dividing gives the member part a shape by the value of the field on.
func (s *shape) dividing(on, part string, parts map[string]*shape) *shape {
	s.on, s.part, s.parts = on, part, parts
	return s
}

// message returns the shape of a whole message: the header fields, signed by
// one of the roles, and the message's own, which may refine the former.
func message(from []Role, own ...field) *shape {
	return fields(append(headerFields(from), own...)...)
}

// headerFields are the rules of every message. Authentication, which comes first
// and has codes of its own, requires the token, so it is optional here.
func headerFields(from []Role) []field {
	sender := field{
		name: "sender", kind: kindSender, roles: from,
		doc: "Who speaks: league_manager, launcher, referee:<id> or player:<id>.",
	}
	return []field{
		{name: "protocol", doc: "The protocol version.", kind: kindVersion, need: inStrict},
		text("message_type", "The type of the message.").strict(),
		sender.inRequest(),
		instant("timestamp", "When the message was written, in UTC.").strict(),
		text("conversation_id", "Shared by the messages that belong together.").inRequest(),
		text("auth_token", "The sender's token, or the match key."),
		ident("league_id", "The league."),
		round("round_id", "The round, counted from 1."),
		ident("match_id", "The match."),
		text("game_type", "The game that is played."),
	}
}
