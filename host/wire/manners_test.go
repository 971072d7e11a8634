package wire_test

import (
	"testing"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// How a peer is answered follows what it shows to read, and nothing that leaves
// it open displaces what is known.
func TestManners(t *testing.T) {
	t.Parallel()
	const who = "referee:REF01"
	for _, c := range []struct {
		what   string
		happen func(m *wire.Manners)
		want   string
	}{
		{"nothing is known", func(*wire.Manners) {}, ""},
		{"one answer was missed", func(m *wire.Manners) { m.Missed(who) }, protocol.TraitAsync},
		{"two were missed", func(m *wire.Manners) { m.Missed(who); m.Missed(who) }, protocol.TraitRequests},
		{"what is read stands", func(m *wire.Manners) { m.Read(who); m.Missed(who) }, ""},
		{"it has gone on after a message", func(m *wire.Manners) { m.ReadBy(who, protocol.TraitAsync) }, protocol.TraitAsync},
		{"the registration has shown it", func(m *wire.Manners) { m.Begin(protocol.TraitRequests) }, protocol.TraitRequests},
		{"and it has gone on after a message", func(m *wire.Manners) {
			m.Begin(protocol.TraitRequests)
			m.ReadBy(who, protocol.TraitAsync)
			m.Missed(who)
		}, protocol.TraitRequests},
		{"another peer has shown it", func(m *wire.Manners) { m.Missed("referee:REF02") }, ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			m := new(wire.Manners)
			c.happen(m)
			want := protocol.Contracts
			if c.want != "" {
				want = want.With(c.want)
			}
			if got := m.Dialect(who, protocol.Contracts); got.Name != want.Name {
				t.Errorf("answered in %s, want %s", got.Name, want.Name)
			}
		})
	}
}
