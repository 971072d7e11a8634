// Package credential makes and verifies what proves who sent a message: the
// tokens of agents, and the keys that are derived from them for a match. It does
// no I/O; comparisons take time that does not depend on where the values differ.
package credential

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// tokenBytes is the number of random bytes in a token: 160 bits, where the
// protocol asks for at least 128.
const tokenBytes = 20

// NewToken returns a fresh token tok-<agent>-<random> for the agent with the
// given id. Random must be a cryptographic source; the error is its own.
func NewToken(random io.Reader, agent string) (string, error) {
	var secret [tokenBytes]byte
	if _, err := io.ReadFull(random, secret[:]); err != nil {
		return "", fmt.Errorf("credential: make a token for %s: %w", agent, err)
	}
	return "tok-" + agent + "-" + hex.EncodeToString(secret[:]), nil
}

// A Verifier is the SHA-256 of a token. It is what the manager keeps: it
// proves a token without being one, but the match keys derive from it, so it
// must be kept as secret as the token.
type Verifier [sha256.Size]byte

// NewVerifier returns the verifier of a token.
func NewVerifier(token string) Verifier { return sha256.Sum256([]byte(token)) }

// Verify reports whether token is the one the verifier was made of, in time
// that does not depend on where they differ.
func (v Verifier) Verify(token string) bool {
	other := NewVerifier(token)
	return subtle.ConstantTimeCompare(v[:], other[:]) == 1
}

// String returns the verifier in hexadecimal, for the manager's store.
func (v Verifier) String() string { return hex.EncodeToString(v[:]) }

// ParseVerifier reads what [Verifier.String] wrote.
func ParseVerifier(s string) (Verifier, error) {
	var v Verifier
	raw, err := hex.DecodeString(s)
	if err != nil || len(raw) != len(v) {
		return Verifier{}, fmt.Errorf("credential: a verifier is %d hexadecimal digits", 2*len(v))
	}
	copy(v[:], raw)
	return v, nil
}

// mac returns HMAC-SHA-256(v, parts joined by '|') in hexadecimal, where m is
// v's. Ids hold no '|', so different parts never give the same text.
func mac(m hash.Hash, parts ...string) string {
	m.Reset()
	io.WriteString(m, strings.Join(parts, "|")) // a hash never fails to write
	var sum [sha256.Size]byte
	return hex.EncodeToString(m.Sum(sum[:0]))
}

// scheme is the version of the protocol, which match keys are derived for.
const scheme = "league.v2"

// KeyPair is what a referee needs to speak with one player of one match.
type KeyPair struct {
	Send   string         `json:"send"`   // the key the referee signs with
	Expect string         `json:"expect"` // the key the player signs with
	Extra  jsontext.Value `json:",embed"`
}

// MatchKeys returns the pair of keys by which a referee and the player with
// this verifier know each other in one match: the referee signs with Send, the
// player with Expect. The manager makes them for the referee; the player makes
// them from its own token.
func (v Verifier) MatchKeys(league, match, referee string) KeyPair {
	m := hmac.New(sha256.New, v[:])
	return KeyPair{
		Send:   mac(m, scheme, "ref", league, match, referee),
		Expect: mac(m, scheme, "ply", league, match, referee),
	}
}

// managerPrefix begins the tokens by which the manager makes itself known.
const managerPrefix = "tok-LM-"

// ManagerToken returns the token that the manager of the league shows to the
// agent with this verifier.
func (v Verifier) ManagerToken(league string) string {
	return managerPrefix + mac(hmac.New(sha256.New, v[:]), "manager", league)
}

// SameToken compares two tokens or keys in time that does not depend on where
// they differ; how long they are is no secret. An empty one is equal to nothing.
func SameToken(a, b string) bool {
	if a == "" || len(a) != len(b) {
		return false
	}
	var differ byte
	for i := range len(a) {
		differ |= a[i] ^ b[i]
	}
	return subtle.ConstantTimeByteEq(differ, 0) == 1
}

// AcceptsPlayer reports whether what a player signs with is good for a match:
// the key the referee expects, or the raw token from which that key follows,
// which is what players by the book send.
func (k KeyPair) AcceptsPlayer(signed, league, match, referee string) bool {
	derived := NewVerifier(signed).MatchKeys(league, match, referee).Expect
	return SameToken(signed, k.Expect) || SameToken(derived, k.Expect)
}

// Mask returns a token as it may stand in a log: enough to tell whose it is,
// nothing of what makes it one.
func Mask(token string) string {
	if rest, ok := strings.CutPrefix(token, "tok-"); ok {
		if i := strings.LastIndexByte(rest, '-'); i >= 0 && i <= 64 {
			return "tok-" + rest[:i] + "-***"
		}
	}
	if token == "" {
		return ""
	}
	return "***"
}
