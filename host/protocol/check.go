package protocol

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Mode says how much a receiver asks of a message.
type Mode uint8

const (
	// Strict asks for everything that the protocol calls required.
	Strict Mode = iota
	// Tolerant asks only for what a message cannot do without, reads the names
	// that some programs give to fields, takes null and "" for a missing
	// optional field, and finds the message type by the method.
	Tolerant
)

// String returns "strict" or "tolerant".
func (m Mode) String() string {
	if m == Tolerant {
		return "tolerant"
	}
	return "strict"
}

// finding is a violation and the code it is refused with.
type finding struct {
	Violation
	code Code
}

// checker walks a message along its shape.
type checker struct {
	mode     Mode
	request  bool // the message is a request, not an answer
	findings []finding
	odd      bool     // a known member is null or ""
	respelt  bool     // an integer is spelt with a fraction or an exponent
	scratch  document // room for the members of nested objects
}

// step is one step of the way from the top of a message to a value.
type step struct {
	up    *step
	name  string
	index int // of an array element, where name is empty
}

// pointer returns the JSON Pointer of the value that the steps lead to.
func (s *step) pointer() string {
	if s == nil {
		return ""
	}
	name := s.name
	if name == "" {
		name = strconv.Itoa(s.index)
	}
	return s.up.pointer() + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

func (c *checker) found(at *step, rule string, code Code) {
	c.findings = append(c.findings, finding{Violation{at.pointer(), rule}, code})
}

// object checks an object that has been taken apart.
func (c *checker) object(doc document, s *shape, at *step) {
	var seen, nulls uint64 // one bit a field
	var on string
	var part jsontext.Value
	for i := range doc {
		m := &doc[i]
		n, known := s.index[m.name]
		if !known {
			continue
		}
		f, here := &s.fields[n], step{up: at, name: m.name}
		switch {
		case m.value.Kind() == 'n':
			if !c.null(f, &here) {
				continue
			}
			nulls |= 1 << n
		case c.passesForMissing(f, m.value):
			c.odd = true
			continue
		case f.name == s.part && m.value.Kind() == '{':
			part = m.value
		default:
			c.value(f, m.value, &here)
		}
		seen |= 1 << n
		if f.name == s.on && m.value.Kind() == '"' {
			on = string(unquote(m.value))
		}
	}
	c.missing(s, seen, nulls, on, at)
	if part == nil {
		return
	}
	if sub := s.parts[on]; sub != nil {
		c.nested(part, sub, &step{up: at, name: s.part})
	}
}

// null judges a null and reports whether the member counts as there.
func (c *checker) null(f *field, at *step) bool {
	if f.null {
		return true
	}
	if c.mode == Strict {
		c.found(at, "type", InvalidFieldType)
		return true
	}
	c.odd = true
	return false
}

// passesForMissing reports whether an empty string is taken for a member that
// is not there, as tolerant mode takes it in place of anything but prose.
func (c *checker) passesForMissing(f *field, v jsontext.Value) bool {
	return c.mode == Tolerant && string(v) == `""` && f.kind != kindProse && f.kind != kindRound
}

// missing finds the demanded fields that an object lacks.
func (c *checker) missing(s *shape, seen, nulls uint64, on string, at *step) {
	for i := range s.fields {
		f := &s.fields[i]
		here := seen&(1<<i) != 0
		if here && nulls&(1<<i) == 0 {
			continue
		}
		conditional := c.mode == Strict && len(f.when) > 0 && slices.Contains(f.when, on)
		switch {
		case here && conditional:
			c.found(&step{up: at, name: f.name}, "type", InvalidFieldType)
		case !here && (conditional || c.demands(f)) && !c.stoodIn(s, f, seen):
			c.found(&step{up: at, name: f.name}, "required", MissingField)
		}
	}
}

func (c *checker) demands(f *field) bool {
	switch f.need {
	case always:
		return true
	case inStrict:
		return c.mode == Strict
	case inRequest:
		return c.mode == Strict && c.request
	}
	return false
}

// stoodIn reports whether a member that makes up for f's absence is there.
func (c *checker) stoodIn(s *shape, f *field, seen uint64) bool {
	has := func(name string) bool { return seen&(1<<s.index[name]) != 0 }
	return slices.ContainsFunc(f.alt, has) || c.mode == Tolerant && slices.ContainsFunc(f.wildAlt, has)
}

// jsonKinds says how the values of a kind begin; 0 leaves it to the kind.
var jsonKinds = [...]jsontext.Kind{
	kindText: '"', kindProse: '"', kindID: '"', kindTime: '"', kindSender: '"', kindVersion: '"',
	kindInteger: '0', kindBool: 0, kindRound: 0, kindObject: '{', kindOpen: '{', kindList: '[', kindDict: '{',
}

// value checks a value that is not null, or that belongs to no member.
func (c *checker) value(f *field, v jsontext.Value, at *step) {
	kind := v.Kind()
	if want := jsonKinds[f.kind]; want != 0 && kind != want {
		c.found(at, "type", InvalidFieldType)
		return
	}
	switch f.kind {
	case kindBool:
		if kind != 't' && kind != 'f' {
			c.found(at, "type", InvalidFieldType)
		}
	case kindInteger:
		c.integer(f, v, at)
	case kindRound:
		c.roundNumber(v, at)
	case kindObject:
		c.nested(v, f.sub, at)
	case kindList:
		c.list(f, v, at)
	case kindDict:
		c.dict(f, v, at)
	case kindOpen:
	default:
		c.text(f, unquote(v), at)
	}
}

// nested checks an object inside the message. It has been read once as part
// of the message, so taking it apart cannot fail.
func (c *checker) nested(v jsontext.Value, s *shape, at *step) {
	start := len(c.scratch)
	c.scratch, _ = appendMembers(c.scratch, v)
	// Deeper objects may move the scratch space; this part of it stays.
	c.object(c.scratch[start:len(c.scratch):len(c.scratch)], s, at)
	c.scratch = c.scratch[:start]
}

func (c *checker) list(f *field, v jsontext.Value, at *step) {
	elements, _ := parseElements(v)
	for i, e := range elements {
		c.value(f.elem, e, &step{up: at, index: i})
	}
	if len(elements) == 0 && f.nonEmpty && c.mode == Strict {
		c.found(at, "length", InvalidFieldType)
	}
}

// dict checks an object from ids to elements.
func (c *checker) dict(f *field, v jsontext.Value, at *step) {
	start := len(c.scratch)
	c.scratch, _ = appendMembers(c.scratch, v)
	for _, m := range c.scratch[start:] {
		here := step{up: at, name: m.name}
		if !ValidID(m.name) {
			c.found(&here, "id", InvalidFieldType)
		}
		if m.value.Kind() != 'n' || !f.elem.wildNull || c.mode == Strict {
			c.value(f.elem, m.value, &here)
		}
	}
	c.scratch = c.scratch[:start]
}

// text checks the text of a string.
func (c *checker) text(f *field, s []byte, at *step) {
	if len(s) == 0 {
		c.odd = true
	}
	switch f.kind {
	case kindText:
		if len(s) == 0 && f.oneOf == nil {
			c.found(at, "length", InvalidFieldType)
		}
	case kindID:
		if !ValidID(s) {
			c.found(at, "id", InvalidFieldType)
		}
	case kindVersion:
		if string(s) != Version {
			c.found(at, "version", VersionMismatch)
		}
	case kindTime:
		if !validTimestamp(s) {
			c.found(at, "time", InvalidTimestamp)
		}
	case kindSender:
		c.sender(f, string(s), at)
	}
	if f.oneOf == nil || slices.ContainsFunc(f.oneOf, func(v string) bool { return v == string(s) }) {
		return
	}
	switch {
	case f.closed:
		c.found(at, "enum", f.code)
	case c.mode == Strict, len(s) == 0:
		c.found(at, "enum", InvalidFieldType)
	}
}

// sender checks who signs: in strict mode one of the roles that send such
// messages, the manager without an id; in tolerant mode anybody.
func (c *checker) sender(f *field, s string, at *step) {
	role, id, err := ParseSender(s)
	strict := c.mode == Strict
	if err != nil || strict && (!slices.Contains(f.roles, role) || role == RoleManager && id != "") {
		c.found(at, "sender", InvalidFieldType)
	}
}

func (c *checker) integer(f *field, v jsontext.Value, at *step) {
	n, ok := integer(v)
	if !ok || f.bounded && c.mode == Strict && (n < f.min || n > f.max) {
		c.found(at, "range", InvalidFieldType)
	}
	if !plainInteger(v) {
		c.respelt = true
	}
}

// roundNumber checks the number of a round: from 1 up in strict mode, any
// number or text in tolerant mode.
func (c *checker) roundNumber(v jsontext.Value, at *step) {
	if v.Kind() == '"' && c.mode == Tolerant {
		return
	}
	if v.Kind() != '0' {
		c.found(at, "type", InvalidFieldType)
		return
	}
	if n, ok := integer(v); !ok || c.mode == Strict && n < 1 {
		c.found(at, "range", InvalidFieldType)
	}
}

// codeOrder ranks the codes of field rules: the first of them that a message
// earns is the one it is refused with.
var codeOrder = []Code{
	MissingField, InvalidFieldType, VersionMismatch, InvalidTimestamp, ContextMismatch,
	InvalidParityChoice, InvalidQueryType,
}

// refusal makes one Error of the findings; nil without any.
func (c *checker) refusal(t Type) *Error {
	if len(c.findings) == 0 {
		return nil
	}
	first := slices.MinFunc(c.findings, func(a, b finding) int {
		return slices.Index(codeOrder, a.code) - slices.Index(codeOrder, b.code)
	})
	e := Refuse(first.code, t, sentence(first, len(c.findings)-1))
	for _, f := range c.findings {
		e.Violations = append(e.Violations, f.Violation)
	}
	SortViolations(e.Violations)
	return e
}

// advice says what each rule wants, for the detail of a refusal.
var advice = map[string]string{
	"required": "is missing",
	"type":     "has the wrong JSON type",
	"length":   "may not be empty",
	"id":       "is no identifier: 1 to 64 letters, digits, '_', '.' or '-', the first a letter or digit",
	"time":     "is no ISO 8601 time in UTC ending in Z or +00:00",
	"sender":   "is no sender that may sign this message",
	"version":  "is not " + Version,
	"enum":     "is none of the values that are allowed here",
	"range":    "is no whole number in the range that is allowed here",
}

func sentence(f finding, more int) string {
	s := "The field " + f.Path + " " + advice[f.Rule] + "."
	if more > 0 {
		s += " " + strconv.Itoa(more) + " more stand in violations."
	}
	return s
}
