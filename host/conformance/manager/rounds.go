package manager

import (
	"bytes"
	"slices"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/protocol"
)

// announced yields all matches that are announced.
func (t T) announcedMatches(yield func(m *message, f kit.Fields)) {
	t.every(protocol.TypeRoundAnnouncement, func(m *message) {
		for _, f := range m.matches {
			yield(m, f)
		}
	})
}

var roundTests = map[string]func(T){
	"round.given": func(t T) {
		l := t.leaguePlayed()
		start := l.probes["start"]
		if t.players()[len(t.players())-1].id == "" {
			t.Fail("%s", l.stopped) // the last player cannot register
		}
		if len(l.rounds) == 0 {
			if !l.selfStarted && (start == nil || !start.answer.Taken()) {
				t.Skip("the league did not begin: %s", l.stopped)
			}
			t.blame(start)
		}
		if l.stopped != "" && !l.refusedReport {
			if n := len(l.rounds); n > 0 {
				t.show(l.rounds[n-1].matches[0].by)
			}
			t.Fail("%s", l.stopped)
		}
		if l.stopped != "" {
			t.Skip("the league did not end: %s", l.stopped)
		}
		t.Note("%s in %s", kit.Count(len(t.matches), "match", "matches"), kit.Count(len(l.rounds), "round", "rounds"))
	},
	"round.announced": func(t T) {
		t.every(protocol.TypeRoundAnnouncement, func(m *message) {
			if m.assigned {
				t.failOn(m, "match %s was assigned alone", m.matches[0].Text("match_id"))
			}
		})
	},
	"round.players": func(t T) {
		for _, r := range t.played().rounds {
			first := t.firsts(protocol.RolePlayer, r.number)
			for _, a := range t.players() {
				if first[a] == nil {
					t.failOn(r.matches[0].by, "player %s was not sent round %d", a.id, r.number)
				}
			}
		}
	},
	"round.first": func(t T) {
		for _, r := range t.played().rounds {
			players := t.firsts(protocol.RolePlayer, r.number)
			for referee, began := range t.firsts(protocol.RoleReferee, r.number) {
				for player, m := range players {
					switch {
					case t.refusedBefore(player, began): // nobody has to wait for it
					case m.arrival > began.arrival:
						t.failOn(began, "referee %s was sent round %d before player %s", referee.id, r.number, player.id)
					case m.reply > began.arrival:
						t.failOn(began, "referee %s was sent round %d before player %s had acknowledged it", referee.id, r.number, player.id)
					}
				}
			}
		}
	},
	"round.pairs": func(t T) {
		t.complete()
		judged(theEnd, false, "schedule")(t)
	},
	"round.byes": judged("", false, "byes"),
	"round.same": func(t T) {
		known := map[string]kit.Fields{}
		t.announcedMatches(func(m *message, f kit.Fields) {
			other := known[f.Text("match_id")]
			if other == nil {
				known[f.Text("match_id")] = f
				return
			}
			for _, name := range []string{"player_A_id", "player_B_id", "referee_id", "referee_endpoint"} {
				if other.Has(name) && f.Has(name) && !bytes.Equal(f[name], other[name]) {
					t.failOn(m, "%s of match %s is %s; another agent was sent %s", name, f.Text("match_id"), f[name], other[name])
				}
			}
		})
	},
	"round.referee": func(t T) {
		t.announcedMatches(func(m *message, f kit.Fields) {
			id, endpoint := f.Text("referee_id"), f.Text("referee_endpoint")
			others := !slices.ContainsFunc(t.referees(), func(a *member) bool { return id == a.id || endpoint == a.endpoint.URL })
			if !(others && id != "" && endpoint != "") && !slices.ContainsFunc(t.referees(), func(a *member) bool {
				return (id == a.id || id == "") && (endpoint == a.endpoint.URL || endpoint == "") && id+endpoint != ""
			}) {
				t.failOn(m, "match %s has the referee_id %s and the referee_endpoint %s; no such referee has registered", f.Text("match_id"), f.Shown("referee_id"), f.Shown("referee_endpoint"))
			}
		})
	},
	"round.endpoints": func(t T) {
		t.assignments(func(m *match, f kit.Fields) {
			for i, name := range []string{"player_A_endpoint", "player_B_endpoint"} {
				if player := t.withID(m.players[i]); player != nil && f.Text(name) != player.endpoint.URL {
					t.failOn(m.by, "%s of match %s is %s, want %s", name, m.id, f.Shown(name), player.endpoint.URL)
				}
			}
		})
	},
	"round.private": func(t T) {
		t.every("", func(m *message) {
			for _, other := range t.players() {
				if m.to.role == protocol.RolePlayer && other != m.to {
					t.secret(m, other.endpoint.URL+`"`, "player %s is sent the endpoint of %s", m.to.id, other.id)
				}
			}
		})
	},
	"round.keys": func(t T) {
		found := 0
		t.assignments(func(m *match, f kit.Fields) {
			for i, want := range t.keysOf(m) {
				name := []string{"player_A_keys", "player_B_keys"}[i]
				keys := f.Object(name)
				if keys == nil {
					continue
				}
				found++
				if keys.Text("send") != want.Send || keys.Text("expect") != want.Expect {
					t.failOn(m.by, `%s of match %s is %s; by the rule send is %q and expect is %q`, name, m.id, f[name], want.Send, want.Expect)
				}
			}
		})
		if found == 0 {
			t.Skip("the manager sends no match keys; its referees sign with tokens of their own, which players then learn")
		}
	},
	"round.secret": func(t T) {
		t.assignments(func(m *match, _ kit.Fields) {
			for _, keys := range t.keysOf(m) {
				t.every("", func(sent *message) {
					if sent.to != m.by.to && sent.to != m.referee {
						for _, key := range []string{keys.Send, keys.Expect} {
							t.secret(sent, key, "%s is sent a key of match %s, whose referee is %s", sent.to.called(), m.id, m.by.to.id)
						}
					}
				})
			}
		})
	},
}

// refusedBefore reports whether a player has not accepted a message before another one arrived.
func (t T) refusedBefore(player *member, other *message) bool {
	return t.Until(0, func() bool {
		return slices.ContainsFunc(t.messages, func(m *message) bool { return m.to == player && m.refused && m.arrival < other.arrival })
	})
}

// assignments yields all matches as their referees were sent them.
func (t T) assignments(yield func(m *match, f kit.Fields)) {
	t.reported()
	for _, r := range t.played().rounds {
		for _, m := range r.own {
			i := slices.IndexFunc(m.by.matches, func(f kit.Fields) bool { return f.Text("match_id") == m.id })
			yield(m, m.by.matches[i])
		}
	}
}

// keysOf returns the keys of a match, by its players.
func (t T) keysOf(m *match) (keys [2]credential.KeyPair) {
	for i, id := range m.players {
		if player := t.withID(id); player != nil {
			keys[i] = player.verifier.MatchKeys(t.leagueID, m.id, m.by.to.id)
		}
	}
	return keys
}
