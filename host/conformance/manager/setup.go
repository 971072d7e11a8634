package manager

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
)

func registrationChecks() []kit.Check {
	needs := []string{registersEveryone}
	refused := func(name string, level kit.Level, rule, advice string, change func(t T, m *protocol.LeagueRegisterRequest), edit kit.Edit) kit.Check {
		return check("manager.register."+name, level, needs, rule, advice, func(t T) {
			t.registerAll()
			m := t.registration(t.newcomer(name))
			if change != nil {
				change(t, m)
			}
			t.Refused(t.Send(kit.Request{Message: m, Edit: edit}))
		})
	}
	const putAll = "Answer with HTTP 200, and put all four beside the header fields."
	return []kit.Check{
		check("manager.register.referee", kit.Should, nil, "REFEREE_REGISTER_REQUEST is answered by REFEREE_REGISTER_RESPONSE with status ACCEPTED, referee_id, auth_token and league_id.",
			putAll, func(t T) {
				t.joinsByTheBook(t.referees()[0], protocol.TypeRefereeRegisterRequest.Answer(), "referee_id")
			}),
		check("manager.register.player", kit.Should, nil, "LEAGUE_REGISTER_REQUEST is answered by LEAGUE_REGISTER_RESPONSE with status ACCEPTED, player_id, auth_token and league_id.",
			putAll, func(t T) {
				t.joinsByTheBook(t.players()[0], protocol.TypeLeagueRegisterRequest.Answer(), "player_id")
			}),
		check(registersEveryone, kit.Must, nil, "Every player can register, in some known way, and every agent has an id and a token of its own (league.v2, registration).",
			"Number the ids, and make each token from at least 128 random bits.", registersAll),
		check("manager.register.id", kit.Should, needs, "An agent gets the id that it asks for in sender, if it is free and has the form P07 (league.v2, registration): some players keep it whatever the answer.",
			"Read the id from sender, and assign it if it is free.", func(t T) {
				t.registerAll()
				a := t.players()[len(t.players())-1]
				t.Show("the manager", a.answer.Body)
				if a.id != wantedID {
					t.Fail("player:%s was assigned the id %s", wantedID, a.id)
				}
			}),
		check("manager.register.header", kit.Should, needs, kit.AnswerHeader.Rule, kit.AnswerHeader.Advice+" "+kit.UTC.Advice, func(t T) {
			t.registerAll()
			for _, a := range t.registered() {
				t.Show("the manager", a.answer.Body)
				kit.AnswerHeader.Test(t.T, "", a.answer.Message, nil)
				kit.UTC.Test(t.T, "", a.answer.Message, nil)
			}
		}),
		refused("name", kit.Should, "A player with the display_name of another, at another endpoint, is refused (2002, E022).", "Compare the names, and answer with the error 2002.",
			func(t T, m *protocol.LeagueRegisterRequest) { m.Meta.DisplayName = t.players()[0].display }, nil),
		refused("game", kit.Should, "A player that does not play even_odd is refused (2004, E045).", "Look for even_odd in game_types.",
			func(_ T, m *protocol.LeagueRegisterRequest) { m.Meta.GameTypes = []string{"chess"} }, nil),
		refused("endpoint", kit.Should, "A player whose contact_endpoint is not a URL is refused (2003, E044).", "Parse contact_endpoint; it must be absolute, with http or https and a host.",
			func(_ T, m *protocol.LeagueRegisterRequest) { m.Meta.ContactEndpoint = "nowhere" }, nil),
		refused("meta", kit.Should, "A registration without player_meta is refused (-32602, E003).", "Check that it is present before you read it.",
			nil, kit.Delete("player_meta")),
	}
}

func registersAll(t T) {
	seen := map[string]string{}
	for _, a := range t.registrationOrder() {
		if why, ended := t.Catch(func() { t.join(a) }); ended {
			if a.role == protocol.RoleReferee {
				continue // it plays the matches itself
			}
			t.Fail("%s", why)
		}
		for what, value := range map[string]string{"id": a.id, "token": a.token} {
			if other, taken := seen[what+value]; taken && value != "" {
				t.Fail("%s has the same %s as %s: %s", a.name, what, other, value)
			}
			seen[what+value] = a.name
		}
	}
}

// lateChecks are about registrations while the league runs.
func lateChecks() []kit.Check {
	return []kit.Check{
		refusedCheck("late.refused", "late", kit.Should, "A player that registers after the start of the league is refused (league.v2, registration).", "Look at the state first: the schedule exists."),
		leagueCheck("late.form", kit.Wild, "A refused registration gets a result with status REJECTED and a reason, and no id, token or league (LEAGUE_REGISTER_RESPONSE).",
			`Answer {"status": "REJECTED", "reason": "League already started"} with the header fields, and leave out the rest.`, func(t T) {
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
			}).Needing("manager.late.refused"),
		leagueCheck("late.unharmed", kit.Should, "A refused registration has no effect: the players stay the same (GET_PLAYERS).", "Check everything before you store anything.", func(t T) {
			players := t.dataOf(t.recorded("late.players")).List("players")
			for _, f := range players {
				if t.withID(f.Text("player_id")) == nil {
					t.Fail("there is a new player %s", f.Shown("player_id"))
				}
			}
			if len(players) != len(t.players()) {
				t.Fail("there are %d players; before, there were %d", len(players), len(t.players()))
			}
		}).Needing("manager.query.players"),
		leagueCheck("late.back", kit.Should, "A player that registers again with its token keeps its id, also while the league runs (league.v2, registration).",
			"Look for the agent with the auth_token of the registration, and answer as the first time.", func(t T) {
				a := t.recorded("late.back")
				t.Accepted(a, protocol.TypeLeagueRegisterRequest.Answer())
				t.Equal(a, "player_id", t.players()[0].id)
			}),
	}
}

const tokenNeeded = "the manager asks for an admin token; use --admin-token TOKEN"

// wantsToken reports whether an answer asks for the admin token.
func wantsToken(a *kit.Answer) bool {
	code := protocol.Code(a.Message.Text("error_code"))
	return a.Refused && (code == protocol.CodeTokenMissing || code == protocol.CodeTokenInvalid || a.Code == 11 || a.Code == 12)
}

// earlyCheck comes before any agent registers.
func earlyCheck() kit.Check {
	return check("manager.start.early", kit.Should, nil, "START_LEAGUE is refused without a referee, or with fewer than two players (E007).",
		"Count the agents before you make the schedule, and answer with an error.", func(t T) {
			if t.players()[0].id != "" || t.referees()[0].id != "" {
				t.Skip("agents have registered already")
			}
			a := t.send(t.startLeague(t.session.AdminToken))
			if wantsToken(a) {
				t.Skip(tokenNeeded)
			}
			if t.peers.tooEarly = accepts(a); t.tooEarly {
				t.Fail("it was accepted: answered by %s; a manager whose league has begun cannot be checked, so start a fresh one", a)
			}
			t.Refused(a)
		})
}

func startChecks() []kit.Check {
	const compare = "Compare auth_token, or the Bearer token of the Authorization header, with the admin token, before you start anything."
	return []kit.Check{
		refusedCheck("start.report", "start.report", kit.Should, "A report before the start of the league is refused (5002, E040).", "Look the match up in the schedule; there is none yet."),
		refusedCheck("start.missing", "start.missing", kit.Should, "START_LEAGUE without the admin token is refused (E011).", compare),
		refusedCheck("start.token", "start.token", kit.Should, "START_LEAGUE with a wrong admin token is refused (E012).", compare),
		refusedCheck("start.web", "start.web", kit.Should, "START_LEAGUE without a token is refused to a web page, which the browser reveals by an Origin header (league.v2, authentication).",
			"If no token is configured, accept only requests from this machine, with a JSON Content-Type and without Origin."),
		refusedCheck("start.player", "start.player", kit.Should, "START_LEAGUE is refused to players: only the launcher may (E012).", "Check sender: it must be launcher, with the admin token."),
		leagueCheck("start.answer", kit.Should, "START_LEAGUE is answered by LEAGUE_STATUS with league_id, status, current_round, total_rounds and matches_completed.", "Answer once the schedule exists; announce the first round afterwards.", answersStart),
		leagueCheck("start.again", kit.Should, "While the league runs, START_LEAGUE is answered by LEAGUE_STATUS again, and starts nothing.", "Look at the state first.",
			func(t T) {
				a := t.recorded("start.again")
				t.Accepted(a, protocol.TypeStartLeague.Answer())
				if got, want := a.Message["total_rounds"], t.recorded("start").Message["total_rounds"]; want != nil && !bytes.Equal(got, want) {
					t.Fail("total_rounds was %s, and is %s now", want, a.Message.Shown("total_rounds"))
				}
			}),
		refusedCheck("start.over", "over.start", kit.Should, "After the end of the league, START_LEAGUE is refused (E031).", "Look at the state first; a new league is a new program, or has a new id."),
	}
}

func answersStart(t T) {
	a := t.recorded("start")
	if wantsToken(a) && t.session.AdminToken == "" {
		t.Skip(tokenNeeded)
	}
	t.Accepted(a, protocol.TypeStartLeague.Answer())
	t.Equal(a, "league_id", t.leagueID)
	known := []string{protocol.LeagueWaiting, protocol.LeagueScheduling, protocol.LeagueRunning, protocol.LeagueFinished}
	if !slices.Contains(known, a.Message.Text("status")) {
		t.Fail("status is %s, want one of %q", a.Message.Shown("status"), known)
	}
	for _, name := range []string{"current_round", "total_rounds", "matches_completed"} {
		if _, ok := a.Message.Number(name); !ok {
			t.Fail("%s is %s, want a number", name, a.Message.Shown(name))
		}
	}
}

// conductsMatches is why checks of reports are not made.
const conductsMatches = "the manager accepts no referee and plays the matches itself, so nothing is reported to it"

// watch follows a league whose matches the manager conducts itself, until it
// ends or nothing more is sent.
func (t T) watch() {
	l := t.league
	for n := -1; ; {
		over, now := false, 0
		more := t.Until(t.patience(), func() bool {
			over, now = t.endSent(), len(t.messages)
			return over || now > n || t.Context().Err() != nil
		})
		if over || !more || t.Context().Err() != nil {
			break
		}
		n = now
	}
	t.Lock()
	defer t.Unlock()
	byRound := map[int]*round{}
	for _, m := range t.messages {
		id := m.fields.Text("match_id")
		if m.typ != protocol.TypeGameInvitation && m.typ != protocol.TypeChooseParityCall || id == "" {
			continue
		}
		i := slices.IndexFunc(t.matches, func(known *match) bool { return known.id == id })
		switch {
		case i < 0:
			known := &match{id: id, round: m.round, by: m, players: [2]string{m.id}}
			t.peers.matches = append(t.matches, known)
			if byRound[m.round] == nil {
				byRound[m.round] = &round{number: m.round, spoiled: true, closed: t.events}
				l.rounds = append(l.rounds, byRound[m.round])
			}
			byRound[m.round].matches = append(byRound[m.round].matches, known)
		case t.matches[i].players[0] != m.id && t.matches[i].players[1] == "":
			t.matches[i].players[1] = m.id
		}
	}
	if n := len(t.matches); n < t.pairs() {
		l.stopped = fmt.Sprintf("of %d pairs of players, the manager's own referee invited %d", t.pairs(), n)
	}
}

// reported skips a check of results in a league whose results the suite does not
// know.
func (t T) reported() {
	if t.conducts() {
		t.Skip(conductsMatches)
	}
}

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
