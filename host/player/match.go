package player

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/seat"
)

// match is what the agent knows of one match. What identifies it and who conducts it is guarded by
// Player.mu; the rest by its own lock, which is held while the strategy is called, so that a
// repeated call waits for the answer to the first.
type match struct {
	invited

	// How the referee takes answers.
	took     time.Duration // from the call for a choice to the answer
	joins    int           // how often the invitation was answered
	joined   time.Time     // when it was answered first
	called   bool          // it has continued the match
	calling  chan struct{} // closed when it does
	answered bool          // a choice was sent to it
	repeats  int           // how often it called for that again
	posting  bool          // the join is to be sent as a message of its own
	posted   bool          // and has been
	missed   bool          // it holds the agent to be absent
	speaker  string        // as agent.SenderOf has it
	form     string        // of the agent's answers, as agent.AnswerDialects has it
	as       string        // the id by which it calls the agent, if that is not the agent's

	journaling sync.Mutex // guards what follows
	journaled  invited    // what the journal says of the invitation

	mu       sync.Mutex
	placed   bool
	position uint64         // that randomness is keyed with, once placed
	asked    bool           // guarded by Player.mu besides, for deserted
	recorded bool           // the answer is in the journal
	answer   seat.Answer    // guarded by Player.mu besides, for Faults
	version  string         // that was asked; likewise
	failure  string         // why the strategy failed in this match; likewise
	counts   *VersionRecord // of that; likewise
	promise  promise        // likewise, for Draws
	ended    bool           // guarded by Player.mu besides
	endedBy  string         // the referee that sent the result; likewise
	drew     bool           // it ended with a number; guarded by Player.mu
	draw     string         // the verdict on that; likewise
}

// place settles the position of a match: its index in the schedule where that
// is known. The match's lock is held, and the seat is made.
func (m *match) place(s *leagueState) uint64 {
	if m.placed {
		return m.position
	}
	m.placed, m.position = true, position(m.Match)
	if at, known := s.index[m.Match]; known {
		m.position = uint64(at)
	}
	return m.position
}

func (p *Player) invited(_ context.Context, in *wire.Exchange, msg *protocol.GameInvitation) (protocol.Message, error) {
	if msg.GameType != "" && msg.GameType != protocol.GameEvenOdd {
		return nil, protocol.Refuse(protocol.CodeUnsupportedGameType, in.Type, fmt.Sprintf("this agent plays %s, not %s", protocol.GameEvenOdd, msg.GameType))
	}
	s := p.current()
	p.noteSecond(s, in.Header.MatchID, msg)
	m, reply, err := p.enter(s, in, msg.OpponentID, msg.RoleInMatch)
	if err != nil {
		return nil, err
	}
	p.noteID(s, in, addressee(in))
	if own := p.ID(); own != "" && msg.OpponentID == own {
		p.noteClash(s, m.Match, "the invitation names "+msg.OpponentID+" as the opponent")
	}
	if err := p.recordInvitation(m); err != nil {
		return nil, err
	}
	join := &protocol.GameJoinAck{
		PlayerID: p.ID(), ArrivalTimestamp: protocol.Timestamp(p.cfg.Now()),
		Accept: protocol.Some(true), Accepted: protocol.Some(true), Status: protocol.StatusAccepted,
	}
	join.MessageType, join.AuthToken = protocol.TypeGameJoinAck, reply
	p.offerDraws(m, join)
	p.noteJoined(in, m, join)
	p.emit(Event{
		Kind: Invited, Match: m.Match, Round: in.Header.RoundID.Number(), Opponent: msg.OpponentID, Role: msg.RoleInMatch,
		Referee: cmp.Or(in.Header.Sender, agent.SenderOf(in)), Dialect: in.Dialect.Name,
	})
	return join, nil
}

// enter finds a match or enters it, and returns what the agent signs with in
// it. The message has been authenticated.
func (p *Player) enter(s *leagueState, in *wire.Exchange, opponent, role string) (*match, string, error) {
	id, own := in.Header.MatchID, p.ID()
	if !protocol.ValidID(id) && (p.cfg.Mode == protocol.Strict || !protocol.ValidForeignMatch(id)) {
		return nil, "", protocol.Refuse(protocol.CodeInvalidFieldType, in.Type, fmt.Sprintf("match_id %q is not usable", id))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if a, known := s.others[id]; known && p.knowsIDs() {
		return nil, "", protocol.Refuse(protocol.CodePlayerNotRegistered, in.Type,
			fmt.Sprintf("match %s is announced between %s and %s; this agent is %s", id, a.players[0], a.players[1], own))
	}
	m := s.match(id, in.Header.RoundID.Number())
	if p.cfg.Mode == protocol.Strict && p.isOver(m, in) {
		return nil, "", m.refuse(in)
	}
	p.sign(s, m, in)
	if m.Opponent == "" {
		m.Opponent = cmp.Or(opponent, s.announced[id].opponentOf(own))
	}
	m.Role = cmp.Or(roleOf(role), m.Role)
	return m, m.Reply, nil
}

// isOver reports whether the referee that sends a message has sent the result of its
// match before. Another, to which the manager has given the match again, has not. The
// player's lock or the match's is held.
func (p *Player) isOver(m *match, in *wire.Exchange) bool {
	_, referee := p.refereeOf(in)
	return m.ended && m.endedBy == referee
}

// refuse refuses a message that comes after the result.
func (m *match) refuse(in *wire.Exchange) error {
	return protocol.Refuse(protocol.CodeInvalidState, in.Type, fmt.Sprintf("match %s is over: its result has come", m.Match))
}

// roleOf reads a role in any spelling.
func roleOf(role string) game.Role {
	switch protocol.PlayerOf(role, protocol.PlayerA, protocol.PlayerB) {
	case protocol.PlayerA:
		return game.RoleA
	case protocol.PlayerB:
		return game.RoleB
	}
	return game.NoRole
}

// called answers the call for a choice.
func (p *Player) called(_ context.Context, in *wire.Exchange, msg *protocol.ChooseParityCall) (protocol.Message, error) {
	own, s := p.ID(), p.current()
	if msg.PlayerID != "" && msg.PlayerID != own && p.knowsIDs() {
		return nil, protocol.Refuse(protocol.CodePlayerNotRegistered, in.Type, fmt.Sprintf("this agent is %s, not %s", own, msg.PlayerID))
	}
	m, reply := p.answering(s, in)
	if m == nil {
		if p.cfg.Mode == protocol.Strict {
			return nil, protocol.Refuse(protocol.CodeMatchNotFound, in.Type, fmt.Sprintf("no invitation to match %q has come", in.Header.MatchID))
		}
		opponent := ""
		if msg.Context != nil {
			opponent = msg.Context.OpponentID
		}
		var err error
		if m, reply, err = p.enter(s, in, opponent, ""); err != nil {
			return nil, err
		}
	}
	p.noteCalled(in, m)
	if msg.PlayerID != "" && msg.PlayerID != own {
		p.noteID(s, in, msg.PlayerID)
		own = msg.PlayerID
	}
	start := time.Now()
	nonce := p.commit(m, msg)
	answer, err := p.choose(s, m, in)
	if err != nil {
		return nil, err
	}
	if answer.Fault != game.NoFault {
		// The reason stays with the agent: it is nobody's business how a strategy fails.
		return nil, protocol.Refuse(protocol.CodeInvalidState, in.Type, "the player's strategy makes no choice in this match").With("fault", answer.Fault.String())
	}
	p.emit(Event{Kind: Answered, Match: m.Match, Round: in.Header.RoundID.Number(), Choice: answer.Choice.String(), Took: time.Since(start)})
	p.mu.Lock()
	m.answered, m.as, m.took = true, own, time.Since(start)
	p.mu.Unlock()
	choice := protocol.Choice(answer.Choice.String())
	r := &protocol.ChooseParityResponse{PlayerID: own, ParityChoice: choice, Choice: choice, DrawNonce: nonce}
	r.MessageType, r.AuthToken = protocol.TypeChooseParityResponse, reply
	return r, nil
}

// find returns a match, or nil.
func (p *Player) find(s *leagueState, id string) *match {
	p.mu.Lock()
	defer p.mu.Unlock()
	return s.matches[id]
}

// answering returns the match of a message, or nil, and what the agent signs the answer with.
func (p *Player) answering(s *leagueState, in *wire.Exchange) (*match, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := s.matches[in.Header.MatchID]
	if m == nil {
		return nil, ""
	}
	if m.Keyed {
		p.sign(s, m, in)
	}
	return m, m.Reply
}

// turn is what the strategy is asked. The match's lock is held.
func (p *Player) turn(s *leagueState, m *match) strategies.Turn {
	t := strategies.Turn{Match: m.place(s), MatchID: m.Match}
	p.mu.Lock()
	defer p.mu.Unlock()
	t.Round, t.Opponent, t.Role = m.Round, m.Opponent, m.Role
	return t
}

// choose asks the strategy, once for each match. The answer is on disk before
// anybody hears of it, so that a restart cannot change it. The referee may hang
// up meanwhile and ask again; the strategy's call goes on. After the result, a
// tolerant agent only repeats its choice: a new one would know the result.
func (p *Player) choose(s *leagueState, m *match, in *wire.Exchange) (seat.Answer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p.isOver(m, in) && (!m.asked || p.cfg.Mode == protocol.Strict) {
		return seat.Answer{}, m.refuse(in)
	}
	if m.asked && m.recorded {
		return m.answer, nil
	}
	own := p.openSeat(s)
	if own == nil {
		return seat.Answer{}, errLeft
	}
	t := p.turn(s, m)
	if !m.asked {
		ctx, cancel := context.WithTimeout(p.life, p.cfg.ChoiceTimeout)
		defer cancel()
		answer, version, err := own.choose(ctx, t)
		if err != nil {
			return seat.Answer{}, err
		}
		p.mu.Lock()
		m.asked, m.answer, m.version = true, answer, version
		if answer.Err != nil {
			m.failure = answer.Err.Error()
		}
		p.noteChoice(s, m)
		p.mu.Unlock()
	}
	if err := p.recordChoice(m, t); err != nil {
		return seat.Answer{}, err // and the answer is kept for the next call
	}
	m.recorded = true
	e := Event{Kind: Chose, Match: m.Match, Round: t.Round, Opponent: t.Opponent, Choice: m.answer.Choice.String()}
	if p.cfg.Versions != nil {
		e.Version = m.version
	}
	if m.answer.Fault != game.NoFault {
		e.Kind, e.Choice, e.Fault = Failed, "", m.answer.Fault.String()
		if m.answer.Err != nil {
			e.Error = m.answer.Err.Error()
		}
	}
	p.emit(e)
	return m.answer, nil
}

func (p *Player) gameError(_ context.Context, in *wire.Exchange, msg *protocol.GameError) (protocol.Message, error) {
	p.cfg.Log.Warn("referee reports an error", "match", in.Header.MatchID, "code", msg.ErrorCode, "name", msg.ErrorName, "detail", msg.Detail)
	if m := p.find(p.current(), in.Header.MatchID); m != nil && (msg.AffectedPlayer == "" || msg.AffectedPlayer == p.ID() || msg.AffectedPlayer == p.calledIn(m)) {
		p.noteLoss(p.current(), m, "reports an error", cmp.Or(msg.Detail, msg.ErrorDescription, msg.ErrorName, msg.ErrorCode))
	}
	return p.member.Ack(in), nil
}

// over passes the result of a match to the strategy, before it is
// acknowledged: so the next round's choice comes after it.
func (p *Player) over(_ context.Context, in *wire.Exchange, msg *protocol.GameOver) (protocol.Message, error) {
	s := p.current()
	m := p.find(s, in.Header.MatchID)
	if m == nil {
		if p.cfg.Mode == protocol.Strict {
			return nil, protocol.Refuse(protocol.CodeMatchNotFound, in.Type, fmt.Sprintf("this agent is in no match %q", in.Header.MatchID))
		}
		p.uninvited(s, ", and now its result has come", func(a announcement) bool { return a.id == in.Header.MatchID })
		return p.member.Ack(in), nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended {
		return p.ackOver(in, m), nil
	}
	own := p.openSeat(s)
	if own == nil {
		return p.member.Ack(in), nil // it comes too late to matter to anybody
	}
	t := p.turn(s, m)
	if t.Opponent == "" { // neither invitation nor announcement have named one
		t.Opponent = cmp.Or(dialect.Opponent(msg, p.calledIn(m)), nobody)
	}
	p.identify(m, msg, t.Opponent)
	result, err := p.resultOf(m, t, msg)
	if err != nil {
		return nil, err
	}
	o := outcome(p.calledIn(m), t, m.answer.Choice, result)
	p.compare(s, m, t, result)
	verdict, why := p.judgeDraw(m, msg, &o)
	_, referee := p.refereeOf(in)
	end := &ended{Outcome: o, Draw: verdict, Key: msg.DrawKey, Referee: referee}
	if err := p.member.Append(p.life, eventEnded, end); err != nil {
		return nil, err
	}
	if why != nil {
		p.troubleDraw(s, m, &o, why)
	}
	if o.Result == game.TechnicalLoss {
		if m.answer.Fault == game.NoFault {
			p.noteLoss(s, m, "counts a technical loss", result.Reason)
		}
	} else {
		p.noteCounted(m)
	}
	ctx, cancel := context.WithTimeout(p.life, p.cfg.ChoiceTimeout)
	defer cancel()
	failed := own.observe(ctx, &o)
	if failed != nil {
		p.emit(Event{Kind: Failed, Match: m.Match, Fault: strategies.FaultOf(failed).String(), Error: failed.Error()})
	}
	p.mu.Lock()
	if failed != nil {
		m.failure = failed.Error()
	}
	p.noteEnd(m, end)
	s.standing.Add(o.Result, o.Points)
	if p.cfg.Data != "" {
		s.ended = append(s.ended, o)
	}
	due, over := s.historyDue(), s.closing && !s.owed()
	p.mu.Unlock()
	if due {
		p.writeHistory(s)
	}
	p.emit(endedEvent(m, t, &o, verdict))
	p.lookForEnd(s)
	if over {
		p.endLeague(p.life, Completed)
	}
	return p.ackOver(in, m), nil
}

// resultOf reads the result of a match. One that contradicts itself a tolerant agent takes
// as far as its choices and its number show it.
func (p *Player) resultOf(m *match, t strategies.Turn, msg *protocol.GameOver) (dialect.Outcome, error) {
	own := p.calledIn(m)
	result, err := dialect.OutcomeFor(msg, own, p.cfg.Name, t.Opponent, t.Role)
	if err == nil || p.cfg.Mode == protocol.Strict {
		return result, err
	}
	p.cfg.Log.Info("result contradicts itself", "match", m.Match, "error", err)
	winner, known := result.ByFacts(own, t.Opponent)
	result.Status, result.Winner = "", winner
	switch {
	case known && winner == "":
		result.Status = protocol.StatusDraw
	case known:
		result.Status = protocol.StatusWin
	}
	return result, nil
}

// endedEvent is the event of a match that has ended, with the verdict on its draw.
func endedEvent(m *match, t strategies.Turn, o *strategies.Outcome, verdict string) Event {
	e := Event{Kind: Ended, Match: m.Match, Round: t.Round, Opponent: t.Opponent, Result: o.Result.String(), Points: o.Points, Draw: verdict}
	if o.Drew {
		e.Number = &o.Number
	}
	if o.OpponentChoice != game.NoParity {
		e.Other = o.OpponentChoice.String()
	}
	return e
}
