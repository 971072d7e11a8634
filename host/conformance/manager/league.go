package manager

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// playLeague has our agents play the league. It ends no check.
func playLeague(t T) {
	if why, ended := t.Catch(func() {
		t.registerAll()
		t.join(t.lastPlayer())
		t.turn.Lock()
		defer t.turn.Unlock()
		t.start()
	}); ended {
		t.stopped = why
		return
	}
	t.watch()
	t.turn.Lock()
	defer t.turn.Unlock()
	t.closed = true
	known, assigned, pairs, before := 0, 0, t.pairs(), 0
	t.Do(func() { known, assigned = len(t.matches), t.assigned(0) })
	switch {
	case t.stopped != "":
		return
	case t.conducts(), known > 0 && assigned == 0:
		t.addOthers()
		if known < pairs {
			t.stopped = fmt.Sprintf("of %s of players, the manager's own referee invited %d", kit.Count(pairs, "pair", "pairs"), known)
		}
		return
	case known < pairs || len(t.reported) < assigned:
		t.stopped = fmt.Sprintf("within %v no more matches were assigned to a referee, neither by ROUND_ANNOUNCEMENT nor one by one; %d were reported",
			t.Session.Patience().Round(time.Second), len(t.reported))
		return
	}
	t.afterRound(t.rounds[len(t.rounds)-1])
	t.addOthers()
	t.attempt(over, t.reported[0])
	t.Do(func() { t.finished, before = true, len(t.log) })
	t.Until(t.shortDelay(), func() bool { return len(t.log) > before }) // messages that should not come
}

// watch follows the league until it ends, stops, or nothing more happens.
func (t T) watch() {
	before, over := -1, false
	for more := true; more && !over && t.Context().Err() == nil; {
		more = t.Until(t.Session.Patience(), func() bool {
			over = t.sentToAll(theEnd, 0) || t.stopped != ""
			return over || len(t.log) > before || t.busy > 0
		})
		t.Until(t.Session.Patience(), func() bool { before = len(t.log); return over || t.busy == 0 })
	}
}

// reports delivers the report of a referee in the form of its turn, and disturbs the
// manager before and after it. Reports are delivered one after the other.
func (p *peers) reports(ctx context.Context, from *member, in *trace.Exchange, out *jsonrpc.Outgoing) (*jsonrpc.Reply, error) {
	p.keepBusy(1)
	defer p.keepBusy(-1)
	p.turn.Lock()
	defer p.turn.Unlock()
	t := T{p.playing.Aside(), p}
	_, ok := in.Request.(*report)
	var m *match
	p.Do(func() { m = p.match(in.Match) })
	if !ok || m == nil || m.reported || p.closed || p.stopped != "" {
		return t.RoundTrip(ctx, out) // it was reported already, or the checks read the record
	}
	if why, ended := t.Catch(func() { t.conclude(m, from, in) }); ended {
		p.Do(func() { p.stopped = why })
		return &jsonrpc.Reply{Status: http.StatusBadRequest, Body: kit.Respond(out.Body, protocol.Refuse(protocol.CodeInvalidMove, in.Type, why)).Body}, nil
	}
	r := kit.Respond(out.Body, kit.Recorded()) // the report may have been sent in another form
	return &jsonrpc.Reply{Status: http.StatusOK, Body: r.Body}, nil
}

// conclude delivers the report of a match. It ends the check if that is refused.
func (t T) conclude(m *match, from *member, in *trace.Exchange) {
	r := t.roundOf(m)
	done := count(r.matches, func(m *match) bool { return m.reported })
	last := done == len(r.matches)-1
	if last && r == t.rounds[0] { // the round is not over yet
		t.Until(t.shortDelay(), func() bool { return t.wasSent(roundEnd) })
	}
	in.Agent, in.Sent = "manager", false // as the manager has seen it
	t.Do(func() {
		r.last = len(t.log)
		m.referee, m.sent = from, &message{Message: kit.Message{Exchange: in, From: "the referee of " + m.id}, refused: true}
		t.record(m.sent)
	})
	if r.final && done == 0 {
		t.attempt(reporting, m)
		t.attempt(truthful, m)
	}
	if r.final && last {
		t.attempt(contradicting, m)
	}
	r.report = t.reportIn(len(t.reported), m)
	if !r.report.Taken() && !duplicate(r.report) && t.spoiled == "" {
		t.refusedReport = true
		t.Skip("the report of match %s was answered by %s", m.id, r.report)
	}
	t.Do(func() { m.reported, m.sent.refused = true, false })
	if t.reported = append(t.reported, m); len(t.reported) == 1 {
		t.attempt(running, m)
	}
	if r.final && done == 0 {
		t.attempt(differing, m)
	}
}

// roundOf returns the round that a match belongs to, and begins it before its first
// report. It then waits until all matches of the round are assigned, and sends the
// probes of the round. Those that a careless manager may accept and should not come in
// the last round: the standings before that are then known.
func (t T) roundOf(m *match) *round {
	if n := len(t.rounds); n > 0 {
		if last := t.rounds[n-1]; slices.Contains(last.matches, m) {
			return last
		}
		t.afterRound(t.rounds[n-1])
	}
	r := &round{number: m.round}
	t.await(&t.oneByOne, t.Session.Patience(), func() bool {
		all := slices.DeleteFunc(slices.Clone(t.matches), func(other *match) bool { return other.round != m.round || other.reported })
		r.matches = slices.DeleteFunc(slices.Clone(all), func(other *match) bool { return other.referee == nil })
		return len(all) >= cmp.Or(t.announced[m.round], len(t.players())/2)
	})
	t.rounds = append(t.rounds, r)
	if len(t.rounds) == 1 {
		t.attempt(beginning, nil)
		for i, a := range t.players() {
			t.probe(probeName("next", i), t.query(a, protocol.QueryNextMatch))
		}
	}
	every := max(t.pairs(), len(matchesIn(t.answers["schedule.during"].Message.Object("data"))))
	r.final = t.Until(0, func() bool { return len(t.matches) >= every }) && t.answers["late.refused"] == nil
	if r.final {
		t.attempt(late, nil)
		t.comeBack()
	}
	if r.number == faultyRound {
		t.Until(t.Session.Patience(), func() bool { // so that it can retry what was not accepted
			return !slices.ContainsFunc(t.log, func(m *message) bool { return m.refused && m.round == r.number && !t.sentAgain(m) })
		})
	}
	return r
}

// comeBack has the first player register while the league runs, and show by its token that it has.
func (t T) comeBack() {
	a := t.players()[0]
	m := t.registration(a.name, a.display, a.Endpoint.URL)
	m.AuthToken = a.Token
	back := t.probe("late.back", m)
	switch token := back.Message.Text("auth_token"); {
	case !back.Taken():
	case back.Message.Text("player_id") != a.ID:
		t.spoil("late.back")
	case token != "":
		t.Do(func() { a.Token = token })
	}
}

// start starts the league. If the manager refuses that, it tries to start it as our launcher does,
// and then waits for somebody else to do it.
func (t T) start() {
	if t.selfStarted = t.started(); t.selfStarted {
		return
	}
	t.attempt(starting, nil)
	answer := t.probe("start", t.startLeague(t.Session.AdminToken))
	if answer.Taken() {
		t.probe("start.again", t.startLeague(t.Session.AdminToken))
		return
	}
	running := func() bool { return t.assigned(0) > 0 || t.wasSent(protocol.TypeGameInvitation) }
	ask := host.Ask{Manager: t.Session.Peer.Address(), Token: t.Session.AdminToken, League: t.leagueID, Timeout: t.Session.Wait}
	wait := t.shortDelay()
	if _, err := ask.Send(t.Context(), time.Now(), t.startLeague("")); err == nil {
		wait = t.Session.Patience()
	}
	if t.Until(wait, running) {
		return
	}
	wait = t.Session.Wait
	t.Session.Say(fmt.Sprintf("the manager refuses to start the league (%s); waiting %v for somebody else to start it", answer, wait))
	if !t.Until(wait, running) {
		t.stopped = fmt.Sprintf("START_LEAGUE is answered by %s; use --admin-token TOKEN, or start the league yourself within --wait %v when the command says so", answer, wait)
	}
}

// await waits for what a manager should do, but not for long once that was in vain.
func (t T) await(vain *bool, within time.Duration, holds func() bool) {
	if *vain {
		within = t.shortDelay()
	}
	*vain = !t.Until(within, holds)
}

// afterRound waits until everybody was sent the messages that end a round, and asks for the standings
// after it.
func (t T) afterRound(r *round) {
	t.await(&t.incomplete, t.Session.Pause, func() bool { return t.sentToAll(table, r.last) && t.sentToAll(roundEnd, r.last) })
	if t.spoiled == "" {
		asked := t.probe("table", t.query(t.players()[0], protocol.QueryStandings))
		x := &trace.Exchange{Raw: asked.Body}
		x.Agent, x.Type, x.Answer = "manager", protocol.TypeLeagueQuery, asked.Read(protocol.TypeLeagueQuery)
		x.Request = &protocol.LeagueQuery{QueryType: protocol.QueryStandings}
		t.Do(func() { t.record(&message{Message: kit.Message{Exchange: x, From: "the manager"}}) })
		one, other := t.answers["report.twice"], t.answers["report.twice.other"]
		if other != nil && one.Taken() && other.Taken() && t.countsTwice(asked) {
			t.spoil("report.twice")
		}
	}
	t.Do(func() {
		if r.closed = len(t.log); t.spoiled == "" {
			t.known = r.closed
		}
	})
}

// countsTwice reports whether standings have more matches of a player than were reported.
func (t T) countsTwice(a *kit.Answer) bool {
	t.Lock()
	defer t.Unlock()
	return slices.ContainsFunc(a.Message.Object("data").List("standings"), func(f kit.Fields) bool {
		id := f.Text("player_id")
		return f.Count("played") > count(t.matches, func(m *match) bool { return (m.reported || m.referee == nil) && slices.Contains(m.players[:], id) })
	})
}

// addOthers enters the rounds in which only other referees conduct matches.
func (t T) addOthers() {
	t.Lock()
	defer t.Unlock()
	for _, m := range t.matches {
		if !slices.ContainsFunc(t.rounds, func(r *round) bool { return r.number == m.round }) {
			t.rounds = append(t.rounds, &round{number: m.round, closed: len(t.log), matches: []*match{m}})
		}
	}
	slices.SortStableFunc(t.rounds, func(a, b *round) int { return a.number - b.number })
}

// Play implements kit.Peers: whether our own agents have played the league to its end.
func (p *peers) Play(t *kit.T) {
	refused := slices.ContainsFunc(p.players(), func(a *member) bool { return a.Failed != nil })
	switch {
	case p.playing == nil && !refused:
		t.Skip("no league was begun: the checks that were chosen need none, or what they need has failed")
	case p.stopped == "":
	case len(p.rounds) == 0 && !refused:
		t.Skip("the league did not begin: %s", p.stopped)
	default:
		t.Fail("%s", p.stopped)
	}
}
