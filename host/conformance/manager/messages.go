package manager

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/protocol"
)

var (
	announcement = protocol.TypeRoundAnnouncement
	table        = protocol.TypeLeagueStandingsUpdate
	roundEnd     = protocol.TypeRoundCompleted
	theEnd       = protocol.TypeLeagueCompleted
)

// flow are the types of messages by which a manager runs its league.
var flow = []protocol.Type{announcement, table, roundEnd, theEnd}

// sentTests test what our agents were sent, and in which order.
var sentTests = map[string]func(T){
	"round.players":  sent(announcement, T.players),
	"standings.sent": sent(table, T.registered),
	"roundend.sent":  sent(roundEnd, T.registered),
	"end.sent":       sent(theEnd, T.registered),

	"round.announced": each(func(_ T, m *message) string { return when(m.Assignment, "its match was assigned alone") }, announcement),
	"round.first":     each(afterPlayers, announcement),
	"round.matches":   describesMatches,

	"message.rpc": each(func(_ T, m *message) string { return kit.Frame(m.Doc) }),
	"message.method": each(func(_ T, m *message) string {
		about, _ := protocol.Describe(m.Type)
		got := m.Doc.Text("method")
		wrong := got != about.Method && m.Doc.Text("message_type") == "" && m.n == 1 // later ones may be in another form
		return when(wrong && !m.Assignment, "the method is %q, want %q", got, about.Method)
	}, flow...),
	"message.fields": each(func(t T, m *message) string {
		why, ended := t.Catch(func() {
			t.Valid(m.Fields, m.Type, false)
			t.Says(m.Fields, map[string]string{"league_id": t.leagueID})
		})
		return when(ended && !m.Assignment, "%s", why)
	}, flow...),
	"message.ids": after(func(_ T, was, m *message) string { // it may have referees of its own
		same := was.Doc.Shown("id") == m.Doc.Shown("id") && was.Fields.Text("sender") == m.Fields.Text("sender")
		return when(same, "the id %s was sent before", m.Doc.Shown("id"))
	}),
	"message.token": after(func(_ T, was, m *message) string {
		got, want := m.Fields.Text("auth_token"), was.Fields.Text("auth_token")
		signed := slices.Contains(flow, was.Type) && !was.Assignment && !m.Assignment
		return when(signed && (got == "" || got != want), "auth_token is %s; it was %q before", m.Fields.Shown("auth_token"), want)
	}, flow...),
	"message.proof": each(func(t T, m *message) string {
		got, want := m.Fields.Text("auth_token"), m.to.verifier.ManagerToken(t.leagueID)
		return when(!m.Assignment && got != want, "auth_token is %q, want %q", got, want)
	}, flow...),
	"message.secret": each(func(t T, m *message) string {
		secret := t.reveals(m.Raw, m.to)
		return when(secret != "", "it contains %s", secret)
	}),

	"roundend.early": each(func(t T, m *message) string { return when(t.endsEarly(m), "it came before the last report") }, roundEnd),
	"roundend.once":  after(again, roundEnd),
	"roundend.table": after(func(t T, was, m *message) string {
		late := was.Type == roundEnd && slices.ContainsFunc(t.played(), func(r *round) bool {
			return t.about(m.to, roundEnd, r) == was && t.about(m.to, table, r) == m
		})
		return when(late, "ROUND_COMPLETED came before it")
	}, table),
	"roundend.before": after(func(t T, was, m *message) string {
		begun := was.Type == announcement && was.n == 1 && m.n == 1 && was.round > 0 && was.round == t.next(m.round)
		return when(begun, "round %d was announced before", was.round)
	}, roundEnd),
	"roundend.next": atTheEnd(each(func(t T, m *message) string {
		wrong := !t.endsEarly(m) && m.Fields.Round("next_round_id") != t.next(m.round)
		return when(wrong, "next_round_id is %s", m.Fields.Shown("next_round_id"))
	}, roundEnd)),
	"end.once": after(again, theEnd),
	"end.last": func(t T) {
		t.messagesOf(theEnd)
		after(func(_ T, was, m *message) string {
			return when(was.Type == theEnd && m.Type != theEnd, "it came after %s", theEnd)
		})(t)
	},

	"notify.busy":   retried(busyPlayer),
	"notify.broken": retried(brokenPlayer),
	"notify.silent": func(t T) {
		lost := t.lost(silentPlayer)
		next := find(t.messagesOf(announcement), func(m *message) bool { return m.to.role == protocol.RoleReferee && m.round == faultyRound })
		if next == nil || next.arrival > lost.reply {
			t.failOn(lost, "while it was not answered, the league did not go on for %v", longestWait)
		}
		took := next.At.Sub(lost.At).Round(time.Millisecond)
		t.Note("the league went on %v after the announcement to player %s, which did not answer", took, lost.to.ID)
	},
	"notify.same": after(func(_ T, was, m *message) string {
		retry := was.refused && was.Type == m.Type && was.round == m.round && m.n == was.n+1
		before, now := was.Fields.Text("conversation_id"), m.Fields.Text("conversation_id")
		return when(retry && before != now, "conversation_id was %q, and is %q in the retry", before, now)
	}, announcement),
}

// when returns a finding if something is so, "" otherwise.
func when(is bool, format string, args ...any) string {
	if !is {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// each returns a check of the messages of some types, or without any of all: broken says what is
// wrong with one, "" if nothing is.
func each(broken func(t T, m *message) string, types ...protocol.Type) func(T) {
	return func(t T) {
		for _, m := range t.messagesOf(types...) {
			if why := broken(t, m); why != "" {
				t.failOn(m, "%s", why)
			}
		}
	}
}

// atTheEnd is a check of a league that has ended.
func atTheEnd(check func(T)) func(T) {
	return func(t T) {
		t.complete()
		check(t)
	}
}

// after is each for a message and one that was sent to the same agent before.
func after(broken func(t T, was, m *message) string, types ...protocol.Type) func(T) {
	return each(func(t T, m *message) string {
		for _, was := range t.messagesOf() {
			if was.to == m.to && was.arrival < m.arrival {
				if why := broken(t, was, m); why != "" {
					t.Show(&was.Message)
					return why
				}
			}
		}
		return ""
	}, types...)
}

// sent returns a check that agents were sent a message of a type about every round, or at the end.
func sent(typ protocol.Type, to func(T) []*member) func(T) {
	return func(t T) {
		rounds := t.played()
		if typ == theEnd {
			t.complete()
			rounds = rounds[len(rounds)-1:]
		}
		for _, r := range rounds {
			for _, a := range to(t) {
				if r.closed > 0 && t.about(a, typ, r) == nil {
					t.Show(&r.matches[0].by.Message)
					t.Exhibit(r.report)
					t.Fail("in round %d and after its last report, %s was sent no %s", r.number, a.ID, typ)
				}
			}
		}
	}
}

// again says that a message was sent again after it had been acknowledged.
func again(t T, was, m *message) string {
	is := was.Type == m.Type && was.round == m.round && m.arrival > was.reply && !was.refused && !t.endsEarly(was)
	return when(is, "it was sent again")
}

// next returns the number of the round after another, 0 after the last.
func (t T) next(number int) int {
	for _, r := range t.played() {
		if r.number > number {
			return r.number
		}
	}
	return 0
}

// endsEarly reports whether a message ends a round before its last report.
func (t T) endsEarly(m *message) bool {
	return slices.ContainsFunc(t.played(), func(r *round) bool { return r.number == m.round && m.arrival <= r.last })
}

// afterPlayers says that a referee was sent a round before a player had acknowledged it, unless
// nobody has to wait for that player.
func afterPlayers(t T, m *message) string {
	if m.to.role != protocol.RoleReferee || m.n > 1 {
		return ""
	}
	all := t.messagesOf()
	for _, first := range t.messagesOf(announcement) {
		late := first.to.role == protocol.RolePlayer && first.round == m.round && first.n == 1 && max(first.arrival, first.reply) >= m.arrival
		unheard := func(other *message) bool { return other.to == first.to && other.refused && other.arrival < m.arrival }
		if late && !slices.ContainsFunc(all, unheard) {
			return fmt.Sprintf("round %d came before player %s had acknowledged it", m.round, first.to.ID)
		}
	}
	return ""
}

// describesMatches tests that announced matches have the same players for everybody, a
// referee that has registered and, for that, the endpoints of the players and the keys of the match.
func describesMatches(t T) {
	first := map[string]protocol.AnnouncedMatch{}
	each(func(t T, m *message) string {
		for _, f := range m.matches {
			if first[f.MatchID].MatchID == "" {
				first[f.MatchID] = f
			}
			if why, wrong := t.Catch(func() { t.describes(m, f, first[f.MatchID]) }); wrong {
				return fmt.Sprintf("match %s: %s", f.MatchID, why)
			}
		}
		return ""
	}, announcement)(t)
}

// describes ends the check if a match is announced wrongly, after its first copy.
func (t T) describes(m *message, f, first protocol.AnnouncedMatch) {
	raw, err := json.Marshal(f)
	if err != nil {
		panic(err) // it was read
	}
	has := kit.Object(raw)
	id, endpoint := cmp.Or(first.RefereeID, f.RefereeID), cmp.Or(first.RefereeEndpoint, f.RefereeEndpoint)
	known := find(t.referees(), func(a *member) bool { return f.RefereeID == a.ID || f.RefereeEndpoint == a.Endpoint.URL })
	switch {
	case known != nil:
		id, endpoint = known.ID, known.Endpoint.URL
	case f.RefereeID == "" || f.RefereeEndpoint == "": // those of another referee may be its own
		t.Fail("no referee with the referee_id %q and the referee_endpoint %q has registered", f.RefereeID, f.RefereeEndpoint)
	}
	t.Agrees(has, map[string]string{"player_A_id": first.PlayerAID, "player_B_id": first.PlayerBID, "referee_id": id, "referee_endpoint": endpoint})
	match := t.match(f.MatchID)
	if match == nil || match.by != m || match.referee == nil {
		return
	}
	for i, side := range []string{"A", "B"} {
		if player := t.withID(match.players[i]); player != nil {
			own := player.verifier.MatchKeys(t.leagueID, match.id, m.to.ID)
			t.Says(has, map[string]string{"player_" + side + "_endpoint": player.Endpoint.URL})
			if keys := has.Object("player_" + side + "_keys"); keys != nil {
				t.Says(keys, map[string]string{"send": own.Send, "expect": own.Expect})
			}
		}
	}
}

// reveals says which secret a text contains that an agent may not know, "" if none: tokens of agents,
// endpoints of players, which referees may know, and keys of matches, which are for their referees.
func (t T) reveals(text []byte, to *member) string {
	has := func(secret string) bool { return bytes.Contains(text, []byte(secret)) }
	for _, a := range t.registered() {
		switch {
		case a.Token != "" && has(a.Token):
			return "the token of " + a.ID
		case a != to && a.role == protocol.RolePlayer && to.role == protocol.RolePlayer && has(a.Endpoint.URL+`"`):
			return "the endpoint of " + a.ID
		}
	}
	for _, m := range t.matches {
		for _, id := range m.players {
			if player := t.withID(id); player != nil && m.referee != nil && to != m.referee && to != m.by.to {
				if keys := player.verifier.MatchKeys(t.leagueID, m.id, m.by.to.ID); has(keys.Send) || has(keys.Expect) {
					return "a key of match " + m.id
				}
			}
		}
	}
	return ""
}

// retried returns a check that an announcement which a player did not accept was sent again.
func retried(player int) func(T) {
	return func(t T) {
		lost := t.lost(player)
		if !t.Until(0, func() bool { return t.sentAgain(lost) }) {
			t.failOn(lost, "it was not sent again within %v", t.Session.Patience())
		}
	}
}

// lost returns the announcement that a player did not accept.
func (t T) lost(player int) *message {
	to := t.players()[player]
	lost := find(t.messagesOf(announcement), func(m *message) bool { return m.refused && m.to == to && m.round == faultyRound })
	if lost == nil {
		t.Skip("player %s was not sent round %d", to.ID, faultyRound)
	}
	return lost
}

// longestWait is how long a manager may wait for an agent, by the protocol.
const longestWait = 10 * time.Second
