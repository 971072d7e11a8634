package rawjson

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Unquote returns the text of a JSON string that has been read and is known
// to be well formed. The result aliases raw where nothing was escaped.
func Unquote(raw jsontext.Value) []byte {
	inner := raw[1 : len(raw)-1]
	for _, c := range inner {
		if c == '\\' {
			text, _ := jsontext.AppendUnquote(nil, raw)
			return text
		}
	}
	return inner
}

// Text is unquote for what may be no string, which has no text.
func Text(raw jsontext.Value) []byte {
	if len(raw) < 2 || raw[0] != '"' {
		return nil
	}
	return Unquote(raw)
}

// Quote returns text as a JSON string. It is called with text that came out
// of JSON or is a literal, and so is UTF-8.
func Quote(text string) jsontext.Value {
	v, _ := jsontext.AppendQuote(nil, text)
	return v
}

func Bool(b bool) jsontext.Value {
	if b {
		return jsontext.Value("true")
	}
	return jsontext.Value("false")
}

// Equal reports whether two JSON values are equal whatever their spelling.
func Equal(a, b jsontext.Value) bool {
	if bytes.Equal(a, b) {
		return true
	}
	a, b = slices.Clone(a), slices.Clone(b)
	return a.Canonicalize() == nil && b.Canonicalize() == nil && bytes.Equal(a, b)
}

// MaxInteger bounds integers on the wire to those that every JSON reader,
// JavaScript's included, holds exactly: 2^53 - 1 on either side of zero.
const MaxInteger = 1<<53 - 1

// Integer reads a JSON number that is a whole number however it is spelt
// (1, 1.0, 1e0) and within ±maxInteger.
func Integer(raw jsontext.Value) (int64, bool) {
	if raw.Kind() != '0' {
		return 0, false
	}
	if !PlainInteger(raw) || len(raw) > len("-9007199254740991") {
		return wholeNumber(string(raw))
	}
	var n int64
	for _, c := range raw {
		if c != '-' {
			n = n*10 + int64(c-'0')
		}
	}
	if raw[0] == '-' {
		n = -n
	}
	return n, -MaxInteger <= n && n <= MaxInteger
}

// wholeNumber reads a number written with a fraction or an exponent. It works
// on the digits alone: as a float 9007199254740991.2 would look whole.
func wholeNumber(text string) (int64, bool) {
	text, negative := strings.CutPrefix(text, "-")
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return 0, true // zero, whatever the exponent
	}
	shift := -len(fraction)
	if exponent != "" {
		e, err := strconv.Atoi(exponent)
		if err != nil || e > 1<<20 || e < -1<<20 {
			return 0, false // a number that large or small is out of range or not whole
		}
		shift += e
	}
	for shift < 0 && strings.HasSuffix(digits, "0") {
		digits, shift = digits[:len(digits)-1], shift+1
	}
	if shift < 0 || len(digits)+shift > len("9007199254740991") {
		return 0, false
	}
	n, err := strconv.ParseInt(digits+strings.Repeat("0", shift), 10, 64)
	if negative {
		n = -n
	}
	return n, err == nil && -MaxInteger <= n && n <= MaxInteger
}

// PlainInteger reports whether a number is spelt as Go's decoders demand for
// an integer: digits only.
func PlainInteger(raw jsontext.Value) bool {
	for i, c := range raw {
		if (c < '0' || c > '9') && (i > 0 || c != '-') {
			return false
		}
	}
	return true
}
