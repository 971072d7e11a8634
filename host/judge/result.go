package judge

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/protocol"
)

// choiceCall is a request for a choice.
type choiceCall struct {
	x        *Exchange
	player   string
	signed   string // the referee's timestamp
	deadline string
}

// answer is the choice of a player.
type answer struct {
	x      *Exchange
	player string
	choice protocol.Choice
	call   int           // index of the call that it answers, -1 if unknown
	after  time.Duration // since that call
	// byTheBook reports that nothing in the answer gives a referee a reason to
	// refuse it.
	byTheBook bool
}

// timeoutClaim is a referee's message that a player answered too late.
type timeoutClaim struct {
	x      *Exchange
	player string
	signed string
}

// result is the result of a match as far as one message states it. What it does
// not state, or states in words that only its sender knows, stays unknown.
type result struct {
	To       string // a player id, "the manager", or "a player"
	Status   string // StatusWin, StatusDraw or StatusTechnicalLoss; empty if unknown
	Winner   string // empty if there is none or it is unknown
	Decided  bool   // whether it is known who won, or that nobody did
	Drawn    protocol.Opt[int]
	Parity   string // number_parity, empty if the message leaves it out
	Choices  map[string]protocol.Choice
	Score    map[string]int
	AtFault  []string // in a technical loss
	Reason   string
	Conflict string // how the message contradicts itself

	key    string            // that the referee reveals
	nonces map[string]string // that the number follows from, as the referee says; by player
	whole  bool              // it states status and winner of the match, not of its receiver
	x      *Exchange         // the message
}

// toManager is the receiver of reports.
const toManager = "the manager"

// interpret reads an exchange about a match whose players have been identified.
func (l *League) interpret(m *match, x *Exchange) {
	switch r := x.Request.(type) {
	case *protocol.ChooseParityCall:
		player := l.playerOf(m, x)
		m.calls = append(m.calls, choiceCall{x, player, r.Timestamp, r.Deadline})
		a, ok := x.Answer.(*protocol.ChooseParityResponse)
		m.commits(player, r.DrawCommitment)
		if ok {
			m.adds(player, a.DrawNonce)
		}
		if ok && x.Status < 300 {
			m.answered(answer{x, player, a.Chosen(), len(m.calls) - 1, x.Latency, m.byTheBook(x, a, player)})
		}
	case *protocol.ChooseParityResponse:
		if x.Refused != nil || x.Failure != "" {
			return
		}
		a := answer{x: x, player: l.playerOf(m, x), choice: r.Chosen(), call: -1}
		m.adds(a.player, r.DrawNonce)
		for i, call := range m.calls {
			if call.player == a.player {
				a.call, a.after = i, x.At.Add(x.Latency).Sub(call.x.At)
			}
		}
		m.answered(a)
	case *protocol.GameInvitation:
		m.restarted = m.restarted || m.commitments[l.playerOf(m, x)] != ""
		join, _ := x.Answer.(*protocol.GameJoinAck)
		m.joins(join)
	case *protocol.GameJoinAck:
		m.joins(r)
	case *protocol.GameError:
		if player := cmp.Or(r.AffectedPlayer, r.PlayerID); protocol.Code(r.ErrorCode) == protocol.CodeTimeout && m.has(player) {
			m.timeouts = append(m.timeouts, timeoutClaim{x, player, r.Timestamp})
		}
	case *protocol.GameOver:
		t := l.told(m, r, l.playerOf(m, x))
		t.x, t.key, t.nonces = x, r.DrawKey, r.DrawNonces
		m.results = append(m.results, t)
	case *protocol.MatchResultReport:
		t := l.reported(m, r)
		t.x = x
		m.results = append(m.results, t)
	}
}

func (m *match) answered(a answer) {
	if a.player != "" && a.choice.Valid() {
		m.answers = append(m.answers, a)
	}
}

// byTheBook reports whether an answer in the HTTP response has the form that the
// protocol asks for, belongs to the call, and is signed like the player's
// acceptance of the invitation.
func (m *match) byTheBook(x *Exchange, a *protocol.ChooseParityResponse, player string) bool {
	if !x.Strict || a.Sender != "player:"+player || a.PlayerID != player || a.MatchID != m.ID || a.ConversationID != x.Request.Head().ConversationID {
		return false
	}
	for _, other := range m.exchanges {
		if joined, ok := other.Answer.(*protocol.GameJoinAck); ok && channel(other) == channel(x) {
			return joined.AuthToken == a.AuthToken
		}
	}
	return false
}

// setWinner reads the member that names the winner.
func (t *result) setWinner(m *match, known map[string]bool, winner protocol.Opt[string]) {
	name, named := winner.Get()
	switch {
	case !named && winner != protocol.Null[string]():
	case protocol.Means(protocol.Nobody, name):
		t.Decided = true
	case m.has(name):
		t.Winner, t.Decided = name, true
	case m.known() && known[name] && known[m.Players[0]] && known[m.Players[1]]:
		t.Conflict = "the winner " + name + " is neither " + m.Players[0] + " nor " + m.Players[1]
	}
}

// setStatus reads the status in the words of the protocol; others are unknown.
func (t *result) setStatus(stated string) {
	switch s := strings.ToUpper(stated); {
	case s == protocol.StatusTechnicalLoss:
		t.Status = s
	case protocol.Means(protocol.Winning, s):
		t.Status = protocol.StatusWin
	case protocol.Means(protocol.Drawing, s):
		t.Status = protocol.StatusDraw
	}
	t.whole = t.Status != "" && t.Decided
	if t.Status != protocol.StatusDraw || t.Conflict != "" {
		return
	}
	if t.Winner != "" {
		t.Conflict = "a draw with the winner " + t.Winner
	}
	t.Decided = true
}

// setAtFault notes who is at fault in a technical loss: the players it names or,
// if it names none, everybody but the winner.
func (t *result) setAtFault(m *match, named []string) {
	if t.Status != protocol.StatusTechnicalLoss {
		return
	}
	if t.Winner != "" && slices.Contains(named, t.Winner) {
		t.Conflict = t.Winner + " wins and is at fault"
	}
	t.AtFault = slices.DeleteFunc(slices.Clone(named), func(id string) bool { return !m.has(id) })
	if len(named) > 0 || !t.Decided || !m.known() {
		return
	}
	for _, p := range m.Players {
		if p != t.Winner {
			t.AtFault = append(t.AtFault, p)
		}
	}
}

// told reads a result that was sent to a player, "" if it is unknown to whom.
func (l *League) told(m *match, r *protocol.GameOver, self string) result {
	g := r.Stated(self, m.other(self))
	t := result{To: cmp.Or(self, "a player"), Drawn: g.DrawnNumber, Choices: g.Choices, Reason: g.Reason, Parity: g.NumberParity.Value()}
	if points, ok := r.PointsEarned.Get(); ok && self != "" {
		t.Score = map[string]int{self: points}
	}
	stated, winner := g.Status, g.WinnerPlayerID
	t.setWinner(m, l.people.known, winner)
	switch {
	case protocol.Means(protocol.Losing, stated):
		stated = protocol.StatusWin
		if t.Winner == "" {
			t.Winner = m.other(self)
			t.Decided = t.Winner != ""
		}
	case protocol.Means(protocol.Winning, stated):
		if t.Winner == "" {
			if t.Decided = personal(r) && m.has(self); t.Decided {
				t.Winner = self
			}
		}
	}
	explicit := winner != protocol.Opt[string]{}
	t.setStatus(stated)
	t.whole = t.whole && explicit
	t.setAtFault(m, g.TechnicalLossPlayerIDs)
	return t
}

// personal reports whether a result is worded for its receiver: its status WIN
// without a winner then means that the receiver has won.
func personal(r *protocol.GameOver) bool {
	_, points := r.PointsEarned.Get()
	return r.GameResult == nil || r.YourChoice != "" || points
}

// reported reads a result that was sent to the manager.
func (l *League) reported(m *match, r *protocol.MatchResultReport) result {
	t := result{To: toManager, Score: r.Result.Score}
	t.setWinner(m, l.people.known, r.Result.Winner)
	d := r.Result.Details
	if d == nil {
		return t
	}
	t.Drawn, t.Choices, t.Reason, t.Parity = d.DrawnNumber, d.Choices, d.Reason, d.NumberParity.Value()
	if n, ok := t.Drawn.Get(); ok && n == 0 && len(t.Choices) == 0 {
		t.Drawn = protocol.Opt[int]{} // a placeholder
	}
	t.setStatus(d.Status)
	if t.Status == protocol.StatusWin && t.Decided && t.Winner == "" && t.Conflict == "" {
		t.Conflict = "a win without a winner"
	}
	t.setAtFault(m, d.TechnicalLossPlayerIDs)
	return t
}
