// Package player checks a player: the suite is its manager and its referees.
package player

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
	"github.com/strategylab/strategylab/host/trace"
)

// T is the handle of a running check of a player.
type T struct {
	*kit.T
	*peers
}

func with(t *kit.T) T { return T{t, t.Peers.(*peers)} }

type match struct {
	id           string
	round        int
	conversation string
	referee      string
	opponent     string
}

// newMatch makes up a match in a round of its own.
func (t T) newMatch() match {
	t.Lock()
	defer t.Unlock()
	t.Rounds++
	return match{
		id: fmt.Sprintf("R%dM1", t.Rounds), round: t.Rounds, conversation: jsonrpc.RandomID(),
		referee: kit.OwnReferee, opponent: opponentOf(t.ID),
	}
}

// begin makes up a match and announces its round. How the player answers the
// announcement does not matter here.
func (t T) begin() match {
	m := t.newMatch()
	if t.mute.Load() {
		return m
	}
	aside := t.Aside()
	if a := aside.Send(kit.Request{Message: t.announcement(m)}); a.Err != nil {
		t.mute.Store(true)
		t.Keep(aside.Evidence[0])
	}
	return m
}

// send sends a message in the way in which the player takes its type.
func (t T) send(m protocol.Message, edits ...kit.Edit) *kit.Answer {
	r := kit.Request{Message: m}
	for _, edit := range edits {
		r.Edit = edit
	}
	return t.deliver(r)
}

// deliver sends a request. If the player only acknowledges an invitation or a
// call, the answer is what it posts to the referee before the deadline. A
// player that once posted nothing is not waited for again.
func (t T) deliver(r kit.Request) *kit.Answer {
	head := r.Message.Head()
	want := map[protocol.Type]protocol.Type{
		protocol.TypeGameInvitation: protocol.TypeGameJoinAck, protocol.TypeChooseParityCall: protocol.TypeChooseParityResponse,
	}[head.MessageType]
	began := time.Now()
	a := t.Send(r)
	acknowledges := a.OK() && !a.Refused && protocol.Type(a.Message.Text("message_type")) != want && !joins(a) && choiceIn(a) == ""
	if want == "" || !acknowledges || t.synchronous.Load() {
		return a
	}
	late, ok := t.awaitPosted(want, head.MatchID, time.Until(began.Add(t.T.Session.Timeout)))
	if !ok {
		t.synchronous.Store(true)
		return a
	}
	t.Show("the player, later", late.Raw)
	whole := *a
	whole.Message, whole.Took = kit.Object(late.Raw).Inner(), time.Since(began)
	return &whole
}

// awaitPosted returns what the player posts about a match.
func (t T) awaitPosted(typ protocol.Type, match string, within time.Duration) (found *trace.Exchange, ok bool) {
	ok = t.Until(within, func() bool {
		for i, m := range t.posted {
			if m.Type == typ && m.Match == match {
				found, t.peers.posted = m, append(t.posted[:i:i], t.posted[i+1:]...)
				return true
			}
		}
		return false
	})
	return found, ok
}

func joins(a *kit.Answer) bool {
	if m, ok := a.Read(protocol.TypeGameInvitation).(*protocol.GameJoinAck); ok && m.Accept.Value() {
		return true
	}
	joins, _ := protocol.Joins(a.Message.Doc())
	return joins
}

// choiceIn returns the choice in an answer, "" without one.
func choiceIn(a *kit.Answer) protocol.Choice {
	if m, ok := a.Read(protocol.TypeChooseParityCall).(*protocol.ChooseParityResponse); ok && m.ParityChoice.Valid() {
		return m.ParityChoice
	}
	m, _ := protocol.Find(a.Message.Doc(), "parity_choice", `"`)
	return protocol.Choice(rawjson.Text(m.Value))
}

// invited begins a match and returns the player's answer, which accepts.
func (t T) invited() (match, *kit.Answer) {
	m := t.begin()
	a := t.send(t.invitation(m))
	t.Accepted(a, protocol.TypeGameJoinAck)
	return m, a
}

// joined begins a match that the player joins.
func (t T) joined() match {
	m, _ := t.invited()
	return m
}

// called begins a match in which the player joins and chooses, and returns the answer.
func (t T) called() (match, *kit.Answer) {
	m := t.joined()
	a := t.send(t.call(m))
	t.chooses(a)
	return m, a
}

// chooses returns the choice in an answer, and ends the check without one.
func (t T) chooses(a *kit.Answer) protocol.Choice {
	t.Accepted(a, protocol.TypeChooseParityResponse)
	c := choiceIn(a)
	if !c.Valid() {
		t.Fail("the answer has no choice: neither parity_choice nor choice is even or odd")
	}
	return c
}

// readable ends the check unless an answer accepts the request, or is a refusal that can be read.
func (t T) readable(a *kit.Answer) {
	if a.Refused {
		t.Note("%s", a)
		return
	}
	t.Accepted(a, "")
}

// needsKeys skips a check of a player to which the suite cannot prove who it is.
func (t T) needsKeys() {
	t.NeedsRegistration(t.T)
	if !t.Signs() {
		t.Skip("it is sent messages in %s, which has no place for a sender", t.T.Session.Peer().Speaks().Name)
	}
}

// header returns the header of a message of the match's referee.
func (t T) header(typ protocol.Type, m match) protocol.Header {
	h := protocol.NewHeader(typ, protocol.Sender(protocol.RoleReferee, m.referee), protocol.Timestamp(time.Now()), m.conversation)
	h.LeagueID, h.RoundID, h.MatchID, h.GameType = kit.League, protocol.RoundNumber(m.round), m.id, protocol.GameEvenOdd
	if t.Signs() {
		h.AuthToken = t.Verifier.MatchKeys(kit.League, m.id, m.referee).Send
	}
	return h
}

func (t T) announcement(m match) *protocol.RoundAnnouncement {
	return &protocol.RoundAnnouncement{Header: t.Header(protocol.TypeRoundAnnouncement, m.round), Matches: []protocol.AnnouncedMatch{{
		MatchID: m.id, GameType: protocol.GameEvenOdd, PlayerAID: t.ID, PlayerBID: m.opponent, RefereeID: m.referee,
		RefereeEndpoint: t.Endpoint.URL,
	}}}
}

func (t T) standings() *protocol.LeagueStandingsUpdate { return t.Standings(t.players()...) }

func (t T) players() []string { return []string{t.ID, opponentOf(t.ID)} }

func (t T) invitation(m match) *protocol.GameInvitation {
	return &protocol.GameInvitation{Header: t.header(protocol.TypeGameInvitation, m), RoleInMatch: protocol.PlayerA, OpponentID: m.opponent}
}

func (t T) call(m match) *protocol.ChooseParityCall {
	none := protocol.Some(0)
	return &protocol.ChooseParityCall{
		Header: t.header(protocol.TypeChooseParityCall, m), PlayerID: t.ID,
		Context: &protocol.ChoiceContext{
			OpponentID: m.opponent, RoundID: protocol.RoundNumber(m.round),
			YourStandings: &protocol.OwnStandings{Wins: none, Losses: none, Draws: none, Points: none},
		},
		Deadline: protocol.Deadline(time.Now().Add(t.T.Session.Timeout)),
	}
}

// over returns the end of a match that the player has lost.
func (t T) over(m match, own protocol.Choice) *protocol.GameOver {
	other, number := protocol.Odd, 7
	if own == protocol.Odd {
		other, number = protocol.Even, 4
	}
	return &protocol.GameOver{Header: t.header(protocol.TypeGameOver, m), GameResult: &protocol.GameResult{
		Status: protocol.StatusWin, WinnerPlayerID: protocol.Some(m.opponent), DrawnNumber: protocol.Some(number), NumberParity: protocol.Some(string(other)),
		Choices: map[string]protocol.Choice{t.ID: own, m.opponent: other}, Reason: "the opponent chose the parity of the drawn number",
	}}
}

// gameError returns the announcement of a retry.
func (t T) gameError(m match) *protocol.GameError {
	told, err := protocol.Refuse(protocol.CodeTimeout, "", "no choice arrived in time; a retry follows").Message(t.header(protocol.TypeGameError, m))
	if err != nil {
		panic(err) // all of it can be encoded
	}
	e := told.(*protocol.GameError) // the header is a referee's
	e.PlayerID, e.AffectedPlayer, e.GameState, e.ActionRequired = t.ID, t.ID, "COLLECTING_CHOICES", "CHOOSE_PARITY_RESPONSE"
	e.Retryable, e.RetryCount, e.MaxRetries = protocol.Some(true), protocol.Some(1), protocol.Some(3)
	e.RetryInfo = &protocol.RetryInfo{RetryCount: protocol.Some(1), MaxRetries: protocol.Some(3), NextRetryAt: protocol.Deadline(time.Now())}
	e.Consequence = "a technical loss once the retries are spent"
	return e
}

// peers are the manager of the player. Its referees need no endpoints: the announcements give the
// manager's endpoint as theirs, for players that post their answers.
type peers struct {
	*kit.Registrar
	posted      []*trace.Exchange // answers that it has sent as requests of their own; guarded by the lock
	mute        atomic.Bool       // announce no rounds before matches
	synchronous atomic.Bool       // it has left an answer at an acknowledgement
}

// maxPosted bounds how many posted answers are kept, the last ones.
const maxPosted = 1000

// open listens for the player and waits until it has registered. A player that
// listens and does not register is checked all the same.
func open(ctx context.Context, s *kit.Session) (kit.Peers, error) {
	r, err := kit.NewRegistrar(ctx, s, kit.Player)
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
func (p *peers) answer(in *trace.Exchange, _ http.Header) kit.Response {
	switch in.Type {
	case protocol.TypeLeagueRegisterRequest:
		return p.Register(in)
	case protocol.TypeLeagueQuery:
		return kit.Respond(in.Raw, p.query(in))
	case protocol.TypeGameJoinAck, protocol.TypeChooseParityResponse:
		p.Lock()
		defer p.Unlock()
		p.posted = append(p.posted[max(0, len(p.posted)+1-maxPosted):], in)
		p.Notify()
	}
	return kit.Respond(in.Raw, nil)
}

// query returns the answer to a query, or why there is none.
func (p *peers) query(in *trace.Exchange) any {
	q, ok := in.Request.(*protocol.LeagueQuery)
	if !ok {
		return in.Invalid
	}
	p.Lock()
	round, ids := protocol.Some(p.Rounds), []string{p.ID, opponentOf(p.ID)}
	p.Unlock()
	switch q.QueryType {
	case protocol.QueryPlayers:
		return answerTo(q, protocol.PlayersData{Players: []protocol.PlayerInfo{{PlayerID: ids[0]}, {PlayerID: ids[1]}}})
	case protocol.QueryStatus:
		return answerTo(q, protocol.StatusData{LeagueID: kit.League, Status: protocol.LeagueRunning, CurrentRound: round})
	case protocol.QueryStandings:
		return answerTo(q, protocol.StandingsData{CurrentRound: round, Standings: kit.Rows(ids...)})
	case protocol.QueryNextMatch:
		return answerTo(q, protocol.NextMatchData{})
	}
	return protocol.Refuse(protocol.CodeLeagueNotStarted, in.Type, "there is no schedule: matches are made up as they are needed")
}

func answerTo[D protocol.QueryData](q *protocol.LeagueQuery, data D) any {
	m, err := protocol.NewQueryResponse(protocol.Header{MessageType: q.MessageType.Answer()}, q.QueryType, data)
	if err != nil {
		return err
	}
	return m
}

func opponentOf(id string) string {
	if id == "P02" {
		return "P01"
	}
	return "P02"
}
