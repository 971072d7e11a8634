package manager

import (
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/protocol"
)

// known yields all messages of the types that a manager sends, except matches
// that are assigned one by one.
func (t T) known(yield func(m *message)) {
	types := []protocol.Type{
		protocol.TypeRoundAnnouncement, protocol.TypeLeagueStandingsUpdate, protocol.TypeRoundCompleted, protocol.TypeLeagueCompleted,
	}
	t.every("", func(m *message) {
		if slices.Contains(types, m.typ) && !m.assigned {
			yield(m)
		}
	})
}

var messageTests = map[string]func(T){
	"message.rpc": func(t T) {
		t.every("", func(m *message) {
			kit.Frame.Test(t.T, string(m.typ), kit.Object(m.Raw), func() { t.show(m) })
		})
	},
	"message.method": func(t T) {
		t.known(func(m *message) {
			about, _ := protocol.Describe(m.typ)
			doc := kit.Object(m.Raw)
			if got := doc.Text("method"); got != about.Method && doc.Text("message_type") == "" && m.n == 1 { // later ones may be in another form
				t.failOn(m, "%s has the method %q, want %q", m.typ, got, about.Method)
			}
		})
	},
	"message.fields": func(t T) {
		t.known(func(m *message) {
			if why, ended := t.Catch(func() { t.Valid(m.fields, m.typ, false) }); ended {
				t.failOn(m, "%s: %s", m.typ, why)
			}
			if m.fields.Text("league_id") != t.leagueID {
				t.failOn(m, "league_id of %s is %s, want %q", m.typ, m.fields.Shown("league_id"), t.leagueID)
			}
		})
	},
	"message.ids": func(t T) {
		seen := map[string]bool{}
		t.every("", func(m *message) {
			id := kit.Object(m.Raw).Shown("id")
			key := m.fields.Text("sender") + " " + m.to.name + " " + id // it may have referees of its own
			if seen[key] {
				t.failOn(m, "the id %s was sent to %s before", id, m.to.called())
			}
			seen[key] = true
		})
	},
	"message.token": func(t T) {
		first := map[*member]string{}
		t.known(func(m *message) {
			got := m.fields.Text("auth_token")
			if first[m.to] == "" {
				first[m.to] = got
			}
			if got == "" || got != first[m.to] {
				t.failOn(m, "auth_token of %s to %s is %s; it was %q before", m.typ, m.to.called(), m.fields.Shown("auth_token"), first[m.to])
			}
		})
	},
	"message.proof": func(t T) {
		found := false
		t.known(func(m *message) {
			got, want := m.fields.Text("auth_token"), m.to.verifier.ManagerToken(t.leagueID)
			found = found || got != ""
			if got != "" && got != want {
				t.failOn(m, "auth_token of %s to %s is %q, want %q", m.typ, m.to.id, got, want)
			}
		})
		if !found {
			t.Skip("no message has an auth_token")
		}
	},
	"message.secret": func(t T) {
		t.every("", func(m *message) {
			for _, other := range t.agents {
				t.secret(m, other.token, "%s to %s contains the token of %s", m.typ, m.to.called(), other.id)
			}
		})
	},
}

var notifyTests = map[string]func(T){
	"notify.busy":   func(t T) { t.retried(busyPlayer) },
	"notify.broken": func(t T) { t.retried(brokenPlayer) },
	"notify.silent": goesOn,
	"notify.same": func(t T) {
		var all []*message
		t.every(protocol.TypeRoundAnnouncement, func(m *message) { all = append(all, m) })
		found := false
		for _, m := range all {
			for _, again := range all {
				if !m.refused || again.to != m.to || again.round != m.round || again.n != m.n+1 {
					continue
				}
				found = true
				if was, is := m.fields.Text("conversation_id"), again.fields.Text("conversation_id"); was != is {
					t.failOn(again, "conversation_id was %q, and is %q in the retry", was, is)
				}
			}
		}
		if !found {
			t.Skip("nothing was sent again")
		}
	},
}

// retried ends the check unless an announcement that a player did not accept was sent again.
func (t T) retried(player int) {
	lost := t.lost(player)
	if !t.Until(0, func() bool { return t.sentAgain(lost) }) {
		t.failOn(lost, "player %s was not sent it again within %v", lost.to.id, t.session.Patience())
	}
}

// lost returns the announcement that a player did not accept.
func (t T) lost(player int) *message {
	var lost *message
	to := t.players()[player]
	t.every(protocol.TypeRoundAnnouncement, func(m *message) {
		if m.refused && m.to == to && m.round == faultyRound {
			lost = m
		}
	})
	if lost == nil {
		t.Skip("player %s was not sent round %d", to.id, faultyRound)
	}
	return lost
}

// longestWait is how long a manager may wait for an agent, by the protocol.
const longestWait = 10 * time.Second

func goesOn(t T) {
	lost := t.lost(silentPlayer)
	var began *message
	for _, m := range t.firsts(protocol.RoleReferee, faultyRound) {
		if began == nil || m.arrival < began.arrival {
			began = m
		}
	}
	t.show(lost)
	if began == nil || began.arrival > lost.reply {
		t.Fail("while player %s did not answer, the league did not go on for %v", lost.to.id, longestWait)
	}
	t.Note("the league went on %v after the announcement to player %s, which did not answer", began.At.Sub(lost.At).Round(time.Millisecond), lost.to.id)
}
