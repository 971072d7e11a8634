package audit

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// choiceCall is a request for a choice.
type choiceCall struct {
	player   string
	at       time.Time
	signed   string // the referee's timestamp
	deadline string
}

// answer is the choice of a player.
type answer struct {
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
	player string
	at     time.Time
	signed string
}

// Result is the result of a match as far as one message states it. What it does
// not state, or states in words that only its sender knows, stays unknown.
type Result struct {
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

	opened opening
	whole  bool // it states status and winner of the match, not of its receiver
	at     int  // index of the message
}

// interpret reads an exchange about a match whose players have been identified.
func (e *Evidence) interpret(m *Match, at int, x *trace.Exchange) {
	switch r := x.Request.(type) {
	case *protocol.ChooseParityCall:
		player := e.playerOf(m, x)
		m.calls = append(m.calls, choiceCall{player, x.At, r.Timestamp, r.Deadline})
		a, ok := x.Answer.(*protocol.ChooseParityResponse)
		m.commits(player, r, a)
		if ok && x.Status < 300 {
			m.answered(answer{player, a.Chosen(), len(m.calls) - 1, x.Latency, m.byTheBook(x, a, player)})
		}
	case *protocol.ChooseParityResponse:
		if x.Refused != nil || x.Failure != "" {
			return
		}
		a := answer{player: e.playerOf(m, x), choice: r.Chosen(), call: -1}
		m.adds(a.player, r.DrawNonce)
		for i, call := range m.calls {
			if call.player == a.player {
				a.call, a.after = i, x.At.Add(x.Latency).Sub(call.at)
			}
		}
		m.answered(a)
	case *protocol.GameInvitation:
		join, _ := x.Answer.(*protocol.GameJoinAck)
		m.joins(join)
	case *protocol.GameJoinAck:
		m.joins(r)
	case *protocol.GameError:
		if player := cmp.Or(r.AffectedPlayer, r.PlayerID); protocol.Code(r.ErrorCode) == protocol.CodeTimeout && m.has(player) {
			m.timeouts = append(m.timeouts, timeoutClaim{player, x.At, r.Timestamp})
		}
	case *protocol.GameOver:
		t := e.told(m, r, e.playerOf(m, x))
		t.at, t.opened = at, opening{r.DrawKey, r.DrawNonces}
		m.results = append(m.results, t)
	case *protocol.MatchResultReport:
		t := e.reported(m, r)
		t.at = at
		m.results = append(m.results, t)
	}
}

func (m *Match) answered(a answer) {
	if a.player != "" && a.choice.Valid() {
		m.answers = append(m.answers, a)
	}
}

// strict decodes answers that no referee may refuse for their form.
var strict = dialect.NewCodec(protocol.Strict, dialect.Known()...)

// byTheBook reports whether an answer in the HTTP response has the form that the
// protocol asks for, belongs to the call, and is signed like the player's
// acceptance of the invitation.
func (m *Match) byTheBook(x *trace.Exchange, a *protocol.ChooseParityResponse, player string) bool {
	raw, err := dialect.ParseAnswer(x.Status, x.RawAnswer)
	if err != nil || raw.Result == nil || a.Sender != "player:"+player || a.PlayerID != player || a.MatchID != m.ID || a.ConversationID != x.Request.Head().ConversationID {
		return false
	}
	if _, err := strict.ReadAnswer(x.Type, raw); err != nil {
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
func (t *Result) setWinner(m *Match, known map[string]bool, winner protocol.Opt[string]) {
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
func (t *Result) setStatus(stated string) {
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
func (t *Result) setAtFault(m *Match, named []string) {
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
func (e *Evidence) told(m *Match, r *protocol.GameOver, self string) Result {
	o, _ := dialect.OutcomeFor(r, self, m.other(self)) // contradictions are judged here, by what is known
	delete(o.Choices, "")
	delete(o.Score, "")
	t := Result{To: cmp.Or(self, "a player"), Drawn: o.Drawn, Choices: o.Choices, Score: o.Score, Reason: o.Reason}
	stated := r.Result
	var winner protocol.Opt[string]
	var atFault []string
	if g := r.GameResult; g != nil {
		stated, winner, atFault, t.Parity = g.Status, g.WinnerPlayerID, g.TechnicalLossPlayerIDs, g.NumberParity.Value()
	}
	t.setWinner(m, e.people.known, winner)
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
	t.setAtFault(m, atFault)
	return t
}

// personal reports whether a result is worded for its receiver: its status WIN
// without a winner then means that the receiver has won.
func personal(r *protocol.GameOver) bool {
	_, points := r.PointsEarned.Get()
	return r.GameResult == nil || r.YourChoice != "" || points
}

// reported reads a result that was sent to the manager.
func (e *Evidence) reported(m *Match, r *protocol.MatchResultReport) Result {
	t := Result{To: "the manager", Score: r.Result.Score}
	t.setWinner(m, e.people.known, r.Result.Winner)
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
