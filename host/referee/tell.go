package referee

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// tellFault sends GAME_ERROR, and does not wait for its acknowledgement.
func (r *Referee) tellFault(ctx context.Context, b *bout, side int, conversation string, want protocol.Type, a wire.Attempt) {
	code := wire.CodeOf(a.Err)
	if code == "" {
		code = protocol.CodeTimeout
	}
	p := b.state()
	about := protocol.Refuse(code, "", fmt.Sprintf("%s did not come: %v", want, a.Err))
	msg, err := protocol.NewGameError(r.header(protocol.TypeGameError, b, side, conversation), about)
	if err != nil {
		r.cfg.Log.Error("an error cannot be told", "match", b.Match, "error", err)
		return
	}
	msg.PlayerID, msg.AffectedPlayer = b.Players[side], b.Players[side]
	msg.GameState, msg.ActionRequired = p.Phase().String(), string(want)
	msg.Retryable, msg.RetryCount, msg.MaxRetries = protocol.Some(!a.Last), protocol.Some(a.Retry), protocol.Some(r.cfg.Backoff.Retries)
	msg.RetryInfo = &protocol.RetryInfo{RetryCount: msg.RetryCount, MaxRetries: msg.MaxRetries}
	msg.Consequence = "without an answer the match is a technical loss"
	if a.Last {
		msg.Consequence = "the match is a technical loss"
	} else {
		msg.RetryInfo.NextRetryAt = protocol.Deadline(r.cfg.Now().Add(a.Delay))
	}
	r.tell(Event{Kind: Retried, Match: b.Match, Round: b.Round, Player: b.Players[side], Retry: a.Retry, Error: a.Err.Error()})
	peer := r.cfg.Player(b.Players[side], b.Endpoints[side])
	r.background.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, r.cfg.Timeout)
		defer cancel()
		_, _ = r.cfg.Caller.Call(ctx, peer, msg) // a player that does not answer is not to be waited for
	})
}

// announceResult sends GAME_OVER to both: one attempt that is awaited, so that
// a player hears of its match before the next round, and more in the
// background, so that a dead one stalls nobody.
func (r *Referee) announceResult(ctx context.Context, b *bout, conversation string) {
	p := b.state()
	result := gameResult(b, &p)
	r.tell(resultEvent(b, &p))
	r.both(func(side int) {
		peer := r.cfg.Player(b.Players[side], b.Endpoints[side])
		send := func(ctx context.Context) (protocol.Message, error) {
			return r.cfg.Caller.Call(ctx, peer, &protocol.GameOver{
				Header: r.header(protocol.TypeGameOver, b, side, conversation), GameResult: result,
			})
		}
		first, cancel := context.WithTimeout(ctx, r.cfg.Timeout)
		defer cancel()
		_, err := send(first)
		if err != nil && ctx.Err() == nil {
			r.cfg.Log.Warn("a player has not taken its result", "match", b.Match, "player", b.Players[side], "error", err)
		}
		if err == nil || !wire.Retryable(err) || ctx.Err() != nil {
			return
		}
		r.background.Go(func() {
			delay, again := r.cfg.Backoff.Delay(1)
			if !again || wire.Wait(ctx, delay) != nil {
				return
			}
			rest := r.cfg.Backoff
			rest.Retries--
			_, _ = wire.Try(ctx, wire.Policy{Timeout: r.cfg.Timeout, Backoff: rest}, send)
		})
	})
}

// report tells the manager, until it has acknowledged.
func (r *Referee) report(ctx context.Context, b *bout) error {
	p := b.state()
	policy := wire.Policy{Timeout: r.cfg.Timeout, Backoff: r.cfg.Backoff, Before: func(_ context.Context, a wire.Attempt) {
		r.cfg.Log.Warn("the manager has not taken a report yet", "match", b.Match, "again_in", a.Delay, "error", a.Err)
	}}
	_, err := wire.Persist(ctx, policy, func(ctx context.Context) (protocol.Message, error) {
		h := r.me.Header(protocol.TypeMatchResultReport, protocol.Timestamp(r.cfg.Now()))
		h.LeagueID, h.MatchID, h.GameType, h.RoundID = b.League, b.Match, protocol.GameEvenOdd, protocol.RoundNumber(b.Round)
		return r.cfg.Caller.Call(ctx, r.cfg.Manager, &protocol.MatchResultReport{Header: h, Result: matchResult(b, &p)})
	})
	var refusal *protocol.Refusal
	switch {
	case err == nil:
	case errors.As(err, &refusal) && refusal.Code == protocol.CodeDuplicateReport:
		// A lost acknowledgement, if the manager has the same result.
		if !sameResult(refusal) {
			r.tell(Event{Kind: Alarm, Match: b.Match, Round: b.Round, Error: "the manager holds another result"})
			r.cfg.Log.Error("the manager holds another result of a match", "match", b.Match)
		}
	case errors.As(err, &refusal) && refusal.Code == protocol.CodeMatchNotFound:
		r.cfg.Log.Warn("the manager has given a match to another referee", "match", b.Match)
	case errors.As(err, &refusal) && refusal.Code == protocol.CodeTokenInvalid:
		select {
		case r.again <- struct{}{}:
		default:
		}
		return err
	default:
		return err
	}
	return r.journal.append(ctx, eventReported, b.Match)
}

// gameResult is the outcome as players are told it.
func gameResult(b *bout, p *game.Play) *protocol.GameResult {
	d := detailsOf(b, p)
	return &protocol.GameResult{
		Status: d.Status, WinnerPlayerID: winnerOf(b, p), DrawnNumber: d.DrawnNumber, NumberParity: d.NumberParity,
		Choices: d.Choices, TechnicalLossPlayerIDs: d.TechnicalLossPlayerIDs, Reason: d.Reason,
	}
}

// matchResult is the outcome as the manager is told it.
func matchResult(b *bout, p *game.Play) protocol.MatchResult {
	v := p.Verdict()
	return protocol.MatchResult{
		Winner: winnerOf(b, p), Score: map[string]int{b.Players[0]: v.PointsA, b.Players[1]: v.PointsB}, Details: detailsOf(b, p),
	}
}

func winnerOf(b *bout, p *game.Play) protocol.Opt[string] {
	switch v := p.Verdict(); {
	case v.ResultA == game.Win:
		return protocol.Some(b.Players[game.SideA])
	case v.ResultB == game.Win:
		return protocol.Some(b.Players[game.SideB])
	}
	return protocol.Null[string]()
}

func detailsOf(b *bout, p *game.Play) *protocol.ResultDetails {
	d := &protocol.ResultDetails{Choices: map[string]protocol.Choice{}, DrawnNumber: protocol.Null[int](), NumberParity: protocol.Null[string]()}
	sideA, sideB := p.Sides()
	for i, s := range []game.Side{sideA, sideB} {
		if s.Choice != game.NoParity {
			d.Choices[b.Players[i]] = protocol.Choice(s.Choice.String())
		}
		if s.Fault != game.NoFault {
			d.TechnicalLossPlayerIDs = append(d.TechnicalLossPlayerIDs, b.Players[i])
		}
	}
	if number, drew := p.Number(); drew {
		d.DrawnNumber, d.NumberParity = protocol.Some(number), protocol.Some(game.ParityOf(number).String())
	}
	switch v := p.Verdict(); {
	case v.Technical():
		d.Status, d.Reason = protocol.StatusTechnicalLoss, reasonOf(b, sideA, sideB)
	case v.ResultA == game.Drawn:
		d.Status, d.Reason = protocol.StatusDraw, "both chose "+sideA.Choice.String()
	default:
		d.Status, d.Reason = protocol.StatusWin, winnerOf(b, p).Value()+" chose the parity of the drawn number"
	}
	return d
}

func reasonOf(b *bout, sides ...game.Side) string {
	reason := ""
	for i, s := range sides {
		if s.Fault != game.NoFault {
			if reason != "" {
				reason += "; "
			}
			reason += b.Players[i] + ": " + s.Fault.String()
		}
	}
	return reason
}

func sameResult(refusal *protocol.Refusal) bool {
	var data struct {
		Same bool `json:"same_result"`
	}
	return json.Unmarshal(refusal.Data, &data) == nil && data.Same
}
