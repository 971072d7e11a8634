package manager

import (
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
)

// risk sends a probe that should be refused. If it is accepted, nobody knows
// from then on what the standings should be.
func (t T) risk(name string, r kit.Request) {
	if t.probeBy(name, r).answer.Taken() && t.league.spoiled == "" {
		t.league.spoiled = name
	}
}

// probeQuery sends a query of a player as a probe.
func (t T) probeQuery(name string, player int, query string) *kit.Answer {
	return t.probe(name, t.query(t.players()[player], query))
}

// probeLateRegistration registers while the league runs: a new player, and one
// that shows by its token that it is registered.
func (t T) probeLateRegistration() {
	t.risk("late", kit.Request{Message: t.registration(nil)})
	t.probeQuery("late.players", 0, protocol.QueryPlayers)
	a := t.players()[0]
	m := t.registration(a)
	m.AuthToken = a.token
	back := t.probe("late.back", m)
	switch token := back.Message.Text("auth_token"); {
	case !back.Taken():
	case back.Message.Text("player_id") != a.id:
		t.league.spoiled = "late.back"
	case token != "":
		t.Do(func() { a.token = token })
	}
}

// reportForms are the forms of the first reports; all others are plain.
var reportForms = []string{"", "envelope", "tool", "tool-io", "twice", "bare", "nostatus"}

// reportIn reports the nth match in the form of its turn. A form that is not
// accepted is for another check to find; a plain report follows it.
func (t T) reportIn(nth int, m *match) *probe {
	r := kit.Request{Message: t.copyOf(m)}
	if nth == 0 {
		return t.probeBy("report", r)
	}
	if nth >= len(reportForms) {
		return t.probeBy(probeName("report", nth), r)
	}
	var made *probe
	switch name := reportForms[nth]; name {
	case "twice":
		made = t.probeCrowd(m)
	case "nostatus":
		r.Message.(*protocol.MatchResultReport).Result.Details.Status = ""
		made = t.probeBy("report."+name, r)
	default:
		d, err := dialect.Named(name)
		if err != nil {
			panic(err) // it is one of the protocol's own
		}
		r.Dialect = d
		made = t.probeBy("report."+name, r)
	}
	if a := made.answer; a.Taken() && (a.Message.Text("message_type") != "" || a.Message.Has("recorded")) {
		return made
	}
	return t.probeBy("report instead of "+reportForms[nth], kit.Request{Message: t.copyOf(m)})
}

// probeBadReports reports a match of the last round wrongly, before its own report.
func (t T) probeBadReports(m *match) {
	bad := func(name string, change func(r *protocol.MatchResultReport)) {
		r := t.copyOf(m)
		change(r)
		t.risk("report."+name, kit.Request{Message: r})
	}
	bad("unknown", func(r *protocol.MatchResultReport) {
		unknown := *m
		unknown.id, unknown.players = unknownMatch, [2]string{"P98", "P99"}
		*r = *t.wonBy(&unknown, 1)
	})
	bad("token", func(r *protocol.MatchResultReport) { r.AuthToken = kit.Forged })
	bad("tokenless", func(r *protocol.MatchResultReport) { r.AuthToken = "" })
	bad("player", func(r *protocol.MatchResultReport) {
		r.Sender, r.AuthToken = protocol.Sender(protocol.RolePlayer, t.players()[0].id), t.players()[0].token
	})
	elsewhere := t.copyOf(m) // says what is true
	elsewhere.LeagueID = "another-league"
	t.probe("report.context", elsewhere)
	t.risk("report.empty", kit.Request{Message: t.copyOf(m), Edit: kit.Delete("result")})
	bad("other", func(r *protocol.MatchResultReport) {
		other := t.referees()[slices.IndexFunc(t.referees(), func(a *member) bool { return a != m.referee })]
		r.Sender, r.AuthToken = protocol.Sender(other.role, other.id), other.token
	})
}

// probeContradictions sends contradictory reports of the last match: if one is
// accepted, only the last standings are unknown.
func (t T) probeContradictions(m *match) {
	accepted := ""
	bad := func(name string, change func(r *protocol.MatchResult)) {
		if accepted != "" {
			t.league.missing[name] = fmt.Sprintf("the match already has a result, because manager.%s failed", accepted)
			return
		}
		r := t.wonBy(m, 0)
		change(&r.Result)
		t.risk(name, kit.Request{Message: r})
		if t.league.probes[name].answer.Taken() {
			accepted = name
		}
	}
	a, b := m.players[0], m.players[1]
	bad("report.players", func(r *protocol.MatchResult) {
		r.Winner, r.Score = protocol.Some("P98"), map[string]int{"P98": 3, b: 0}
	})
	bad("report.number", func(r *protocol.MatchResult) { r.Details.DrawnNumber = protocol.Some(1_000_000) })
	bad("report.score", func(r *protocol.MatchResult) { r.Score[a] = 30 })
	bad("report.winner", func(r *protocol.MatchResult) {
		r.Winner, r.Score = protocol.Some(b), map[string]int{a: 0, b: 3}
	})
}

// probeCrowd reports a match twice at the same time, during many queries.
func (t T) probeCrowd(m *match) *probe {
	reports, queries := make([]*probe, 2), make([]*probe, len(crowd))
	var waits []func()
	send := func(to **probe, request func(t T) protocol.Message) {
		waits = append(waits, t.Go(func(own *kit.T) {
			a := with(own).send(request(with(own)))
			*to = &probe{answer: a, evidence: slices.Clone(own.Evidence)}
		}))
	}
	for i := range reports {
		send(&reports[i], func(t T) protocol.Message { return t.copyOf(m) })
	}
	for i, query := range crowd {
		send(&queries[i], func(t T) protocol.Message { return t.query(t.players()[i%len(t.players())], query) })
	}
	for _, wait := range waits {
		wait()
	}
	if reports[0].answer.Refused {
		slices.Reverse(reports)
	}
	t.league.probes["report.twice"], t.league.probes["report.twice.other"] = reports[0], reports[1]
	for i, made := range queries {
		t.league.probes[probeName("crowd", i)] = made
	}
	return reports[0]
}

// probeEnd sends requests after the end of the league. The manager may have
// left; it stays for as long as an agent has not acknowledged the end.
func (t T) probeEnd() {
	probe := func(name string, m protocol.Message) {
		if a := t.probe("over."+name, m); a.Err != nil && t.Unreachable() {
			delete(t.league.probes, "over."+name)
			t.league.missing["over."+name] = "the manager left when its league was complete"
		}
	}
	probe("start", t.startLeague(t.session.AdminToken))
	for _, q := range [][2]string{
		{"status", protocol.QueryStatus}, {"standings", protocol.QueryStandings}, {"schedule", protocol.QuerySchedule}, {"next", protocol.QueryNextMatch},
	} {
		probe(q[0], t.query(t.players()[0], q[1]))
	}
	probe("report", t.another(t.league.first))
}

// sample is a query that the manager answers; not every manager knows each, and some know none.
func sample(t *kit.T) kit.Request {
	var all []kit.Sample
	for _, query := range []string{protocol.QueryStatus, protocol.QueryStandings, protocol.QueryPlayers, protocol.QuerySchedule, protocol.QueryNextMatch} {
		all = append(all, func(t *kit.T) kit.Request {
			m := with(t)
			return kit.Request{Message: m.query(m.players()[0], query)}
		})
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
		h.Sender = protocol.Sender(protocol.RolePlayer, t.players()[1].id)
	}),
}
