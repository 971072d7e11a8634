package schema

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"runtime"
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

// slots bounds the large documents that are checked at once, since decoded they take much memory.
var slots = make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))

const large = 16 << 10 // bytes

// Check validates a JSON text of at most most values and returns what it breaks, sorted; nil if it
// keeps the schema. The root is put before every path.
func (v *Validator) Check(raw jsontext.Value, root string, most int) (found []protocol.Violation) {
	if len(raw) >= large {
		slots <- struct{}{}
		defer func() { <-slots }()
	}
	doc, err := decode(raw, most)
	switch {
	case errors.Is(err, errTooMany):
		return []protocol.Violation{{Path: root, Rule: "size"}}
	case errors.Is(err, errTooDeep):
		return []protocol.Violation{{Path: root, Rule: "depth"}}
	case err != nil:
		return []protocol.Violation{{Path: root, Rule: "json"}}
	}
	for _, f := range v.root.breaks(doc, nil) {
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
	return v.root.breaks(decoded, nil), nil
}

// breaks returns what a value at a place breaks.
func (n *node) breaks(doc any, at []string) []Failure {
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
func (w *walk) below(n *node, name string, doc any) {
	if n == nil {
		return
	}
	w.at = append(w.at, name)
	w.value(n, doc)
	w.at = w.at[:len(w.at)-1]
}

func (w *walk) value(n *node, doc any) {
	// A value of another kind breaks this one rule: others about it would say no more.
	switch text, isText := doc.(string); {
	case n.never:
		w.fail("false", "")
		return
	case len(n.Type) > 0 && !isOf(n.Type, doc):
		w.fail("type", " is of type "+kindOf(doc)+", want "+strings.Join(n.Type, " or "))
		return
	case n.constant != nil && !reflect.DeepEqual(n.constant[0], doc):
		w.fail("const", " want "+listOf(n.constant))
		return
	case n.Enum != nil && !slices.ContainsFunc(n.Enum, func(e any) bool { return reflect.DeepEqual(e, doc) }):
		w.fail("enum", " want one of "+listOf(n.Enum))
		return
	case n.Format != "" && isText && !isDateTime(text):
		w.fail("format", "")
		return
	}
	switch doc := doc.(type) {
	case string:
		w.within("Length", n.MinLength, n.MaxLength, float64(utf8.RuneCountInString(doc)), "characters")
		if n.pattern != nil && !n.pattern.MatchString(doc) {
			w.fail("pattern", " want a text that matches "+n.Pattern)
		}
	case float64:
		w.within("imum", n.Minimum, n.Maximum, doc, "")
	case []any:
		w.within("Items", n.MinItems, n.MaxItems, float64(len(doc)), "items")
		for i, item := range doc {
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

func (w *walk) object(n *node, doc map[string]any) {
	for _, name := range n.Required {
		if _, has := doc[name]; !has {
			w.fail("required", "", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(doc)) {
		if n.PropertyNames != nil && len(n.PropertyNames.breaks(name, w.at)) > 0 {
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
		w.below(part, name, doc[name])
	}
}

// combined validates by the schemas that a schema combines.
func (w *walk) combined(n *node, doc any) {
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
func (w *walk) alternatives(n *node, doc any) {
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

func listOf(values []any) string {
	text, err := json.Marshal(values, json.Deterministic(true), jsontext.SpaceAfterComma(true))
	if err != nil {
		return "?"
	}
	return string(text[1 : len(text)-1])
}
