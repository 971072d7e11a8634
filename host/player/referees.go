package player

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// authenticate judges who speaks, before anything else about a message is judged.
func (p *Player) authenticate(ctx context.Context, in *wire.Exchange) (err error) {
	p.spoken.Store(true)
	switch in.Type {
	case protocol.TypeRoundAnnouncement, protocol.TypeLeagueStandingsUpdate, protocol.TypeRoundCompleted, protocol.TypeLeagueCompleted:
		err = p.member.FromManager(ctx, in)
	case protocol.TypeGameInvitation, protocol.TypeChooseParityCall, protocol.TypeGameOver, protocol.TypeGameError:
		p.member.Me.AwaitRegistration(ctx, p.cfg.Mode)
		err = p.fromReferee(in)
	}
	if refusal, is := errors.AsType[*protocol.Error](err); is && p.ID() != "" {
		_ = refusal.With("player_id", p.ID())
	}
	return err
}

// fromReferee checks the match key. Under a manager that knows none, the first
// token seen for a match holds for it.
func (p *Player) fromReferee(in *wire.Exchange) error {
	role, referee := p.refereeOf(in)
	if in.Header.Sender != "" && role != protocol.RoleReferee {
		return wire.RefuseToken(in, protocol.CodeTokenInvalid, "%s comes from a referee, not from %q", in.Type, in.Header.Sender)
	}
	given := in.Header.AuthToken
	var before invited
	m := p.find(p.current(), in.Header.MatchID)
	if m != nil {
		p.mu.Lock()
		before = m.invited
		p.mu.Unlock()
	}
	if before.Keyed && before.Referee == referee && credential.SameToken(given, before.Signed) {
		return nil // as in the invitation, where the key was checked
	}
	if keys, ok := p.member.Me.Keys(in, referee); ok && credential.SameToken(given, keys.Send) {
		return nil
	}
	if p.cfg.Mode == protocol.Tolerant && (!p.member.Me.ManagerProved() || p.unkeyed(in.Header.MatchID, referee)) {
		if m == nil || given == before.Signed && !before.Keyed {
			return nil
		}
		return wire.RefuseToken(in, protocol.CodeTokenInvalid, "match %s was opened with another auth_token", in.Header.MatchID)
	}
	if given == "" {
		return wire.RefuseToken(in, protocol.CodeTokenMissing, "%s bears no auth_token; the referee signs with the match key that the manager gave it", in.Type)
	}
	return wire.RefuseToken(in, protocol.CodeTokenInvalid, "the auth_token of %s is not the key of match %s", in.Type, in.Header.MatchID)
}

// refereeOf returns as what the sender of a message about a match signs, and its
// id. Under a manager that has not proved itself there are programs that sign with
// their id alone, with a title, or as the manager that conducts its matches itself;
// what they sign with tells them apart all the same.
func (p *Player) refereeOf(in *wire.Exchange) (role protocol.Role, id string) {
	role, id, err := protocol.ParseSender(in.Header.Sender)
	if p.knowsIDs() || role == protocol.RoleReferee || role == protocol.RolePlayer {
		return role, id
	}
	if err != nil {
		id = in.Header.Sender
	}
	return protocol.RoleReferee, id
}

// unkeyed reports whether the manager has said that this referee, which conducts the
// match as far as it has said, signs without match keys.
func (p *Player) unkeyed(matchID, referee string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	a, known := p.league.announced[matchID]
	if known && referee != "" && a.referee != referee {
		return false
	}
	return p.league.unkeyed[cmp.Or(referee, a.referee)]
}

// sign settles what the agent signs its answers in a match with: the match key where the referee
// has proved to have one, and otherwise, as the protocol says, the agent's own token, but only to a
// referee that the manager has named for the match. A referee without the key never takes the place
// of one with it; one with a key of its own does, since the match may have been given to it, and is
// answered with that. The player's lock is held.
func (p *Player) sign(s *leagueState, m *match, in *wire.Exchange) {
	role, referee := p.refereeOf(in)
	if role == "" && in.Header.Sender != "" || m.Keyed && m.Referee == referee {
		return
	}
	given := in.Header.AuthToken
	if keys, ok := p.member.Me.Keys(in, referee); ok && credential.SameToken(given, keys.Send) {
		m.Referee, m.Signed, m.Keyed, m.Reply = referee, given, true, keys.Expect
		return
	}
	if m.Keyed {
		return
	}
	m.Referee, m.Signed, m.Reply = referee, given, ""
	if a, known := s.announced[m.Match]; known && (a.referee == "" || a.referee == referee) || !known && s.referees[referee] {
		m.Reply = p.member.Me.Token()
	}
}

// answerDialect returns the dialect in which a message is answered.
func (p *Player) answerDialect(in *wire.Exchange) *dialect.Dialect {
	return p.member.Answers.Dialect(agent.SenderOf(in), in.Dialect)
}

// heed notes what the names of a referee's methods show. Among referees whose methods are types in
// lower case there are some that read no answer but one that is a request. One that is of another
// kind than the manager, so that nothing is known of it, is given both in one document.
func (p *Player) heed(in *wire.Exchange) (who string) {
	who = agent.SenderOf(in)
	managers, _, _ := strings.Cut(p.cfg.Manager.Speaks().Name, "+")
	if p.cfg.Mode == protocol.Tolerant && in.Dialect == dialect.LowerMethod && managers != in.Dialect.Name {
		p.member.Answers.Prefer(who, dialect.TraitBoth)
	}
	return who
}

// lostAnswers is how often a referee repeats a request of a match for other reasons
// than that it does not read the answers: a retry after one that was lost.
const lostAnswers = 1

// noteJoined notes that a match has been joined. A referee that invites again and again, although
// it has been answered, may not read answers of that kind; one that has the match key does.
func (p *Player) noteJoined(in *wire.Exchange, m *match, join *protocol.GameJoinAck) {
	who := p.heed(in)
	p.mu.Lock()
	again, keyed, form := m.joins > lostAnswers && !m.called, m.Keyed, m.form
	if m.joins++; m.joins == 1 {
		m.joined = time.Now()
	}
	m.speaker = who
	p.mu.Unlock()
	if keyed || p.cfg.Mode != protocol.Tolerant {
		return
	}
	p.noteUncalled(who, m)
	if again {
		p.member.Answers.Missed(who, form, false)
	}
	p.mu.Lock()
	m.form = p.member.Answers.Form(who)
	p.mu.Unlock()
	p.postLater(in, m, join)
}

// noteUncalled takes the invitation to a match for evidence of an earlier one to which
// the same referee has invited the agent, and never called it for its choice: that it has
// not read the join. So is a silence of Config.Overdue.
func (p *Player) noteUncalled(who string, next *match) {
	s := p.current()
	p.mu.Lock()
	var left *match
	for _, m := range s.matches {
		if m.speaker == who && m != next && (m.Round < next.Round || next.Round == 0) && m.uncalled() && time.Since(m.joined) >= p.cfg.Patience && (left == nil || m.Round > left.Round) {
			left = m
		}
	}
	first := next.joins == 1
	p.mu.Unlock()
	if left != nil {
		p.reportUncalled(s, left, "invites to "+next.Match+" now")
	}
	if first {
		p.after(func() {
			p.mu.Lock()
			silent := next.uncalled()
			p.mu.Unlock()
			if silent && p.current() == s {
				p.reportUncalled(s, next, fmt.Sprintf("has been silent about it for %v", p.cfg.Overdue))
			}
		})
	}
}

// uncalled reports whether the match was joined and the referee has neither called for
// the choice nor ended it. The player's lock is held.
func (m *match) uncalled() bool {
	return m.joins > 0 && !m.called && !m.answered && !m.ended && !m.missed
}

// reportUncalled reports a match that a referee has not continued, once a referee, and
// has it answered in another form.
func (p *Player) reportUncalled(s *leagueState, m *match, since string) {
	e := p.noteMissed(m)
	e.Error = fmt.Sprintf("%s invited to this match, was answered, has not called for the choice, and %s: perhaps it has not read the answer", e.Referee, since)
	p.trouble(s, "join of "+e.Referee, e)
}

// noteCalled notes that the referee calls for the choice, and so has continued after the join. One
// that calls again and again, although it has been answered, may not have read the choice.
func (p *Player) noteCalled(in *wire.Exchange, m *match) {
	who := p.heed(in)
	p.mu.Lock()
	defer p.mu.Unlock()
	first := !m.called
	if m.answered {
		m.repeats++
	}
	if first {
		m.called = true
		close(m.calling)
	}
	m.speaker = who
	switch {
	case p.cfg.Mode != protocol.Tolerant:
		return
	case first && m.joins > 0:
		p.member.Answers.Joined(who, m.posted)
	case m.repeats > lostAnswers && !m.Keyed:
		p.member.Answers.Missed(who, m.form, true)
	}
	m.form = p.member.Answers.Form(who)
}

// noteMissed notes that a referee has counted a technical loss of the agent, or takes it for absent,
// although the agent has answered. It returns the event that says so, with what becomes of the form
// in which the referee is answered.
func (p *Player) noteMissed(m *match) Event {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := Event{Cause: CauseUnread, Match: m.Match, Round: m.Round, Opponent: m.Opponent, Referee: m.speaker}
	e.Advice = "if this repeats, set the form of answers with --dialect, such as contracts+" + dialect.TraitRequests
	missed := (m.joins > 0 && !m.called || m.answered) && !m.Keyed && !m.missed
	m.missed = m.missed || missed
	var posted []string
	if m.posted {
		posted = []string{dialect.TraitAsync}
	}
	if missed && p.cfg.Mode == protocol.Tolerant && p.member.Answers.Missed(m.speaker, m.form, m.answered, posted...) {
		e.Advice = fmt.Sprintf("answered as %s so far, and as %s from now on; ", formNames[m.form], formNames[p.member.Answers.Form(m.speaker)]) + e.Advice
	}
	return e
}

// formNames describe the forms of answers.
var formNames = map[string]string{
	"": "a result", dialect.TraitBoth: "a result and a request in one", dialect.TraitAsync: "a result and a message of its own", dialect.TraitRequests: "a request",
}

// noteCounted notes that a referee has counted the agent's choice.
func (p *Player) noteCounted(m *match) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m.answered {
		p.member.Answers.Proven(m.speaker)
	}
}

// postLater sends the join as a message of its own: at once to a referee that is known to want
// that, and to others when they have not called for the choice after a while.
func (p *Player) postLater(in *wire.Exchange, m *match, join *protocol.GameJoinAck) {
	endpoint := p.refereeEndpoint(in)
	async := p.answerDialect(in).Has(dialect.TraitAsync)
	if endpoint == "" || (p.cfg.Patience < 0 || p.cfg.FixedAnswers) && !async {
		return
	}
	p.mu.Lock()
	once := m.posting
	m.posting = true
	p.mu.Unlock()
	if once {
		return
	}
	message := *join
	message.Header = in.Header.Answer(protocol.TypeGameJoinAck, p.member.Me.Sender(), protocol.Timestamp(p.cfg.Now()))
	message.AuthToken = join.AuthToken
	d := in.Dialect // with request ids as the referee's own
	if in.RPC != nil && jsontext.Value(in.RPC.ID).Kind() != '"' {
		d = d.With(dialect.TraitNumericIDs)
	}
	p.inBackground(func() {
		if async || p.silentFor(m) {
			p.post(endpoint, d, m, &message)
		}
	})
}

// silentFor waits for the call for a choice, and reports whether it has not
// come within Config.Patience.
func (p *Player) silentFor(m *match) bool {
	select {
	case <-m.calling:
		return false
	case <-p.life.Done():
		return false
	case <-time.After(p.cfg.Patience):
		return true
	}
}

func (p *Player) post(endpoint string, d *dialect.Dialect, m *match, message *protocol.GameJoinAck) {
	ctx, cancel := context.WithTimeout(p.life, p.cfg.Timeout)
	defer cancel()
	p.setPosted(m, true) // the call may come before the answer to this
	if _, err := p.cfg.Caller.Call(ctx, wire.NewPeer(endpoint, d), message); err != nil {
		p.setPosted(m, false)
		p.cfg.Log.Info("referee does not accept a join as a request", "match", m.Match, "url", endpoint, "error", err)
	}
}

func (p *Player) setPosted(m *match, posted bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m.posted = posted
}

// refereeEndpoint returns where the referee of a match takes messages: as it
// says itself, as the manager has announced, or where the protocol expects a
// referee of its number, on the manager's machine.
func (p *Player) refereeEndpoint(in *wire.Exchange) string {
	var said struct {
		Endpoint string `json:"referee_endpoint"`
		ReplyTo  string `json:"reply_to"`
	}
	_ = json.Unmarshal(in.Raw, &said) // what it does not say is empty
	p.mu.Lock()
	announced := p.league.announced[in.Header.MatchID].endpoint
	p.mu.Unlock()
	for _, endpoint := range []string{announced, said.Endpoint, said.ReplyTo} {
		if u, err := url.Parse(endpoint); err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") {
			return endpoint
		}
	}
	_, id := p.refereeOf(in)
	return agent.DefaultEndpoint(p.cfg.Manager.URL, protocol.RoleReferee, id)
}
