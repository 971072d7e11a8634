package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth is the deepest nesting that is checked, as in host/jsonrpc.
const maxDepth = 128

// MaxValues bounds the values of an input: decoded, and with all possible
// violations, they take a hundred times the memory of their text. The largest
// message of the league has a few thousand.
const MaxValues = 100_000

var (
	errTooMany   = errors.New("too many values")
	errTooDeep   = errors.New("nested too deeply")
	errNoObject  = errors.New("not an object")
	errNotSingle = errors.New("not a single JSON value")
)

// Members returns the members of a JSON object.
func Members(raw jsontext.Value) (map[string]jsontext.Value, error) {
	if raw.Kind() != '{' {
		return nil, errNoObject
	}
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	members := make(map[string]jsontext.Value)
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		members[key] = value.Clone()
	}
	_, err := dec.ReadToken()
	return members, err
}

// Text returns the value of a JSON string, "" for anything else.
func Text(raw jsontext.Value) string {
	if raw.Kind() != '"' {
		return ""
	}
	b, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return ""
	}
	return string(b)
}

// decode returns a JSON text as values for the validator. Duplicate names,
// trailing data, invalid UTF-8 and more than most values are errors.
func decode(raw jsontext.Value, most int) (any, error) {
	d := decoder{Decoder: jsontext.NewDecoder(bytes.NewReader(raw)), left: most}
	v, err := d.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errNotSingle
	}
	return v, nil
}

// decoder decodes one document.
type decoder struct {
	*jsontext.Decoder
	left int // values that it may still contain
}

func (d *decoder) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, errTooDeep
	}
	if d.left--; d.left < 0 {
		return nil, errTooMany
	}
	token, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case '{':
		return d.object(depth)
	case '[':
		return d.array(depth)
	case '"':
		return token.String(), nil
	case '0':
		return number(token.String()), nil
	case 't', 'f':
		return token.Bool(), nil
	}
	return nil, nil
}

func (d *decoder) object(depth int) (any, error) {
	object := make(map[string]any)
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		if object[key], err = d.value(depth + 1); err != nil {
			return nil, err
		}
	}
	_, err := d.ReadToken()
	return object, err
}

func (d *decoder) array(depth int) (any, error) {
	array := []any{}
	for d.PeekKind() != ']' {
		element, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		array = append(array, element)
	}
	_, err := d.ReadToken()
	return array, err
}

// number returns a JSON number for the validator, which computes with exact
// fractions: 1e999999999 would take all memory. A number out of the range of any
// schema is replaced by the nearest one within it, and a number of very many
// digits by one of fewer.
func number(s string) any {
	const digits, exponent = 400, 400
	mantissa, exp, scaled := strings.Cut(strings.ToLower(s), "e")
	e, err := strconv.Atoi(exp)
	if len(mantissa) <= digits && (!scaled || err == nil && e >= -exponent && e <= exponent) {
		return json.Number(s)
	}
	f, _ := strconv.ParseFloat(s, 64) // out of range it is infinite
	switch {
	case math.IsInf(f, 0):
		return math.Copysign(math.MaxFloat64, f)
	case f == 0 && strings.ContainsAny(mantissa, "123456789"):
		return math.SmallestNonzeroFloat64
	}
	return f
}
