package rawjson

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Text returns the text of a well-formed JSON string, nil for any other value. The result
// aliases raw if raw has no escapes.
func Text(raw jsontext.Value) []byte {
	if len(raw) < 2 || raw[0] != '"' {
		return nil
	}
	inner := raw[1 : len(raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	text, _ := jsontext.AppendUnquote(nil, raw)
	return text
}

// Quote returns text as a JSON string. The text must be UTF-8.
func Quote(text string) jsontext.Value {
	v, _ := jsontext.AppendQuote(nil, text)
	return v
}

// Bool returns true or false as JSON.
func Bool(b bool) jsontext.Value { return strconv.AppendBool(nil, b) }

// Equal reports whether two JSON values are equal, independent of spelling.
func Equal(a, b jsontext.Value) bool {
	if bytes.Equal(a, b) {
		return true
	}
	a, b = slices.Clone(a), slices.Clone(b)
	return a.Canonicalize() == nil && b.Canonicalize() == nil && bytes.Equal(a, b)
}

// MaxInteger is the largest magnitude of an integer on the wire, 2^53 - 1:
// every JSON reader, JavaScript's included, represents it exactly.
const MaxInteger = 1<<53 - 1

// Integer returns the value of a JSON number that is an integer in any spelling
// (1, 1.0, 1e0) and within ±[MaxInteger].
func Integer(raw jsontext.Value) (int64, bool) {
	if raw.Kind() != '0' {
		return 0, false
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		n, err = wholeNumber(string(raw))
	}
	return n, err == nil && -MaxInteger <= n && n <= MaxInteger
}

// wholeNumber is Integer for a fraction or an exponent. It works on the digits,
// because the float64 nearest to 9007199254740991.2 is an integer.
func wholeNumber(text string) (int64, error) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimRight(whole+fraction, "0")
	if strings.Trim(digits, "-0") == "" {
		return 0, nil // zero, whatever the exponent
	}
	shift, err := strconv.Atoi(cmp.Or(exponent, "0"))
	zeros := len(whole) + shift - len(digits) // that follow the digits before the decimal point
	if err != nil || zeros < 0 || zeros > len("9007199254740991") {
		return 0, strconv.ErrRange // not whole, or out of range
	}
	return strconv.ParseInt(digits+strings.Repeat("0", zeros), 10, 64)
}
