package referee

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// play takes a match from where it is to its acknowledged report. It returns
// early when ctx ends; what is journaled then is gone on with later.
func (r *Referee) play(ctx context.Context, b *bout) {
	if !b.enter() {
		return
	}
	reported := false
	defer func() { b.leave(reported) }()
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return
	}
	conversation := "conv-" + b.Match + "-" + jsonrpc.RandomID()[:8]
	if err := r.decide(ctx, b, conversation); err != nil {
		if ctx.Err() == nil {
			r.cfg.Log.Error("a match cannot be played", "match", b.Match, "error", err)
		}
		return
	}
	r.announceResult(ctx, b, conversation)
	if err := r.report(ctx, b); err != nil {
		if ctx.Err() == nil {
			r.cfg.Log.Error("a result cannot be reported", "match", b.Match, "error", err)
		}
		return
	}
	reported = true
}

// decide plays a match until it is finished.
func (r *Referee) decide(ctx context.Context, b *bout, conversation string) error {
	p := b.state()
	if p.Phase() == game.WaitingForPlayers {
		r.both(func(side int) { r.invite(ctx, b, side, conversation) })
	}
	if p = b.state(); p.Phase() == game.CollectingChoices {
		r.both(func(side int) { r.ask(ctx, b, side, conversation) })
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	p = b.state()
	if p.Phase() == game.DrawingNumber {
		if err := r.draw(ctx, b); err != nil {
			return err
		}
		p = b.state()
	}
	if p.Phase() != game.Finished {
		return fmt.Errorf("stopped in %s", p.Phase())
	}
	return r.journal.append(ctx, eventFinished, finishedOf(b, &p))
}

// draw draws the number, once: the choices are on disk before, and the number
// before anybody hears of it.
func (r *Referee) draw(ctx context.Context, b *bout) error {
	p := b.state()
	if err := r.journal.append(ctx, eventChosen, chosenOf(b, &p)); err != nil {
		return err
	}
	number, err := r.cfg.Draw(Match{League: b.League, ID: b.Match, Round: b.Round})
	if err != nil {
		return err
	}
	return b.change(func(p *game.Play) error { return p.Draw(number) })
}

// both does something for both sides at the same time.
func (r *Referee) both(do func(side int)) {
	var other sync.WaitGroup
	other.Go(func() { do(game.SideB) })
	do(game.SideA)
	other.Wait()
}

// header returns the header of a message to a player of a match.
func (r *Referee) header(t protocol.Type, b *bout, side int, conversation string) protocol.Header {
	h := protocol.NewHeader(t, r.me.Sender(), protocol.Timestamp(r.cfg.Now()), conversation)
	h.AuthToken, h.LeagueID, h.MatchID, h.GameType = b.Keys[side].Send, b.League, b.Match, protocol.GameEvenOdd
	h.RoundID = protocol.RoundNumber(b.Round)
	return h
}

// invite asks one side to join.
func (r *Referee) invite(ctx context.Context, b *bout, side int, conversation string) {
	if p := b.state(); !p.Waiting(side) {
		return
	}
	role := protocol.PlayerA
	if side == game.SideB {
		role = protocol.PlayerB
	}
	request := func() protocol.Message {
		return &protocol.GameInvitation{
			Header: r.header(protocol.TypeGameInvitation, b, side, conversation), RoleInMatch: role, OpponentID: b.Players[1-side],
		}
	}
	answer, err := r.obtain(ctx, b, side, conversation, r.cfg.JoinTimeout, protocol.TypeGameJoinAck, request)
	if ctx.Err() != nil {
		return
	}
	fault := game.NoFault
	if err != nil {
		fault = faultOf(err, game.FaultNoJoin)
	} else if joins, said := answer.(*protocol.GameJoinAck).Joins(); said && !joins {
		fault = game.FaultDeclined
	}
	r.settle(b, side, fault, func(p *game.Play) error { return p.Join(side) })
}

// ask asks one side for its choice.
func (r *Referee) ask(ctx context.Context, b *bout, side int, conversation string) {
	if p := b.state(); !p.Waiting(side) {
		return
	}
	request := func() protocol.Message {
		return &protocol.ChooseParityCall{
			Header: r.header(protocol.TypeChooseParityCall, b, side, conversation), PlayerID: b.Players[side],
			Context: &protocol.ChoiceContext{
				OpponentID: b.Players[1-side], RoundID: protocol.RoundNumber(b.Round), YourStandings: r.standingOf(b.Players[side]),
			},
			Deadline: protocol.Deadline(r.cfg.Now().Add(r.cfg.ChoiceTimeout)),
		}
	}
	answer, err := r.obtain(ctx, b, side, conversation, r.cfg.ChoiceTimeout, protocol.TypeChooseParityResponse, request)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		r.settle(b, side, faultOf(err, game.FaultNoAnswer), nil)
		return
	}
	choice, err := game.ParseParity(string(answer.(*protocol.ChooseParityResponse).Chosen()))
	if err != nil {
		r.settle(b, side, game.FaultInvalid, nil)
		return
	}
	r.settle(b, side, game.NoFault, func(p *game.Play) error { return p.Choose(side, choice) })
}

// settle records what a side brought.
func (r *Referee) settle(b *bout, side int, fault game.Fault, good func(*game.Play) error) {
	if fault != game.NoFault {
		good = func(p *game.Play) error { return p.Fail(side, fault) }
	}
	if err := b.change(good); err != nil {
		r.cfg.Log.Error("a match is not where it should be", "match", b.Match, "player", b.Players[side], "error", err)
	}
}

// faultOf says what a player lost a match by. An answer that is no choice and a
// definite refusal are the player's own doing; the rest is silence.
func faultOf(err error, silent game.Fault) game.Fault {
	var refusal *protocol.Refusal
	switch code := wire.CodeOf(err); {
	case code == protocol.CodeInvalidParityChoice:
		return game.FaultInvalid
	case code == protocol.CodeConnectionError:
		return game.FaultConnect
	case code == protocol.CodePlayerDisconnect:
		return game.FaultDisconnect
	case errors.As(err, &refusal) && !wire.Retryable(err):
		return game.FaultError
	}
	return silent
}

// obtain asks a side and tries again as the back-off says. Before each retry,
// and after the last, the player is told what went wrong.
func (r *Referee) obtain(ctx context.Context, b *bout, side int, conversation string, timeout time.Duration, want protocol.Type, request func() protocol.Message) (protocol.Message, error) {
	peer := r.cfg.Player(b.Players[side], b.Endpoints[side])
	policy := wire.Policy{Timeout: timeout, Backoff: r.cfg.Backoff, Before: func(ctx context.Context, a wire.Attempt) {
		r.tellFault(ctx, b, side, conversation, want, a)
	}}
	defer b.expectNothing(side)
	return wire.Try(ctx, policy, func(ctx context.Context) (protocol.Message, error) {
		asking, stop := context.WithCancel(ctx)
		defer stop()
		e := b.expect(side, want, stop)
		answer, err := r.cfg.Caller.Call(asking, peer, request())
		if err == nil && answer.Head().MessageType == want {
			return answer, r.fits(b, side, answer)
		}
		if err != nil && asking.Err() == nil {
			return nil, err
		}
		// Acknowledged only: the player posts its answer, or has done so.
		select {
		case m := <-e.got:
			return m, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	})
}

// fits judges an answer that came where it was asked for. One that is about
// another match, or signed by somebody else, is no answer: it is asked for
// again.
func (r *Referee) fits(b *bout, side int, m protocol.Message) error {
	h := m.Head()
	unusable := func(format string, args ...any) error {
		return protocol.Refuse(protocol.CodeInvalidMove, h.MessageType, fmt.Sprintf(format, args...))
	}
	switch {
	case h.MatchID != "" && h.MatchID != b.Match:
		return unusable("the answer is about match %s, not %s", h.MatchID, b.Match)
	case h.AuthToken == "" && r.cfg.Mode == protocol.Strict && b.Keys[side].Expect != "":
		return unusable("the answer bears no auth_token")
	case h.AuthToken != "" && b.Keys[side].Expect != "" && !b.Keys[side].AcceptsPlayer(h.AuthToken, b.League, b.Match, r.me.ID()):
		return unusable("the auth_token of the answer is not that of %s", b.Players[side])
	}
	var player string
	switch m := m.(type) {
	case *protocol.GameJoinAck:
		player = m.PlayerID
	case *protocol.ChooseParityResponse:
		player = m.PlayerID
		if m.Chosen() == "" {
			return unusable("the answer holds no choice")
		}
	}
	if player != "" && player != b.Players[side] {
		return unusable("the answer is %s's, not %s's", player, b.Players[side])
	}
	return nil
}
