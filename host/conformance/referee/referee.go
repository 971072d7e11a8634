// Package referee checks a referee: the suite is its manager and two players.
package referee

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/draws"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
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
	all            []*sent   // that it has sent
	matches        map[string]*match
	played         map[string]*match // of scenarios
	tries          sync.Once         // to find the way in which it is assigned matches
	way            assignment
	abandons       atomic.Bool // it has left a match unfinished
}

// open listens for the referee and waits until it has registered.
func open(ctx context.Context, s *kit.Session) (kit.Peers, error) {
	r, err := kit.NewRegistrar(ctx, s)
	if err != nil {
		return nil, err
	}
	p := &peers{Registrar: r, matches: map[string]*match{}, played: map[string]*match{}}
	for who, id := range playerIDs {
		p.tokens[who] = kit.NewToken(id)
		// Some referees call players at the ports of their ids, whatever they are sent.
		if p.players[who], err = kit.ListenAs(ctx, s.Listen, agent.PortOf(protocol.RolePlayer, id)); err != nil {
			return nil, errors.Join(fmt.Errorf("listen as a player: %w", err), p.Close())
		}
	}
	for who, e := range []*kit.Endpoint{playerA: p.players[playerA], playerB: p.players[playerB], toManager: p.Endpoint} {
		e.Handle(func(in *kit.Message) kit.Response { return p.answer(who, in) })
	}
	if err := r.Await(ctx); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// Close implements kit.Peers.
func (p *peers) Close() error {
	return errors.Join(p.Endpoint.Close(), p.players[playerA].Close(), p.players[playerB].Close())
}

// answer answers the referee as the manager or as a player.
func (p *peers) answer(who int, in *kit.Message) kit.Response {
	in.To, in.Agent = nameOf(who), append(playerIDs[:], "manager")[who]
	s := &sent{Message: *in, spot: spot{who, in.Type}}
	var m *match
	p.Do(func() {
		p.all = append(p.all, s)
		if m = p.matches[in.Match]; m != nil && (who != toManager || s.spot == reported) {
			m.sent = append(m.sent, s)
			s.n = m.count(s.spot)
		}
	})
	switch {
	case s.spot == spot{toManager, protocol.TypeRefereeRegisterRequest}:
		return p.Register(in)
	case who == toManager && s.spot != reported:
		return kit.Respond(in.Raw, nil)
	case m == nil:
		return kit.Respond(in.Raw, protocol.Refuse(protocol.CodeMatchNotFound, in.Type, "the match is not known"))
	}
	response := m.react(s)
	p.Do(func() {
		s.Exchange = s.WithAnswer(cmp.Or(response.Status, http.StatusOK), response.Body)
		s.Latency = time.Since(s.At)
	})
	return response
}

type match struct {
	peers    *peers
	id       string
	round    int
	keys     [2]credential.KeyPair
	nonces   [2]string // of the players for a verifiable draw
	plan     plan
	assigned time.Time
	sent     []*sent // what the referee sent about it, in order; guarded by the peers' lock
}

// sent is a message of the referee about a match.
type sent struct {
	kit.Message
	spot
	n int // the position among the messages at the same spot, from 1
}

// count returns how many messages were sent at a spot. The lock is held.
func (m *match) count(at spot) (n int) {
	for _, s := range m.sent {
		if s.spot == at {
			n++
		}
	}
	return n
}

// over reports whether all agents know how the match ended. The lock is held.
func (m *match) over() bool { return m.count(overA) > 0 && m.count(overB) > 0 && m.count(reported) > 0 }

// newMatch makes up a match in a round of its own, at which the check looks.
func (t *T) newMatch(p plan) *match {
	t.match = t.newMatches(1)[0]
	t.match.plan = p
	return t.match
}

// newMatches makes up matches of one round, without plans.
func (t *T) newMatches(n int) []*match {
	t.Lock()
	defer t.Unlock()
	t.Rounds++
	var all []*match
	for i := range n {
		m := &match{peers: t.peers, assigned: time.Now(), id: fmt.Sprintf("R%dM%d", t.Rounds, i+1), round: t.Rounds}
		for who, token := range t.tokens {
			m.keys[who], m.nonces[who] = credential.NewVerifier(token).MatchKeys(kit.League, m.id, t.ID), draws.NewNonce()
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
	if t.match = t.played[name]; t.match != nil {
		return
	}
	list := scenarios[slices.IndexFunc(scenarios, func(list map[string]plan) bool { return list[name] != nil })]
	all := t.newMatches(len(list))
	for i, name := range slices.Collect(maps.Keys(list)) {
		t.played[name], all[i].plan = all[i], list[name]
	}
	t.match = t.played[name]
	t.assign(all...)
}

// awaitEnd waits until the match is over, and ends the check if the referee does not go on with it.
func (t *T) awaitEnd() {
	for !t.soon(t.over) {
		if quiet := t.quiet(); quiet >= t.patience() {
			t.show(t.messages()...)
			t.abandons.Store(true)
			t.Fail("match %s has stopped: the referee sent nothing about it for %v; %s", t.id, quiet.Round(time.Second), t.summary())
		}
	}
}

// soon waits until something holds, as long as the referee may be quiet about the match.
func (t *T) soon(holds func() bool) bool { return t.Until(t.patience()-t.quiet(), holds) }

// quiet is how long the referee has sent nothing about the match.
func (t *T) quiet() time.Duration {
	last := t.match.assigned
	if all := t.messages(); len(all) > 0 {
		last = all[len(all)-1].At
	}
	return time.Since(last)
}

// skipSlow skips a check that depends on deadlines of the referee longer than the checks wait.
func (t *T) skipSlow() {
	t.Skip("nothing happened within %v: the referee's deadlines are longer than that; set short ones on it, or use a longer --timeout", t.patience().Round(time.Second))
}

// summary says how many messages were sent about the match.
func (t *T) summary() string {
	var all []string
	for _, at := range []spot{joinA, joinB, chooseA, chooseB, overA, overB, reported} {
		all = append(all, fmt.Sprintf("%d %s to %s", len(t.messages(at)), at.typ, nameOf(at.who)))
	}
	return strings.Join(all, ", ")
}

// messages returns what was sent about the match: at some spots, of which one without a type
// stands for all of its agent, or all.
func (t *T) messages(at ...spot) []*sent {
	t.Lock()
	defer t.Unlock()
	var list []*sent
	for _, s := range t.sent {
		if len(at) == 0 || slices.Contains(at, s.spot) || slices.Contains(at, spot{who: s.who}) {
			copied := *s
			list = append(list, &copied)
		}
	}
	return list
}

// first returns the first message at a spot of the match.
func (t *T) first(at spot) *sent {
	list := t.messages(at)
	if len(list) == 0 {
		t.Fail("%s was sent no %s of match %s", nameOf(at.who), at.typ, t.id)
	}
	t.show(list[0])
	return list[0]
}

func (t *T) show(all ...*sent) {
	for _, s := range all {
		t.Show(&s.Message)
	}
}

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
		r = m.Stated()
	default:
		t.Skip("%s cannot be read: %v", s.Type, s.Invalid)
	}
	return r
}

// result returns how the match has ended, as the second player is told.
func (t *T) result() protocol.GameResult { return t.ended(t.first(overB)) }

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
func (p *peers) Play(own *kit.T) {
	t := with(own)
	switch {
	case t.assignment().match != nil:
	case !p.Registered():
		t.Skip("the referee is not registered with this manager")
	case p.Until(0, func() bool {
		return slices.ContainsFunc(p.all, func(s *sent) bool { return s.Type == protocol.TypeLeagueQuery })
	}):
		t.Skip("it asks the manager for its matches, and this suite only assigns them")
	default:
		t.Fail("it begins no match that it is assigned")
	}
	c := own.Session.Company(own.Context())
	defer c.Close()                // what it could not end shows in what follows
	results := map[string]string{} // guarded by the lock
	all := plan{}
	for who, id := range playerIDs {
		made := c.Player(own, id, p.tokens[who], func(e player.Event) { p.Do(func() { results[e.Player] = e.Result }) })
		for _, typ := range []protocol.Type{protocol.TypeGameInvitation, protocol.TypeChooseParityCall, protocol.TypeGameOver} {
			all[spot{who, typ}] = func(_ *match, s *sent, _ kit.Response) kit.Response {
				return kit.Handle(context.Background(), made.Handler, &s.Message)
			}
		}
	}
	t.announce(all)
	if !p.Until(2*t.patience(), func() bool { return len(results) == len(playerIDs) }) {
		t.Fail("match %s between players of ours has not ended", t.id)
	}
	for id, result := range results {
		if result == "" || result == game.TechnicalLoss.String() {
			t.Fail("in match %s, which it conducted between players of ours, the result of %s is %q", t.id, id, result)
		}
	}
}
