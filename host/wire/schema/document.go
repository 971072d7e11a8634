package schema

import (
	stdjson "encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth is the deepest nesting that is checked, as in host/jsonrpc.
const maxDepth = 128

// MaxValues bounds the values of an input: decoded, and with all possible
// violations, they take a hundred times the memory of their text. The largest
// message of the league has a few thousand.
const MaxValues = 100_000

var (
	errTooMany = errors.New("too many values")
	errTooDeep = errors.New("nested too deeply")
)

// decode returns a JSON text as values for the validator. Duplicate names,
// trailing data, invalid UTF-8 and more than most values are errors.
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
		*v = number(string(text))
		return err
	})))
	return v, err
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
		return stdjson.Number(s)
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
