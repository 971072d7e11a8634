package protocol

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/rawjson"
)

// A checker validates a message against its shape.
type checker struct {
	mode     Mode
	request  bool        // the message is a request, not an answer
	findings []Violation // the first maxFindings of them
	all      int         // how many there are
	lacks    bool        // a member that is demanded breaks its rule
	first    Violation   // the one whose code comes first in codeOrder
	code     Code        // of the first
	path     []string    // the names and indexes that lead to the value being checked
	room     [8]string   // for path, which is seldom longer
}

func (c *checker) pointer() string {
	var p jsontext.Pointer
	for _, name := range c.path {
		p = p.AppendToken(name)
	}
	return string(p)
}

func (c *checker) enter(name string) { c.path = append(c.path, name) }
func (c *checker) leave()            { c.path = c.path[:len(c.path)-1] }

// object checks an object, of which the message has been split, and one inside it not: doc or v is nil.
// Like the checks below it sets what it checks in the Go type that is at a place.
func (c *checker) object(doc rawjson.Object, v jsontext.Value, s *shape, at unsafe.Pointer) {
	var seen sight
	for i := range doc {
		if n, known := s.index[doc[i].Name]; known {
			c.member(s, n, doc[i].Value, &seen, at)
		}
	}
	if v != nil {
		c.members(v, s, &seen, at)
	}
	c.missing(s, &seen)
	if sub := s.parts[seen.on]; seen.part != nil && sub != nil {
		c.enter(s.part)
		c.object(nil, seen.part, sub, reflect.New(sub.goType).UnsafePointer()) // the message keeps it as it is
		c.leave()
	}
}

// members checks the members of an object that has not been split; apart, which is faster.
func (c *checker) members(v jsontext.Value, s *shape, seen *sight, at unsafe.Pointer) {
	for t := rawjson.Walk(v); t.More(); {
		n, known := s.index[string(rawjson.Text(t.Value()))]
		if value := t.Value(); known {
			c.member(s, n, value, seen, at)
		}
	}
}

type sight struct {
	here, null uint64         // one bit a field
	on         string         // the value of the field that the shape switches on
	part       jsontext.Value // the member whose shape depends on it
}

// member checks the member that field n of the shape rules.
func (c *checker) member(s *shape, n int, v jsontext.Value, seen *sight, of unsafe.Pointer) {
	f := &s.fields[n]
	at := unsafe.Add(of, f.offset)
	switch {
	case v.Kind() == 'n':
		if f.opt && f.kind != kindObject {
			*(*presence)(at) = null
		}
		switch {
		case f.null:
		case c.mode == Strict:
			c.foundIn(f.name, "type", CodeInvalidFieldType)
		default: // passes for missing
			return
		}
		seen.null |= 1 << n
	case c.mode == Tolerant && string(v) == `""` && fieldKinds[f.kind].filled: // so does this
		keep(f, "", at)
		return
	default:
		if f.name == s.part && v.Kind() == '{' {
			seen.part = v
		}
		c.enter(f.name)
		c.lacks = !c.value(f, v, at) && c.demands(f) || c.lacks
		c.leave()
	}
	seen.here |= 1 << n
	if f.name == s.on && v.Kind() == '"' {
		seen.on = string(rawjson.Text(v))
	}
}

func (c *checker) missing(s *shape, seen *sight) {
	for i := range s.fields {
		f := &s.fields[i]
		here := seen.here&(1<<i) != 0
		if here && seen.null&(1<<i) == 0 {
			continue
		}
		other := f.standIn(c.mode) && seen.here&(1<<s.index[f.alt]) != 0
		conditional := c.mode == Strict && len(f.when) > 0 && slices.Contains(f.when, seen.on)
		switch {
		case here && conditional:
			c.foundIn(f.name, "type", CodeInvalidFieldType)
		case !here && (conditional || c.demands(f)) && !other:
			c.foundIn(f.name, "required", CodeMissingField)
		}
	}
}

func (c *checker) demands(f *field) bool {
	return f.need == always || c.mode == Strict && (f.need == inStrict || f.need == inRequest && c.request)
}

// standIn reports whether another member may stand in for the field.
func (f *field) standIn(mode Mode) bool { return f.alt != "" && (mode == Tolerant || !f.wild) }

// Value checks a value that is not null, or that belongs to no member. It sets and reports whether
// the value keeps its rules; an object is set without the members that do not.
func (c *checker) value(f *field, v jsontext.Value, at unsafe.Pointer) bool {
	kind, before := v.Kind(), c.all
	if strings.IndexByte(fieldKinds[f.kind].json, byte(kind)) < 0 {
		c.found("type", CodeInvalidFieldType)
		return false
	}
	switch f.kind {
	case kindBool:
		keep(f, kind == 't', at)
	case kindInteger:
		if n := c.integer(f, v); c.keeps(before) {
			keep(f, n, at)
		}
	case kindRound: // in tolerant mode any text, too
		if kind == '0' {
			c.integer(f, v)
		} else if c.mode == Strict {
			c.found("type", CodeInvalidFieldType)
		}
		*(*Round)(at) = glanceRound(v)
	case kindObject:
		if f.opt {
			made := reflect.New(f.goType).UnsafePointer()
			*(*unsafe.Pointer)(at), at = made, made
		}
		c.object(nil, v, f.sub, at)
		return true
	case kindList:
		lacks := c.lacks
		if list := c.list(f, v); c.keeps(before) {
			reflect.NewAt(f.goType, at).Elem().Set(list)
		}
		c.lacks = lacks // of an element; the whole list is left out
	case kindDict:
		dict, whole := c.dict(f, v)
		if whole {
			reflect.NewAt(f.goType, at).Elem().Set(dict)
		}
		return whole
	case kindOpen:
		*(*jsontext.Value)(at) = v.Clone()
	default:
		text := rawjson.Text(v)
		if c.text(f, text); c.keeps(before) {
			keep(f, string(text), at)
		}
	}
	return c.keeps(before)
}

// keeps reports whether nothing was found since so many findings, or whether that makes no difference.
func (c *checker) keeps(before int) bool { return c.all == before || c.mode == Strict }

func (c *checker) list(f *field, v jsontext.Value) reflect.Value {
	all := rawjson.Elements(v)
	list := reflect.MakeSlice(f.goType, len(all), len(all))
	for n, element := range all {
		c.enter(strconv.Itoa(n))
		c.value(f.elem, element, unsafe.Add(list.UnsafePointer(), n*f.size))
		c.leave()
	}
	if len(all) == 0 && f.nonEmpty && c.mode == Strict {
		c.found("length", CodeInvalidFieldType)
	}
	return list
}

// dict returns the elements that keep their rules, and whether all names do.
func (c *checker) dict(f *field, v jsontext.Value) (dict reflect.Value, whole bool) {
	dict, one := reflect.MakeMap(f.goType), reflect.New(f.goType.Elem())
	t := rawjson.Walk(v)
	for whole = true; t.More(); {
		name, element := rawjson.Text(t.Value()), t.Value()
		if !holdsID(c.mode, nil, name) {
			c.found("id", CodeInvalidFieldType) // of the whole: the name is anybody's text
			whole = false
			continue
		}
		c.enter(string(name))
		one.Elem().SetZero()
		passes := element.Kind() == 'n' && f.elem.wildNull && c.mode == Tolerant
		if passes || c.value(f.elem, element, one.UnsafePointer()) {
			dict.SetMapIndex(reflect.ValueOf(string(name)), one.Elem())
		}
		c.leave()
	}
	return dict, whole
}

func (c *checker) text(f *field, s []byte) {
	if k := &fieldKinds[f.kind]; k.holds != nil && !k.holds(c.mode, f, s) {
		c.found(k.rule, k.code)
	}
	if f.oneOf != nil && !slices.Contains(f.oneOf, string(s)) && (f.code != "" || c.mode == Strict || len(s) == 0) {
		c.found("enum", cmp.Or(f.code, CodeInvalidFieldType))
	}
}

// holdsText: the values of a field have characters of their own.
func holdsText(_ Mode, f *field, s []byte) bool { return len(s) > 0 || f.oneOf != nil }

// holdsID: in strict mode as [ValidID] has it, in tolerant mode as [ValidForeignID].
func holdsID(mode Mode, _ *field, s []byte) bool {
	return ValidID(s) || mode == Tolerant && ValidForeignID(string(s))
}

func holdsTime(_ Mode, _ *field, s []byte) bool {
	_, err := ParseTimestamp(s)
	return err == nil
}

// holdsSender: in strict mode one of the roles that send such messages, the manager without an id;
// in tolerant mode any.
func holdsSender(mode Mode, f *field, s []byte) bool {
	role, id, err := ParseSender(string(s))
	return err == nil && (mode == Tolerant || slices.Contains(f.roles, role) && (role != RoleManager || id == ""))
}

func holdsVersion(_ Mode, _ *field, s []byte) bool { return string(s) == Version }

// integer checks a whole number, and returns it.
func (c *checker) integer(f *field, v jsontext.Value) int {
	n, ok := rawjson.Integer(v)
	if !ok || f.bounded && c.mode == Strict && (n < f.min || n > f.max) {
		c.found("range", CodeInvalidFieldType)
	}
	return int(n)
}

// maxFindings limits the violations of a refusal: a message of a megabyte can
// hold a hundred thousand.
const maxFindings = 32

// found records that the value being checked breaks a rule.
func (c *checker) found(rule string, code Code) {
	full, sooner := c.all >= maxFindings, c.all == 0 || slices.Index(codeOrder, code) < slices.Index(codeOrder, c.code)
	c.all++
	if full && !sooner {
		return // without the cost of a path
	}
	v := Violation{c.pointer(), rule}
	if sooner {
		c.first, c.code = v, code
	}
	if !full {
		c.findings = append(c.findings, v)
	}
}

func (c *checker) foundIn(name, rule string, code Code) {
	c.enter(name)
	c.found(rule, code)
	c.leave()
}

// codeOrder ranks the codes of field rules: the first of them that a message
// earns is the one it is refused with.
var codeOrder = []Code{
	CodeMissingField, CodeInvalidFieldType, CodeVersionMismatch, CodeInvalidTimestamp, CodeContextMismatch,
	CodeInvalidParityChoice, CodeInvalidQueryType,
}

// refusal makes one Error of the findings; nil without any.
func (c *checker) refusal(t Type) *Error {
	if c.all == 0 {
		return nil
	}
	return Refuse(c.code, t, sentence(c.first, c.all), Tidy(c.findings)...)
}

// advice completes the detail of a refusal for each rule.
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

func sentence(f Violation, all int) string {
	s := "The field " + f.Path + " " + advice[f.Rule] + "."
	if all > 1 {
		s += " It is one of " + strconv.Itoa(all) + " things that are wrong; see violations."
	}
	return s
}
