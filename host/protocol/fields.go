package protocol

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/rawjson"
)

type need uint8

const (
	optional  need = iota
	inRequest      // strict mode, and only where the message is a request
	inStrict       // strict mode: the sources call the field required
	always         // both modes: the message is useless without it
)

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

// fieldKinds says of each kind which JSON values are of it, and what another text is refused with.
var fieldKinds = [...]struct {
	name   string // in JSON Schema
	json   string // the kinds of its values
	loose  string // the kinds of those that may be meant for it in messages of others
	filled bool   // a string with at least one character
	holds  func(Mode, *field, []byte) bool
	rule   string
	code   Code
}{
	kindText:    {"string", `"`, `"`, true, holdsText, "length", CodeInvalidFieldType},
	kindID:      {"string", `"`, `"0{`, true, holdsID, "id", CodeInvalidFieldType},
	kindTime:    {"string", `"`, `"`, true, holdsTime, "time", CodeInvalidTimestamp},
	kindSender:  {"string", `"`, `"`, true, holdsSender, "sender", CodeInvalidFieldType},
	kindVersion: {"string", `"`, `"`, true, holdsVersion, "version", CodeVersionMismatch},
	kindProse:   {name: "string", json: `"`, loose: `"`}, kindInteger: {name: "integer", json: "0", loose: `"0`},
	kindBool: {name: "boolean", json: "tf", loose: "tf"}, kindRound: {name: "integer", json: `"0`, loose: `"0`},
	kindObject: {name: "object", json: "{", loose: "{"}, kindOpen: {name: "object", json: "{", loose: "{"},
	kindList: {name: "array", json: "[", loose: `["`}, kindDict: {name: "object", json: "{", loose: "{["},
}

// A field is one line of a message's table: the type of a member and when it is
// required. It is compiled from a field of the message's Go type and its tags: doc describes
// it, in lists the only types of messages that have it, not those that lack it, optional is
// the one in which nothing demands it, and rule holds words that [field.add] explains. What they do not say follows from the Go type.
type field struct {
	name, doc string
	kind      kind
	need      need
	null      bool     // null is a value of this field
	wildNull  bool     // null is a value in tolerant mode, of an element too
	oneOf     []string // the only values, in strict mode
	code      Code     // what another value is refused with in tolerant mode, too
	min, max  int64    // bounds of an integer in strict mode
	bounded   bool
	nonEmpty  bool     // the list has at least one element
	alt       string   // a member that may stand in for this one
	wild      bool     // ... in tolerant mode only
	when      []string // demanded, and not null, where the shape's switch has one of these values
	sub       *shape
	elem      *field
	roles     []Role // who may sign, for kindSender

	// How the Go type of a message holds the member.
	offset uintptr      // of the field in its struct
	goType reflect.Type // of a list or a map, or what a pointer points to
	size   int          // of an element of a list, in bytes
	opt    bool         // the field is an [Opt], a [Round] or a pointer
	omit   bool         // it is not written where it is zero
}

// kindWords are the kinds that a Go type does not show.
var kindWords = map[string]kind{"prose": kindProse, "id": kindID, "time": kindTime, "sender": kindSender, "version": kindVersion}

var needWords = map[string]need{"optional": optional, "request": inRequest, "strict": inStrict, "always": always}

// add adds the words of a rule to the field of a shape: a kind, a need, or
//
//	null                null is a value
//	nonempty            the list has an element in strict mode
//	min=N, max=N        bounds in strict mode; count is min=0
//	one=VALUE,VALUE     only these values, in strict mode
//	only=CODE           ... in tolerant mode too, refused with the code
//	or=F, orwild=F      the member F may stand in, orwild in tolerant mode only
//	when=F:VALUE,VALUE  required, and not null, where the member F has one of the values
//	by=F                the member F decides what the object holds
//	each=WORD           a rule of the elements
func (f *field) add(words string, of *shape) {
	for _, word := range strings.Fields(words) {
		name, arg, _ := strings.Cut(word, "=")
		bound, _ := strconv.ParseInt(arg, 10, 64)
		k, isKind := kindWords[name]
		n, isNeed := needWords[name]
		switch {
		case isKind:
			f.kind = k
		case isNeed:
			f.need = n
		case name == "null":
			f.null = true
		case name == "nonempty":
			f.nonEmpty = true
		case name == "count", name == "min":
			f.min, f.bounded = bound, true
		case name == "max":
			f.max = bound
		case name == "one":
			f.oneOf = strings.Split(arg, ",")
		case name == "only":
			f.code = Code(arg)
		case name == "or", name == "orwild":
			f.alt, f.wild = arg, name == "orwild"
		case name == "when":
			on, values, _ := strings.Cut(arg, ":")
			of.on, f.when = on, strings.Split(values, ",")
		case name == "by":
			of.on, of.part, of.parts = arg, f.name, queryShapes()
		case name == "each":
			f.elem.add(arg, of)
		default:
			panic("protocol: there is no rule " + word) // tests compile every table
		}
	}
}

// inner returns the shape of the objects that the field holds, nil where it holds none.
func (f *field) inner() *shape {
	if f.elem != nil {
		return f.elem.sub
	}
	return f.sub
}

// ofType returns the field that a Go type shows in messages of type m.
func ofType(t reflect.Type, m Type) field {
	f := field{min: -rawjson.MaxInteger, max: rawjson.MaxInteger}
	switch {
	case t == reflect.TypeFor[Round]():
		f.kind, f.opt, f.min, f.bounded = kindRound, true, 1, true
	case t == reflect.TypeFor[Choice]():
		f.oneOf = []string{string(Even), string(Odd)}
	case t == reflect.TypeFor[jsontext.Value]():
		f.kind = kindOpen
	case t == reflect.TypeFor[Opt[int]](), t.Kind() == reflect.Int:
		f.kind, f.opt = kindInteger, t.Kind() == reflect.Struct
	case t == reflect.TypeFor[Opt[bool]](), t.Kind() == reflect.Bool:
		f.kind, f.opt = kindBool, t.Kind() == reflect.Struct
	case t == reflect.TypeFor[Opt[string]](), t.Kind() == reflect.String:
		f.opt = t.Kind() == reflect.Struct
	case t.Kind() == reflect.Pointer:
		f = ofType(t.Elem(), m)
		f.opt, f.goType = true, t.Elem()
	case t.Kind() == reflect.Struct:
		f.kind, f.sub = kindObject, shapeOf(t, m)
	default: // a list or a map
		elem := ofType(t.Elem(), m)
		f.kind, f.elem, f.goType, f.size = kindList, &elem, t, int(t.Elem().Size())
		if t.Kind() == reflect.Map {
			f.kind, elem.wildNull = kindDict, t.Elem() == reflect.TypeFor[Choice]()
		}
	}
	return f
}

type shape struct {
	goType reflect.Type
	fields []field
	index  map[string]int

	// on names the field whose value the fields' when refers to.
	on string

	// part and parts give one member, an object, the shape for the value of on.
	part  string
	parts map[string]*shape
}

// shapeOf compiles the table of a struct, as messages of type m have it.
func shapeOf(t reflect.Type, m Type) *shape {
	s := &shape{goType: t, index: make(map[string]int, t.NumField())}
	for _, sf := range reflect.VisibleFields(t) {
		name, how, _ := strings.Cut(sf.Tag.Get("json"), ",")
		in, limited := sf.Tag.Lookup("in")
		if name == "" || name == "-" || limited && !slices.Contains(strings.Fields(in), string(m)) || slices.Contains(strings.Fields(sf.Tag.Get("not")), string(m)) {
			continue
		}
		f := ofType(sf.Type, m)
		f.name, f.doc, f.omit = name, sf.Tag.Get("doc"), how == "omitzero"
		for outer := t; len(sf.Index) > 0; outer, sf.Index = outer.Field(sf.Index[0]).Type, sf.Index[1:] {
			f.offset += outer.Field(sf.Index[0]).Offset // of structs that are embedded, too
		}
		f.add(sf.Tag.Get("rule"), s)
		if m != "" && sf.Tag.Get("optional") == string(m) {
			f.need, f.when = optional, nil
		}
		s.index[name] = len(s.fields)
		s.fields = append(s.fields, f)
	}
	return s
}

// field returns the field of a name, nil for an unknown one.
func (s *shape) field(name string) *field {
	if n, known := s.index[name]; known {
		return &s.fields[n]
	}
	return nil
}

func (e *entry) compile() *shape {
	s := shapeOf(e.goType, e.Type)
	s.fields[s.index["sender"]].roles = e.From
	for _, rule := range e.about {
		words, doc, _ := strings.Cut(rule, "|")
		name, words, _ := strings.Cut(words, " ")
		f := s.field(name)
		f.add(words, s)
		f.doc = cmp.Or(doc, f.doc)
	}
	return s
}

func queryShapes() map[string]*shape {
	return map[string]*shape{
		QueryStandings: shapeOf(reflect.TypeFor[StandingsData](), ""),
		QuerySchedule:  shapeOf(reflect.TypeFor[ScheduleData](), ""),
		QueryPlayers:   shapeOf(reflect.TypeFor[PlayersData](), ""),
		QueryStatus:    shapeOf(reflect.TypeFor[StatusData](), ""),
		QueryNextMatch: shapeOf(reflect.TypeFor[NextMatchData](), ""),
	}
}
