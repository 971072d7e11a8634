// Package draws makes drawn numbers verifiable: a referee commits to a secret key
// before it asks for choices, and reveals the key with the number, which follows
// from the key, the choices, and a nonce of each player. docs/draws.md states what
// that proves. The package does no I/O and is safe for concurrent use.
package draws

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
)

// Scheme names the construction on the wire. Another construction gets another name.
const Scheme = "league.v2/sha256-hmac-1"

const (
	keyBytes   = 32
	nonceBytes = 16
	maxNonce   = 128 // hexadecimal digits
)

// Match is what a draw is bound to. The order of the players has no meaning.
type Match struct {
	League  string
	ID      string
	Round   int // 0 if the messages have none
	Players [2]Player
}

// Player is one player of a match and its part in the draw.
type Player struct {
	ID     string
	Choice string // "even" or "odd"
	Nonce  string // empty for a player that takes no part
}

// Errors of [Match.Verify]. They are to be shown after the name of a match.
var (
	ErrNoKey      = errors.New("the referee reveals no key")
	ErrBadKey     = errors.New("the revealed key is not 64 lower-case hexadecimal digits")
	ErrCommitment = errors.New("the revealed key is not the one committed to for this match")
	ErrNumber     = errors.New("the drawn number does not follow from the revealed key")
	ErrNonce      = errors.New("the referee did not use the player's nonce")
	ErrReused     = errors.New("the revealed key was revealed before, in another match")
)

// NewKey returns a key for one match: 64 hexadecimal digits of a cryptographic
// source. A key is secret until the number is drawn.
func NewKey() string { return random(keyBytes) }

// NewNonce returns what a player adds to a draw: 32 hexadecimal digits.
func NewNonce() string { return random(nonceBytes) }

func random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// ValidNonce reports whether a referee takes a nonce: 1 to 128 lower-case hexadecimal digits.
func ValidNonce(nonce string) bool {
	for _, c := range []byte(nonce) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return nonce != "" && len(nonce) <= maxNonce
}

// readKey decodes a key. Each key has one spelling, so that a reused one is found.
func readKey(key string) ([]byte, error) {
	raw, err := hex.DecodeString(key)
	switch {
	case key == "":
		return nil, ErrNoKey
	case err != nil || len(raw) != keyBytes || hex.EncodeToString(raw) != key:
		return nil, ErrBadKey
	}
	return raw, nil
}

// text is the input of a hash: each part with its length before it, so that
// different parts never give the same text.
func text(parts ...string) []byte {
	b := make([]byte, 0, 320)
	for _, p := range parts {
		b = add(b, p)
	}
	return b
}

func add(b []byte, part string) []byte {
	b = strconv.AppendInt(b, int64(len(part)), 10)
	b = append(b, ':')
	b = append(b, part...)
	return append(b, ',')
}

// sorted returns the players in the order of their ids.
func (m *Match) sorted() (first, second Player) {
	if m.Players[1].ID < m.Players[0].ID {
		return m.Players[1], m.Players[0]
	}
	return m.Players[0], m.Players[1]
}

// Commitment returns the commitment to a key for a match, as 64 hexadecimal
// digits: SHA-256 of league, match, round, both players and the key. Choices and
// nonces are not part of it. The error is ErrNoKey or ErrBadKey.
func (m *Match) Commitment(key string) (string, error) {
	raw, err := readKey(key)
	if err != nil {
		return "", err
	}
	a, b := m.sorted()
	sum := sha256.Sum256(append(text(Scheme, "commitment", m.League, m.ID, strconv.Itoa(m.Round), a.ID, b.ID), raw...))
	return hex.EncodeToString(sum[:]), nil
}

// Number returns the number that follows from a key, the choices and the nonces: 1 to 10, each
// equally likely. It is the first byte below 250 among the first bytes of HMAC-SHA-256 with the
// counters 0, 1, 2 and so on, reduced to 1 to 10. The error is ErrNoKey or ErrBadKey.
func (m *Match) Number(key string) (int, error) {
	raw, err := readKey(key)
	if err != nil {
		return 0, err
	}
	a, b := m.sorted()
	input := text(Scheme, "number", m.League, m.ID, strconv.Itoa(m.Round), a.ID, a.Choice, a.Nonce, b.ID, b.Choice, b.Nonce)
	mac := hmac.New(sha256.New, raw)
	var sum [sha256.Size]byte
	for counter := 0; ; counter++ {
		mac.Reset()
		mac.Write(add(input, strconv.Itoa(counter)))
		if first := mac.Sum(sum[:0])[0]; first < 250 {
			return 1 + int(first)%10, nil
		}
	}
}

// Verify reports how a drawn number breaks the commitment that was given before
// the choices, nil if it keeps it. The error is one of this package's.
func (m *Match) Verify(commitment, key string, number int) error {
	opens, err := m.Commitment(key)
	if err != nil {
		return err
	}
	if subtle.ConstantTimeCompare([]byte(opens), []byte(commitment)) != 1 {
		return ErrCommitment
	}
	follows, err := m.Number(key)
	if err == nil && follows != number {
		err = fmt.Errorf("%w: it gives %d, not %d", ErrNumber, follows, number)
	}
	return err
}
