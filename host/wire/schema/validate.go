package schema

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/strategylab/strategylab/host/protocol"
)

const (
	// MaxValues bounds the values of an input: decoded, and with all possible
	// violations, they take a hundred times the memory of their text. The largest
	// message of the league has a few thousand.
	MaxValues = 100_000

	maxDepth = 128 // of nesting, as in host/jsonrpc
	// maxPath bounds a path, in bytes, since its names come from the document. A
	// longer path ends with the last name that fits.
	maxPath = 256
)

var (
	errTooMany = errors.New("too many values")
	errTooDeep = errors.New("nested too deeply")
)

// decode returns a JSON text as values. Duplicate names, trailing data, invalid UTF-8 and more than
// most values are errors. A number out of the range of a float64 is the nearest one within it.
func decode(raw jsontext.Value, most int) (v any, err error) {
	err = json.Unmarshal(raw, &v, json.WithUnmarshalers(json.UnmarshalFromFunc(func(dec *jsontext.Decoder, v *any) error {
		if dec.StackDepth() > maxDepth {
			return errTooDeep
		}
		if most--; most < 0 {
			return errTooMany
		}
		if dec.PeekKind() != '0' {
			return errors.ErrUnsupported // as usual
		}
		text, err := dec.ReadValue()
		n, _ := strconv.ParseFloat(string(text), 64) // out of range it is infinite
		*v = max(-math.MaxFloat64, min(n, math.MaxFloat64))
		return err
	})))
	return v, err
}

// check returns what a JSON text of at most most values breaks, sorted. The root is put
// before every path.
func check(s *Validator, raw jsontext.Value, root string, most int) (found []protocol.Violation) {
	doc, err := decode(raw, most)
	switch {
	case errors.Is(err, errTooMany):
		return []protocol.Violation{{Path: root, Rule: "size"}}
	case errors.Is(err, errTooDeep):
		return []protocol.Violation{{Path: root, Rule: "depth"}}
	case err != nil:
		return []protocol.Violation{{Path: root, Rule: "json"}}
	}
	for _, f := range s.validate(doc) {
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
// breaks it: none if it keeps the schema. Objects are walked in the order of their names.
func (v *Validator) ValidateJSON(doc jsontext.Value) ([]Failure, error) {
	decoded, err := decode(doc, len(doc)+1)
	if err != nil {
		return nil, err
	}
	return v.validate(decoded), nil
}

func (v *Validator) validate(doc any) []Failure {
	w := new(walk)
	w.value(v.root, doc)
	return w.found
}

type walk struct {
	at    []string
	found []Failure
	quiet bool // nobody reads what is wanted
}

func (w *walk) fail(rule string, want func() string, below ...string) {
	f := Failure{At: slices.Concat(w.at, below), Rule: rule}
	if want != nil && !w.quiet {
		f.want = want()
	}
	w.found = append(w.found, f)
}

// try validates without keeping the failures.
func (w *walk) try(n *node, doc any) []Failure {
	other := &walk{at: w.at, quiet: true}
	other.value(n, doc)
	return other.found
}

// below validates what is below a name or an index.
func (w *walk) below(n *node, name string, doc any) {
	w.at = append(w.at, name)
	w.value(n, doc)
	w.at = w.at[:len(w.at)-1]
}

func (w *walk) value(n *node, doc any) {
	// A value of another kind breaks this one rule: others about it would say no more.
	switch text, isText := doc.(string); {
	case n.never:
		w.fail("false", nil)
		return
	case len(n.Type) > 0 && !isOf(n.Type, doc):
		w.fail("type", func() string { return " is of type " + kindOf(doc) + ", want " + strings.Join(n.Type, " or ") })
		return
	case n.constant != nil && !reflect.DeepEqual(n.constant[0], doc):
		w.fail("const", func() string { return " want " + listOf(n.constant) })
		return
	case n.Enum != nil && !slices.ContainsFunc(n.Enum, func(e any) bool { return reflect.DeepEqual(e, doc) }):
		w.fail("enum", func() string { return " want one of " + listOf(n.Enum) })
		return
	case n.Format != "" && isText && !formats[n.Format](text):
		w.fail("format", nil)
		return
	}
	switch doc := doc.(type) {
	case string:
		w.within("Length", n.MinLength, n.MaxLength, float64(utf8.RuneCountInString(doc)), "characters")
		if n.pattern != nil && !n.pattern.MatchString(doc) {
			w.fail("pattern", func() string { return " want a text that matches " + n.Pattern })
		}
	case float64:
		w.within("imum", n.Minimum, n.Maximum, doc, "")
	case []any:
		w.within("Items", n.MinItems, n.MaxItems, float64(len(doc)), "items")
		for i, item := range doc {
			if n.Items == nil {
				break
			}
			w.below(n.Items, strconv.Itoa(i), item)
		}
	case map[string]any:
		w.object(n, doc)
	}
	w.combined(n, doc)
}

// within holds a number, or a count of what is in the document, to the bounds of two
// keywords, min and max with the same end.
func (w *walk) within(keyword string, least, most *float64, n float64, unit string) {
	has := func() string {
		if unit == "" {
			return ""
		}
		return fmt.Sprintf(" has %d %s,", int(n), unit)
	}
	if least != nil && n < *least {
		w.fail("min"+keyword, func() string { return has() + " want at least " + decimal(*least) })
	}
	if most != nil && n > *most {
		w.fail("max"+keyword, func() string { return has() + " want at most " + decimal(*most) })
	}
}

func (w *walk) object(n *node, doc map[string]any) {
	w.within("Properties", n.MinProperties, n.MaxProperties, float64(len(doc)), "properties")
	for _, name := range n.Required {
		if _, has := doc[name]; !has {
			w.fail("required", nil, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(doc)) {
		if n.PropertyNames != nil && len(w.try(n.PropertyNames, name)) > 0 {
			w.fail("propertyNames", nil, name)
		}
		switch p := n.Properties[name]; {
		case p != nil:
			w.below(p, name, doc[name])
		case n.AdditionalProperties == nil:
		case n.AdditionalProperties.never:
			w.fail("additionalProperties", nil, name)
		default:
			w.below(n.AdditionalProperties, name, doc[name])
		}
	}
}

// combined validates by the schemas that a schema combines.
func (w *walk) combined(n *node, doc any) {
	if n.target != nil {
		w.value(n.target, doc)
	}
	for _, part := range n.AllOf {
		w.value(part, doc)
	}
	if n.AnyOf != nil {
		w.alternatives(n, doc)
	}
	if n.Not != nil && len(w.try(n.Not, doc)) == 0 {
		w.fail("not", nil)
	}
	if n.If == nil {
		return
	}
	next := n.Then
	if len(w.try(n.If, doc)) > 0 {
		next = n.Else
	}
	if next != nil {
		w.value(next, doc)
	}
}

// alternatives fails at the choice itself, since nobody knows which alternative was meant, unless
// each lacks nothing but a member of this object: then the first member is what is missing.
func (w *walk) alternatives(n *node, doc any) {
	var first *Failure
	onlyMissing := true
	for _, part := range n.AnyOf {
		found := w.try(part, doc)
		if len(found) == 0 {
			return
		}
		if first == nil {
			first = &found[0]
		}
		onlyMissing = onlyMissing && !slices.ContainsFunc(found, func(f Failure) bool {
			return f.Rule != "required" || len(f.At) != len(w.at)+1
		})
	}
	if onlyMissing {
		w.found = append(w.found, *first)
		return
	}
	w.fail("anyOf", nil)
}

func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

func isOf(types []string, value any) bool {
	kind := kindOf(value)
	number, _ := value.(float64)
	return slices.Contains(types, kind) || kind == "number" && slices.Contains(types, "integer") && number == math.Trunc(number)
}

// formats are the formats that messages have.
var formats = map[string]func(string) bool{
	"date-time": isDateTime,
	"uuid":      IsUUID,
}

// isDateTime reports whether a text is a date-time of RFC 3339, which allows small letters
// and a leap second.
func isDateTime(text string) bool {
	text = strings.ToUpper(text)
	if new(time.Time).UnmarshalText([]byte(text)) == nil {
		return true
	}
	if len(text) < len("2006-01-02T15:04:60Z") || text[16:19] != ":60" {
		return false
	}
	var before time.Time
	err := before.UnmarshalText([]byte(text[:17] + "59" + text[19:]))
	before = before.UTC()
	return err == nil && before.Hour() == 23 && before.Minute() == 59
}

// IsUUID reports whether a text has the form of a UUID (RFC 9562).
func IsUUID(text string) bool { return len(text) == 36 && uuid.Validate(text) == nil }

// String says what the schema wants, with the place, without repeating the value.
func (f Failure) String() string {
	where := "/" + strings.Join(f.At, "/")
	switch {
	case f.Rule == "additionalProperties":
		last := len(f.At) - 1
		return "/" + strings.Join(f.At[:last], "/") + " has a property that there is not: " + quoted(f.At[last])
	case f.Rule == "required":
		return where + " is missing"
	case f.want == "":
		return fmt.Sprintf("%s does not keep %q", where, f.Rule)
	}
	return where + f.want
}

func listOf(values []any) string {
	var texts []string
	for _, v := range values {
		text, err := json.Marshal(v, json.Deterministic(true))
		if err != nil {
			text = []byte("?")
		}
		texts = append(texts, string(text))
	}
	return strings.Join(texts, ", ")
}

// quoted quotes a name from outside, shortened to 64 bytes.
func quoted(name string) string {
	const most = 64
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "..."
	}
	return strconv.Quote(name)
}

// decimal writes a bound: a whole number, or six digits after the point.
func decimal(n float64) string {
	if n == math.Trunc(n) {
		return strconv.FormatFloat(n, 'f', 0, 64)
	}
	return strconv.FormatFloat(n, 'f', 6, 64)
}
