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

func registrationChecks() []kit.Check {
	const putAll = "Answer with HTTP 200, and put all four beside the header fields; docs/protocol/examples has such an answer."
	return []kit.Check{
		check("manager.register.referee", kit.Should, nil, "REFEREE_REGISTER_REQUEST is answered by REFEREE_REGISTER_RESPONSE with status ACCEPTED, referee_id, auth_token and league_id.",
			putAll, func(t T) {
				t.joinsByTheBook(t.referees()[0], protocol.TypeRefereeRegisterRequest.Answer())
			}),
		check("manager.register.player", kit.Should, nil, "LEAGUE_REGISTER_REQUEST is answered by LEAGUE_REGISTER_RESPONSE with status ACCEPTED, player_id, auth_token and league_id.",
			putAll, func(t T) {
				t.joinsByTheBook(t.players()[0], protocol.TypeLeagueRegisterRequest.Answer())
			}),
		check(registersEveryone, kit.Must, nil, "Every player can register, in the way that our own agents find out, and every agent has an id of its own (league.v2, registration).",
			"Number the ids.", registersAll),
	}
}

// faults are registrations that should be refused.
var faults = []struct {
	name         string
	rule, advice string
	change       func(t T, m *protocol.LeagueRegisterRequest)
	edit         kit.Edit
}{
	{"name", "A player with the display_name of another, at another endpoint, is refused (2002, E022).", "Compare the names, and answer with the error 2002.",
		func(t T, m *protocol.LeagueRegisterRequest) { m.Meta.DisplayName = t.players()[0].display }, nil},
	{"game", "A player that does not play even_odd is refused (2004, E045).", "Look for even_odd in game_types.",
		func(_ T, m *protocol.LeagueRegisterRequest) { m.Meta.GameTypes = []string{"chess"} }, nil},
	{"endpoint", "A player whose contact_endpoint is not a URL is refused (2003, E044).", "Parse contact_endpoint; it must be absolute, with http or https and a host.",
		func(_ T, m *protocol.LeagueRegisterRequest) { m.Meta.ContactEndpoint = "nowhere" }, nil},
	{"meta", "A registration without player_meta is refused (-32602, E003).", "Check that it is present before you read it.",
		nil, kit.Delete("player_meta", "display_name", "name", "contact_endpoint", "endpoint")},
}

func faultyRegistrationChecks() []kit.Check {
	var checks []kit.Check
	for _, f := range faults {
		checks = append(checks, refusedCheck("register."+f.name, "register."+f.name, kit.Should, f.rule, f.advice))
	}
	return checks
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
			made := t.probe("register."+f.name, func() *kit.Answer {
				m := *own
				m.Timestamp, m.ConversationID = protocol.Timestamp(time.Now()), jsonrpc.RandomID()
				r := kit.Request{Message: &m, Edit: f.edit}
				if f.change != nil {
					r.Fault = func(m protocol.Message) { f.change(t, m.(*protocol.LeagueRegisterRequest)) }
				}
				return t.Send(r)
			})
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
	found, yes := dialect.FindAcceptance(answer.Body)
	if !yes || answer.Refused || found.ID == "" {
		return false
	}
	listed := t.Aside().Send(kit.Request{Message: t.query(t.players()[0], protocol.QueryPlayers)})
	return !listed.Taken() || !listed.Message.Object("data").Has("players") || bytes.Contains(listed.Body, strconv.AppendQuote(nil, found.ID))
}

func registersAll(t T) {
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
				t.Fail("the number of players is %d; before, it was %d", len(players), len(t.players()))
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

// earlyCheck comes when only one player has registered, by whom it is known how the
// manager is spoken to.
func earlyCheck() kit.Check {
	return check("manager.start.early", kit.Should, nil, "START_LEAGUE is refused without a referee, or with fewer than two players (E007).",
		"Count the agents before you make the schedule, and answer with an error.", func(t T) {
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
		})
}

func startChecks() []kit.Check {
	const compare = "Compare auth_token, or the Bearer token of the Authorization header, with the admin token, before you start anything."
	return []kit.Check{
		leagueCheck("register.id", kit.Should, "An agent gets the id that it asks for in sender, if it is free and has the form P07 (league.v2, registration): some players keep it whatever the answer.",
			"Read the id from sender, and assign it if it is free.", func(t T) {
				t.leaguePlayed()
				a := t.players()[len(t.players())-1]
				if a.id == "" {
					t.Skip("the player that asks for an id could not register: %s", t.whyStopped())
				}
				t.Show("the manager", a.last().Body)
				if a.id != t.wantedID() {
					t.Fail("player:%s was assigned the id %s", t.wantedID(), a.id)
				}
			}),
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
	t.Valid(a.Message, protocol.TypeStartLeague.Answer(), true)
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
