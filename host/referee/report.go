package referee

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// sendError sends GAME_ERROR, and does not wait for its acknowledgement.
func (r *Referee) sendError(ctx context.Context, m *match, side int, want protocol.Type, a agent.Attempt) {
	code := wire.CodeOf(a.Err)
	if code == "" {
		code = protocol.CodeTimeout
	}
	p := m.state()
	about := protocol.Refuse(code, "", fmt.Sprintf("%s did not come: %s", want, agent.Brief(a.Err)))
	told, err := about.Message(r.header(protocol.TypeGameError, m, side))
	if err != nil {
		r.cfg.Log.Error("technical loss not reported to the player", "match", m.Match, "error", err)
		return
	}
	msg := told.(*protocol.GameError) // the header is a referee's
	msg.PlayerID, msg.AffectedPlayer = m.Players[side], m.Players[side]
	msg.GameState, msg.ActionRequired = p.Phase().String(), string(want)
	msg.Retryable, msg.RetryCount, msg.MaxRetries = protocol.Some(!a.Last), protocol.Some(a.Retry), protocol.Some(r.cfg.Backoff.Retries)
	msg.RetryInfo = &protocol.RetryInfo{RetryCount: msg.RetryCount, MaxRetries: msg.MaxRetries}
	msg.Consequence = "without an answer the match is a technical loss"
	if a.Last {
		msg.Consequence = "the match is a technical loss"
	} else {
		msg.RetryInfo.NextRetryAt = protocol.Deadline(r.cfg.Now().Add(a.Delay))
		r.emit(Event{Kind: Retried, Match: m.Match, Round: m.Round, Player: m.Players[side], Players: m.Players, Retry: a.Retry, Error: agent.Brief(a.Err), Tolerant: strictOnly(a.Err)})
	}
	peer := r.peer(m, side)
	r.inBackground(ctx, func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, r.cfg.Timeout)
		defer cancel()
		_, _ = r.cfg.Caller.Call(ctx, peer, msg) // a player that does not answer is not to be waited for
	})
}

// inBackground does in the background what nobody waits for, until everything is reported.
func (r *Referee) inBackground(ctx context.Context, do func(ctx context.Context)) {
	r.background.Go(func() {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(r.idle, cancel)()
		do(ctx)
	})
}

// announceResult sends GAME_OVER to both: one attempt that is awaited, so that a player hears of
// its match before the next round, and more in the background. A player that has lost the match by
// being silent is not awaited at all, so that a dead one stalls nobody; nor is one that the
// organiser has taken out.
func (r *Referee) announceResult(ctx context.Context, m *match, d *duo) {
	p := m.state()
	result := results(m, &p)
	r.emit(resultEvent(m, &p))
	var sides [2]game.Side
	sides[0], sides[1] = p.Sides()
	d.both(func(side int) {
		send := func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, r.cfg.Timeout)
			defer cancel()
			answer, err := r.cfg.Caller.Call(ctx, r.peer(m, side), result[side](r.header(protocol.TypeGameOver, m, side)))
			if err == nil && r.cfg.Mode == protocol.Strict && answer.Head().Flaw != nil {
				err = answer.Head().Flaw
			}
			if err == nil {
				r.noteVerdict(m, side, answer)
			}
			return err
		}
		policy := agent.RetryPolicy{Backoff: r.cfg.Backoff}
		if m.reach().Forfeits[side] || silent(sides[side].Fault) {
			r.inBackground(ctx, func(ctx context.Context) {
				_ = agent.Try(ctx, policy, send)
			})
			return
		}
		first, cancel := context.WithCancel(ctx)
		defer cancel()
		m.await(side, cancel)
		policy.Failed = send(first)
		m.await(side, nil)
		if policy.Failed == nil || ctx.Err() != nil || m.reach().Forfeits[side] {
			return
		}
		r.unacknowledged.Note(r.cfg.Log, "player has not acknowledged a result", m.Players[side], string(protocol.TypeGameOver), policy.Failed)
		r.inBackground(ctx, func(ctx context.Context) {
			_ = agent.Try(ctx, policy, send)
		})
	})
}

// silent reports whether a fault leaves it open whether the player is there.
func silent(f game.Fault) bool {
	switch f {
	case game.FaultNoJoin, game.FaultNoAnswer, game.FaultDisconnect, game.FaultConnect:
		return true
	}
	return false
}

// report sends the result until the manager has acknowledged or definitely refused it. With a
// manager that does not know the token any more it registers again, and reports then.
func (r *Referee) report(ctx context.Context, m *match) error {
	p := m.state()
	result := matchResult(m, &p)
	policy := agent.RetryPolicy{
		Backoff: r.cfg.Backoff, Forever: true,
		Retryable: func(err error) bool { return !wire.Refused(err) },
		OnFailure: func(a agent.Attempt) {
			r.cfg.Log.Warn("report not acknowledged yet", "match", m.Match, "again_in", a.Delay, "error", a.Err)
		},
	}
	for renewed := false; ; renewed = true {
		known := r.registered()
		err := agent.Try(ctx, policy, func(ctx context.Context) error { return r.sendReport(ctx, m, result) })
		if code := wire.CodeOf(err); ctx.Err() != nil || renewed || code != protocol.CodeTokenInvalid && code != protocol.CodeTokenMissing {
			return r.concludeReport(ctx, m, err)
		}
		if err := r.renew(ctx, known); err != nil {
			return err
		}
		if own := r.member.Me.League(); own != m.League {
			return fmt.Errorf("the manager has begun league %s and forgotten %s", own, m.League)
		}
	}
}

func (r *Referee) sendReport(ctx context.Context, m *match, result protocol.MatchResult) error {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Timeout)
	defer cancel()
	h := r.member.Me.Header(protocol.TypeMatchResultReport, protocol.Timestamp(r.cfg.Now()))
	h.LeagueID, h.MatchID, h.GameType, h.RoundID = m.League, m.Match, protocol.GameEvenOdd, protocol.RoundNumber(m.Round)
	h.ConversationID = m.Conversation
	answer, err := r.cfg.Caller.Call(ctx, r.cfg.Manager, &protocol.MatchResultReport{Header: h, Result: result})
	if err != nil {
		return err
	}
	if ack, ok := answer.(*protocol.MatchResultAck); ok {
		if recorded, said := ack.Recorded.Get(); said && !recorded || ack.Status == protocol.StatusRejected {
			return protocol.Refuse(protocol.CodeInvalidMove, ack.MessageType, "the manager has not recorded the report")
		}
		if ack.MatchID != "" && ack.MatchID != m.Match {
			return protocol.Refuse(protocol.CodeInvalidMove, ack.MessageType, "the manager acknowledges another match")
		}
	}
	return nil
}

// concludeReport judges the outcome of a report, and journals that nothing is left to report.
func (r *Referee) concludeReport(ctx context.Context, m *match, err error) error {
	switch wire.CodeOf(err) {
	case "":
		if err != nil {
			return err
		}
	case protocol.CodeDuplicateReport:
		// A lost acknowledgement, unless the manager says that it has another result.
		if otherResult(err) {
			r.emit(Event{Kind: Alarm, Match: m.Match, Round: m.Round, Error: "the manager holds another result"})
			r.cfg.Log.Error("manager has a different result", "match", m.Match)
		}
	case protocol.CodeMatchNotFound:
		r.cfg.Log.Warn("manager reassigned the match", "match", m.Match)
	default:
		return err
	}
	return r.member.Append(ctx, eventReported, m.Match)
}

// gameResult is the outcome as players get it.
func gameResult(m *match, p *game.Play) *protocol.GameResult {
	d := detailsOf(m, p)
	return &protocol.GameResult{Status: d.Status, WinnerPlayerID: winnerOf(m, p), ResultDetails: *d}
}

// matchResult is the outcome as the manager gets it.
func matchResult(m *match, p *game.Play) protocol.MatchResult {
	v := p.Verdict()
	return protocol.MatchResult{
		Winner: winnerOf(m, p), Score: map[string]int{m.Players[0]: v.PointsA, m.Players[1]: v.PointsB}, Details: detailsOf(m, p),
	}
}

// writeMatch writes the file of a match that is over, in the form of that of the manager, if that is wanted.
func (r *Referee) writeMatch(m *match) {
	if !r.cfg.MatchFiles || r.cfg.Data == "" {
		return
	}
	p := m.state()
	content, err := json.Marshal(map[string]any{
		"league_id": m.League, "round_id": m.Round, "match_id": m.Match, "game_type": protocol.GameEvenOdd,
		"player_A_id": m.Players[game.SideA], "player_B_id": m.Players[game.SideB], "referee_id": r.member.Me.ID(),
		"finished_at": protocol.Timestamp(r.cfg.Now()), "result": matchResult(m, &p), // as it is reported
	}, json.Deterministic(true), jsontext.WithIndent("  "))
	if err == nil {
		name := filepath.Join(r.member.DataFolder("matches"), disk.FileName(m.League), disk.FileName(m.Match)+".json")
		err = disk.WriteFile(name, append(content, '\n'), 0o600)
	}
	if err != nil {
		r.cfg.Log.Error("file of the match not written; the journal is not affected", "match", m.Match, "error", err)
	}
}

func winnerOf(m *match, p *game.Play) protocol.Opt[string] {
	switch v := p.Verdict(); {
	case v.ResultA == game.Win:
		return protocol.Some(m.Players[game.SideA])
	case v.ResultB == game.Win:
		return protocol.Some(m.Players[game.SideB])
	}
	return protocol.Null[string]()
}

func detailsOf(m *match, p *game.Play) *protocol.ResultDetails {
	d := &protocol.ResultDetails{Choices: map[string]protocol.Choice{}, DrawnNumber: protocol.Null[int](), NumberParity: protocol.Null[string]()}
	sideA, sideB := p.Sides()
	for i, s := range []game.Side{sideA, sideB} {
		if s.Choice != game.NoParity {
			d.Choices[m.Players[i]] = protocol.Choice(s.Choice.String())
		}
		if s.Fault != game.NoFault {
			d.TechnicalLossPlayerIDs = append(d.TechnicalLossPlayerIDs, m.Players[i])
		}
	}
	if number, drew := p.Number(); drew {
		d.DrawnNumber, d.NumberParity = protocol.Some(number), protocol.Some(game.ParityOf(number).String())
	}
	switch v := p.Verdict(); {
	case v.Technical():
		d.Status, d.Reason = protocol.StatusTechnicalLoss, reasonOf(m, sideA, sideB)
	case v.ResultA == game.Tie:
		d.Status, d.Reason = protocol.StatusDraw, "both chose "+sideA.Choice.String()
	default:
		d.Status, d.Reason = protocol.StatusWin, winnerOf(m, p).Value()+" chose the parity of the drawn number"
	}
	return d
}

func reasonOf(m *match, sides ...game.Side) string {
	var reasons []string
	for i, s := range sides {
		if s.Fault != game.NoFault {
			reasons = append(reasons, m.Players[i]+": "+s.Fault.String())
		}
	}
	return strings.Join(reasons, "; ")
}

// otherResult reports whether the refusal of a duplicate says that the earlier report had another result.
func otherResult(err error) bool {
	refusal, is := errors.AsType[*dialect.Refusal](err)
	var data map[string]any
	if !is || json.Unmarshal(refusal.Data, &data) != nil {
		return false
	}
	context, _ := data["context"].(map[string]any)
	return data["same_result"] == false || context["same_result"] == false
}
