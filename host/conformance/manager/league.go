package manager

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// playLeague plays the league. It ends no check.
func playLeague(t T) {
	if why, ended := t.Catch(func() {
		t.registerAll()
		t.join(t.players()[len(t.players())-1])
		t.start()
		if t.conducts() {
			if t.league.stopped == "" {
				t.watch()
			}
			return
		}
		for t.Context().Err() == nil && t.league.stopped == "" {
			r := t.nextRound()
			if r == nil {
				break
			}
			t.league.rounds = append(t.league.rounds, r)
			t.playRound(r)
			t.awaitRoundEnd(r)
			t.afterRound(r)
		}
		t.afterLeague()
	}); ended {
		t.league.stopped = why
	}
}

// start starts the league, or waits until somebody else does.
func (t T) start() {
	l := t.league
	if t.started() {
		l.selfStarted = true
		for _, name := range []string{"start", "start.again", "start.report", "start.missing", "start.token", "start.web", "start.player"} {
			l.missing[name] = "the league began by itself after the last registration"
		}
		return
	}
	if t.conducts() {
		l.missing["start.report"] = conductsMatches
	} else {
		t.probe("start.report", func() *kit.Answer {
			m := &match{id: "R99M99", players: [2]string{"P98", "P99"}}
			return t.send(t.report(m, t.referees()[0], t.resultOf(m)))
		})
	}
	token := t.session.AdminToken
	if token != "" {
		t.probe("start.missing", func() *kit.Answer { return t.send(t.startLeague("")) })
		t.probe("start.token", func() *kit.Answer { return t.send(t.startLeague(kit.Forged)) })
	} else {
		const needed = "no admin token was given; use --admin-token TOKEN with that of the manager"
		l.missing["start.missing"], l.missing["start.token"] = needed, needed
	}
	t.probe("start.web", func() *kit.Answer {
		return t.Send(kit.Request{Message: t.startLeague(""), Header: http.Header{"Origin": {"http://web.example"}}})
	})
	t.probe("start.player", func() *kit.Answer {
		m := t.startLeague(t.players()[0].token)
		m.Sender = protocol.Sender(protocol.RolePlayer, t.players()[0].id)
		return t.send(m)
	})
	a := t.probe("start", func() *kit.Answer { return t.send(t.startLeague(token)) })
	if accepts(a) {
		t.probe("start.again", func() *kit.Answer { return t.send(t.startLeague(token)) })
		return
	}
	t.startOtherwise(a)
}

// startOtherwise tries to start the league as our launcher does, under several
// senders, and then waits for somebody else to do it.
func (t T) startOtherwise(refusal *kit.Answer) {
	running := func() bool { return t.assigned(0) > 0 || t.sent(protocol.TypeGameInvitation) > 0 }
	for _, sign := range []func(h *protocol.Header){
		func(*protocol.Header) {},
		func(h *protocol.Header) { h.Sender = kit.ManagerName },
		func(h *protocol.Header) {
			h.Sender, h.AuthToken = protocol.Sender(protocol.RolePlayer, t.players()[0].id), cmp.Or(h.AuthToken, t.players()[0].token)
		},
	} {
		m := t.startLeague(t.session.AdminToken)
		sign(m.Head())
		known := t.session.Peer()
		talk := &wire.Conversation{Caller: t.Record().Caller, Peer: wire.GuessPeer(known.Address(), known.Speaks())}
		o, err := talk.Send(t.Context(), m, m.ConversationID, func(_ context.Context, o *wire.Attempt) wire.Verdict {
			switch v := wire.Judge(o.Err); {
			case t.Until(0, running):
				return wire.Understood
			case v == wire.Doubtful && o.Answer != nil && o.Answer.Status < http.StatusMultipleChoices:
				return wire.Understood // in words of its own
			case v == wire.Doubtful && o.Answer != nil:
				return wire.Misunderstood
			default:
				return v
			}
		})
		wait := t.shortDelay()
		if err == nil && o.Verdict == wire.Understood {
			wait = t.patience()
		}
		if t.Until(wait, running) {
			return
		}
	}
	wait := t.session.Wait
	t.session.Say(fmt.Sprintf("the manager refuses to start the league (%s); waiting %v for somebody else to start it", refusal, wait))
	if !t.Until(wait, running) {
		t.league.stopped = fmt.Sprintf("START_LEAGUE is answered by %s; use --admin-token TOKEN, or start the league yourself within --wait %v when the command says so", refusal, wait)
	}
}

// nextRound waits until matches are assigned that are not reported, and returns
// nil if none will be.
func (t T) nextRound() *round {
	open := func() []*match {
		var list []*match
		for _, m := range t.matches {
			if m.result == nil && (len(list) == 0 || m.round == list[0].round) {
				list = append(list, m)
			}
		}
		return list
	}
	assigned := func() bool {
		return len(open()) > 0 || t.sent(protocol.TypeLeagueCompleted) > 0 || t.Context().Err() != nil
	}
	wait := t.patience()
	if n := t.listed(); n > 0 && len(t.league.results) >= n {
		wait = t.shortDelay() // no more matches are expected
	}
	if held := false; !t.Until(wait, func() bool { held = held || t.holding > 0; return assigned() }) && held {
		t.Until(t.patience(), assigned) // it may have waited for the silent player
	}
	var r *round
	t.Until(t.patience(), func() bool {
		list := open()
		if len(list) == 0 {
			return true
		}
		r = &round{number: list[0].round, matches: list}
		return len(list) >= t.announced(r.number)
	})
	if r == nil && len(t.league.results) < t.pairs() {
		t.league.stopped = fmt.Sprintf("within %v no more matches were assigned to a referee, neither by ROUND_ANNOUNCEMENT nor one by one; %d were reported",
			t.patience().Round(time.Second), len(t.league.results))
	}
	return r
}

// announced returns how many matches a round has, by the announcement to the
// players or else by their number. The lock is held.
func (p *peers) announced(round int) int {
	for _, m := range p.messages {
		if m.typ == protocol.TypeRoundAnnouncement && m.to.role == protocol.RolePlayer && m.round == round && len(m.matches) > 0 {
			return len(m.matches)
		}
	}
	return len(p.players()) / 2
}

// listed returns how many matches GET_SCHEDULE lists; 0 without an answer.
func (t T) listed() int {
	n := 0
	if made := t.league.probes["schedule.during"]; made != nil {
		for _, round := range made.answer.Message.Object("data").List("rounds") {
			n += len(round.List("matches"))
		}
	}
	return n
}

func (t T) lastMatch() int { return max(t.pairs(), t.listed()) - 1 }

// playRound reports the matches of a round, and sends most of the probes. Those
// that a careless manager may accept and should not come in the last round: the
// standings before that are then known.
func (t T) playRound(r *round) {
	l := t.league
	first := len(l.results) == 0
	final := len(l.results)+len(r.matches) > t.lastMatch() && l.probes["late"] == nil
	if first {
		t.probeFirstRound()
	}
	if final {
		t.probeLateRegistration()
	}
	if r.number == faultyRound {
		t.awaitRetries(r)
	}
	for i, m := range r.matches {
		result := t.resultOf(m)
		if i == len(r.matches)-1 {
			if first { // the round is not over yet
				t.Until(t.shortDelay(), func() bool { return t.sent(protocol.TypeRoundCompleted) > 0 })
			}
			t.Lock()
			r.last = t.events
			t.Unlock()
		}
		if final && i == 0 {
			t.probeBadReports(m, result)
		}
		if len(l.results) == t.lastMatch() {
			t.probeContradictions(m, result)
		}
		t.conclude(r, m, result)
		if first && i == 0 {
			t.probe("schedule.after", func() *kit.Answer { return t.ask(protocol.QuerySchedule) })
		}
		if final && i == 0 {
			t.probe("report.again", func() *kit.Answer { return t.send(t.report(m, t.refereeOf(m), result)) })
			t.risk("report.differs", func() *kit.Answer { return t.send(t.report(m, t.refereeOf(m), result.another())) })
		}
	}
	r.results, r.spoiled = len(l.results), l.spoiled != ""
}

// conclude reports how a match ended. The league stops if that is refused.
func (t T) conclude(r *round, m *match, result *result) {
	l := t.league
	r.report = t.reportIn(len(l.results), m, result)
	if a := r.report.answer; !accepts(a) && !duplicate(a) && l.spoiled == "" {
		l.refusedReport = true
		t.Skip("the report of match %s was answered by %s", m.id, a)
	}
	t.Lock()
	m.result = result
	t.Unlock()
	l.results = append(l.results, result)
}

// awaitRetries gives the manager time to retry the announcements that were not
// accepted.
func (t T) awaitRetries(r *round) {
	t.Until(t.patience(), func() bool {
		return !slices.ContainsFunc(t.messages, func(m *message) bool { return m.refused && m.round == r.number && !t.sentAgain(m) })
	})
}

// awaitRoundEnd waits until everybody was sent the messages that end a round,
// unless the manager goes on without them. It waits only once for messages that
// the manager never sends.
func (t T) awaitRoundEnd(r *round) {
	l := t.league
	goesOn := func() bool {
		return t.sent(protocol.TypeLeagueCompleted) > 0 || slices.ContainsFunc(t.matches, func(m *match) bool { return m.result == nil })
	}
	ended := func() bool {
		return !slices.ContainsFunc(l.roundEnds, func(typ protocol.Type) bool { return !t.sentToAll(typ, r.last) })
	}
	t.Until(t.patience(), func() bool { return ended() || goesOn() })
	wait := kit.LongestPause
	if l.incomplete {
		wait = t.shortDelay()
	}
	if t.Until(wait, ended) {
		return
	}
	l.incomplete = true
	l.roundEnds = slices.DeleteFunc(l.roundEnds, func(typ protocol.Type) bool {
		return t.Until(0, func() bool {
			return !slices.ContainsFunc(t.messages, func(m *message) bool { return m.typ == typ && m.arrival > r.last })
		})
	})
}

// afterRound asks for the standings after a round.
func (t T) afterRound(r *round) {
	l := t.league
	name := probeName("table", len(l.rounds))
	a := t.probe(name, func() *kit.Answer { return t.ask(protocol.QueryStandings) })
	one, other := l.probes["report.twice"], l.probes["report.twice.other"]
	if l.countedTwice == "" && other != nil && accepts(one.answer) && accepts(other.answer) && t.countsTwice(a, r) {
		l.countedTwice = name
		if l.spoiled == "" {
			l.spoiled, r.spoiled = "report.twice", true
		}
	}
	t.Lock()
	r.closed = t.events
	t.Unlock()
}

// countsTwice reports whether standings have more matches of a player than were
// played.
func (t T) countsTwice(a *kit.Answer, r *round) bool {
	sent := standing{lines: a.Message.Object("data").List("standings")}
	return slices.ContainsFunc(t.rows(t.league.results[:r.results]), func(want row) bool { return sent.line(want.id).Count("played") > want.Played })
}

// afterLeague waits for the end of the league, sends the last probes and lets
// the agents acknowledge the end.
func (t T) afterLeague() {
	l := t.league
	if len(l.rounds) == 0 || l.stopped != "" {
		return
	}
	t.Until(t.patience(), func() bool {
		return t.endSent() || len(l.roundEnds) < 2 && t.sent(protocol.TypeLeagueCompleted) == 0
	})
	t.probeEnd()
	t.Lock()
	t.finished = true
	t.Notify()
	before := len(t.messages)
	t.Unlock()
	t.Until(t.shortDelay(), func() bool { return len(t.messages) > before }) // messages that should not come
}

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
		l.stopped = fmt.Sprintf("of %s of players, the manager's own referee invited %d", kit.Count(t.pairs(), "pair", "pairs"), n)
	}
}
