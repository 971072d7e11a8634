package agent_test

import (
	"testing"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
)

// How a peer is answered follows what it shows to read, and nothing that leaves
// it open displaces what is known.
func TestManners(t *testing.T) {
	t.Parallel()
	const who = "referee:REF01"
	for _, c := range []struct {
		what   string
		happen func(m *agent.AnswerDialects)
		want   string
	}{
		{"nothing is known", func(*agent.AnswerDialects) {}, ""},
		{"one answer was missed", func(m *agent.AnswerDialects) { m.Missed(who) }, dialect.TraitAsync},
		{"two were missed", func(m *agent.AnswerDialects) { m.Missed(who); m.Missed(who) }, dialect.TraitRequests},
		{"what is read stands", func(m *agent.AnswerDialects) { m.Read(who); m.Missed(who) }, ""},
		{"it has gone on after a message", func(m *agent.AnswerDialects) { m.ReadBy(who, dialect.TraitAsync) }, dialect.TraitAsync},
		{"the registration has shown it", func(m *agent.AnswerDialects) { m.SetDefault(dialect.TraitRequests) }, dialect.TraitRequests},
		{"and it has gone on after a message", func(m *agent.AnswerDialects) {
			m.SetDefault(dialect.TraitRequests)
			m.ReadBy(who, dialect.TraitAsync)
			m.Missed(who)
		}, dialect.TraitRequests},
		{"another peer has shown it", func(m *agent.AnswerDialects) { m.Missed("referee:REF02") }, ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			m := new(agent.AnswerDialects)
			c.happen(m)
			want := dialect.Contracts
			if c.want != "" {
				want = want.With(c.want)
			}
			if got := m.Dialect(who, dialect.Contracts); got.Name != want.Name {
				t.Errorf("answered in %s, want %s", got.Name, want.Name)
			}
		})
	}
}
