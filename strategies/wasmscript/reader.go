package wasmscript

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"
)

// malformed is the panic of a reader; instrument recovers it.
type malformed struct{ error }

func refuse(format string, args ...any) {
	panic(malformed{fmt.Errorf(format, args...)})
}

// reader reads the binary format of modules. Its methods panic with malformed.
type reader struct {
	rest []byte
	size int // of what it began with
}

func newReader(b []byte) *reader { return &reader{rest: b, size: len(b)} }

func (r *reader) at() int { return r.size - len(r.rest) }

func (r *reader) bytes(n int) []byte {
	if n < 0 || n > len(r.rest) {
		refuse("the module ends early, at byte %d of a part of %d bytes", r.at(), r.size)
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) byte() byte { return r.bytes(1)[0] }

// unsigned reads an integer of at most 32 bits.
func (r *reader) unsigned() uint32 {
	var v uint64
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		v |= uint64(b&0x7f) << shift
		if b&0x80 == 0 {
			if v > 1<<32-1 {
				break
			}
			return uint32(v)
		}
	}
	refuse("an integer at byte %d exceeds 32 bits", r.at())
	return 0
}

// signed reads an integer of at most this many bits.
func (r *reader) signed(bits int) int64 {
	var v int64
	for shift := 0; shift < bits; shift += 7 {
		b := r.byte()
		v |= int64(b&0x7f) << shift
		if b&0x80 != 0 {
			continue
		}
		if shift+7 < 64 {
			v = v << (64 - shift - 7) >> (64 - shift - 7)
		}
		if limit := int64(1) << (bits - 1); bits < 64 && (v < -limit || v >= limit) {
			break
		}
		return v
	}
	refuse("an integer at byte %d exceeds %d bits", r.at(), bits)
	return 0
}

// count reads the length of a list.
func (r *reader) count(what string, most uint32) int {
	n := r.unsigned()
	if n > most {
		refuse("the module has %d %s, more than %d", n, what, most)
	}
	return int(n)
}

// end refuses what is left.
func (r *reader) end() {
	if len(r.rest) > 0 {
		refuse("a section has %d bytes too many", len(r.rest))
	}
}

func (r *reader) name() string {
	b := r.bytes(int(r.unsigned()))
	if !utf8.Valid(b) {
		refuse("a name at byte %d is not UTF-8", r.at())
	}
	return string(b)
}

func appendUnsigned(b []byte, v uint32) []byte { return binary.AppendUvarint(b, uint64(v)) }

func appendSigned(b []byte, v int64) []byte {
	for {
		low := byte(v & 0x7f)
		v >>= 7
		if v == 0 && low&0x40 == 0 || v == -1 && low&0x40 != 0 {
			return append(b, low)
		}
		b = append(b, low|0x80)
	}
}

func appendName(b []byte, name string) []byte {
	return append(appendUnsigned(b, uint32(len(name))), name...)
}

// hole is the room for a number that is known later; fill writes it there.
func appendHole(b []byte) []byte { return append(b, 0x80, 0x80, 0x80, 0x80, 0) }

func fill(hole []byte, v uint32) {
	for i := range 4 {
		hole[i] = byte(v&0x7f) | 0x80
		v >>= 7
	}
	hole[4] = byte(v)
}
