// Package referee checks a referee: the suite is its manager and two players.
package referee

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// T is the handle of a running check of a referee, and the match that it looks at.
type T struct {
	*kit.T
	*peers
	*match
}

func with(t *kit.T) *T { return &T{T: t, peers: t.Peers.(*peers)} }

// The agents that the referee sends to.
const (
	playerA = iota
	playerB
	toManager
)

var playerIDs = [2]string{"P01", "P02"}

func nameOf(who int) string {
	if who == toManager {
		return "the manager"
	}
	return "player " + playerIDs[who]
}

// peers are the manager and the players of the referee. They follow the
// protocol, except where the plan of a match has them do something else.
type peers struct {
	*kit.Registrar // its lock guards what follows
	players        [2]*kit.Endpoint
	tokens         [2]string // of the players, which the referee never learns
	matches        map[string]*match
	scenarios      map[string]*match
	notJSON        []*sent   // with another Content-Type
	asks           bool      // it has sent queries
	tries          sync.Once // to find the way in which it is assigned matches
	way            assignment
	abandons       atomic.Bool // it has left a match unfinished
}

// open listens for the referee and waits until it has registered.
func open(ctx context.Context, s *kit.Session) (kit.Peers, error) {
	r, err := kit.NewRegistrar(ctx, s, kit.Referee)
	if err != nil {
		return nil, err
	}
	p := &peers{Registrar: r, matches: map[string]*match{}, scenarios: map[string]*match{}}
	if err := p.listen(ctx); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	if err := r.Await(ctx); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *peers) listen(ctx context.Context) error {
	p.Endpoint.Handle(func(in *trace.Exchange, header http.Header) kit.Response { return p.answer(toManager, in, header) })
	for who, id := range playerIDs {
		p.tokens[who] = kit.NewToken(id)
		var err error
		// Some referees call players at the ports of their ids, whatever they are sent.
		if p.players[who], err = kit.ListenAs(ctx, p.Session.Listen, agent.PortOf(protocol.RolePlayer, id)); err != nil {
			return fmt.Errorf("listen as a player: %w", err)
		}
		p.players[who].Handle(func(in *trace.Exchange, header http.Header) kit.Response { return p.answer(who, in, header) })
	}
	return nil
}

// Close implements kit.Peers.
func (p *peers) Close() error {
	return errors.Join(p.Endpoint.Close(), p.players[playerA].Close(), p.players[playerB].Close())
}

// answer answers the referee as the manager or as a player.
func (p *peers) answer(who int, in *trace.Exchange, header http.Header) kit.Response {
	s := &sent{Exchange: in, who: who, fields: kit.Object(in.Raw).Inner(), n: 1, header: header}
	if !kit.IsJSON(s.media()) {
		p.Do(func() { p.notJSON = append(p.notJSON, s) })
	}
	switch {
	case who == toManager && in.Type == protocol.TypeRefereeRegisterRequest:
		return p.Register(in)
	case who == toManager && in.Type != protocol.TypeMatchResultReport:
		p.Do(func() { p.asks = p.asks || in.Type == protocol.TypeLeagueQuery })
		return kit.Respond(in.Raw, nil)
	}
	p.Lock()
	m := p.matches[in.Match]
	if m != nil {
		s.n += m.count(s.Type, who)
		m.sent = append(m.sent, s)
	}
	p.Notify()
	p.Unlock()
	if m == nil {
		return kit.Respond(in.Raw, protocol.Refuse(protocol.CodeMatchNotFound, in.Type, "the match is not known"))
	}
	response := m.react(s)
	p.Do(func() { s.response, s.answered = response, time.Now() })
	return response
}

type match struct {
	peers    *peers
	id       string
	round    int
	keys     [2]credential.KeyPair
	plan     plan
	assigned time.Time
	sent     []*sent     // what the referee sent about it, in order; guarded by the peers' lock
	late     atomic.Bool // a player answered after its time
}

// sent is a message of the referee about a match.
type sent struct {
	*trace.Exchange
	who      int        // playerA, playerB or toManager
	fields   kit.Fields // of the message, without its wrapping
	n        int        // the position among the messages of its type to the same agent, from 1
	header   http.Header
	response kit.Response // to it, once it was answered
	answered time.Time
}

func (s *sent) media() string { return s.header.Get("Content-Type") }

// count returns how many messages of a type an agent was sent. The lock is held.
func (m *match) count(typ protocol.Type, who int) int {
	n := 0
	for _, s := range m.sent {
		if s.Type == typ && s.who == who {
			n++
		}
	}
	return n
}

// over reports whether all agents know how the match ended. The lock is held.
func (m *match) over() bool {
	return m.count(protocol.TypeGameOver, playerA) > 0 && m.count(protocol.TypeGameOver, playerB) > 0 && m.count(protocol.TypeMatchResultReport, toManager) > 0
}

// replied reports whether a player has answered a call. The lock is held.
func (m *match) replied(who int) bool {
	for _, s := range m.sent {
		if s.Type == protocol.TypeChooseParityCall && s.who == who && !s.answered.IsZero() {
			return true
		}
	}
	return false
}

// newMatch makes up a match in a round of its own, at which the check looks.
func (t *T) newMatch(p plan) *match {
	t.match = t.newMatches(p)[0]
	return t.match
}

func (t *T) newMatches(plans ...plan) []*match {
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

// announcement returns that of matches of one round.
func (t *T) announcement(matches ...*match) *protocol.RoundAnnouncement {
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
func (t *T) standings(wins int) *protocol.LeagueStandingsUpdate {
	m := t.Standings(playerIDs[:]...)
	first := &m.Standings[playerA]
	first.Wins, first.Played, first.Points = protocol.Some(wins), protocol.Some(wins+1), 3*wins+1
	return m
}

// send sends a message in the way in which the referee takes its type.
func (t *T) send(m protocol.Message) *kit.Answer { return t.Send(kit.Request{Message: m}) }

// announce announces a match. How the referee answers does not matter here.
func (t *T) announce(p plan) { t.assign(t.newMatch(p)) }

// play has a match played to its end.
func (t *T) play(p plan) {
	t.announce(p)
	t.awaitEnd()
}

// start has the match of a scenario begin, unless it has.
func (t *T) start(name string) {
	t.assignment()
	if t.Do(func() { t.match = t.scenarios[name] }); t.match != nil {
		return
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
		t.match = t.scenarios[name]
	})
	t.assign(all...)
}

// awaitEnd waits until the match is over, and ends the check if the referee does not go on with it.
func (t *T) awaitEnd() {
	for n := 0; ; {
		over, now := false, 0
		more := t.soon(func() bool {
			over, now = t.over(), len(t.sent)
			return over || now > n
		})
		if over {
			return
		}
		if !more {
			t.showAll()
			t.abandons.Store(true)
			t.Fail("match %s has stopped: the referee sent nothing about it for %v; %s", t.id, t.quiet().Round(time.Second), t.summary())
		}
		n = now
	}
}

// soon waits until something holds, as long as the referee may be quiet about the match.
func (t *T) soon(holds func() bool) bool { return t.Until(t.patience()-t.quiet(), holds) }

// quiet is how long the referee has sent nothing about the match.
func (t *T) quiet() time.Duration {
	t.Lock()
	defer t.Unlock()
	last := t.match.assigned
	if n := len(t.sent); n > 0 {
		last = t.sent[n-1].At
	}
	return time.Since(last)
}

// skipSlow skips a check that depends on deadlines of the referee longer than the checks wait.
func (t *T) skipSlow() {
	t.Skip("nothing happened within %v: the referee's deadlines are longer than that; set short ones on it, or use a longer --timeout", t.patience().Round(time.Second))
}

// summary says how many messages were sent about the match.
func (t *T) summary() string {
	t.Lock()
	defer t.Unlock()
	text := ""
	for _, typ := range []protocol.Type{protocol.TypeGameInvitation, protocol.TypeChooseParityCall, protocol.TypeGameOver} {
		text += fmt.Sprintf("%d and %d %s, ", t.count(typ, playerA), t.count(typ, playerB), typ)
	}
	return text + fmt.Sprintf("%d %s", t.count(protocol.TypeMatchResultReport, toManager), protocol.TypeMatchResultReport)
}

// messages returns what was sent about the match: of a type, or of every type for
// "", and to one agent or to all.
func (t *T) messages(typ protocol.Type, who ...int) []*sent {
	t.Lock()
	defer t.Unlock()
	var list []*sent
	for _, s := range t.sent {
		if (typ == "" || s.Type == typ) && (len(who) == 0 || slices.Contains(who, s.who)) {
			copied := *s
			list = append(list, &copied)
		}
	}
	return list
}

// first returns the first message of a type that was sent to an agent about the match.
func (t *T) first(typ protocol.Type, who int) *sent {
	list := t.messages(typ, who)
	if len(list) == 0 {
		t.Fail("%s was sent no %s of match %s", nameOf(who), typ, t.id)
	}
	t.show(list[0])
	return list[0]
}

func (t *T) show(all ...*sent) {
	for _, s := range all {
		t.Keep(kit.Evidence{From: "the referee to " + nameOf(s.who), Request: kit.Printable(s.Raw), Status: max(s.response.Status, 200), Answer: kit.Printable(s.response.Body)})
	}
}

func (t *T) showAll() { t.show(t.messages("")...) }

func (t *T) failOn(s *sent, format string, args ...any) {
	t.show(s)
	t.Fail(format, args...)
}

// ended returns the result that a message states, as our own agents read it, and skips
// the check if they cannot.
func (t *T) ended(s *sent) (r protocol.GameResult) {
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

// result returns how the match has ended, as the second player is told.
func (t *T) result() protocol.GameResult { return t.ended(t.first(protocol.TypeGameOver, playerB)) }

// booked returns the choice of the first player in that, "" without one.
func (t *T) booked() protocol.Choice { return t.result().Choices[playerIDs[playerA]] }

// technical reports whether the match has ended by a technical loss.
func (t *T) technical() bool { return t.result().Status == protocol.StatusTechnicalLoss }

// patience is how long the checks wait for something before which the referee may have to pause.
// One that has abandoned a match is given its pauses, and hardly more.
func (p *peers) patience() time.Duration {
	if p.abandons.Load() {
		return min(p.Session.Timeout, time.Second) + p.Session.Pause
	}
	return p.Session.Patience()
}

// shortDelay is how long a slow player takes: less than any deadline. It grows with
// the timeout, which is longer where agents are slow.
func (p *peers) shortDelay() time.Duration { return min(p.Session.Timeout/20, 4*time.Second) }

// Play implements kit.Peers: the referee conducts a match of two players of ours.
func (p *peers) Play(own *kit.T) kit.Play {
	t := with(own)
	switch way := t.assignment(); {
	case !way.plays && !p.Registered():
		return kit.NotTried("the referee is not registered with this manager")
	case !way.plays && p.asks:
		return kit.NotTried("it asks the manager for its matches, and this suite only assigns them")
	case !way.plays:
		return kit.CouldNot("it begins no match that it is assigned")
	}
	c := own.Session.Company(own.Context())
	defer c.Close()                // what it could not end shows in what follows
	results := map[string]string{} // guarded by the lock
	var all plan
	for who, id := range playerIDs {
		made, err := c.Player(id, p.tokens[who], func(e player.Event) { p.Do(func() { results[e.Player] = e.Result }) })
		if err != nil {
			return kit.NotTried(err.Error())
		}
		own := func(_ *match, s *sent) kit.Response {
			return kit.Handle(context.Background(), made.Handler, s.Raw, s.Peer, s.header)
		}
		all.join[who], all.choose[who], all.over[who] = own, own, own
	}
	m := t.newMatch(all)
	t.T.Aside().Send(t.assigning(m))
	if !p.Until(2*t.patience(), func() bool { return len(results) == len(playerIDs) }) {
		return kit.CouldNot("match %s between players of ours has not ended", m.id)
	}
	for id, result := range results {
		if result == "" || result == game.TechnicalLoss.String() {
			return kit.CouldNot("in match %s, which it conducted between players of ours, the result of %s is %q", m.id, id, result)
		}
	}
	return kit.Played
}
