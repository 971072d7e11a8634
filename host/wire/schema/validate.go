package schema

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

const (
	// MaxValues bounds the values of an input. The largest message of the league has a few thousand.
	MaxValues = 100_000

	maxDepth = 128 // of nesting, as in host/jsonrpc
	// maxPath bounds a path, in bytes, since its names come from the document. A
	// longer path ends with the last name that fits.
	maxPath = 256
)

// readable returns why a JSON text cannot be validated, as a rule: "depth", "size" for more than
// most values, "json" for duplicate names, trailing data, invalid UTF-8 and all else; "" if it can.
func readable(raw jsontext.Value, most int) string {
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	token, err := d.ReadToken()
	for ; err == nil; token, err = d.ReadToken() {
		in, n := d.StackIndex(d.StackDepth())
		isName, ends := in == '{' && n%2 == 1, token.Kind() == '}' || token.Kind() == ']'
		if !isName && !ends {
			most--
		}
		switch {
		case d.StackDepth() > maxDepth:
			return "depth"
		case most < 0:
			return "size"
		}
	}
	if err != io.EOF || !raw.IsValid() {
		return "json"
	}
	return ""
}

// Check validates a JSON text of at most most values and returns what it breaks, sorted; nil if it
// keeps the schema. The root is put before every path.
func (v *Validator) Check(raw jsontext.Value, root string, most int) (found []protocol.Violation) {
	if rule := readable(raw, most); rule != "" {
		return []protocol.Violation{{Path: root, Rule: rule}}
	}
	for _, f := range v.root.breaks(bytes.TrimSpace(raw), nil) {
		found = append(found, protocol.Violation{Path: pointer(root, f.At), Rule: f.Rule})
	}
	return protocol.Tidy(found)
}

func pointer(root string, at []string) string {
	path := jsontext.Pointer(root)
	for _, token := range at {
		longer := path.AppendToken(token)
		if len(longer) > maxPath {
			break
		}
		path = longer
	}
	return string(path)
}

// A Failure is a rule that a document breaks.
type Failure struct {
	// At is the place, as the names and indexes that lead to it.
	At []string
	// Rule is the keyword.
	Rule string

	want string // what the schema wants, in words
}

// ValidateJSON returns the rules that a JSON text breaks, each at the place where it
// breaks it: none if it keeps the schema. It is an error if the text cannot be validated.
func (v *Validator) ValidateJSON(doc jsontext.Value) ([]Failure, error) {
	if rule := readable(doc, len(doc)+1); rule != "" {
		return nil, fmt.Errorf("the document breaks the rule %q", rule)
	}
	return v.root.breaks(bytes.TrimSpace(doc), nil), nil
}

// breaks returns what a value at a place breaks.
func (n *node) breaks(doc jsontext.Value, at []string) []Failure {
	w := &walk{at: at}
	w.value(n, doc)
	return w.found
}

type walk struct {
	at    []string
	found []Failure
}

func (w *walk) fail(rule, want string, below ...string) {
	w.found = append(w.found, Failure{slices.Concat(w.at, below), rule, want})
}

// below validates what is below a name or an index; nil accepts it.
func (w *walk) below(n *node, name string, doc jsontext.Value) {
	if n == nil {
		return
	}
	w.at = append(w.at, name)
	w.value(n, doc)
	w.at = w.at[:len(w.at)-1]
}

func (w *walk) value(n *node, doc jsontext.Value) {
	kind, number := doc.Kind(), 0.0
	if kind == '0' {
		number, _ = strconv.ParseFloat(string(doc), 64) // out of range it is infinite
	}
	is := func(t string) bool {
		return t == kinds[kind] || t == "integer" && kind == '0' && number == math.Trunc(number)
	}
	equals := func(e jsontext.Value) bool { return rawjson.Equal(e, doc) }
	// A value of another kind breaks this one rule: others about it would say no more.
	switch {
	case n.never:
		w.fail("false", "")
		return
	case len(n.Type) > 0 && !slices.ContainsFunc(n.Type, is):
		w.fail("type", " is of type "+kinds[kind]+", want "+strings.Join(n.Type, " or "))
		return
	case n.Const != nil && !equals(n.Const):
		w.fail("const", " want "+string(n.Const))
		return
	case n.Enum != nil && !slices.ContainsFunc(n.Enum, equals):
		w.fail("enum", " want one of "+list(n.Enum))
		return
	case n.Format != "" && kind == '"' && !isDateTime(string(rawjson.Text(doc))):
		w.fail("format", "")
		return
	}
	switch kind {
	case '"':
		text := rawjson.Text(doc)
		w.within("Length", n.MinLength, n.MaxLength, float64(utf8.RuneCount(text)), "characters")
		if n.pattern != nil && !n.pattern.Match(text) {
			w.fail("pattern", " want a text that matches "+n.Pattern)
		}
	case '0':
		w.within("imum", n.Minimum, n.Maximum, number, "")
	case '[':
		all := rawjson.Elements(doc)
		w.within("Items", n.MinItems, n.MaxItems, float64(len(all)), "items")
		for i, item := range all {
			w.below(n.Items, strconv.Itoa(i), item)
		}
	case '{':
		w.object(n, rawjson.Split(doc))
	}
	w.combined(n, doc)
}

// within holds a number, or a count of what is in the document, to the bounds of two
// keywords, min and max with the same end.
func (w *walk) within(keyword string, least, most *float64, n float64, unit string) {
	end, rule, want := "min", " want at least ", least
	switch {
	case least != nil && n < *least:
	case most != nil && n > *most:
		end, rule, want = "max", " want at most ", most
	default:
		return
	}
	has := ""
	if unit != "" {
		has = fmt.Sprintf(" has %d %s,", int(n), unit)
	}
	w.fail(end+keyword, has+rule+strconv.FormatFloat(*want, 'f', -1, 64))
}

func (w *walk) object(n *node, doc rawjson.Object) {
	for _, name := range n.Required {
		if doc.Get(name) == nil {
			w.fail("required", "", name)
		}
	}
	for _, m := range doc {
		name := m.Name
		if n.PropertyNames != nil && len(n.PropertyNames.breaks(rawjson.Quote(name), w.at)) > 0 {
			w.fail("propertyNames", "", name)
		}
		part, known := n.Properties[name]
		if !known {
			part = n.AdditionalProperties
		}
		if !known && part != nil && part.never {
			w.fail("additionalProperties", "", name)
			continue
		}
		w.below(part, name, m.Value)
	}
}

// combined validates by the schemas that a schema combines.
func (w *walk) combined(n *node, doc jsontext.Value) {
	also := n.AllOf
	if n.If != nil && n.Then != nil && len(n.If.breaks(doc, w.at)) == 0 {
		also = append(slices.Clip(also), n.Then)
	}
	for _, part := range also {
		w.value(part, doc)
	}
	if n.Not != nil && len(n.Not.breaks(doc, w.at)) == 0 {
		w.fail("not", "")
	}
	if n.AnyOf != nil {
		w.alternatives(n, doc)
	}
}

// alternatives fails at the choice itself, since nobody knows which alternative was meant, unless
// each lacks nothing but a member of this object: then the first member is what is missing.
func (w *walk) alternatives(n *node, doc jsontext.Value) {
	var all []Failure
	for _, part := range n.AnyOf {
		found := part.breaks(doc, w.at)
		if len(found) == 0 {
			return
		}
		all = append(all, found...)
	}
	if slices.ContainsFunc(all, func(f Failure) bool { return f.Rule != "required" || len(f.At) != len(w.at)+1 }) {
		all = []Failure{{slices.Clone(w.at), "anyOf", ""}}
	}
	w.found = append(w.found, all[:1]...)
}

// isDateTime reports whether a text is a date-time of RFC 3339, which allows small letters
// and a leap second.
func isDateTime(text string) bool {
	text = strings.ToUpper(text)
	leap := len(text) > 19 && text[16:19] == ":60"
	if leap {
		text = text[:17] + "59" + text[19:]
	}
	var at time.Time
	err := at.UnmarshalText([]byte(text))
	at = at.UTC()
	return err == nil && (!leap || at.Hour() == 23 && at.Minute() == 59)
}

// IsUUID reports whether a text has the form of a UUID (RFC 9562).
func IsUUID(text string) bool { return len(text) == 36 && uuid.Validate(text) == nil }

// String says what the schema wants, with the place, without repeating the value.
func (f Failure) String() string {
	where := "/" + strings.Join(f.At, "/")
	switch {
	case f.Rule == "additionalProperties":
		last := len(f.At) - 1
		return "/" + strings.Join(f.At[:last], "/") + " has a property that there is not: " + fmt.Sprintf("%.64q", f.At[last])
	case f.Rule == "required":
		return where + " is missing"
	case f.want == "":
		return fmt.Sprintf("%s does not keep %q", where, f.Rule)
	}
	return where + f.want
}

func list(values []jsontext.Value) string {
	var all []string
	for _, v := range values {
		all = append(all, string(v))
	}
	return strings.Join(all, ", ")
}
