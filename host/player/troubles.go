package player

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/strategies"
)

// DefaultOverdue is how long an agent waits for an invitation to a match that was announced, or for
// any message after its registration, before it says so: in that time others play.
const DefaultOverdue = 30 * time.Second

// The causes of an event of the kind Trouble.
const (
	CauseUncalled  = "uncalled"  // no message since the registration
	CauseUninvited = "uninvited" // nobody invited the agent to its match
	CauseOtherID   = "other_id"  // the agent is called by an id that is not its own
	CauseUnread    = "unread"    // the referee has not counted an answer
	CauseLate      = "late"      // perhaps since it took long
	CauseClash     = "clash"     // two agents have one id
	CauseRefused   = "refused"   // the agent has refused a request
	CauseResult    = "result"    // a result is not what the facts give
	CauseDraw      = "draw"      // a drawn number does not keep the referee's commitment
)

// lateAnswer is a time for a choice that some referees do not wait.
const lateAnswer = 4 * time.Second

// trouble reports what may cost the agent its matches, once for each key and league.
func (p *Player) trouble(s *leagueState, key string, e Event) {
	e.Kind = Trouble
	p.mu.Lock()
	known := s.said[e.Cause+key]
	s.said[e.Cause+key] = true
	p.mu.Unlock()
	if !known {
		p.emit(e)
	}
}

// compare holds a result to the choice that the agent gave, and to the choices and the
// number that stand beside it. Each kind of difference is reported once in a league.
func (p *Player) compare(s *leagueState, m *match, t strategies.Turn, r dialect.Outcome) {
	own := p.calledIn(m)
	e := Event{Cause: CauseResult, Match: m.Match, Round: t.Round, Opponent: t.Opponent,
		Advice: "record the league (--record FILE) and show the referee's author 'strategylab trace show FILE --match " + m.Match + "'"}
	counted := r.Choices[own]
	if m.asked && m.answer.Fault == game.NoFault && counted.Valid() && string(counted) != m.answer.Choice.String() {
		e.Error = fmt.Sprintf("this agent chose %s, and the result counts %s: the referee has not read the answer", m.answer.Choice, counted)
		p.trouble(s, "choice", e)
	}
	if winner, known := r.ByFacts(own, t.Opponent); known && r.Status != protocol.StatusTechnicalLoss && winner != r.Winner {
		by := func(id string) string {
			if id == "" {
				return "a draw"
			}
			return "a win of " + id
		}
		e.Error = fmt.Sprintf("the result says %s; by its choices and its number it is %s", by(r.Winner), by(winner))
		p.trouble(s, "winner", e)
	}
}

// after runs something after Config.Overdue, unless the agent has left by then.
// Agents in leagues of their own host do not look after themselves.
func (p *Player) after(do func()) {
	if p.cfg.Overdue < 0 || p.cfg.Mode == protocol.Strict || p.cfg.League != nil {
		return
	}
	p.inBackground(func() {
		if agent.Wait(p.life, p.cfg.Overdue) == nil {
			do()
		}
	})
}

// awaitCalls reports that nobody has called the agent since it registered.
func (p *Player) awaitCalls(s *leagueState) {
	p.after(func() {
		if p.spoken.Load() || p.current() != s {
			return
		}
		p.trouble(s, "", Event{
			Cause: CauseUncalled, Error: fmt.Sprintf("nobody has called %s in the %v since it registered", p.ID(), p.cfg.Overdue),
			Advice: "if the league is not running yet, start it; otherwise " + p.reachAdvice(),
		})
	})
}

// uninvited reports the agent's announced matches to which nobody has invited it,
// as far as they are due.
func (p *Player) uninvited(s *leagueState, why string, due func(announcement) bool) {
	own := p.ID()
	var all []announcement
	p.mu.Lock()
	for id := range s.awaited {
		if a := s.announced[id]; due(a) && !s.turned[id] {
			all = append(all, a)
			delete(s.awaited, id)
		}
	}
	p.mu.Unlock()
	slices.SortFunc(all, func(a, b announcement) int { return a.at.Compare(b.at) })
	for _, a := range all {
		p.trouble(s, a.id, Event{
			Cause: CauseUninvited, Match: a.id, Round: a.round, Opponent: a.opponentOf(own), Referee: a.referee,
			Error: "nobody has invited " + own + " to this match" + why, Advice: p.reachAdvice(),
		})
	}
}

// reachAdvice says what to change for an agent that others do not reach.
func (p *Player) reachAdvice() string {
	id := p.ID()
	expected := agent.PortOf(protocol.RolePlayer, id)
	endpoint, err := url.Parse(p.cfg.Endpoint)
	if err != nil {
		return "set the address under which others reach this player with --public-url"
	}
	port, _ := strconv.Atoi(endpoint.Port())
	listens := expected == port || p.cfg.ListensAt != nil && p.cfg.ListensAt(expected)
	manager, err := url.Parse(p.cfg.Manager.URL)
	switch {
	case expected != 0 && !listens:
		return fmt.Sprintf("programs that go by the id call %s at port %d: free that port, and listen there with --listen %s", id, expected, net.JoinHostPort(endpoint.Hostname(), strconv.Itoa(expected)))
	case err == nil && !jsonrpc.IsLoopback(manager.Hostname()) && jsonrpc.IsLoopback(endpoint.Hostname()):
		return fmt.Sprintf("%s is reached from this machine only: use --listen 0.0.0.0:%d --public-url http://THIS-MACHINE:%d/mcp", p.cfg.Endpoint, port, port)
	case expected == 0:
		return fmt.Sprintf("programs that go by the id cannot tell the port of %s from it: ask for an id such as P04 with --id P04, or check that the referee reaches %s", id, p.cfg.Endpoint)
	}
	return fmt.Sprintf("check that a referee runs and reaches %s; --public-url sets another address", p.cfg.Endpoint)
}

// knowsIDs reports whether the league knows the agent by its id, and what comes for
// another is not for it. Under a foreign manager it may be known by several.
func (p *Player) knowsIDs() bool {
	return p.cfg.Mode == protocol.Strict || p.member.Me.ManagerProved()
}

// noteID reports that a referee calls the agent by another id.
func (p *Player) noteID(s *leagueState, in *wire.Exchange, id string) {
	own := p.ID()
	if id == "" || own == "" || id == own || p.knowsIDs() {
		return
	}
	p.trouble(s, id, Event{
		Cause: CauseOtherID, Match: in.Header.MatchID, Referee: in.Header.Sender,
		Error:  fmt.Sprintf("%s came for %q, but this player is %s; answered all the same", in.Type, id, own),
		Advice: fmt.Sprintf("ask the manager for that id with --id %s", id),
	})
}

// addressee returns the id of the player for which an invitation is, empty if it does not say.
func addressee(in *wire.Exchange) string {
	var to struct {
		Player    string `json:"player_id"`
		Recipient string `json:"recipient_id"`
	}
	_ = json.Unmarshal(in.Raw, &to) // what it does not say is empty
	if to.Player != "" {
		return to.Player
	}
	return to.Recipient
}

// noteClash reports that another agent has the agent's id.
func (p *Player) noteClash(s *leagueState, match, what string) {
	p.trouble(s, "", Event{
		Cause: CauseClash, Match: match, Error: fmt.Sprintf("two players are %s: %s", p.ID(), what),
		Advice: "end this player, and start it again with another --id",
	})
}

// noteSecond reports an invitation that contradicts an earlier one to the same match,
// in which nothing has happened since: the referee has two players under the agent's
// id, and the agent is reached as both.
func (p *Player) noteSecond(s *leagueState, match string, msg *protocol.GameInvitation) {
	role := roleOf(msg.RoleInMatch)
	p.mu.Lock()
	m := s.matches[match]
	second := m != nil && m.joins > 0 && !m.called && m.Role != game.NoRole && role != game.NoRole && role != m.Role
	p.mu.Unlock()
	if second {
		p.noteClash(s, match, "it is invited to one match as PLAYER_A and as PLAYER_B")
	}
}

// maxRefused limits the refusals that are reported in a league.
const maxRefused = 20

// refusing reports a request that the agent is about to refuse: its sender
// may count the match as lost, and says nothing to the agent.
func (p *Player) refusing(_ context.Context, in *wire.Exchange, why *protocol.Error) *protocol.Error {
	unread := in.Type == "" && (in.Header.MessageType != "" || in.Method == "ping") // acknowledged, or answered enough
	leaving := why.Code == protocol.CodePlayerDisconnect || why.Code == protocol.CodeInvalidState
	if p.cfg.League != nil || unread || leaving {
		return why
	}
	p.spoken.Store(true)
	s := p.current()
	p.mu.Lock()
	s.refused++
	s.turned[in.Header.MatchID] = true
	flood := s.refused > maxRefused
	p.mu.Unlock()
	if flood {
		return why
	}
	what := cmp.Or(string(in.Type), in.Method, "a message without a type")
	match := in.Header.MatchID
	if match == "" && (in.Type == protocol.TypeGameInvitation || in.Type == protocol.TypeChooseParityCall) {
		match = "?"
	}
	e := Event{Cause: CauseRefused, Match: match, Referee: agent.SenderOf(in), Error: fmt.Sprintf("refused: %s from %s: %s", what, agent.SenderOf(in), agent.Brief(why))}
	e.Advice = "record the messages with --record FILE and look at them with strategylab trace show FILE"
	if p.cfg.Mode == protocol.Strict {
		e.Advice = "with --validation tolerant the player takes more"
	}
	p.trouble(s, what+string(why.Code), e)
	return why
}

// unread reports a body that the server has refused before anybody has read it.
func (p *Player) unread(rpc *jsonrpc.Request, r *jsonrpc.Refusal) *jsonrpc.Error {
	switch r.Reason {
	case jsonrpc.ReasonBadJSON, jsonrpc.ReasonBatch, jsonrpc.ReasonBadShape, jsonrpc.ReasonTooLarge, jsonrpc.ReasonMediaType:
		p.refusing(p.life, &wire.Exchange{RPC: rpc, Request: &dialect.Request{}}, &protocol.Error{Detail: r.Detail})
	}
	return nil
}

// noteTable reports that the standings count matches of an agent that nobody has invited to any.
func (p *Player) noteTable(s *leagueState, table []protocol.Standing) {
	own := p.ID()
	isOwn := func(row protocol.Standing) bool { return own != "" && row.PlayerID == own }
	i := slices.IndexFunc(table, isOwn)
	if i >= 0 && p.cfg.League == nil {
		if name := table[i].DisplayName; otherName(name, p.cfg.Name, own) {
			p.noteClash(s, "", fmt.Sprintf("the standings list %s as %q, and this player is %q", own, name, p.cfg.Name))
		}
		if slices.ContainsFunc(table[i+1:], isOwn) {
			p.noteClash(s, "", "the standings list "+own+" twice")
		}
	}
	p.mu.Lock()
	contact := len(s.matches) > 0 || len(s.announced) > 0
	p.mu.Unlock()
	if i < 0 || table[i].Played.Value() == 0 || contact {
		return
	}
	played := "1 match"
	if n := table[i].Played.Value(); n > 1 {
		played = fmt.Sprintf("%d matches", n)
	}
	p.trouble(s, "", Event{
		Cause: CauseUninvited, Error: fmt.Sprintf("the standings count %s of %s, but nobody has invited it to any", played, own),
		Advice: p.reachAdvice(),
	})
}

// otherName reports whether a name in the standings is that of another agent than the one that has
// introduced itself by own, under an id. Some managers shorten names or make some up from ids.
func otherName(listed, own, id string) bool {
	listed, own, id = strings.ToLower(strings.TrimSpace(listed)), strings.ToLower(own), strings.ToLower(id)
	number := strings.TrimLeft(id, "p0")
	return listed != "" && !strings.Contains(own, listed) && !strings.Contains(listed, own) && !strings.Contains(listed, id) && (number == "" || !strings.Contains(listed, number))
}

// noteLoss reports what a referee says of a match that the agent has answered: a technical loss or
// an error. It names the likely cause, and has the referee answered in another form.
func (p *Player) noteLoss(s *leagueState, m *match, says, why string) {
	e := p.noteMissed(m)
	p.mu.Lock()
	answered, joined, took, who := m.answered, m.joins > 0, m.took, m.speaker
	p.mu.Unlock()
	if why != "" {
		says += fmt.Sprintf(" (%s)", dialect.Clip(why, dialect.MaxWords))
	}
	switch {
	case !answered && !joined:
		return
	case answered && took > lateAnswer:
		e.Cause, e.Error = CauseLate, fmt.Sprintf("%s %s; the answer took %v", who, says, took.Round(time.Millisecond))
		e.Advice = "use a faster strategy: some referees wait 5 s for a choice"
	case answered:
		e.Error = who + " " + says + ", although it was given a choice: perhaps it has not read it"
	default:
		e.Error = who + " " + says + ", although the player has joined: perhaps it has not read that"
	}
	p.trouble(s, m.Match, e)
}
