package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
)

// A Failure is a rule that a document breaks.
type Failure struct {
	// At is the place, as the names and indexes that lead to it.
	At []string
	// Rule is the keyword.
	Rule string

	schema *Validator
	value  any
}

// Validate returns the rules that a decoded document breaks, each at the place where it
// breaks it: none if it keeps the schema. Objects are walked in the order of their names.
func (v *Validator) Validate(doc any) []Failure {
	w := new(walk)
	w.value(v, doc)
	return w.found
}

// ValidateJSON is Validate for a JSON text.
func (v *Validator) ValidateJSON(doc jsontext.Value) ([]Failure, error) {
	decoded, err := decode(doc, len(doc)+1)
	if err != nil {
		return nil, err
	}
	return v.Validate(decoded), nil
}

type walk struct {
	at    []string
	found []Failure
}

func (w *walk) fail(v *Validator, rule string, value any, below ...string) {
	w.found = append(w.found, Failure{slices.Concat(w.at, below), rule, v, value})
}

// try validates without keeping the failures.
func (w *walk) try(v *Validator, doc any) []Failure {
	other := &walk{at: w.at}
	other.value(v, doc)
	return other.found
}

// below validates what is below a name or an index.
func (w *walk) below(v *Validator, name string, doc any) {
	w.at = append(w.at, name)
	w.value(v, doc)
	w.at = w.at[:len(w.at)-1]
}

func (w *walk) value(v *Validator, doc any) {
	// A value of another kind breaks this one rule: others about it would say no more.
	switch text, isText := doc.(string); {
	case v.never:
		w.fail(v, "false", doc)
		return
	case len(v.types) > 0 && !isOf(v.types, doc):
		w.fail(v, "type", doc)
		return
	case len(v.constant) > 0 && !equal(v.constant[0], doc):
		w.fail(v, "const", doc)
		return
	case v.enum != nil && !slices.ContainsFunc(v.enum, func(e any) bool { return equal(e, doc) }):
		w.fail(v, "enum", doc)
		return
	case v.format != "" && isText && !formats[v.format](text):
		w.fail(v, "format", doc)
		return
	}
	switch doc := doc.(type) {
	case string:
		w.within(v, "minLength", "maxLength", utf8.RuneCountInString(doc), doc)
		if v.pattern != nil && !v.pattern.MatchString(doc) {
			w.fail(v, "pattern", doc)
		}
	case json.Number, float64:
		w.within(v, "minimum", "maximum", doc, doc)
	case []any:
		w.within(v, "minItems", "maxItems", len(doc), doc)
		for i, item := range doc {
			if v.parts["items"] == nil {
				break
			}
			w.below(v.parts["items"], strconv.Itoa(i), item)
		}
	case map[string]any:
		w.object(v, doc)
	}
	w.combined(v, doc)
}

// within holds a number, or a count of what is in the document, to the bounds of two
// keywords.
func (w *walk) within(v *Validator, least, most string, n, doc any) {
	if low := v.bounds[least]; low != nil && rational(n).Cmp(low) < 0 {
		w.fail(v, least, doc)
	}
	if high := v.bounds[most]; high != nil && rational(n).Cmp(high) > 0 {
		w.fail(v, most, doc)
	}
}

func (w *walk) object(v *Validator, doc map[string]any) {
	w.within(v, "minProperties", "maxProperties", len(doc), doc)
	names, additional := v.parts["propertyNames"], v.parts["additionalProperties"]
	for _, name := range v.required {
		if _, has := doc[name]; !has {
			w.fail(v, "required", nil, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(doc)) {
		if names != nil && len(w.try(names, name)) > 0 {
			w.fail(v, "propertyNames", nil, name)
		}
		switch p := v.properties[name]; {
		case p != nil:
			w.below(p, name, doc[name])
		case additional == nil:
		case additional.never:
			w.fail(v, "additionalProperties", nil, name)
		default:
			w.below(additional, name, doc[name])
		}
	}
}

// combined validates by the schemas that a schema combines.
func (w *walk) combined(v *Validator, doc any) {
	for _, part := range v.allOf {
		w.value(part, doc)
	}
	if v.anyOf != nil {
		w.alternatives(v, doc)
	}
	if not := v.parts["not"]; not != nil && len(w.try(not, doc)) == 0 {
		w.fail(v, "not", doc)
	}
	next := "then"
	if when := v.parts["if"]; when == nil {
		return
	} else if len(w.try(when, doc)) > 0 {
		next = "else"
	}
	if v.parts[next] != nil {
		w.value(v.parts[next], doc)
	}
}

// alternatives fails at the choice itself, since nobody knows which alternative was
// meant, unless each lacks nothing but a member of this object: then the first member
// is what is missing.
func (w *walk) alternatives(v *Validator, doc any) {
	var first *Failure
	onlyMissing := true
	for _, part := range v.anyOf {
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
	w.fail(v, "anyOf", doc)
}

func isOf(types []string, value any) bool {
	kind := kindOf(value)
	return slices.ContainsFunc(types, func(t string) bool {
		return t == kind || t == "integer" && kind == "number" && rational(value).IsInt()
	})
}

func rational(value any) *big.Rat {
	r := new(big.Rat)
	switch n := value.(type) {
	case json.Number:
		if i, err := strconv.ParseInt(string(n), 10, 64); err == nil {
			return r.SetInt64(i)
		}
		r.SetString(string(n)) // it is a JSON number
	case float64:
		r.SetFloat64(n)
	case int:
		r.SetInt64(int64(n))
	}
	return r
}

// equal compares two decoded values: numbers by their value, however they are written.
func equal(a, b any) bool {
	if kindOf(a) != kindOf(b) {
		return false
	}
	switch a := a.(type) {
	case json.Number, float64:
		return rational(a).Cmp(rational(b)) == 0
	case []any:
		return slices.EqualFunc(a, b.([]any), equal)
	case map[string]any:
		return maps.EqualFunc(a, b.(map[string]any), equal)
	}
	return reflect.DeepEqual(a, b)
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
	parent, name := "", ""
	if n := len(f.At); n > 0 {
		parent, name = "/"+strings.Join(f.At[:n-1], "/"), f.At[n-1]
	}
	switch f.Rule {
	case "required":
		return where + " is missing"
	case "additionalProperties":
		return parent + " has a property that there is not: " + quoted(name)
	case "type":
		return fmt.Sprintf("%s is of type %s, want %s", where, kindOf(f.value), strings.Join(f.schema.types, " or "))
	case "enum":
		return where + " want one of " + listOf(f.schema.enum)
	case "const":
		return where + " want " + listOf(f.schema.constant)
	case "pattern":
		return where + " want a text that matches " + f.schema.pattern.String()
	}
	limit := f.schema.bounds[f.Rule]
	if limit == nil {
		return fmt.Sprintf("%s does not keep %q", where, f.Rule)
	}
	has, side := "", "at most "
	if strings.HasPrefix(f.Rule, "min") {
		side = "at least "
	}
	switch value := f.value.(type) {
	case string:
		has = fmt.Sprintf(" has %d characters,", utf8.RuneCountInString(value))
	case []any:
		has = fmt.Sprintf(" has %d items,", len(value))
	case map[string]any:
		has = fmt.Sprintf(" has %d properties,", len(value))
	}
	return where + has + " want " + side + decimal(limit)
}

func listOf(values []any) string {
	var texts []string
	for _, v := range values {
		text, err := json.Marshal(v)
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

func decimal(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	return r.FloatString(6)
}
