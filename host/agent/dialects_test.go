package agent_test

import (
	"testing"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
)

// TestAnswerForms: how a peer is answered follows what it shows to read, and
// nothing that leaves it open displaces what is known.
func TestAnswerForms(t *testing.T) {
	t.Parallel()
	const who = "referee:REF01 at 127.0.0.1"
	missed := func(m *agent.AnswerDialects, choice bool) { m.Missed(who, m.Form(who), choice) }
	for _, c := range []struct {
		what   string
		happen func(m *agent.AnswerDialects)
		want   string
	}{
		{"nothing is known", func(*agent.AnswerDialects) {}, ""},
		{"a join was missed", func(m *agent.AnswerDialects) { missed(m, false) }, dialect.TraitBoth},
		{"two joins were missed", func(m *agent.AnswerDialects) { missed(m, false); missed(m, false) }, dialect.TraitAsync},
		{"a join was missed that was also posted", func(m *agent.AnswerDialects) {
			m.Missed(who, "", false, dialect.TraitAsync)
			missed(m, false)
		}, dialect.TraitRequests},
		{"a choice was missed after a join that was read", func(m *agent.AnswerDialects) { m.Joined(who, false); missed(m, true) }, dialect.TraitBoth},
		{"two choices were missed", func(m *agent.AnswerDialects) { missed(m, true); missed(m, true) }, dialect.TraitRequests},
		{"no form was read", func(m *agent.AnswerDialects) { missed(m, true); missed(m, true); missed(m, true) }, ""},
		{"two matches at once were lost in one form", func(m *agent.AnswerDialects) {
			m.Missed(who, "", true)
			m.Missed(who, "", true)
		}, dialect.TraitBoth},
		{"a join is lost that is usually read", func(m *agent.AnswerDialects) { m.Joined(who, false); missed(m, false) }, ""},
		{"a choice is lost that is usually read", func(m *agent.AnswerDialects) { m.Proven(who); missed(m, true) }, ""},
		{"it has continued after a message", func(m *agent.AnswerDialects) { m.Joined(who, true) }, dialect.TraitAsync},
		{"its method names suggest it", func(m *agent.AnswerDialects) { m.Prefer(who, dialect.TraitBoth) }, dialect.TraitBoth},
		{"it does not read what its names suggest", func(m *agent.AnswerDialects) {
			m.Prefer(who, dialect.TraitBoth)
			missed(m, true)
			m.Prefer(who, dialect.TraitBoth)
		}, dialect.TraitRequests},
		{"the registration has shown it", func(m *agent.AnswerDialects) { m.SetDefault(dialect.Contracts.With(dialect.TraitRequests)) }, dialect.TraitRequests},
		{"and it has continued after a message", func(m *agent.AnswerDialects) {
			m.SetDefault(dialect.Contracts.With(dialect.TraitRequests))
			m.Joined(who, true)
			missed(m, false)
		}, dialect.TraitRequests},
		{"another peer has shown it", func(m *agent.AnswerDialects) { m.Missed("referee:REF02 at 127.0.0.1", "", true) }, ""},
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
