package manager

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// point is when in the league a request is sent. What is accepted from late to contradicting, and
// should not be, may change the standings.
type point int

const (
	enrolling     point = iota // before the last player registers
	starting                   // before START_LEAGUE
	truthful                   // in the last round, with a true result
	beginning                  // of the first round
	running                    // after the first report
	late                       // at the begin of the last round
	reporting                  // before the first report of the last round
	differing                  // after it
	contradicting              // before the last report
	over                       // after the end of the league
)

type (
	application = protocol.LeagueRegisterRequest
	report      = protocol.MatchResultReport
)

// answered is the code of a probe that should not be refused.
const answered = -1

// probes are what is sent in the league, by name: that of the check which says that it should be
// refused, unless it should be answered. The match is the one that is reported then.
var probes = []struct {
	name    string
	at      point
	code    int // that the refusal of a report should have
	request func(t T, m *match) kit.Request
}{
	{"register.name", enrolling, 0, faulty(T.enrolling, func(t T, _ *match, m *application) {
		m.Meta.DisplayName = t.players()[0].display
	})},
	{"register.game", enrolling, 0, faulty(T.enrolling, func(_ T, _ *match, m *application) { m.Meta.GameTypes = []string{"chess"} })},
	{"register.endpoint", enrolling, 0, faulty(T.enrolling, func(_ T, _ *match, m *application) { m.Meta.ContactEndpoint = "nowhere" })},
	{"register.meta", enrolling, 0, func(t T, m *match) kit.Request {
		return kit.Request{Message: t.enrolling(m), Edit: kit.Delete("player_meta", "display_name", "name", "contact_endpoint", "endpoint")}
	}},
	{"start.report", starting, 0, func(t T, _ *match) kit.Request {
		if t.conducts() {
			t.Skip(conductsMatches)
		}
		return kit.Request{Message: t.wonBy(&match{id: "R99M99", players: [2]string{"P98", "P99"}, referee: t.referees()[0]}, 1)}
	}},
	{"start.missing", starting, 0, startsWith("")},
	{"start.token", starting, 0, startsWith(kit.Forged)},
	{"start.web", starting, 0, func(t T, _ *match) kit.Request {
		return kit.Request{Message: t.startLeague(""), Header: http.Header{"Origin": {"http://web.example"}}}
	}},
	{"start.player", starting, 0, func(t T, _ *match) kit.Request {
		m := t.startLeague("")
		m.Sender, m.AuthToken = t.players()[0].signature()
		return kit.Request{Message: m}
	}},
	{"status.during", beginning, answered, asking(protocol.QueryStatus)},
	{"schedule.during", beginning, answered, asking(protocol.QuerySchedule)},
	{"schedule.after", running, answered, asking(protocol.QuerySchedule)},
	{"late.refused", late, 0, func(t T, _ *match) kit.Request {
		return kit.Request{Message: t.registration("late", "Conformance late "+t.run, "http://127.0.0.1:1/late")}
	}},
	{"late.players", late, answered, asking(protocol.QueryPlayers)},
	{"report.unknown", reporting, 5002, faulty(won, func(_ T, _ *match, r *report) { r.MatchID = "R99M99" })},
	{"report.token", reporting, 5001, faulty(T.copyOf, func(_ T, _ *match, r *report) { r.AuthToken = kit.Forged })},
	{"report.tokenless", reporting, 5001, faulty(T.copyOf, func(_ T, _ *match, r *report) { r.AuthToken = "" })},
	{"report.player", reporting, 0, faulty(T.copyOf, func(t T, _ *match, r *report) {
		r.Sender, r.AuthToken = t.players()[0].signature()
	})},
	{"report.empty", reporting, -32602, func(t T, m *match) kit.Request {
		return kit.Request{Message: t.copyOf(m), Edit: kit.Delete("result")}
	}},
	{"report.other", reporting, 5002, faulty(T.copyOf, func(t T, m *match, r *report) {
		r.Sender, r.AuthToken = find(t.referees(), func(a *member) bool { return a != m.referee }).signature()
	})},
	{"report.context", truthful, -32602, faulty(T.copyOf, func(_ T, _ *match, r *report) { r.LeagueID = "another-league" })},
	{"report.again", differing, answered, func(t T, m *match) kit.Request { return kit.Request{Message: t.copyOf(m)} }},
	{"report.differs", differing, 5003, another},
	{"report.players", contradicting, -32602, faulty(won, func(_ T, m *match, r *report) {
		r.Result.Winner, r.Result.Score = protocol.Some("P98"), map[string]int{"P98": 3, m.players[1]: 0}
	})},
	{"report.number", contradicting, -32602, faulty(won, func(_ T, _ *match, r *report) {
		r.Result.Details.DrawnNumber = protocol.Some(1_000_000)
	})},
	{"report.score", contradicting, -32602, faulty(won, func(_ T, m *match, r *report) { r.Result.Score[m.players[0]] = 30 })},
	{"report.winner", contradicting, -32602, faulty(won, func(_ T, m *match, r *report) {
		a, b := m.players[0], m.players[1]
		r.Result.Winner, r.Result.Score = protocol.Some(b), map[string]int{a: 0, b: 3}
	})},
	{"over.status", over, answered, asking(protocol.QueryStatus)},
	{"over.standings", over, answered, asking(protocol.QueryStandings)},
	{"over.schedule", over, answered, asking(protocol.QuerySchedule)},
	{"over.next", over, answered, asking(protocol.QueryNextMatch)},
	{"start.over", over, 0, func(t T, _ *match) kit.Request {
		return kit.Request{Message: t.startLeague(t.Session.AdminToken)}
	}},
	{"report.late", over, 0, another},
}

// refusalTests test that each of them was refused, and that reports in other forms were not.
func refusalTests() map[string]func(T) {
	tests := map[string]func(T){}
	for _, r := range probes {
		if r.code != answered {
			tests[r.name] = func(t T) { t.Refused(t.recorded(r.name)) }
		}
	}
	for _, d := range dialect.OfProtocol()[1:] {
		tests["report."+d.Name] = func(t T) { t.AnsweredIn(t.recorded("report."+d.Name), d) }
	}
	return tests
}

// attempt sends the requests of a point. It returns the answer that gives the last player its
// place, or nil.
func (t T) attempt(at point, m *match) (granted *kit.Answer) {
	left := "" // why no more can be sent
	for _, r := range probes {
		if r.at != at {
			continue
		}
		if left != "" {
			t.answers[r.name], t.missing[r.name] = new(kit.Answer), left
			continue
		}
		a := t.probeBy(r.name, func() kit.Request { return r.request(t, m) })
		if at == enrolling && t.enrolled(a) {
			granted = a
			left = fmt.Sprintf("it has accepted a registration that it should have refused (manager.%s), "+
				"and has one player too few to accept another", r.name)
		}
		if a.Taken() && r.code != answered && at >= late && at <= contradicting {
			t.spoil(r.name)
		}
		if a.Taken() && at == contradicting {
			left = fmt.Sprintf("the match already has a result, because manager.%s failed", r.name)
		}
	}
	return granted
}

// enrolled reports whether an answer grants a registration. A manager that lists its
// players tells whether it has.
func (t T) enrolled(answer *kit.Answer) bool {
	found, yes := dialect.FindAcceptance(answer.Reply.Document(), answer.Status)
	if !yes || answer.Refused || found.ID == "" {
		return false
	}
	listed := with(t.Aside()).ask(protocol.QueryPlayers)
	return !listed.Taken() || !listed.Message.Object("data").Has("players") ||
		bytes.Contains(listed.Body, strconv.AppendQuote(nil, found.ID))
}

// faulty returns a request with a message and a fault.
func faulty[M protocol.Message](made func(T, *match) M, fault func(t T, m *match, r M)) func(T, *match) kit.Request {
	return func(t T, m *match) kit.Request {
		return kit.Request{Message: made(t, m), Fault: func(r protocol.Message) { fault(t, m, r.(M)) }}
	}
}

// enrolling returns the registration of the last player. What it sends itself may be in a form that
// leaves out members.
func (t T) enrolling(*match) *application {
	last := t.lastPlayer()
	return t.registration(t.wantedID(), last.display, last.Endpoint.URL)
}

// asking returns a query of the first player.
func asking(query string) func(T, *match) kit.Request {
	return func(t T, _ *match) kit.Request { return kit.Request{Message: t.query(t.players()[0], query)} }
}

// startsWith returns START_LEAGUE with a token that is not the one that the manager asks for.
func startsWith(token string) func(T, *match) kit.Request {
	return func(t T, _ *match) kit.Request {
		if t.Session.AdminToken == "" {
			t.Skip("no admin token was given; use --admin-token TOKEN with that of the manager")
		}
		return kit.Request{Message: t.startLeague(token)}
	}
}

// won returns a report by which the first player has won.
func won(t T, m *match) *report { return t.wonBy(m, 0) }

// another returns a report of a match with another result.
func another(t T, m *match) kit.Request {
	side := 0
	if m.winner() == m.players[0] {
		side = 1
	}
	return kit.Request{Message: t.wonBy(m, side)}
}

// copyOf returns the report of a match as its referee sends it, as a new message.
func (t T) copyOf(m *match) *report {
	r := *m.report()
	r.Timestamp, r.ConversationID = protocol.Timestamp(time.Now()), jsonrpc.RandomID()
	return &r
}

// wonBy returns a report by which one of the players has won a match.
func (t T) wonBy(m *match, side int) *report {
	winner, loser := m.players[side], m.players[1-side]
	sender, token := m.referee.signature()
	r := &report{Header: t.header(protocol.TypeMatchResultReport, sender, token), Result: protocol.MatchResult{
		Winner: protocol.Some(winner), Score: map[string]int{winner: game.WinPoints, loser: 0},
		Details: &protocol.ResultDetails{
			Status: protocol.StatusWin, DrawnNumber: protocol.Some(8), NumberParity: protocol.Some(string(protocol.Even)),
			Choices: map[string]protocol.Choice{winner: protocol.Even, loser: protocol.Odd},
		},
	}}
	r.MatchID, r.GameType = m.id, protocol.GameEvenOdd
	if m.round > 0 {
		r.RoundID = protocol.RoundNumber(m.round)
	}
	return r
}

// reportIn reports the nth match, from 0, in the form of its turn: in a dialect of the protocol, twice
// at the same time, or without a status. A form that is not accepted is for another check to find; a
// plain report follows it.
func (t T) reportIn(nth int, m *match) *kit.Answer {
	form, r, forms := "report.twice", t.copyOf(m), dialect.OfProtocol()
	request := kit.Request{Message: r}
	switch {
	case nth == 0 || nth > len(forms)+1:
		return t.probe(probeName("report", nth), r)
	case nth < len(forms):
		form, request.Dialect = "report."+forms[nth].Name, forms[nth]
	case nth > len(forms):
		details := *r.Result.Details
		form, details.Status, r.Result.Details = "report.nostatus", "", &details
	}
	if form == "report.twice" {
		t.probeCrowd(m)
	} else {
		t.probeBy(form, func() kit.Request { return request })
	}
	if a := t.answers[form]; a.Taken() && (a.Message.Text("message_type") != "" || a.Message.Has("recorded")) {
		return a
	}
	return t.probe("instead of "+form, t.copyOf(m))
}

// crowd are the queries that arrive at the same time as two reports.
var crowd = slices.Repeat([]string{protocol.QueryStandings, protocol.QueryStatus, protocol.QuerySchedule, protocol.QueryNextMatch}, 3)

// probeCrowd reports a match twice at the same time, during many queries.
func (t T) probeCrowd(m *match) {
	const one, other = "report.twice", "report.twice.other"
	messages := map[string]protocol.Message{one: t.copyOf(m), other: t.copyOf(m)}
	for i, query := range crowd {
		messages[probeName("crowd", i)] = t.query(t.players()[i%len(t.players())], query)
	}
	var waits []func()
	for name, message := range messages {
		waits = append(waits, t.Go(func(own *kit.T) {
			a := own.Tell(message)
			t.Do(func() { t.answers[name] = a })
		}))
	}
	for _, wait := range waits {
		wait()
	}
	if t.answers[one].Refused {
		t.answers[one], t.answers[other] = t.answers[other], t.answers[one]
	}
}

// sample is a query that the manager answers; not every manager knows each, and some know none.
func sample(t *kit.T) kit.Request {
	var all []kit.Sample
	for _, query := range []string{
		protocol.QueryStatus, protocol.QueryStandings, protocol.QueryPlayers, protocol.QuerySchedule, protocol.QueryNextMatch,
	} {
		all = append(all, func(t *kit.T) kit.Request { return asking(query)(with(t), nil) })
	}
	return kit.AnyOf(all...)(t)
}

// refused tests that a query is refused, by its token. A manager that knows no query shows by a
// report whether it compares tokens.
func refused(probe string, change func(t T, h *protocol.Header)) func(T) {
	return func(t T) {
		r := sample(t.T)
		if t.AcceptsNone() {
			t.Refused(t.recorded(probe))
			return
		}
		r.Fault = func(m protocol.Message) { change(t, m.Head()) }
		t.Refused(t.Send(r))
	}
}

var authTests = map[string]func(T){
	"auth.missing": refused("report.tokenless", func(_ T, h *protocol.Header) { h.AuthToken = "" }),
	"auth.token":   refused("report.token", func(_ T, h *protocol.Header) { h.AuthToken = kit.Forged }),
	"auth.other": refused("report.player", func(t T, h *protocol.Header) {
		h.Sender = protocol.Sender(protocol.RolePlayer, t.players()[1].ID)
	}),
}
