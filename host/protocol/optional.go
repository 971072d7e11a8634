package protocol

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/rawjson"
)

// presence tells apart the three states of a member of a JSON object.
type presence uint8

const (
	absent presence = iota
	null
	present
)

// Opt is a member that may be absent, null or a value. The zero Opt is absent, and left out where
// the field's tag says omitzero. It has no IsZero method: the encoder would call it, at the cost of
// a copy on the heap for each member, and learn what it sees from the zero value anyway.
type Opt[T any] struct {
	is    presence // first, whatever T is
	value T
}

// Some returns an Opt that holds v.
func Some[T any](v T) Opt[T] { return Opt[T]{value: v, is: present} }

// Null returns an Opt that is an explicit null.
func Null[T any]() Opt[T] { return Opt[T]{is: null} }

// Get returns the value and whether there is one.
func (o Opt[T]) Get() (T, bool) { return o.value, o.is == present }

// Value returns the value, or T's zero value where there is none.
func (o Opt[T]) Value() T { return o.value }

// MarshalJSONTo writes the value or null.
func (o Opt[T]) MarshalJSONTo(enc *jsontext.Encoder) error {
	if o.is != present {
		return enc.WriteToken(jsontext.Null)
	}
	return json.MarshalEncode(enc, o.value)
}

// UnmarshalJSONFrom reads a value or null.
func (o *Opt[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == 'n' {
		*o = Null[T]()
		return dec.SkipValue()
	}
	o.is = present
	return json.UnmarshalDecode(dec, &o.value)
}

// A Round is the number of a round, counted from 1. Some programs write a text
// such as "ROUND_1"; a Round keeps that text and encodes it again, so that an
// acknowledgement echoes what was announced. The zero Round is an absent member. Only [Encode]
// writes texts; package json writes a number or null.
type Round struct {
	Opt[int] // its number
	isText   bool
	text     string
}

// RoundNumber returns the round with number n.
func RoundNumber(n int) Round { return Round{Opt: Some(n)} }

// Number returns the round's number, and 0 where there is none: the member is
// absent or null, or a text without a number at its end.
func (r Round) Number() int { return r.value }

// String returns the round as it stands on the wire, without quotes, and ""
// where it is absent or null.
func (r Round) String() string {
	switch {
	case r.is != present:
		return ""
	case r.isText:
		return r.text
	default:
		return strconv.Itoa(r.value)
	}
}

// glanceRound reads a round for the header of an answer; anything else counts as absent.
func glanceRound(v jsontext.Value) Round {
	switch v.Kind() {
	case '"':
		text := string(rawjson.Text(v))
		n, err := strconv.Atoi(text[len(strings.TrimRight(text, "0123456789")):])
		if err != nil {
			n = 0
		}
		return Round{Opt: Some(n), text: text, isText: true}
	case '0':
		if n, ok := rawjson.Integer(v); ok {
			return RoundNumber(int(n))
		}
	}
	return Round{}
}

// Choice is what a player chose, or the parity of a number: [Even] or [Odd]. Messages of others may
// hold anything else. The empty Choice is null on the wire, and absent where the member may be.
type Choice string

// The two choices, exactly as they stand on the wire.
const (
	Even Choice = "even"
	Odd  Choice = "odd"
)

// Valid reports whether c is exactly "even" or "odd".
func (c Choice) Valid() bool { return c == Even || c == Odd }
