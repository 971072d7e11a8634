package manager

import (
	"cmp"
	"slices"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
)

// join registers an agent, in the first way that the manager accepts, and ends
// the check if it refuses all.
func (t T) join(a *agent) {
	if a.id != "" {
		return
	}
	var request protocol.Message = t.registration(a)
	idName := "player_id"
	if a.role == protocol.RoleReferee {
		request, idName = t.refereeRegistration(a), "referee_id"
	}
	a.answer = t.Send(kit.Request{Message: request, Dialect: t.peers.dialect})
	if a.book == nil {
		a.book = a.answer
	}
	if t.tooEarly && a.answer.Refused {
		t.Skip("the league has begun already; see manager.start.early")
	}
	for _, d := range t.otherDialects() {
		if a.answer.Err != nil || joined(a.answer, idName) {
			break
		}
		again := t.Send(kit.Request{Message: request, Dialect: d})
		if joined(again, idName) {
			a.answer, t.peers.dialect = again, d
		}
	}
	f := a.answer.Message
	if !joined(a.answer, idName) {
		t.Accepted(a.answer, "")
		t.Fail("status is %s and %s is %s, want ACCEPTED and a string", f.Shown("status"), idName, f.Shown(idName))
	}
	t.Lock()
	defer t.Unlock()
	a.id, a.token = f.Text(idName), f.Text("auth_token")
	a.verifier = credential.NewVerifier(a.token)
	t.peers.leagueID = cmp.Or(f.Text("league_id"), t.peers.leagueID)
}

// joined reports whether an answer accepts a registration.
func joined(a *kit.Answer, idName string) bool {
	status := a.Message.Text("status")
	return a.Taken() && (status == "" || dialect.Accepted(status)) && a.Message.Text(idName) != ""
}

// otherDialects returns the ways to register other than the protocol's, while no
// way is known: with integer ids, which some managers want, and all other
// wrappings.
func (p *peers) otherDialects() []*dialect.Dialect {
	if p.dialect != nil || slices.ContainsFunc(p.agents, func(a *agent) bool { return a.id != "" }) {
		return nil
	}
	var all []*dialect.Dialect
	for _, d := range dialect.Known() {
		all = append(all, d.With(dialect.TraitNumericIDs), d)
	}
	return all
}

// joinsByTheBook ends the check unless the manager has answered the registration
// of an agent, exactly as the protocol says, with all that the protocol asks for.
func (t T) joinsByTheBook(a *agent, typ protocol.Type, idName string) {
	why, ended := t.Catch(func() { t.join(a) })
	if a.book == nil {
		t.Fail("%s", why)
	}
	t.Accepted(a.book, typ)
	f := a.book.Message
	if !dialect.Accepted(f.Text("status")) {
		t.Fail("status is %s, want ACCEPTED", f.Shown("status"))
	}
	for _, name := range []string{idName, "auth_token", "league_id"} {
		if f.Text(name) == "" {
			t.Fail("%s is %s, want a string", name, f.Shown(name))
		}
	}
	if ended {
		t.Fail("%s", why)
	}
}

// registrationOrder returns the agents in the order in which they register:
// referees first, because some leagues start with the last player.
func (p *peers) registrationOrder() []*agent {
	return append(slices.Clone(p.referees()), p.players()...)
}

// registerAll registers all agents that are not registered. It skips the check
// if a player is refused: that is for another check to find. A manager without
// referees plays the matches itself.
func (t T) registerAll() {
	for _, a := range t.registrationOrder() {
		if a.role == protocol.RoleReferee && a.book != nil && a.id == "" {
			continue // it was refused before
		}
		if why, ended := t.Catch(func() { t.join(a) }); ended && a.role == protocol.RolePlayer {
			t.Skip("not all agents can be registered: %s", why)
		}
	}
}

// registered returns the agents that have registered.
func (p *peers) registered() []*agent {
	return slices.DeleteFunc(slices.Clone(p.agents), func(a *agent) bool { return a.id == "" })
}

// conducts reports whether the manager plays the matches itself: it has accepted
// no referee.
func (p *peers) conducts() bool {
	return !slices.ContainsFunc(p.referees(), func(a *agent) bool { return a.id != "" })
}
