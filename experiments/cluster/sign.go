package cluster

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode"

	"github.com/nats-io/nats.go"
)

// identity is the key of one worker or coordinator. It is made at the start and never
// stored. The id follows from the public key, so nobody can sign for the id of another.
type identity struct {
	private ed25519.PrivateKey
	id      string
	seq     atomic.Int64 // of the last message
}

func newIdentity() *identity {
	public, private, _ := ed25519.GenerateKey(nil) // it never fails
	return &identity{private: private, id: idOf(public)}
}

// idOf returns the id of a public key, in 16 hexadecimal digits.
func idOf(public []byte) string {
	s := sha256.Sum256(public)
	return hex.EncodeToString(s[:8])
}

// Headers of messages.
const (
	headerKey       = "Strategylab-Key"       // public key of the sender
	headerSignature = "Strategylab-Signature" // of subject and body
)

// seal returns a signed message of a value and, after it, data.
func (i *identity) seal(subject string, v any, data []byte) (*nats.Msg, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	m := nats.NewMsg(subject)
	m.Data = append(append(body, '\n'), data...) // encoding/json writes no line feed
	m.Header.Set(headerKey, base64.StdEncoding.EncodeToString(i.private.Public().(ed25519.PublicKey)))
	m.Header.Set(headerSignature, base64.StdEncoding.EncodeToString(ed25519.Sign(i.private, signed(m))))
	return m, nil
}

// signed returns what the signature of a message covers.
func signed(m *nats.Msg) []byte {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n", m.Subject)
	h.Write(m.Data)
	return h.Sum(nil)
}

// errForged says that a message is not from whom it names.
var errForged = errors.New("the signature is wrong")

// senderOf returns the id that a message claims to come from; see verified.
func senderOf(m *nats.Msg) string {
	key, err := base64.StdEncoding.DecodeString(m.Header.Get(headerKey))
	if err != nil || len(key) != ed25519.PublicKeySize {
		return ""
	}
	return idOf(key)
}

// verified reports whether a message comes from the sender that it names.
func verified(m *nats.Msg) bool {
	key, err1 := base64.StdEncoding.DecodeString(m.Header.Get(headerKey))
	signature, err2 := base64.StdEncoding.DecodeString(m.Header.Get(headerSignature))
	return err1 == nil && err2 == nil && len(key) == ed25519.PublicKeySize && ed25519.Verify(key, signed(m), signature)
}

// parse reads a message that seal has made, without its signature.
func parse(m *nats.Msg, into any) (data []byte, err error) {
	body, data, _ := bytes.Cut(m.Data, []byte("\n"))
	return data, json.Unmarshal(body, into)
}

// open reads a message of the sender with the given id.
func open(m *nats.Msg, id string, into any) error {
	if senderOf(m) != id || !verified(m) {
		return errForged
	}
	_, err := parse(m, into)
	return err
}

// lastWord returns the last word of a subject.
func lastWord(subject string) string { return subject[strings.LastIndexByte(subject, '.')+1:] }

// plain returns a text from the wire as it may be printed: without control characters,
// and of at most this many bytes.
func plain(text string, most int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	if strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return text
	}
	quoted := strconv.Quote(text)
	return quoted[1 : len(quoted)-1]
}
