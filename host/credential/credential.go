// Package credential creates and verifies the tokens that authenticate agents,
// and the match keys derived from them. It does no I/O, compares secrets in
// constant time, and is safe for concurrent use.
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
)

// tokenBytes is the number of random bytes in a token: 160 bits, where the
// protocol asks for at least 128.
const tokenBytes = 20

// NewToken returns a new token tok-<agent>-<random> for the agent with the given
// id. random must be a cryptographic source; its errors are wrapped.
func NewToken(random io.Reader, agent string) (string, error) {
	var secret [tokenBytes]byte
	if _, err := io.ReadFull(random, secret[:]); err != nil {
		return "", fmt.Errorf("credential: make a token for %s: %w", agent, err)
	}
	return "tok-" + agent + "-" + hex.EncodeToString(secret[:]), nil
}

// A Verifier is the SHA-256 of a token. The manager stores it instead of the token. It cannot be
// used as a token, but match keys derive from it, so it is as secret as the token.
type Verifier [sha256.Size]byte

// NewVerifier returns the verifier of a token.
func NewVerifier(token string) Verifier { return sha256.Sum256([]byte(token)) }

// Verify reports whether v is the verifier of token, in constant time.
func (v Verifier) Verify(token string) bool {
	other := NewVerifier(token)
	return subtle.ConstantTimeCompare(v[:], other[:]) == 1
}

// String returns the verifier in hexadecimal, for the manager's store.
func (v Verifier) String() string { return hex.EncodeToString(v[:]) }

// ParseVerifier parses the output of [Verifier.String].
func ParseVerifier(s string) (Verifier, error) {
	var v Verifier
	raw, err := hex.DecodeString(s)
	if err != nil || len(raw) != len(v) {
		return Verifier{}, fmt.Errorf("credential: a verifier is %d hexadecimal digits", 2*len(v))
	}
	copy(v[:], raw)
	return v, nil
}

// mac returns HMAC-SHA-256(v, parts joined by '|') in hexadecimal; m is keyed
// with v. Ids contain no '|', so different parts never join to the same text.
func mac(m hash.Hash, parts ...string) string {
	m.Reset()
	io.WriteString(m, strings.Join(parts, "|")) // a hash never fails to write
	var sum [sha256.Size]byte
	return hex.EncodeToString(m.Sum(sum[:0]))
}

// scheme is the protocol version that match keys are derived for.
const scheme = "league.v2"

// KeyPair holds the keys of a referee for one player in one match. The tags rule and doc
// are those of host/protocol.
type KeyPair struct {
	Send   string `json:"send" rule:"always" doc:"The match key the referee signs with."`  // the key the referee signs with
	Expect string `json:"expect" rule:"always" doc:"The match key the player signs with."` // the key the player signs with
	// Optional says that the league is tolerant: the player may sign otherwise, or not at all.
	Optional bool `json:"optional,omitzero" doc:"True in a tolerant league: the player may sign otherwise, or not at all."`
}

// MatchKeys returns the keys that authenticate a referee and the player with this verifier to each
// other in one match: the referee signs with Send, the player with Expect. The manager computes
// them for the referee, and the player from its own token.
func (v Verifier) MatchKeys(league, match, referee string) KeyPair {
	m := hmac.New(sha256.New, v[:])
	return KeyPair{
		Send:   mac(m, scheme, "ref", league, match, referee),
		Expect: mac(m, scheme, "ply", league, match, referee),
	}
}

// managerPrefix is the prefix of the manager's tokens.
const managerPrefix = "tok-LM-"

// ManagerToken returns the token that authenticates the manager of the league
// to the agent with this verifier.
func (v Verifier) ManagerToken(league string) string {
	return managerPrefix + mac(hmac.New(sha256.New, v[:]), "manager", league)
}

// SameToken compares two tokens or keys in constant time; their lengths are not
// secret. An empty one equals nothing, not even another empty one.
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

// AcceptsPlayer reports whether signed authenticates the player in a match. It
// accepts the key that the referee expects, and the raw token from which that
// key derives, because the protocol lets players send their token.
func (k KeyPair) AcceptsPlayer(signed, league, match, referee string) bool {
	derived := NewVerifier(signed).MatchKeys(league, match, referee).Expect
	return SameToken(signed, k.Expect) || SameToken(derived, k.Expect)
}

// Owner returns the id of the agent that a token names, or "" if it has another form than ours.
func Owner(token string) string {
	rest, ours := strings.CutPrefix(token, "tok-")
	if i := strings.LastIndexByte(rest, '-'); ours && i >= 0 {
		return rest[:i]
	}
	return ""
}

// Mask returns a token for a log: it names the agent and hides the secret.
func Mask(token string) string {
	switch id := Owner(token); {
	case id != "" && len(id) <= 64:
		return "tok-" + id + "-***"
	case token == "":
		return ""
	}
	return "***"
}
