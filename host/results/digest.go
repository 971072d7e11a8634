package results

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"

	"github.com/strategylab/strategylab/host/game"
)

// Hasher computes the digest of an experiment: SHA-256 over the SHA-256 of
// each league's canonical form (FORMAT.md) in league order. Two experiments
// have one digest if the same players, by field index, sat on the same seats,
// made the same choices, lost the same matches on technical grounds and met
// the same drawn numbers. What the players are called, where their code lies,
// how messages travelled, why a side was at fault and what is noted of it do
// not enter.
//
// The digest of more leagues follows from feeding a Hasher the earlier ones
// again. It is for one goroutine at a time.
type Hasher struct {
	total hash.Hash
	n     int
	buf   []byte
}

// NewHasher returns the Hasher of no leagues.
func NewHasher() *Hasher { return &Hasher{total: sha256.New()} }

// Add feeds the next league. It fails if l is not the one whose turn it is.
func (h *Hasher) Add(l *League) error {
	if l.Index != h.n {
		return fmt.Errorf("digest: league %d follows league %d", l.Index, h.n-1)
	}
	h.buf = appendCanonical(h.buf[:0], l)
	sum := sha256.Sum256(h.buf)
	h.total.Write(sum[:])
	h.n++
	return nil
}

// Len returns how many leagues have been fed.
func (h *Hasher) Len() int { return h.n }

// Digest returns the digest of the leagues fed so far, in hexadecimal.
func (h *Hasher) Digest() string { return hex.EncodeToString(h.total.Sum(nil)) }

func appendCanonical(buf []byte, l *League) []byte {
	buf = append(buf, "strategylab/league/v1\x00"...)
	buf = binary.AppendUvarint(buf, uint64(l.Index))
	buf = binary.AppendUvarint(buf, uint64(len(l.Seats)))
	for _, field := range l.Seats {
		buf = binary.AppendUvarint(buf, uint64(field))
	}
	buf = binary.AppendUvarint(buf, uint64(len(l.Matches)))
	for _, m := range l.Matches {
		buf = append(buf, canonicalSide(m.A)|canonicalSide(m.B)<<4)
		if number := uint64(m.Number + 1); number < 0x80 {
			buf = append(buf, byte(number))
		} else {
			buf = binary.AppendUvarint(buf, number)
		}
	}
	return buf
}

func canonicalSide(s game.Side) byte {
	b := byte(s.Choice)
	if s.Fault != game.NoFault {
		b |= 4
	}
	return b
}
