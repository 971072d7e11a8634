package manager

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

var registrationTests = map[string]func(T){
	"register.referee": func(t T) { t.joinsByTheBook(t.referees()[0], protocol.TypeRefereeRegisterRequest.Answer()) },
	"register.player":  func(t T) { t.joinsByTheBook(t.players()[0], protocol.TypeLeagueRegisterRequest.Answer()) },
	"register.all": func(t T) {
		if refused := t.register(); refused != "" {
			t.Fail("%s", refused)
		}
		seen := map[string]string{}
		for _, a := range t.registered() {
			who := protocol.Sender(a.role, a.id) // some managers number each role
			if other, taken := seen[who]; taken {
				t.Show("the manager", a.last().Body)
				t.Fail("%s has the same id as %s: %s", a.name, other, a.id)
			}
			seen[who] = a.name
		}
	},
	"register.id": func(t T) {
		t.leaguePlayed()
		a := t.lastPlayer()
		if a.id == "" {
			t.Skip("the player that asks for an id could not register: %s", t.whyStopped())
		}
		t.Show("the manager", a.last().Body)
		if a.id != t.wantedID() {
			t.Fail("player:%s was assigned the id %s", t.wantedID(), a.id)
		}
	},
	"late.form": func(t T) {
		a := t.recorded("late")
		t.Refused(a)
		if a.Document.Has("error") || a.Message.Text("status") != protocol.StatusRejected {
			t.Fail("status is %s, in %s", a.Message.Shown("status"), a)
		}
		if a.Message.Text("reason") == "" {
			t.Fail("reason is %s", a.Message.Shown("reason"))
		}
		for _, name := range []string{"player_id", "auth_token", "league_id"} {
			if a.Message.Has(name) {
				t.Fail("%s is %s", name, a.Message.Shown(name))
			}
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
		t.Equal(a, "player_id", t.players()[0].id)
	},
}

// faults are registrations that should be refused.
var faults = []struct {
	name   string
	change func(t T, m *protocol.LeagueRegisterRequest)
	edit   kit.Edit
}{
	{"name", func(t T, m *protocol.LeagueRegisterRequest) { m.Meta.DisplayName = t.players()[0].display }, nil},
	{"game", func(_ T, m *protocol.LeagueRegisterRequest) { m.Meta.GameTypes = []string{"chess"} }, nil},
	{"endpoint", func(_ T, m *protocol.LeagueRegisterRequest) { m.Meta.ContactEndpoint = "nowhere" }, nil},
	{"meta", nil, kit.Delete("player_meta", "display_name", "name", "contact_endpoint", "endpoint")},
}

// applyFaultily sends the registration of the last player with each fault first. If one
// is accepted, the answer is the player's: another would be one too many for its league.
func (p *peers) applyFaultily() *kit.Answer {
	p.turn.Lock()
	defer p.turn.Unlock()
	t := T{p.playing.Aside(), p}
	own := t.registration(p.lastPlayer()) // what it sends itself may be in a form that leaves out members
	own.Sender = protocol.Sender(protocol.RolePlayer, p.wantedID())
	for i, f := range faults {
		var a *kit.Answer
		why, impossible := t.Catch(func() {
			m := *own
			m.Timestamp, m.ConversationID = protocol.Timestamp(time.Now()), jsonrpc.RandomID()
			r := kit.Request{Message: &m, Edit: f.edit}
			if f.change != nil {
				r.Fault = func(m protocol.Message) { f.change(t, m.(*protocol.LeagueRegisterRequest)) }
			}
			made := t.probeBy("register."+f.name, r).answer
			if t.enrolled(made) {
				a = made
			}
		})
		if impossible {
			p.league.missing["register."+f.name] = why
		}
		if a != nil {
			for _, later := range faults[i+1:] {
				p.league.missing["register."+later.name] = fmt.Sprintf("it has accepted a registration that it should have refused (manager.register.%s), and has one player too few to accept another", f.name)
			}
			return a
		}
	}
	return nil
}

// enrolled reports whether an answer grants a registration. A manager that lists its
// players tells whether it has.
func (t T) enrolled(answer *kit.Answer) bool {
	found, yes := dialect.FindAcceptance(answer.Body, answer.Status)
	if !yes || answer.Refused || found.ID == "" {
		return false
	}
	listed := t.Aside().Send(kit.Request{Message: t.query(t.players()[0], protocol.QueryPlayers)})
	return !listed.Taken() || !listed.Message.Object("data").Has("players") || bytes.Contains(listed.Body, strconv.AppendQuote(nil, found.ID))
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
		a := t.Send(kit.Request{Message: t.startLeague(t.session.AdminToken), Dialect: t.OfKind(dialect.Contracts)})
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
		if wantsToken(a) && t.session.AdminToken == "" {
			t.Skip(tokenNeeded)
		}
		t.Accepted(a, protocol.TypeStartLeague.Answer())
		t.Equal(a, "league_id", t.leagueID)
		t.Valid(a.Message, protocol.TypeStartLeague.Answer(), true)
	},
	"start.again": func(t T) {
		a := t.recorded("start.again")
		t.Accepted(a, protocol.TypeStartLeague.Answer())
		if got, want := a.Message["total_rounds"], t.recorded("start").Message["total_rounds"]; want != nil && !bytes.Equal(got, want) {
			t.Fail("total_rounds was %s, and is %s now", want, a.Message.Shown("total_rounds"))
		}
	},
}

// joinsByTheBook ends the check unless the manager has answered the registration
// of an agent, exactly as the protocol says, with all that the protocol asks for.
func (t T) joinsByTheBook(a *member, typ protocol.Type) {
	why, ended := t.Catch(func() { t.join(a) })
	if a.first() == nil {
		t.Fail("%s", why)
	}
	t.Show("the manager", a.first().Body)
	t.Accepted(a.first(), typ)
	t.Valid(a.first().Message, typ, true)
	if ended {
		t.Fail("%s", why)
	}
}
