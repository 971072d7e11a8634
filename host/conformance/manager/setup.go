package manager

import (
	"bytes"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
)

var registrationTests = map[string]func(T){
	"round.given": func(t T) { // it says why a league has stopped
		t.leaguePlayed()
		start := t.answers["start"]
		n := len(t.rounds)
		switch {
		case t.lastPlayer().ID == "":
			t.Fail("%s", t.stopped) // it cannot register
		case n == 0 && !t.selfStarted && (start == nil || !start.Taken()):
			t.Skip("the league did not begin: %s", t.stopped)
		case t.refusedReport:
			t.Skip("the league did not end: %s", t.stopped)
		case t.stopped != "" && n == 0:
			t.Exhibit(start)
			t.Fail("%s", t.stopped)
		case t.stopped != "":
			t.Show(&t.rounds[n-1].matches[0].by.Message)
			t.Fail("%s", t.stopped)
		}
		t.Note("%s in %s", kit.Count(len(t.matches), "match", "matches"), kit.Count(n, "round", "rounds"))
	},
	"register.referee": func(t T) { t.joinsByTheBook(t.referees()[0], protocol.TypeRefereeRegisterRequest.Answer()) },
	"register.player":  func(t T) { t.joinsByTheBook(t.players()[0], protocol.TypeLeagueRegisterRequest.Answer()) },
	"register.all": func(t T) {
		if refused, ended := t.Catch(t.registerAll); ended {
			t.Fail("%s", refused)
		}
		seen := map[string]string{}
		for _, a := range t.registered() {
			who := protocol.Sender(a.role, a.ID) // some managers number each role
			if other, taken := seen[who]; taken {
				t.Exhibit(a.last)
				t.Fail("%s has the same id as %s: %s", a.name, other, a.ID)
			}
			seen[who] = a.name
		}
	},
	"register.id": func(t T) {
		t.leaguePlayed()
		a := t.lastPlayer()
		if a.ID == "" {
			t.Skip("the player that asks for an id could not register: %s", t.whyStopped())
		}
		t.Exhibit(a.last)
		if a.ID != t.wantedID() {
			t.Fail("player:%s was assigned the id %s", t.wantedID(), a.ID)
		}
	},
	"late.form": func(t T) {
		a := t.recorded("late.refused")
		t.Refused(a)
		m := a.Message
		given := m.Has("player_id") || m.Has("auth_token") || m.Has("league_id")
		if a.Document.Has("error") || m.Text("status") != protocol.StatusRejected || m.Text("reason") == "" || given {
			t.Fail("status is %s, reason %s, player_id %s, auth_token %s and league_id %s, in %s", m.Shown("status"),
				m.Shown("reason"), m.Shown("player_id"), m.Shown("auth_token"), m.Shown("league_id"), a)
		}
	},
	"late.unharmed": func(t T) {
		players := t.dataOf(t.recorded("late.players")).List("players")
		for _, f := range players {
			if t.withID(f.Text("player_id")) == nil {
				t.Fail("there is a new player %s", f.Shown("player_id"))
			}
		}
		if len(players) != len(t.players()) {
			t.Fail("the number of players is %d; before, it was %d", len(players), len(t.players()))
		}
	},
	"late.back": func(t T) {
		a := t.recorded("late.back")
		t.Accepted(a, protocol.TypeLeagueRegisterRequest.Answer())
		t.Equal(a, "player_id", t.players()[0].ID)
	},
}

const tokenNeeded = "the manager asks for an admin token; use --admin-token TOKEN"

// wantsToken reports whether an answer asks for the admin token.
func wantsToken(a *kit.Answer) bool {
	code := protocol.Code(a.Message.Text("error_code"))
	return a.Refused && (code == protocol.CodeTokenMissing || code == protocol.CodeTokenInvalid || a.Code == 11 || a.Code == 12)
}

var startTests = map[string]func(T){
	"start.early": func(t T) { // only one player has registered, by whom it is known how the manager is spoken to
		t.Catch(func() { t.join(t.players()[0]) }) // it is for another check to find that it cannot
		// As the protocol says, and in no other way: some managers begin at once.
		a := t.Send(kit.Request{Message: t.startLeague(t.Session.AdminToken), Dialect: dialect.Contracts})
		if wantsToken(a) {
			t.Skip(tokenNeeded)
		}
		if t.peers.tooEarly = a.Taken(); t.tooEarly {
			t.Fail("it was accepted: answered by %s; a manager whose league has begun cannot be checked, so start a fresh one", a)
		}
		t.Refused(a)
	},
	"start.answer": func(t T) {
		a := t.recorded("start")
		if wantsToken(a) && t.Session.AdminToken == "" {
			t.Skip(tokenNeeded)
		}
		t.Accepted(a, protocol.TypeStartLeague.Answer())
		t.Equal(a, "league_id", t.leagueID)
		t.Valid(a.Message, protocol.TypeStartLeague.Answer(), true)
	},
	"start.again": func(t T) {
		a := t.recorded("start.again")
		t.Accepted(a, protocol.TypeStartLeague.Answer())
		if got, want := a.Message.Get("total_rounds"), t.recorded("start").Message.Get("total_rounds"); want != nil && !bytes.Equal(got, want) {
			t.Fail("total_rounds was %s, and is %s now", want, a.Message.Shown("total_rounds"))
		}
	},
}

// joinsByTheBook ends the check unless the manager has answered the registration
// of an agent, exactly as the protocol says, with all that the protocol asks for.
func (t T) joinsByTheBook(a *member, typ protocol.Type) {
	why, ended := t.Catch(func() { t.join(a) })
	if a.first == nil {
		t.Fail("%s", why)
	}
	t.Exhibit(a.first)
	t.Accepted(a.first, typ)
	t.Valid(a.first.Message, typ, true)
	if ended {
		t.Fail("%s", why)
	}
}
