package wasmscript

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// read returns what a reader makes of bytes, or how it refuses them.
func read[T any](b string, f func(*reader) T) (v T, refusal string) {
	defer func() {
		if m, ok := recover().(malformed); ok {
			refusal = m.Error()
		}
	}()
	r := newReader([]byte(b))
	v = f(r)
	r.end()
	return v, ""
}

// TestReadsIntegers reads integers at their limits, and those beyond; 0 bits are 32 without a sign.
func TestReadsIntegers(t *testing.T) {
	for in, c := range map[string]struct {
		bits    int
		want    int64
		refusal string
	}{
		"\x00": {0, 0, ""}, "\x7f": {0, 127, ""}, "\x80\x01": {0, 128, ""}, "\x80\x00": {0, 0, ""}, // longer than it must be
		"\xff\xff\xff\xff\x0f": {0, math.MaxUint32, ""}, "\xff\xff\xff\xff\x1f": {0, 0, "exceeds 32 bits"},
		"\x80\x80\x80\x80\x80\x00": {0, 0, "exceeds 32 bits"}, "\xff\xff\xff\xff\xff\xff\x01": {0, 0, "exceeds 32 bits"},
		"\x80": {0, 0, "ends early"}, "": {0, 0, "ends early"}, "\x01\x02": {0, 1, "1 bytes too many"},
		"\x7e": {32, -2, ""}, "\x40": {32, -64, ""}, "\x3f": {32, 63, ""},
		"\xff\xff\xff\xff\x07": {32, math.MaxInt32, ""}, "\x80\x80\x80\x80\x78": {32, math.MinInt32, ""},
		"\x80\x80\x80\x80\x08": {32, 0, "exceeds 32 bits"}, "\xff\xff\xff\xff\x77": {32, 0, "exceeds 32 bits"},
		"\x80\x80\x80\x80\x70": {33, -1 << 32, ""}, "\xff": {64, 0, "ends early"},
		"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f": {64, math.MinInt64, ""},
		"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80": {64, 0, "exceeds 64 bits"},
	} {
		got, refusal := read(in, func(r *reader) int64 {
			if c.bits == 0 {
				return int64(r.unsigned())
			}
			return r.signed(c.bits)
		})
		if refusal == "" && got != c.want || !strings.Contains(refusal, c.refusal) || (refusal == "") != (c.refusal == "") {
			t.Errorf("%q in %d bits: %d, %q, want %d, %q", in, c.bits, got, refusal, c.want, c.refusal)
		}
	}
}

// TestReadsWhatIsWritten writes integers and reads them again, also where they are filled in
// later.
func TestReadsWhatIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, u := rapid.Int64().Draw(t, "signed"), rapid.Uint32().Draw(t, "unsigned")
		if got, refusal := read(string(appendSigned(nil, n)), func(r *reader) int64 { return r.signed(64) }); got != n || refusal != "" {
			t.Fatalf("%d is read as %d, %q", n, got, refusal)
		}
		if got, refusal := read(string(appendSigned(nil, int64(int32(n)))), func(r *reader) int64 { return r.signed(32) }); got != int64(int32(n)) || refusal != "" {
			t.Fatalf("%d is read as %d, %q", int32(n), got, refusal)
		}
		hole := appendHole(nil)
		fill(hole, u)
		for _, b := range [][]byte{appendUnsigned(nil, u), hole} {
			if got, refusal := read(string(b), (*reader).unsigned); got != u || refusal != "" {
				t.Fatalf("%d is read as %d, %q", u, got, refusal)
			}
		}
	})
}

// TestReadsNames and lists within their limits.
func TestReadsNames(t *testing.T) {
	if got, refusal := read("\x03abc", (*reader).name); got != "abc" || refusal != "" {
		t.Errorf("%q, %q", got, refusal)
	}
	for in, want := range map[string]string{"\x02\xff\xfe": "not UTF-8", "\x05abc": "ends early", "\xff\xff\xff\xff\x0fabc": "ends early"} {
		if _, refusal := read(in, (*reader).name); !strings.Contains(refusal, want) {
			t.Errorf("%q: %q, want %q", in, refusal, want)
		}
	}
	if _, refusal := read("\x0b", func(r *reader) int { return r.count("horses", 10) }); refusal != "the module has 11 horses, more than 10" {
		t.Error(refusal)
	}
}
