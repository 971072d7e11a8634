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

func messageChecks() []kit.Check {
	return []kit.Check{
		leagueCheck("message.rpc", kit.Should, kit.Frame.Rule, kit.Frame.Advice, func(t T) {
			t.every("", func(m *message) {
				kit.Frame.Test(t.T, string(m.typ), kit.Object(m.Raw), func() { t.show(m) })
			})
		}),
		leagueCheck("message.method", kit.Should, "Messages have the methods of the protocol: notify_round, update_standings, notify_round_completed, notify_league_completed.", "Name the method after the message.", func(t T) {
			t.known(func(m *message) {
				about, _ := protocol.Describe(m.typ)
				doc := kit.Object(m.Raw)
				if got := doc.Text("method"); got != about.Method && doc.Text("message_type") == "" && m.n == 1 { // later ones may be in another form
					t.failOn(m, "%s has the method %q, want %q", m.typ, got, about.Method)
				}
			})
		}),
		leagueCheck("message.fields", kit.Should, "Messages of the manager have the header, signed as league_manager, and all members that the protocol demands, each of its kind; league_id is that of the registration (league.v2, messages).",
			"Add or correct the members that are named; docs/protocol/examples has a message of every type.", func(t T) {
				t.known(func(m *message) {
					if why, ended := t.Catch(func() { t.Valid(m.fields, m.typ, false) }); ended {
						t.failOn(m, "%s: %s", m.typ, why)
					}
					if m.fields.Text("league_id") != t.leagueID {
						t.failOn(m, "league_id of %s is %s, want %q", m.typ, m.fields.Shown("league_id"), t.leagueID)
					}
				})
			}),
		leagueCheck("message.ids", kit.Should, "Every request to an agent has a JSON-RPC id of its own, also a retry (JSON-RPC 2.0).", "Use a counter, or make a UUID for each attempt.", func(t T) {
			seen := map[string]bool{}
			t.every("", func(m *message) {
				id := kit.Object(m.Raw).Shown("id")
				key := m.fields.Text("sender") + " " + m.to.name + " " + id // it may have referees of its own
				if seen[key] {
					t.failOn(m, "the id %s was sent to %s before", id, m.to.called())
				}
				seen[key] = true
			})
		}),
		leagueCheck("message.token", kit.Should, "Messages to an agent have an auth_token, always the same, by which it knows the manager (league.v2, authentication).", "Send the token with everything; known players refuse messages without one.", haveToken),
		leagueCheck("message.proof", kit.Wild, "The auth_token of the manager is tok-LM- with the HMAC over the agent's own token, which nobody else can make (league.v2, authentication).",
			`Calculate HMAC-SHA-256 with the key SHA-256(token of the agent) over "manager|" and the league_id.`, proveSender),
		leagueCheck("message.secret", kit.Should, "No message contains the token of an agent (league.v2, authentication).", "Choose the members of a message; do not encode what is stored.", func(t T) {
			t.every("", func(m *message) {
				for _, other := range t.agents {
					t.secret(m, other.token, "%s to %s contains the token of %s", m.typ, m.to.called(), other.id)
				}
			})
		}),
	}
}

func haveToken(t T) {
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
}

func proveSender(t T) {
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
}

func retryChecks() []kit.Check {
	retried := func(id string, player int, rule string) kit.Check {
		return leagueCheck(id[len("manager."):], kit.Should, rule, "Send it again after 1, 2 and 4 s, in the background; nobody else has to wait for that.", func(t T) {
			lost := t.lost(player)
			if !t.Until(0, func() bool { return t.sentAgain(lost) }) {
				t.failOn(lost, "player %s was not sent it again within %v", lost.to.id, t.session.Patience())
			}
		})
	}
	return []kit.Check{
		retried(retriesBusy, busyPlayer, "A message to an agent that answers HTTP 503 is sent again (league.v2, retries)."),
		retried(retriesBroken, brokenPlayer, "A message to an agent whose connection breaks is sent again (league.v2, retries)."),
		leagueCheck(survivesSilent[len("manager."):], kit.Should, "A player that does not answer an announcement does not stop the league: after 10 s at most, the others go on (league.v2, notifications).",
			"Give every message a timeout, send to all at once, and go on without those that have not answered.", goesOn),
		leagueCheck("notify.same", kit.Should, "A retry is the same message: conversation_id stays (league.v2, retries).", "Make the message once, and give each attempt only a new JSON-RPC id.", repeatsMessages),
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

func repeatsMessages(t T) {
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
}
