package judge

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/draws"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// choiceCall is a request for a choice.
type choiceCall struct {
	x        *trace.Exchange
	player   string
	deadline time.Time     // by the referee's clock
	given    time.Duration // until then, 0 if the call does not say
}

// answer is the choice of a player.
type answer struct {
	x      *trace.Exchange
	player string
	choice protocol.Choice
	call   *choiceCall   // that it answers, nil if unknown
	after  time.Duration // since that call
}

// result is the result of a match as far as one message states it, in the words of the message but
// for Status. What it does not state, or states in words that only its sender knows, stays unknown.
type result struct {
	*match
	protocol.GameResult        // Status is StatusWin, StatusDraw or StatusTechnicalLoss; empty if unknown
	To                  string // a player id, "the manager", or "a player"
	Winner              string // empty without one, and where it is unknown
	Decided             bool   // whether it is known who won, or that nobody did
	Score               map[string]int
	AtFault             []string // in a technical loss
	Conflict            string   // how the message contradicts itself

	whole bool            // it states status and winner of the match, not of its receiver
	x     *trace.Exchange // the message
}

// toManager is the receiver of reports.
const toManager = "the manager"

// interpret reads an exchange about a match whose players have been identified.
func (l *League) interpret(m *match, x *trace.Exchange) {
	player, receives := l.playerOf(m, x)
	if receives {
		player = m.only(m.channels[channel(x)]...) // two ids are nobody's
	}
	for _, message := range []protocol.Message{x.Request, x.Answer} {
		switch r := message.(type) {
		case *protocol.ChooseParityCall:
			call := &choiceCall{x: x, player: player}
			signed, err := protocol.ParseTimestamp(r.Timestamp)
			deadline, failed := protocol.ParseTimestamp(r.Deadline)
			if err == nil && failed == nil {
				call.deadline, call.given = deadline, deadline.Sub(signed)
			}
			m.calls = append(m.calls, call)
			// The first commitment counts: a referee that gives another may know choices by then.
			if m.commitments[player] == "" && player != "" && r.DrawCommitment != "" {
				m.commitments[player] = r.DrawCommitment
			}
		case *protocol.ChooseParityResponse:
			posted := message == x.Request
			if player != "" && (posted && x.Refused == nil && x.Failure == "" || !posted && x.Status < 300) {
				m.answered(x, player, r)
			}
		case *protocol.GameInvitation:
			m.restarted = m.restarted || m.commitments[player] != ""
		case *protocol.GameJoinAck:
			m.offered = m.offered || r.DrawScheme == draws.Scheme
		case *protocol.GameOver, *protocol.MatchResultReport:
			t := l.result(m, x, player)
			m.results, l.results = append(m.results, t), append(l.results, t)
		}
	}
}

// answered notes a choice, and the nonce in it. A player has one nonce for a match.
func (m *match) answered(x *trace.Exchange, player string, r *protocol.ChooseParityResponse) {
	if r.DrawNonce != "" {
		m.nonces[player] = r.DrawNonce
	}
	a := &answer{x: x, player: player, choice: r.Chosen(), call: m.call(func(c *choiceCall) bool { return c.player == player })}
	if a.call != nil {
		a.after = x.End().Sub(a.call.x.At)
	}
	if a.choice.Valid() {
		m.answers[player] = append(m.answers[player], a)
	}
}

// call returns the last call for a choice that a function accepts, or nil.
func (m *match) call(accept func(*choiceCall) bool) *choiceCall {
	for _, c := range slices.Backward(m.calls) {
		if accept(c) {
			return c
		}
	}
	return nil
}

// byTheBook reports whether nothing in an answer gives a referee a reason to refuse it: it came
// in the HTTP response, has the form that the protocol asks for, belongs to the call, and is
// signed like the player's acceptance of the invitation.
func (m *match) byTheBook(a *answer) bool {
	r, ok := a.x.Answer.(*protocol.ChooseParityResponse)
	if !ok || !a.x.Strict || r.Sender != "player:"+a.player || r.PlayerID != a.player || r.MatchID != m.ID || r.ConversationID != a.x.Request.Head().ConversationID {
		return false
	}
	for _, other := range m.exchanges {
		if joined, ok := other.Answer.(*protocol.GameJoinAck); ok && channel(other) == channel(a.x) {
			return joined.AuthToken == r.AuthToken
		}
	}
	return false
}

// result reads a result that was sent to the manager or to a player, "" if it is unknown to whom: who
// has won, how, and who is at fault, in the words of the protocol. Others are unknown.
func (l *League) result(m *match, x *trace.Exchange, self string) *result {
	t := &result{match: m, To: cmp.Or(self, "a player"), x: x}
	meant, personal := "", false // who has won if a win has no winner; whether the words are for the receiver
	switch r := x.Request.(type) {
	case *protocol.GameOver:
		t.GameResult = r.Stated(self, m.other(self))
		points, earned := r.PointsEarned.Get()
		if earned && self != "" {
			t.Score = map[string]int{self: points}
		}
		personal = r.Result != "" || r.YourChoice != "" || earned
	case *protocol.MatchResultReport:
		t.To, t.Score, t.GameResult = toManager, r.Result.Score, r.Stated()
		if n, ok := t.DrawnNumber.Get(); ok && n == 0 && len(t.Choices) == 0 {
			t.DrawnNumber = protocol.Opt[int]{} // a placeholder
		}
	}
	name, named := t.WinnerPlayerID.Get()
	switch {
	case !named && t.WinnerPlayerID != protocol.Null[string]():
	case protocol.Means(protocol.Nobody, name):
		t.Decided = true
	case m.has(name):
		t.Winner, t.Decided = name, true
	case m.known() && !slices.ContainsFunc(append(m.Players[:], name), func(id string) bool { return l.people["id "+id] == nil }):
		t.Conflict = "the winner " + name + " is neither " + m.Players[0] + " nor " + m.Players[1]
	}
	switch word := t.Status; {
	case strings.ToUpper(word) == protocol.StatusTechnicalLoss:
		t.Status = protocol.StatusTechnicalLoss
	case protocol.Means(protocol.Winning, word):
		t.Status = protocol.StatusWin
		if personal {
			meant = m.only(self)
		}
	case protocol.Means(protocol.Losing, word) && t.To != toManager:
		t.Status, meant = protocol.StatusWin, m.other(self)
	case protocol.Means(protocol.Drawing, word):
		t.Status = protocol.StatusDraw
	default:
		t.Status = ""
	}
	if t.Status == protocol.StatusWin && t.Winner == "" && t.To != toManager {
		t.Winner, t.Decided = meant, meant != ""
	}
	t.whole = t.Status != "" && t.Decided && t.WinnerPlayerID != protocol.Opt[string]{}
	if t.technical() {
		for _, p := range m.Players { // where none is named, everybody but the winner
			if p != "" && (slices.Contains(t.TechnicalLossPlayerIDs, p) || len(t.TechnicalLossPlayerIDs) == 0 && t.Decided && p != t.Winner) {
				t.AtFault = append(t.AtFault, p)
			}
		}
	}
	switch {
	case t.technical() && t.Winner != "" && slices.Contains(t.TechnicalLossPlayerIDs, t.Winner):
		t.Conflict = t.Winner + " wins and is at fault"
	case t.Conflict != "":
	case t.Status == protocol.StatusDraw && t.Winner != "":
		t.Conflict = "a draw with the winner " + t.Winner
	case t.Status == protocol.StatusDraw:
		t.Decided = true
	case t.Status == protocol.StatusWin && t.Decided && t.Winner == "":
		t.Conflict = "a win without a winner"
	}
	return t
}

func (t *result) technical() bool { return t.Status == protocol.StatusTechnicalLoss }
