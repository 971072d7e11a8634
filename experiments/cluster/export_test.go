package cluster

import "github.com/nats-io/nats.go"

// What a client needs that somebody wrote who has read this package.
type (
	Assignment = assignment
	Report     = report
	Identity   struct{ *identity }
)

// NewIdentity returns a key.
func NewIdentity() Identity { return Identity{newIdentity()} }

// ID returns its id.
func (i Identity) ID() string { return i.id }

// Seq returns the number of the next message.
func (i Identity) Seq() int64 { return i.seq.Add(1) }

// Seal returns a signed message.
func (i Identity) Seal(subject string, v any, data []byte) (*nats.Msg, error) {
	return i.seal(subject, v, data)
}

// Parse reads a message without its signature.
func Parse(m *nats.Msg, into any) ([]byte, error) { return parse(m, into) }
