// Package referee checks a referee: the suite is its manager and two players.
package referee

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

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
	lastReceived   time.Time
	notJSON        []*sent                    // with another Content-Type
	asks           bool                       // it has sent queries
	assigned       atomic.Pointer[assignment] // once it was found out
	abandons       atomic.Bool                // it has left a match unfinished
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
		var err error
		if p.tokens[who], err = credential.NewToken(rand.Reader, id); err != nil {
			return err
		}
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
	s := &sent{Exchange: in, who: who, fields: kit.Object(in.Raw).Inner(), n: 1, media: header.Get("Content-Type")}
	if !kit.IsJSON(s.media) {
		p.Do(func() { p.notJSON = append(p.notJSON, s) })
	}
	switch {
	case who == toManager && in.Type == protocol.TypeRefereeRegisterRequest:
		return p.Register(in)
	case who == toManager && in.Type != protocol.TypeMatchResultReport:
		p.Do(func() { p.asks = p.asks || in.Type == protocol.TypeLeagueQuery })
		return kit.Respond(in.Raw, nil)
	}
	var ours jsonrpc.Handler
	p.Lock()
	m := p.matches[in.Match]
	if m != nil {
		if who != toManager {
			ours = m.ours[who]
		}
		s.n += m.count(s.Type, who)
		m.sent = append(m.sent, s)
	}
	p.lastReceived = time.Now()
	p.Notify()
	p.Unlock()
	if m == nil {
		return kit.Respond(in.Raw, protocol.Refuse(protocol.CodeMatchNotFound, in.Type, "the match is not known"))
	}
	var response kit.Response
	if ours != nil {
		response = kit.Handle(context.Background(), ours, in.Raw, in.Peer, header)
	} else {
		response = m.react(s)
	}
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
	ours     [2]jsonrpc.Handler // our own players, if they play it
	sent     []*sent            // what the referee sent about it, in order; guarded by the peers' lock
	late     atomic.Bool        // a player answered after its time
}

// sent is a message of the referee about a match.
type sent struct {
	*trace.Exchange
	who      int        // playerA, playerB or toManager
	fields   kit.Fields // of the message, without its wrapping
	n        int        // the position among the messages of its type to the same agent, from 1
	media    string
	response kit.Response // to it, once it was answered
	answered time.Time
}

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

// A reaction is how an agent answers a message of the referee.
type reaction func(m *match, s *sent) kit.Response

// plan says how the agents react in a match. Where it is nil they follow the
// protocol; PLAYER_A then chooses even and PLAYER_B odd.
type plan struct {
	join, choose, over [2]reaction
	report             reaction
}

func (m *match) react(s *sent) kit.Response {
	planned, usual := reaction(nil), reaction(func(_ *match, s *sent) kit.Response { return kit.Respond(s.Raw, nil) })
	switch {
	case s.who == toManager:
		planned, usual = m.plan.report, acknowledges
	case s.Type == protocol.TypeGameInvitation:
		planned, usual = m.plan.join[s.who], joining()
	case s.Type == protocol.TypeChooseParityCall:
		planned, usual = m.plan.choose[s.who], choosing([2]protocol.Choice{protocol.Even, protocol.Odd}[s.who])
	case s.Type == protocol.TypeGameOver:
		planned = m.plan.over[s.who]
	}
	if planned == nil {
		planned = usual
	}
	return planned(m, s)
}

func joining(edits ...kit.Edit) reaction {
	return func(m *match, s *sent) kit.Response {
		return m.answer(s, &protocol.GameJoinAck{
			Header: protocol.Header{MessageType: protocol.TypeGameJoinAck}, PlayerID: playerIDs[s.who],
			ArrivalTimestamp: protocol.Timestamp(time.Now()), Accept: protocol.Some(true), Accepted: protocol.Some(true), Status: protocol.StatusAccepted,
		}, edits)
	}
}

func choosing(c protocol.Choice, edits ...kit.Edit) reaction {
	return func(m *match, s *sent) kit.Response {
		return m.answer(s, &protocol.ChooseParityResponse{
			Header: protocol.Header{MessageType: protocol.TypeChooseParityResponse}, PlayerID: playerIDs[s.who], ParityChoice: c, Choice: c,
		}, edits)
	}
}

func (m *match) answer(s *sent, answer protocol.Message, edits []kit.Edit) kit.Response {
	h := answer.Head()
	h.Sender, h.AuthToken, h.MatchID = protocol.Sender(protocol.RolePlayer, playerIDs[s.who]), m.keys[s.who].Expect, m.id
	return kit.Respond(s.Raw, answer).Edit(edits...)
}

func signingRaw(answer func(...kit.Edit) reaction) reaction {
	return func(m *match, s *sent) kit.Response {
		return answer(kit.Set("auth_token", m.peers.tokens[s.who]))(m, s)
	}
}

func acknowledges(_ *match, s *sent) kit.Response { return kit.Respond(s.Raw, kit.Recorded()) }

func declines(m *match, s *sent) kit.Response {
	return joining(func(msg map[string]any) {
		msg["accept"], msg["accepted"], msg["status"] = false, false, protocol.StatusRejected
	})(m, s)
}

func busy(_ *match, s *sent) kit.Response { return kit.RespondBusy(s.Raw) }

func noAnswer(*match, *sent) kit.Response { return kit.Response{Delay: time.Hour} }

// received acknowledges that a message has arrived, and no more.
func received(_ *match, s *sent) kit.Response {
	id := []byte(kit.Object(s.Raw)["id"])
	if id == nil {
		id = []byte(`"` + jsonrpc.RandomID() + `"`)
	}
	return kit.Response{Body: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"status":"ACKNOWLEDGED"}}`, id)}
}

// atFirst answers the first message of a type in one way, and repetitions in another.
func atFirst(first, later reaction) reaction {
	return func(m *match, s *sent) kit.Response {
		if s.n == 1 {
			return first(m, s)
		}
		return later(m, s)
	}
}

// beforeDeadline is how long before its deadline a player answers that uses its
// time: a message takes some time to arrive.
const beforeDeadline = 250 * time.Millisecond

// justInTime answers a call a moment before its deadline, or in the middle of its time if that is
// later; at once if the deadline is past, or later than the checks wait.
func justInTime(moment time.Duration) reaction {
	return func(m *match, s *sent) kit.Response {
		if left, ok := s.left(); ok && left <= m.peers.Session.Timeout {
			m.peers.Until(max(left-moment, left/2), func() bool { return m.count(protocol.TypeGameOver, playerB) > 0 })
		}
		return choosing(protocol.Even)(m, s)
	}
}

// left returns how much time a call gives, counted from its arrival. Because
// clocks may differ, it also compares the deadline with the call's timestamp.
func (s *sent) left() (time.Duration, bool) {
	deadline, err := protocol.ParseTimestamp(s.fields.Text("deadline"))
	if err != nil {
		return 0, false
	}
	left := deadline.Sub(s.At)
	if stamp, err := protocol.ParseTimestamp(s.fields.Text("timestamp")); err == nil {
		left = min(left, deadline.Sub(stamp))
	}
	return left, left > 0
}

// tooLate answers the first call with another choice than the next, when its time is over: the
// referee has given up on it. If that takes longer than the checks wait, it answers in time.
func tooLate(m *match, s *sent) kit.Response {
	if s.n > 1 {
		// The late answer is on its way before this one.
		m.peers.Until(m.peers.Session.Timeout, func() bool { return m.replied(playerA) })
		return choosing(protocol.Even)(m, s)
	}
	gaveUp := func() bool {
		m.late.Store(m.count(protocol.TypeChooseParityCall, playerA) > 1 || m.count(protocol.TypeGameOver, playerB) > 0)
		return m.late.Load()
	}
	if !m.peers.Until(m.peers.patience(), gaveUp) {
		return choosing(protocol.Even)(m, s)
	}
	return choosing(protocol.Odd)(m, s)
}

// patience is how long the checks wait for something before which the referee may have to pause.
// One that has abandoned a match is given its pauses, and hardly more.
func (p *peers) patience() time.Duration {
	if p.abandons.Load() {
		return min(p.Session.Timeout, time.Second) + p.Session.Pause
	}
	return p.Session.Patience()
}

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
	defer c.Close() // what it could not end shows in what follows
	over := make(chan player.Event, len(playerIDs))
	m := t.newMatch(plan{})
	for who, id := range playerIDs {
		made, err := c.Player(id, p.tokens[who], func(e player.Event) { over <- e })
		if err != nil {
			return kit.NotTried(err.Error())
		}
		p.Do(func() { m.ours[who] = made.Handler })
	}
	t.T.Aside().Send(t.assigning(m))
	late := time.After(2 * t.patience())
	for range playerIDs {
		select {
		case e := <-over:
			if e.Result == "" || e.Result == game.TechnicalLoss.String() {
				return kit.CouldNot("in match %s, which it conducted between players of ours, the result of %s is %q", m.id, e.Player, e.Result)
			}
		case <-late:
			return kit.CouldNot("match %s between players of ours has not ended", m.id)
		case <-own.Context().Done():
			return kit.NotTried("the checks were canceled")
		}
	}
	return kit.Played
}
