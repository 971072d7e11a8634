package referee

import (
	"fmt"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/protocol"
)

// T is the handle of a running check of a referee.
type T struct {
	*kit.T
	*peers
}

func with(t *kit.T) T { return T{t, t.Peers.(*peers)} }

// sample is a message that a referee accepts; not every referee knows each.
func sample(t *kit.T) kit.Request {
	return kit.AnyOf(
		sampleOf(func(t T) protocol.Message { return t.standings(0) }),
		sampleOf(func(t T) protocol.Message { return t.RoundCompleted() }),
		sampleOf(func(t T) protocol.Message { return t.foreignRound() }),
	)(t)
}

func sampleOf(message func(t T) protocol.Message) kit.Sample {
	return func(t *kit.T) kit.Request { return kit.Request{Message: message(with(t))} }
}

// foreignRound announces a match of another referee.
func (t T) foreignRound() *protocol.RoundAnnouncement {
	a := t.announcement(t.newMatch(plan{}))
	other := kit.OtherReferee
	if t.ID == other {
		other = kit.OwnReferee
	}
	a.Matches[0].RefereeID, a.Matches[0].RefereeEndpoint = other, t.Endpoint.URL
	return a
}

// newMatch makes up a match in a round of its own.
func (t T) newMatch(p plan) *match { return t.newMatches(p)[0] }

func (t T) newMatches(plans ...plan) []*match {
	t.Lock()
	defer t.Unlock()
	t.Rounds++
	var all []*match
	for i, plan := range plans {
		m := &match{peers: t.peers, assigned: time.Now(), id: fmt.Sprintf("R%dM%d", t.Rounds, i+1), round: t.Rounds, plan: plan}
		for who, token := range t.tokens {
			m.keys[who] = credential.NewVerifier(token).MatchKeys(kit.League, m.id, t.ID)
		}
		t.matches[m.id] = m
		all = append(all, m)
	}
	return all
}

func (t T) matchOf(id string) (m *match) {
	t.Do(func() { m = t.matches[id] })
	return m
}

// announcement returns that of matches of one round.
func (t T) announcement(matches ...*match) *protocol.RoundAnnouncement {
	a := &protocol.RoundAnnouncement{Header: t.Header(protocol.TypeRoundAnnouncement, matches[0].round)}
	for _, m := range matches {
		a.Matches = append(a.Matches, protocol.AnnouncedMatch{
			MatchID: m.id, GameType: protocol.GameEvenOdd, PlayerAID: playerIDs[playerA], PlayerBID: playerIDs[playerB],
			RefereeID: t.ID, RefereeEndpoint: t.T.Session.URL,
			PlayerAEndpoint: t.players[playerA].URL, PlayerBEndpoint: t.players[playerB].URL,
			PlayerAKeys: &m.keys[playerA], PlayerBKeys: &m.keys[playerB],
		})
	}
	return a
}

// standings returns those of the players, with the wins of the first.
func (t T) standings(wins int) *protocol.LeagueStandingsUpdate {
	m := t.Standings(playerIDs[:]...)
	first := &m.Standings[playerA]
	first.Wins, first.Played, first.Points = protocol.Some(wins), protocol.Some(wins+1), 3*wins+1
	return m
}

// send sends a message in the way in which the referee takes its type.
func (t T) send(m protocol.Message) *kit.Answer { return t.Send(kit.Request{Message: m}) }

// announce announces a match. How the referee answers does not matter here.
func (t T) announce(p plan) *match {
	m := t.newMatch(p)
	t.assign(m)
	return m
}

func (t T) play(p plan) *match {
	m := t.announce(p)
	t.awaitEnd(m)
	return m
}

// awaitEnd waits until a match is over, and ends the check if the referee does not go on with it.
func (t T) awaitEnd(m *match) {
	for n := 0; ; {
		over, now := false, 0
		more := t.Until(t.patience()-t.quiet(m), func() bool {
			over, now = m.over(), len(m.sent)
			return over || now > n
		})
		if over {
			return
		}
		if !more {
			t.showAll(m)
			t.abandons.Store(true)
			t.Fail("match %s has stopped: the referee sent nothing about it for %v; %s", m.id, t.quiet(m).Round(time.Second), t.summary(m))
		}
		n = now
	}
}

// quiet is how long the referee has sent nothing about a match.
func (t T) quiet(m *match) time.Duration {
	t.Lock()
	defer t.Unlock()
	last := m.assigned
	if n := len(m.sent); n > 0 {
		last = m.sent[n-1].At
	}
	return time.Since(last)
}

// summary says how many messages were sent about a match.
func (t T) summary(m *match) string {
	t.Lock()
	defer t.Unlock()
	text := ""
	for _, typ := range []protocol.Type{protocol.TypeGameInvitation, protocol.TypeChooseParityCall, protocol.TypeGameOver} {
		text += fmt.Sprintf("%d and %d %s, ", m.count(typ, playerA), m.count(typ, playerB), typ)
	}
	return text + fmt.Sprintf("%d %s", m.count(protocol.TypeMatchResultReport, toManager), protocol.TypeMatchResultReport)
}

// messages returns what was sent about a match: of a type, or of every type for
// "", and to one agent or to all.
func (t T) messages(m *match, typ protocol.Type, who ...int) []*sent {
	t.Lock()
	defer t.Unlock()
	var list []*sent
	for _, s := range m.sent {
		if (typ == "" || s.Type == typ) && (len(who) == 0 || slices.Contains(who, s.who)) {
			copied := *s
			list = append(list, &copied)
		}
	}
	return list
}

// message returns the first message of a type that was sent to an agent about a match.
func (t T) message(m *match, typ protocol.Type, who int) *sent {
	list := t.messages(m, typ, who)
	if len(list) == 0 {
		t.Fail("%s was sent no %s of match %s", nameOf(who), typ, m.id)
	}
	t.show(list[0])
	return list[0]
}

func (t T) show(s *sent) {
	t.Keep(kit.Evidence{From: "the referee to " + nameOf(s.who), Request: kit.Printable(s.Raw), Status: max(s.response.Status, 200), Answer: kit.Printable(s.response.Body)})
}

func (t T) failOn(s *sent, format string, args ...any) {
	t.show(s)
	t.Fail(format, args...)
}

func (t T) showAll(m *match) {
	for _, s := range t.messages(m, "") {
		t.show(s)
	}
}

// scenarios are the matches that several checks look at.
func scenarios() map[string]plan {
	return map[string]plan{
		"win":              {},
		"tie":              {choose: [2]reaction{choosing(protocol.Odd), choosing(protocol.Odd)}},
		"declined":         {join: [2]reaction{declines}},
		"invalid":          {choose: [2]reaction{choosing(protocol.Even, func(msg map[string]any) { msg["parity_choice"], msg["choice"] = "both", "both" })}},
		"both declined":    {join: [2]reaction{declines, declines}},
		"busy":             {join: [2]reaction{atFirst(busy, joining())}, choose: [2]reaction{playerB: atFirst(busy, choosing(protocol.Odd))}},
		"always busy":      {join: [2]reaction{busy}},
		"no join":          {join: [2]reaction{noAnswer}},
		"no choice":        {choose: [2]reaction{noAnswer}},
		"end refused":      {over: [2]reaction{busy}},
		"just in time":     lastMoment(beforeDeadline),
		"choice too late":  {choose: [2]reaction{tooLate}},
		"verifiable":       verifiable(adding(protocol.Even)),
		"verifiable too":   verifiable(adding(protocol.Even)),
		"verifiable, busy": verifiable(atFirst(busy, adding(protocol.Even))),
	}
}

// lastMoment is a match in which a player uses its time but for a moment.
func lastMoment(moment time.Duration) plan {
	return plan{choose: [2]reaction{atFirst(justInTime(moment), choosing(protocol.Even))}}
}

// slow are scenarios in which the referee has to wait. Those of one list are
// played at the same time.
func slow() [][]string {
	return [][]string{{"always busy", "end refused"}, {"no join", "no choice", "just in time", "choice too late"}}
}

func (t T) scenario(name string) *match {
	m := t.start(name)
	t.awaitEnd(m)
	return m
}

// start returns the match of a scenario, in progress or over.
func (t T) start(name string) *match {
	t.assignment()
	var m *match
	if t.Do(func() { m = t.scenarios[name] }); m != nil {
		return m
	}
	names := []string{name}
	for _, list := range slow() {
		if slices.Contains(list, name) {
			names = list
		}
	}
	var plans []plan
	for _, name := range names {
		plans = append(plans, scenarios()[name])
	}
	all := t.newMatches(plans...)
	t.Do(func() {
		for i, name := range names {
			t.scenarios[name] = all[i]
		}
		m = t.scenarios[name]
	})
	t.assign(all...)
	return m
}

// awaitProgress waits for something that depends on the referee's own
// deadlines. It skips the check if they are longer than the checks wait.
func (t T) awaitProgress(holds func() bool) {
	var quiet time.Duration
	t.Do(func() { quiet = time.Since(t.lastReceived) })
	if !t.Until(t.patience()-quiet, holds) {
		t.skipSlow()
	}
}

func (t T) skipSlow() {
	t.Skip("nothing happened within %v: the referee's deadlines are longer than that; set short ones on it, or use a longer --timeout", t.patience().Round(time.Second))
}

// shortDelay is how long a slow player takes: less than any deadline. It grows with
// the timeout, which is longer where agents are slow.
func (t T) shortDelay() time.Duration { return min(t.T.Session.Timeout/20, 4*time.Second) }

// ended returns the result that a message states, as our own agents read it, and skips
// the check if they cannot.
func (t T) ended(s *sent) (r protocol.GameResult) {
	switch m := s.Request.(type) {
	case *protocol.GameOver:
		r = m.Stated(playerIDs[s.who], playerIDs[1-s.who])
	case *protocol.MatchResultReport:
		if d := m.Result.Details; d != nil {
			r = protocol.GameResult{Status: d.Status, DrawnNumber: d.DrawnNumber, NumberParity: d.NumberParity, Choices: d.Choices, TechnicalLossPlayerIDs: d.TechnicalLossPlayerIDs}
		}
	default:
		t.Skip("%s cannot be read: %v", s.Type, s.Invalid)
	}
	return r
}

// booked returns the choice of the first player in the end of a match that the second is
// told, "" without one.
func (t T) booked(m *match) protocol.Choice {
	return t.ended(t.message(m, protocol.TypeGameOver, playerB)).Choices[playerIDs[playerA]]
}

// technical reports whether a match has ended by a technical loss, as the second player is told.
func (t T) technical(m *match) bool {
	return t.ended(t.message(m, protocol.TypeGameOver, playerB)).Status == protocol.StatusTechnicalLoss
}
