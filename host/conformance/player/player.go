// Package player checks a player: the suite is its manager and its referees.
package player

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/draws"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/wire"
)

// T is the handle of a running check of a player, and the match in which it is.
type T struct {
	*kit.T
	*peers
	*match
}

func with(t *kit.T) T { return T{t, t.Peers.(*peers), new(match)} }

// match is one that the suite makes up, as far as it has come. The zero value stands for no match.
type match struct {
	id           string
	round        int
	conversation string
	referee      string
	opponent     string
	last         *kit.Answer     // of the player, to whatever
	chosen       protocol.Choice // by the player
	key          string          // to which the referee commits, if it does
	nonce        string          // of the player for the draw
}

// next leaves the match: the following step begins another.
func next(t T) { *t.match = match{} }

// makeUp makes up a match in a round of its own.
func (t T) makeUp() {
	t.Lock()
	defer t.Unlock()
	t.Rounds++
	t.id, t.round, t.conversation = fmt.Sprintf("R%dM1", t.Rounds), t.Rounds, jsonrpc.RandomID()
	t.referee, t.opponent = kit.OwnReferee, opponentOf(t.ID)
}

// begin makes up a match and announces its round, unless one is in progress. How the
// player answers the announcement does not matter here.
func (t T) begin() {
	if t.id != "" {
		return
	}
	if t.makeUp(); t.mute.Load() {
		return
	}
	aside := t.Aside()
	if a := aside.Tell(announcement(t)); a.Err != nil {
		t.mute.Store(true)
		t.Keep(aside.Evidence[0])
	}
}

// send sends a message in the way in which the player takes its type, or otherwise.
// If the player only acknowledges an invitation or a call, the answer is what it
// posts to the referee before the deadline. A player that once posted nothing is
// not waited for again.
func (t T) send(what message, how ...kit.Request) *kit.Answer {
	r := append(how, kit.Request{})[0]
	r.Message = what(t)
	head, began := r.Message.Head(), time.Now()
	want := head.MessageType.Answer()
	t.last = t.Send(r)
	asks := want == protocol.TypeGameJoinAck || want == protocol.TypeChooseParityResponse
	acknowledges := t.last.OK() && !t.last.Refused && protocol.Type(t.last.Message.Text("message_type")) != want && !joins(t.last) && choiceIn(t.last) == ""
	if !asks || !acknowledges || t.synchronous.Load() {
		return t.last
	}
	var late *kit.Message
	posted := func() bool {
		i := slices.IndexFunc(t.posted, func(m *kit.Message) bool {
			return m.Type == want && m.Match == head.MatchID && m.At.After(began)
		})
		if i >= 0 {
			late = t.posted[i]
		}
		return late != nil
	}
	if !t.Until(time.Until(began.Add(t.T.Session.Timeout)), posted) {
		t.synchronous.Store(true)
		return t.last
	}
	t.Show(late)
	whole := *t.last
	whole.Body, whole.Message, whole.Took = late.Raw, late.Fields, time.Since(began)
	t.last = &whole
	return t.last
}

func joins(a *kit.Answer) (joins bool) {
	if m, ok := a.Read(protocol.TypeGameInvitation).(*protocol.GameJoinAck); ok {
		joins, _ = m.Joins()
	}
	return joins
}

// choiceIn returns the choice in an answer, "" without one.
func choiceIn(a *kit.Answer) protocol.Choice {
	if m, ok := a.Read(protocol.TypeChooseParityCall).(*protocol.ChooseParityResponse); ok {
		return m.Chosen()
	}
	return ""
}

// keys are those of the player in the match.
func (t T) keys() credential.KeyPair { return t.Verifier.MatchKeys(kit.League, t.id, t.referee) }

// A message is what the manager or the referee sends in a match.
type message = func(t T) protocol.Message

// header returns the header of a message of the match's referee.
func (t T) header(typ protocol.Type) protocol.Header {
	h := protocol.NewHeader(typ, protocol.Sender(protocol.RoleReferee, t.referee), protocol.Timestamp(time.Now()), t.conversation)
	h.LeagueID, h.RoundID, h.MatchID, h.GameType = kit.League, protocol.RoundNumber(t.round), t.id, protocol.GameEvenOdd
	if t.Signs() {
		h.AuthToken = t.keys().Send
	}
	return h
}

func announcement(t T) protocol.Message {
	return &protocol.RoundAnnouncement{Header: t.Header(protocol.TypeRoundAnnouncement, t.round), Matches: []protocol.AnnouncedMatch{{
		MatchID: t.id, GameType: protocol.GameEvenOdd, PlayerAID: t.ID, PlayerBID: t.opponent, RefereeID: t.referee, RefereeEndpoint: t.Endpoint.URL,
	}}}
}

func standings(t T) protocol.Message { return t.Standings(t.players()...) }

func roundEnd(t T) protocol.Message { return t.RoundCompleted() }

func (t T) players() []string { return []string{t.ID, opponentOf(t.ID)} }

func invitation(t T) protocol.Message {
	return &protocol.GameInvitation{Header: t.header(protocol.TypeGameInvitation), RoleInMatch: protocol.PlayerA, OpponentID: t.opponent}
}

// calling returns the call for a choice, with a commitment if there is a key.
func calling(t T) protocol.Message {
	none := protocol.Some(0)
	m := &protocol.ChooseParityCall{
		Header: t.header(protocol.TypeChooseParityCall), PlayerID: t.ID,
		Context: &protocol.ChoiceContext{
			OpponentID: t.opponent, RoundID: protocol.RoundNumber(t.round),
			YourStandings: &protocol.OwnStandings{Wins: none, Losses: none, Draws: none, Points: none},
		},
		Deadline: protocol.Deadline(time.Now().Add(t.T.Session.Timeout)),
	}
	if t.key != "" {
		var err error
		if m.DrawCommitment, err = t.bound().Commitment(t.key); err != nil {
			panic(err) // the suite makes its keys itself
		}
	}
	return m
}

// bound is the match as its draw is bound to it, without a nonce of the opponent, who makes
// the other choice.
func (t T) bound() *draws.Match {
	return &draws.Match{League: kit.League, ID: t.id, Round: t.round, Players: [2]draws.Player{
		{ID: t.ID, Choice: string(t.chosen), Nonce: t.nonce}, {ID: t.opponent, Choice: string(other(t.chosen))},
	}}
}

func other(c protocol.Choice) protocol.Choice { return kit.Other(c, protocol.Odd, protocol.Even) }

// ended returns the end of a match by a number, the opponent having chosen the other parity.
func ended(t T, number int) *protocol.GameOver {
	parity, winner := game.ParityOf(number).String(), t.opponent
	if parity == string(t.chosen) {
		winner = t.ID
	}
	return &protocol.GameOver{Header: t.header(protocol.TypeGameOver), GameResult: &protocol.GameResult{
		Status: protocol.StatusWin, WinnerPlayerID: protocol.Some(winner), ResultDetails: protocol.ResultDetails{
			DrawnNumber: protocol.Some(number), NumberParity: protocol.Some(parity),
			Choices: map[string]protocol.Choice{t.ID: t.chosen, t.opponent: other(t.chosen)}, Reason: winner + " chose the parity of the drawn number",
		}}}
}

func over(t T) protocol.Message { return ended(t, 7) }

// overAs returns that of a match that has ended otherwise.
func overAs(change func(t T, r *protocol.GameResult)) message {
	return func(t T) protocol.Message {
		m := ended(t, 7)
		change(t, m.GameResult)
		return m
	}
}

// drawn returns the end of a match that reveals its key, with a number so much off the one
// that follows from it.
func drawn(off int) message {
	return func(t T) protocol.Message {
		n, err := t.bound().Number(t.key)
		if err != nil {
			panic(err) // the suite makes its keys itself
		}
		m := ended(t, 1+(n-1+off)%10)
		if m.DrawKey, m.DrawNonces = t.key, map[string]string{}; t.nonce != "" {
			m.DrawNonces[t.ID] = t.nonce
		}
		return m
	}
}

// gameError returns the announcement of a retry.
func gameError(t T) protocol.Message {
	code, once, most := protocol.CodeTimeout, protocol.Some(1), protocol.Some(3)
	return &protocol.GameError{
		Header: t.header(protocol.TypeGameError), PlayerID: t.ID, AffectedPlayer: t.ID,
		ErrorCode: string(code), ErrorName: code.Name(), ErrorDescription: code.Name(), Detail: "no choice arrived in time; a retry follows",
		GameState: "COLLECTING_CHOICES", ActionRequired: string(protocol.TypeChooseParityResponse),
		Retryable: protocol.Some(true), RetryCount: once, MaxRetries: most,
		RetryInfo:   &protocol.RetryInfo{RetryCount: once, MaxRetries: most, NextRetryAt: protocol.Deadline(time.Now())},
		Consequence: "a technical loss once the retries are spent",
	}
}

// peers are the manager of the player. Its referees need no endpoints: the announcements give the
// manager's endpoint as theirs, for players that post their answers.
type peers struct {
	*kit.Registrar
	posted      []*kit.Message // answers that it has sent as requests of their own; guarded by the lock
	mute        atomic.Bool    // announce no rounds before matches
	synchronous atomic.Bool    // it has left an answer at an acknowledgement
}

// maxPosted bounds how many posted answers are kept, the last ones.
const maxPosted = 1000

// open listens for the player and waits until it has registered. A player that
// listens and does not register is checked all the same.
func open(ctx context.Context, s *kit.Session) (kit.Peers, error) {
	r, err := kit.NewRegistrar(ctx, s)
	if err != nil {
		return nil, err
	}
	p := &peers{Registrar: r}
	r.Endpoint.Handle(p.answer)
	if err := r.Await(ctx); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	// Without the id of an unregistered player, no match can be announced as its own.
	p.mute.Store(!r.Registered() && s.ID == "")
	return p, nil
}

// Close implements kit.Peers.
func (p *peers) Close() error { return p.Endpoint.Close() }

// answer answers the player as its manager, or as the referee to which it posts.
func (p *peers) answer(in *kit.Message) kit.Response {
	switch in.Type {
	case protocol.TypeLeagueRegisterRequest:
		return p.Register(in)
	case protocol.TypeGameJoinAck, protocol.TypeChooseParityResponse:
		in.To = "the referee, later"
		p.Lock()
		defer p.Unlock()
		p.posted = append(p.posted[max(0, len(p.posted)+1-maxPosted):], in)
		p.Notify()
	}
	return kit.Respond(in.Raw, nil)
}

func opponentOf(id string) string { return kit.Other(id, "P02", "P01") }

// Play implements kit.Peers: our own referee conducts a match of the player against our own player.
func (p *peers) Play(own *kit.T) {
	t, c := with(own), own.Session.Company(own.Context())
	defer c.Close() // what it could not end shows in what follows
	over := make(chan referee.Event, 1)
	conducts := c.Referee(own, "REF09", func(e referee.Event) { over <- e })
	opponent := c.Player(own, "P99", kit.NewToken("P99"), func(player.Event) {})
	t.makeUp()
	t.referee, t.opponent = conducts.ID, opponent.ID
	a := announcement(t).(*protocol.RoundAnnouncement)
	match := &a.Matches[0]
	match.RefereeEndpoint = conducts.Endpoint.URL
	if !t.mute.Load() {
		t.Aside().Tell(a)
	}
	keys := [2]credential.KeyPair{t.keys(), credential.NewVerifier(opponent.Token).MatchKeys(kit.League, t.id, t.referee)}
	keys[0].Optional, keys[1].Optional = true, true // as for every player of a tolerant league
	match.PlayerAEndpoint, match.PlayerBEndpoint, match.PlayerAKeys, match.PlayerBKeys = own.Session.URL, opponent.Endpoint.URL, &keys[0], &keys[1]
	if _, err := own.Caller().Call(own.Context(), wire.NewPeer(conducts.Endpoint.URL, dialect.Contracts), a); err != nil {
		t.Skip("%v", err)
	}
	select {
	case e := <-over:
		fault := e.Sides[0].Fault
		if fault == game.NoFault {
			return
		}
		refused := with(own.Aside())
		if refused.makeUp(); !p.Registered() && refused.send(invitation).Refused {
			t.Skip("the player is not registered with this manager, and refuses our referee")
		}
		t.Fail("in a match that our referee conducted, it had a technical loss: %v: %s", fault, e.Error)
	case <-own.Context().Done():
		t.Skip("the checks were canceled")
	}
}
