package referee

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// play takes a match from where it is to its acknowledged report. It returns
// early when ctx ends; what is journaled then continues later.
func (r *Referee) play(ctx context.Context, m *match) {
	if !m.enter() {
		return
	}
	reported := false
	defer func() { m.leave(reported) }()
	r.conducting.Add(1)
	err := r.conduct(ctx, m)
	r.member.Touch()
	r.conducting.Add(-1)
	if err != nil {
		r.alarm(ctx, m, "match cannot be played", err)
		return
	}
	if err := r.report(ctx, m); err != nil {
		r.alarm(ctx, m, "result cannot be reported", err)
		return
	}
	reported = true
}

// alarm reports a match that cannot continue, unless that is due to
// the end of the referee, for which Run gives the reason.
func (r *Referee) alarm(ctx context.Context, m *match, what string, err error) {
	if ctx.Err() != nil || errors.Is(err, agent.ErrJournal) {
		return
	}
	r.emit(Event{Kind: Alarm, Match: m.Match, Round: m.Round, Error: err.Error()})
	r.cfg.Log.Error(what, "match", m.Match, "error", err)
}

// conduct plays a match as one of those in parallel, until its players have been
// sent the result. A match that waits for its report does not count.
func (r *Referee) conduct(ctx context.Context, m *match) error {
	p := &place{of: r.inPlay}
	defer p.give()
	d := newDuo()
	defer d.stop()
	if err := r.playToEnd(ctx, m, p, d); err != nil {
		return err
	}
	r.writeMatch(m)
	if m.setOnce(&m.notified) {
		r.announceResult(ctx, m, d)
	}
	return nil
}

// playToEnd plays a match until it is finished.
func (r *Referee) playToEnd(ctx context.Context, m *match, place *place, d *duo) error {
	if !r.absent(m, game.SideA, protocol.TypeGameJoinAck) && !r.absent(m, game.SideB, protocol.TypeGameJoinAck) {
		if err := place.take(ctx); err != nil {
			return err
		}
	}
	p := m.state()
	if p.Phase() != game.Finished && r.cfg.Mode == protocol.Tolerant {
		if err := r.locate(ctx, m); err != nil {
			return err
		}
	}
	if p.Phase() == game.WaitingForPlayers {
		d.both(func(side int) { r.invite(ctx, m, side, place) })
	}
	if p = m.state(); p.Phase() == game.CollectingChoices {
		if err := place.take(ctx); err != nil {
			return err
		}
		d.both(func(side int) { r.ask(ctx, m, side) })
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if p = m.state(); p.Phase() == game.DrawingNumber {
		if err := r.draw(ctx, m); err != nil {
			return err
		}
		p = m.state()
	}
	if p.Phase() != game.Finished {
		return fmt.Errorf("stopped in %s", p.Phase())
	}
	if m.recorded {
		return nil
	}
	if err := r.member.Append(ctx, eventFinished, sidesOf(m, &p)); err != nil {
		return err
	}
	m.recorded = true
	return nil
}

// draw draws the number, once: the choices are on disk before, and the number
// before anybody hears of it.
func (r *Referee) draw(ctx context.Context, m *match) error {
	p := m.state()
	if err := r.member.Append(ctx, eventChosen, sidesOf(m, &p)); err != nil {
		return err
	}
	number, err := r.number(m, &p)
	if err != nil {
		return err
	}
	return m.change(func(p *game.Play) error { return p.Draw(number) })
}

// A duo does things for both sides of a match at the same time. Side B has one goroutine
// for all of them, as a new one would have to grow its stack each time.
type duo struct {
	do   chan func(side int)
	done chan struct{} // after each of them, and closed in the end
}

// newDuo returns a duo that is to be stopped.
func newDuo() *duo {
	d := &duo{make(chan func(int)), make(chan struct{})}
	go func() {
		defer close(d.done)
		for do := range d.do {
			do(game.SideB)
			d.done <- struct{}{}
		}
	}()
	return d
}

func (d *duo) both(do func(side int)) {
	d.do <- do
	do(game.SideA)
	<-d.done
}

func (d *duo) stop() {
	close(d.do)
	<-d.done
}

// header returns the header of a message to a player of a match.
func (r *Referee) header(t protocol.Type, m *match, side int) protocol.Header {
	h := protocol.NewHeader(t, r.member.Me.Sender(), protocol.Timestamp(r.cfg.Now()), m.Conversation)
	h.AuthToken, h.LeagueID, h.MatchID, h.GameType = m.reach().Keys[side].Send, m.League, m.Match, protocol.GameEvenOdd
	h.RoundID = protocol.RoundNumber(m.Round)
	return h
}

// invite asks one side to join. The match gives its place back at the first failure.
func (r *Referee) invite(ctx context.Context, m *match, side int, place *place) {
	if p := m.state(); !p.Waiting(side) || r.forfeit(m, side) {
		return
	}
	role := protocol.PlayerA
	if side == game.SideB {
		role = protocol.PlayerB
	}
	request := func(time.Time) protocol.Message {
		return &protocol.GameInvitation{
			Header: r.header(protocol.TypeGameInvitation, m, side), RoleInMatch: role, OpponentID: m.Players[1-side],
		}
	}
	answer, err := r.obtain(ctx, m, side, protocol.TypeGameJoinAck, place, request)
	if ctx.Err() != nil || err != nil && r.forfeit(m, side) {
		return
	}
	fault := game.NoFault
	if wire.Refused(err) {
		fault = game.FaultDeclined
	} else if err != nil {
		fault = faultOf(err, game.FaultNoJoin)
	} else if joins, said := answer.(*protocol.GameJoinAck).Joins(); said && !joins {
		fault = game.FaultDeclined
	} else {
		m.joins(side, answer.(*protocol.GameJoinAck))
	}
	r.record(m, side, fault, err, func(p *game.Play) error { return p.Join(side) })
}

// ask asks one side for its choice.
func (r *Referee) ask(ctx context.Context, m *match, side int) {
	if p := m.state(); !p.Waiting(side) || r.forfeit(m, side) {
		return
	}
	commitment := r.commitment(m, side)
	request := func(end time.Time) protocol.Message {
		r.emit(Event{Kind: Asked, Match: m.Match, Round: m.Round, Player: m.Players[side], Players: m.Players, Deadline: end})
		return &protocol.ChooseParityCall{
			Header: r.header(protocol.TypeChooseParityCall, m, side), PlayerID: m.Players[side],
			Context: &protocol.ChoiceContext{
				OpponentID: m.Players[1-side], RoundID: protocol.RoundNumber(m.Round), YourStandings: r.standingOf(m.Players[side]),
			},
			Deadline: protocol.Deadline(end), DrawCommitment: commitment,
		}
	}
	answer, err := r.obtain(ctx, m, side, protocol.TypeChooseParityResponse, nil, request)
	if ctx.Err() != nil || err != nil && r.forfeit(m, side) {
		return
	}
	if err != nil {
		r.record(m, side, faultOf(err, game.FaultNoAnswer), err, nil)
		return
	}
	r.choseUnjoined(m, side)
	chosen := answer.(*protocol.ChooseParityResponse)
	choice, err := game.ParseParity(string(chosen.Chosen()))
	if err != nil {
		r.record(m, side, game.FaultInvalid, err, nil)
		return
	}
	m.brings(side, chosen.DrawNonce)
	r.emit(Event{Kind: Chose, Match: m.Match, Round: m.Round, Player: m.Players[side], Players: m.Players})
	r.record(m, side, game.NoFault, nil, func(p *game.Play) error { return p.Choose(side, choice) })
}

// forfeit records the loss of a side that the organiser has withdrawn or suspended,
// and reports whether it is one. Nobody asks it, so nobody waits for it.
func (r *Referee) forfeit(m *match, side int) bool {
	if !m.reach().Forfeits[side] {
		return false
	}
	r.record(m, side, game.FaultForfeit, errForfeit, nil)
	return true
}

var errForfeit = errors.New("taken out by the organiser")

// record records what a side brought, or why it has lost the match.
func (r *Referee) record(m *match, side int, fault game.Fault, why error, good func(*game.Play) error) {
	if fault != game.NoFault {
		lost := Event{Kind: Forfeited, Match: m.Match, Round: m.Round, Player: m.Players[side], Fault: fault.String(), Tolerant: strictOnly(why)}
		if why != nil {
			lost.Error = agent.Brief(why)
		}
		r.emit(lost)
		r.missed(m, m.Players[side], fault, why)
		good = func(p *game.Play) error { return p.Fail(side, fault) }
	}
	if err := m.change(good); err != nil {
		r.cfg.Log.Error("unexpected match state", "match", m.Match, "player", m.Players[side], "error", err)
	}
}

// faultOf says what a player lost a match by. An answer that is no choice and a
// definite refusal are the player's own doing; the rest is silence.
func faultOf(err error, silent game.Fault) game.Fault {
	switch code := wire.CodeOf(err); {
	case code == protocol.CodeInvalidParityChoice:
		return game.FaultInvalid
	case code == protocol.CodeConnectionError:
		return game.FaultConnect
	case code == protocol.CodePlayerDisconnect:
		return game.FaultDisconnect
	case wire.Refused(err):
		return game.FaultError
	}
	return silent
}

// obtain asks a side for a type of answer, by a request that may name the end of the time for it, and
// tries again as the back-off says; an absent side is asked once, for a short time. Before each retry,
// and after the last, the player hears what went wrong, and the match gives back its place. The answer
// may be that to a request, or one that the player posts, as long as it is tried.
func (r *Referee) obtain(ctx context.Context, m *match, side int, want protocol.Type, place *place, request func(end time.Time) protocol.Message) (protocol.Message, error) {
	usual, backoff, chooses := r.cfg.JoinTimeout, r.cfg.Backoff, want == protocol.TypeChooseParityResponse
	if chooses {
		usual = r.cfg.ChoiceTimeout
	}
	if r.absent(m, side, want) {
		usual, backoff.Retries = usual/probeShare, 0
	}
	asking, stop := context.WithCancel(ctx)
	defer stop()
	e := m.expect(side, want, stop)
	policy := agent.RetryPolicy{Backoff: backoff, OnFailure: func(a agent.Attempt) {
		place.give()
		r.sendError(ctx, m, side, want, a)
	}}
	var answer protocol.Message
	err := agent.Try(asking, policy, func(ctx context.Context) (err error) {
		at := r.cfg.Now()
		end := at.Add(usual)
		limit := usual
		if whole := end.Truncate(time.Second); chooses && whole.Before(end) { // a call states the next whole second
			limit = whole.Add(time.Second).Sub(at)
		}
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		answer, err = r.cfg.Caller.Call(ctx, r.peer(m, side), request(end))
		if err == nil && !r.pending(answer) {
			return r.validate(m, side, answer)
		}
		acknowledged := want == protocol.TypeGameJoinAck && (err == nil || wire.OnlyReceived(err))
		switch {
		case acknowledged && r.cfg.Mode == protocol.Tolerant:
			answer, err = r.awaitJoin(ctx, m, side)
			return err
		case err != nil && !errors.Is(err, wire.ErrReceived):
			return strictOnlyIf(acknowledged, err)
		}
		<-ctx.Done() // the player posts its answer, or has done so
		return strictOnlyIf(acknowledged, context.Cause(ctx))
	})
	m.mu.Lock()
	m.waiting[side] = nil
	m.mu.Unlock()
	select {
	case p := <-e.got:
		answer, err = p.message, p.err
	default:
	}
	var unusable *protocol.Error
	if err == nil || wire.Refused(err) || errors.As(err, &unusable) && !wire.Retryable(err) {
		r.answered(m.Players[side], want)
	}
	if err != nil && ctx.Err() == nil && errors.As(err, &unusable) && !wire.Retryable(err) {
		r.sendError(ctx, m, side, want, agent.Attempt{Last: true, Err: err})
	}
	return answer, err
}

// pending reports whether an answer says only that an invitation has arrived,
// so that the player's own word is still to come. In strict mode a join that says
// nothing at all is no receipt, but lacks what it is for.
func (r *Referee) pending(answer protocol.Message) bool {
	join, ok := answer.(*protocol.GameJoinAck)
	if !ok {
		return false
	}
	_, said := join.Joins()
	return !said && (r.cfg.Mode == protocol.Tolerant || join.Status != "")
}
