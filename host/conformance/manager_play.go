package conformance

import (
	"fmt"
	"slices"

	"github.com/strategylab/strategylab/host/protocol"
)

// play reports the matches of a round. Beside that, most of what checks want to
// see happens here: in each match something else, and in the last round what a
// lax manager may take and should not, so that the tables before it are known.
func (p managerT) play(t *turn) {
	s := p.season
	first := len(s.ends) == 0
	final := len(s.ends)+len(t.fixtures) > p.lastMatch() && s.probes["late"] == nil
	if first {
		p.duringFirst()
	}
	if final {
		p.latecomers()
	}
	if t.round == p.troubled() {
		p.awaitRetries(t)
	}
	for i, f := range t.fixtures {
		e := p.endingOf(f)
		if i == len(t.fixtures)-1 {
			if first { // the round is not over yet
				p.until(p.aMoment(), func() bool { return p.roundsOver() > 0 })
			}
			p.mu.Lock()
			t.last = p.order
			p.mu.Unlock()
		}
		if final && i == 0 {
			p.badReports(f, e)
		}
		if len(s.ends) == p.lastMatch() {
			p.contradictions(f, e)
		}
		p.conclude(t, f, e)
		if first && i == 0 {
			p.shoot("schedule.after", p.query(0, protocol.QuerySchedule))
		}
		if final && i == 0 {
			p.shoot("report.again", func() *Answer { return p.send(p.reporting(f, p.conductor(f), e)) })
			p.risk("report.differs", func() *Answer { return p.send(p.reporting(f, p.conductor(f), e.other())) })
		}
	}
	t.ends, t.spoilt = len(s.ends), s.spoilt != ""
}

// conclude reports how a match ended. Where that is refused, the season is over.
func (p managerT) conclude(t *turn, f *fixture, e *ending) {
	s := p.season
	t.reported = p.report(len(s.ends), f, e)
	if a := t.reported.answer; !taken(a) && !p.known(a) && s.spoilt == "" {
		s.refusedReport = true
		panic(stop{Skipped, fmt.Sprintf("the report of match %s was answered by %s", f.id, a)})
	}
	p.mu.Lock()
	f.ended = e
	p.mu.Unlock()
	s.ends = append(s.ends, e)
}

// risk makes a probe that is to be refused. Where it is taken, nobody knows what
// the table should say from then on.
func (p managerT) risk(name string, ask func() *Answer) {
	if taken(p.shoot(name, ask)) && p.season.spoilt == "" {
		p.season.spoilt = name
	}
}

// taken reports whether an answer says yes.
func taken(a *Answer) bool { return !a.Refused && a.Err == nil && a.Document != nil && a.Status < 300 }

// roundsOver returns how many messages that a round is over have come. The lock
// is held.
func (s *managerSide) roundsOver() int {
	n := 0
	for _, m := range s.heard {
		if m.kind == protocol.TypeRoundCompleted {
			n++
		}
	}
	return n
}

// The forms in which reports come, after the first.
var reportForms = []string{"", "envelope", "tool", "tool-io", "twice", "bare", "nostatus"}

// report reports the match that is the nth, and returns what came of it. A form that is not taken is
// another check's matter, and is followed by a report by the book.
func (p managerT) report(nth int, f *fixture, e *ending) *probe {
	m := p.reporting(f, p.conductor(f), e)
	made := func(name string, l letter) *probe {
		p.shoot(name, func() *Answer { return p.Send(l) })
		return p.season.probes[name]
	}
	if nth == 0 {
		return made("report", letter{message: m})
	}
	if nth >= len(reportForms) {
		return made(fmt.Sprintf("report.%d", nth), letter{message: m})
	}
	name := reportForms[nth]
	var told *probe
	switch name {
	case "twice":
		told = p.crowd(f, e)
	case "nostatus":
		m.Result.Details.Status = ""
		told = made("report."+name, letter{message: m})
	default:
		d, err := protocol.DialectNamed(name)
		if err != nil {
			panic(err) // it is one of the protocol's own
		}
		told = made("report."+name, letter{message: m, dialect: d})
	}
	if a := told.answer; taken(a) && (a.Message.text("message_type") != "" || a.Message.has("recorded")) {
		return told
	}
	return made("report instead of "+name, letter{message: p.reporting(f, p.conductor(f), e)})
}

// badReports are made of a match of the last round before its own report.
func (p managerT) badReports(f *fixture, e *ending) {
	nobody := *e
	nobody.players = [2]string{"P98", "P99"}
	bad := func(name string, change func(m *protocol.MatchResultReport)) {
		m := p.reporting(f, p.conductor(f), e)
		change(m)
		p.risk("report."+name, func() *Answer { return p.send(m) })
	}
	bad("unknown", func(m *protocol.MatchResultReport) { m.MatchID, m.Result = "R99M99", nobody.result() })
	bad("token", func(m *protocol.MatchResultReport) { m.AuthToken = forged })
	bad("tokenless", func(m *protocol.MatchResultReport) { m.AuthToken = "" })
	bad("player", func(m *protocol.MatchResultReport) {
		m.Sender, m.AuthToken = protocol.Sender(protocol.RolePlayer, p.players()[0].id), p.players()[0].token
	})
	bad("context", func(m *protocol.MatchResultReport) { m.LeagueID = "another-league" })
	p.risk("report.empty", func() *Answer {
		return p.Send(letter{message: p.reporting(f, p.conductor(f), e), edit: func(m map[string]any) { delete(m, "result") }})
	})
	own := p.conductor(f)
	i := slices.IndexFunc(p.referees(), func(m *member) bool { return m != own })
	p.risk("report.other", func() *Answer { return p.send(p.reporting(f, p.referees()[i], e)) })
}

// contradictions are made of the last match, so that, if one is taken, only the
// last table is not known.
func (p managerT) contradictions(f *fixture, e *ending) {
	hit := "" // what was taken of them
	bad := func(name string, change func(r *protocol.MatchResult)) {
		if hit != "" {
			p.season.missing[name] = fmt.Sprintf("the match has a result already, since manager.%s failed", hit)
			return
		}
		m := p.reporting(f, p.conductor(f), kindOf('w', e))
		change(&m.Result)
		p.risk(name, func() *Answer { return p.send(m) })
		if taken(p.season.probes[name].answer) {
			hit = name
		}
	}
	a, b := e.players[0], e.players[1]
	bad("report.winner", func(r *protocol.MatchResult) {
		r.Winner, r.Score = protocol.Some(b), map[string]int{a: 0, b: 3}
	})
	bad("report.score", func(r *protocol.MatchResult) { r.Score[a] = 30 })
	bad("report.number", func(r *protocol.MatchResult) { r.Details.DrawnNumber = protocol.Some(1_000_000) })
	bad("report.strangers", func(r *protocol.MatchResult) {
		r.Winner, r.Score = protocol.Some("P98"), map[string]int{"P98": 3, b: 0}
	})
}

// kindOf is an ending of the same match, of some kind.
func kindOf(kind byte, e *ending) *ending {
	k := kinds[kind]
	k.players = e.players
	return &k
}

// listed is how many matches GET_SCHEDULE has listed; 0 where it did not.
func (p managerT) listed() int {
	n := 0
	if a := p.season.probes["schedule.during"]; a != nil {
		for _, round := range list(object(a.answer.Message["data"])["rounds"]) {
			n += len(list(round["matches"]))
		}
	}
	return n
}

// lastMatch is the place of the last match in the season, as far as it is known.
func (p managerT) lastMatch() int { return max(p.pairs(), p.listed()) - 1 }

// troubled is the round in whose announcement players are busy, broken off and
// silent.
func (s *managerSide) troubled() int { return 2 }

// duringFirst asks in the first round, before anything is reported.
func (p managerT) duringFirst() {
	p.shoot("status.during", p.query(0, protocol.QueryStatus))
	p.shoot("schedule.during", p.query(0, protocol.QuerySchedule))
	for i := range p.players() {
		p.shoot(fmt.Sprintf("next.%d", i), p.query(i, protocol.QueryNextMatch))
	}
}

// latecomers register when the league has long begun: somebody new, and somebody
// who shows that it is not.
func (p managerT) latecomers() {
	p.risk("late", func() *Answer { return p.send(p.application(p.stranger("late"))) })
	p.shoot("late.players", p.query(0, protocol.QueryPlayers))
	m := p.players()[0]
	back := p.shoot("late.back", func() *Answer {
		application := p.application(m)
		application.AuthToken = m.token
		return p.send(application)
	})
	switch token := back.Message.text("auth_token"); {
	case !taken(back):
	case back.Message.text("player_id") != m.id:
		p.season.spoilt = "late.back"
	case token != "":
		m.token = token // verified as before, where it is the same
	}
}

// awaitRetries gives the manager time to tell those again who could not take
// the announcement.
func (p managerT) awaitRetries(t *turn) {
	p.until(p.patience(), func() bool {
		for _, m := range p.heard {
			if m.spoilt && m.round == t.round && !p.toldAgain(m) {
				return false
			}
		}
		return true
	})
}

// toldAgain reports whether a message that an agent did not take has come again.
// The lock is held.
func (s *managerSide) toldAgain(lost *told) bool {
	return slices.ContainsFunc(s.heard, func(m *told) bool {
		return m.to == lost.to && m.kind == lost.kind && m.round == lost.round && m.n == lost.n+1 && m.settled
	})
}

// crowd reports a match twice at the same time, while everybody asks something.
func (p managerT) crowd(f *fixture, e *ending) *probe {
	reports := make([]*probe, 2)
	asked := make([]*probe, crowded)
	var waits []func()
	run := func(to **probe, ask func(p managerT) *Answer) {
		waits = append(waits, p.apart(func(t *T) {
			a := ask(managerT{t, p.managerSide})
			*to = &probe{answer: a, evidence: slices.Clone(t.evidence)}
		}))
	}
	for i := range reports {
		run(&reports[i], func(p managerT) *Answer { return p.send(p.reporting(f, p.conductor(f), e)) })
	}
	for i := range asked {
		run(&asked[i], func(p managerT) *Answer {
			return p.query(i%len(p.players()), crowdAsks[i%len(crowdAsks)])()
		})
	}
	for _, wait := range waits {
		wait()
	}
	if reports[0].answer.Refused {
		slices.Reverse(reports)
	}
	p.season.probes["report.twice"], p.season.probes["report.twice.other"] = reports[0], reports[1]
	for i, a := range asked {
		p.season.probes[fmt.Sprintf("crowd.%d", i)] = a
	}
	return reports[0]
}

// crowded is how many queries are asked at the same time.
const crowded = 12

// crowdAsks are the queries that are asked then, in turn.
var crowdAsks = []string{protocol.QueryStandings, protocol.QueryStatus, protocol.QuerySchedule, protocol.QueryNextMatch}
