package kit

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
	"github.com/strategylab/strategylab/host/wire"
)

// League is the id of the league that the suite's own manager runs.
const League = "conformance"

// The ids of the suite's referees, and of its players.
const (
	OwnReferee   = "REF01"
	OtherReferee = "REF02"
)

// Other returns the other of two things: the first, unless that is it.
func Other[E comparable](than, first, second E) E {
	if than == first {
		return second
	}
	return first
}

// Registrar is the manager with which a player or a referee under test
// registers, and in whose name it is then sent messages.
type Registrar struct {
	Session  *Session
	Endpoint *Endpoint

	Monitor // guards what follows
	// ID and Token are those of the agent, once they are known.
	ID       string
	Token    string
	Verifier credential.Verifier
	// Rounds counts the rounds that have begun.
	Rounds int
	// Renewals counts the registrations that the suite has provoked.
	Renewals int

	attempts []*Registration
}

// Registration is one attempt of the agent to register.
type Registration struct {
	*Message
	Meta Fields // player_meta or referee_meta
	// Name and Endpoint are what the agent says of itself, wherever our own manager finds it.
	Name, Endpoint string

	answered time.Duration // after which the contact endpoint answered an HTTP request
	failed   error         // why it did not answer
}

// NewRegistrar listens as the manager of an agent. The caller closes its endpoint.
func NewRegistrar(ctx context.Context, s *Session) (*Registrar, error) {
	e, err := Listen(ctx, s.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen as the manager of the %s: %w", s.Role, err)
	}
	s.Registrar = &Registrar{Session: s, Endpoint: e, ID: s.ID, Monitor: Monitor{Life: ctx}}
	return s.Registrar, nil
}

// Await waits until the agent has registered and can be reached. An agent that
// listens but does not register is given an id and a token all the same.
func (r *Registrar) Await(ctx context.Context) error {
	s := r.Session
	s.Listening(r.Endpoint.URL)
	s.Say(fmt.Sprintf("start the %s with the manager %s; it has %v to register", s.Role, r.Endpoint.URL, s.Wait))
	r.Until(s.Wait, func() bool { return len(r.accepted()) > 0 })
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if r.Registered() {
		return s.AwaitAgent(ctx)
	}
	if err := Reach(ctx, s.URL); err != nil {
		return s.unreachable(err)
	}
	s.Say(fmt.Sprintf("the %s has not registered; checks that need its registration are skipped", s.Role))
	r.Lock()
	defer r.Unlock()
	s.Peer = wire.GuessPeer(s.URL, dialect.Contracts)
	r.admit("")
	return nil
}

// accepted returns the registrations that were accepted: all, unless the manager was busy first. The
// lock is held.
func (r *Registrar) accepted() []*Registration {
	if r.Session.Busy && len(r.attempts) > 0 {
		return r.attempts[1:]
	}
	return r.attempts
}

// Registered reports whether the agent has registered.
func (r *Registrar) Registered() bool {
	return r.Until(0, func() bool { return len(r.accepted()) > 0 })
}

// Attempts returns all attempts to register, in order.
func (r *Registrar) Attempts() (all []*Registration) {
	r.Do(func() { all = slices.Clone(r.attempts) })
	return all
}

// NeedsRegistration skips a check of an agent that has not registered.
func (r *Registrar) NeedsRegistration(t *T) {
	if !r.Registered() {
		t.Skip("the %s is not registered with this manager: start it with the manager %s", t.Session.Role, r.Endpoint.URL)
	}
}

// Name implements Peers.
func (r *Registrar) Name() (name string) {
	if all := r.Attempts(); len(all) > 0 {
		name = all[0].Name
	}
	return name
}

// admit gives the agent an id, unless it has one: what it asks for or the first of its role; and a
// token. The lock is held.
func (r *Registrar) admit(asked string) {
	r.ID = cmp.Or(r.ID, asked, protocol.NumberedID(protocol.Role(r.Session.Role), 1))
	r.Token = NewToken(r.ID)
	r.Verifier = credential.NewVerifier(r.Token)
}

const maxAttempts = 100 // that are kept

// Register answers a registration. Before that it tests whether the agent already listens.
func (r *Registrar) Register(in *Message) Response {
	in.To = "the manager"
	a := &Registration{Message: in, Meta: in.Fields.Object(string(r.Session.Role) + "_meta")}
	a.Name, a.Endpoint = a.Meta.Text("display_name"), a.Meta.Text("contact_endpoint")
	switch m := in.Request.(type) {
	case *protocol.LeagueRegisterRequest:
		a.Name, a.Endpoint = m.Meta.DisplayName, m.Meta.ContactEndpoint
	case *protocol.RefereeRegisterRequest:
		a.Name, a.Endpoint = m.Meta.DisplayName, m.Meta.ContactEndpoint
	}
	began := time.Now()
	// By default 2 s: the agent waits longer for the answer to its registration.
	ctx, cancel := context.WithTimeout(context.Background(), r.Session.Timeout*2/5)
	_, a.failed = r.Session.transport.RoundTrip(ctx, &jsonrpc.Outgoing{Method: http.MethodGet, URL: a.Endpoint, MaxAnswer: maxMessage})
	cancel()
	a.answered = time.Since(began)
	r.Lock()
	defer r.Unlock()
	defer r.Notify()
	if len(r.attempts) < maxAttempts {
		r.attempts = append(r.attempts, a)
	}
	if r.Session.Busy && len(r.attempts) == 1 {
		busy := RespondBusy(in.Raw)
		busy.Header = http.Header{"Retry-After": {"1"}}
		return busy
	}
	if r.Token == "" {
		role, asked, _ := protocol.ParseSender(in.Fields.Text("sender"))
		if _, is := protocol.IDNumber(role, asked); !is || string(role) != string(r.Session.Role) {
			asked = ""
		}
		r.admit(asked)
		speaks, err := dialect.Named(in.Dialect)
		if err != nil { // it has not shown it
			speaks = dialect.Contracts
		}
		r.Session.Peer = wire.NewPeer(r.Session.URL, speaks)
	}
	return Respond(in.Raw, in.Type.Accepted(r.ID, r.Token, League))
}

// Header returns the header of a message of the manager about a round.
func (r *Registrar) Header(t protocol.Type, round int) protocol.Header {
	h := protocol.NewHeader(t, ManagerName, protocol.Timestamp(time.Now()), jsonrpc.RandomID())
	h.LeagueID, h.RoundID = League, protocol.RoundNumber(round)
	if r.Signs() {
		h.AuthToken = r.Verifier.ManagerToken(League)
	}
	return h
}

// Signs reports whether the agent's dialect says who the sender is. Without that, nobody can sign.
func (r *Registrar) Signs() bool { return !slices.Contains(r.Session.Peer.Speaks().Omit, "sender") }

// Rows returns standings in which every player has one tie.
func Rows(ids ...string) []protocol.Standing {
	var out []protocol.Standing
	for i, id := range ids {
		out = append(out, protocol.Standing{
			Rank: i + 1, PlayerID: id, DisplayName: id, Played: protocol.Some(1), Wins: protocol.Some(0), Draws: protocol.Some(1), Losses: protocol.Some(0), Points: 1,
		})
	}
	return out
}

// Standings returns the standings of players as the manager sends them.
func (r *Registrar) Standings(ids ...string) *protocol.LeagueStandingsUpdate {
	return &protocol.LeagueStandingsUpdate{Header: r.Header(protocol.TypeLeagueStandingsUpdate, 1), Standings: Rows(ids...)}
}

// RoundCompleted returns the end of the first round.
func (r *Registrar) RoundCompleted() *protocol.RoundCompleted {
	one, none := protocol.Some(1), protocol.Some(0)
	return &protocol.RoundCompleted{
		Header: r.Header(protocol.TypeRoundCompleted, 1), MatchesCompleted: one, MatchesPlayed: one, NextRoundID: protocol.RoundNumber(2),
		Summary: &protocol.RoundSummary{TotalMatches: one, Wins: none, Draws: one, TechnicalLosses: none},
	}
}

// LeagueCompleted returns the end of the league; the first player has won it.
func (r *Registrar) LeagueCompleted(ids ...string) *protocol.LeagueCompleted {
	rounds := 0
	r.Do(func() { rounds = max(r.Rounds, 1) })
	m := &protocol.LeagueCompleted{
		Header: r.Header(protocol.TypeLeagueCompleted, rounds), TotalRounds: protocol.Some(rounds), TotalMatches: protocol.Some(rounds),
		Champion: &protocol.Champion{PlayerID: ids[0], DisplayName: ids[0], Points: protocol.Some(1)}, FinalStandings: Rows(ids...),
	}
	m.RoundID = protocol.Round{}
	return m
}

// RegistrationTests test what the agent sent when it registered, and at the end of its
// league, of which ids are the players. The first send it nothing, except that a player is
// sent standings at its contact endpoint; the last may have it leave.
func RegistrationTests(ids func(t *T) []string) map[string]func(*T) {
	first := func(run func(t *T, a *Registration)) func(*T) {
		return func(t *T) {
			r := t.Session.Registrar
			all := r.Attempts()
			if len(all) == 0 {
				r.NeedsRegistration(t)
			}
			t.Show(all[0].Message)
			run(t, all[0])
		}
	}
	end := func(t *T) *Answer {
		return t.Tell(t.Session.Registrar.LeagueCompleted(ids(t)...))
	}
	return map[string]func(*T){
		"register.rpc": first(func(t *T, a *Registration) { t.Holds(Frame(a.Doc)) }),
		"register.fields": first(func(t *T, a *Registration) {
			t.Valid(a.Fields, a.Type, false)
			isGame := func(e jsontext.Value) bool { return string(rawjson.Text(e)) == protocol.GameEvenOdd }
			if !slices.ContainsFunc(rawjson.Elements(a.Meta.Get("game_types")), isGame) {
				t.Fail(`%s_meta.game_types is %s, want a list that contains "even_odd"`, t.Session.Role, a.Meta.Shown("game_types"))
			}
		}),
		"register.endpoint": first(func(t *T, a *Registration) { reachable(t, a, ids) }),
		"register.listens":  first(listened),
		"register.retry":    first(retried),
		"register.once":     first(registeredOnce),
		"end.ack":           func(t *T) { t.Accepted(end(t), protocol.TypeLeagueCompleted.Answer()) },
		"end.again":         func(t *T) { staysOrLeaves(t, func() *Answer { return end(t) }) },
	}
}

func reachable(t *T, a *Registration, ids func(t *T) []string) {
	endpoint := a.Endpoint
	if err := Reach(t.ctx, endpoint); err != nil {
		t.Fail("no connection to the contact_endpoint %s: %v", endpoint, err)
	}
	if endpoint == t.Session.URL || t.Session.Role != Player { // not every referee knows standings
		return
	}
	// It may be another name of the same place.
	standings := t.encode(Request{Message: t.Session.Registrar.Standings(ids(t)...)})
	if reply := t.Post(endpoint, standings.Body); reply.Err != nil || reply.Status == 404 || reply.Status == 405 {
		t.Fail("the contact_endpoint %s does not accept messages: %s", endpoint, reply)
	}
}

func listened(t *T, a *Registration) {
	if a.failed != nil {
		t.Fail("while it registered, %s did not answer: %v", a.Endpoint, a.failed)
	}
	t.Note("its endpoint answered after %.1f ms while it registered", Milliseconds(a.answered))
}

func retried(t *T, first *Registration) {
	if !t.Session.Busy {
		t.Skip("its first registration was accepted; --busy refuses it once as a busy manager does, and an agent that does not retry must then be restarted")
	}
	all := t.Session.Registrar.Attempts()
	if len(all) < 2 {
		t.Fail("after HTTP 503 with Retry-After: 1 it did not register again within %v", t.Session.Wait)
	}
	t.Show(all[1].Message)
	t.Note("it tried again after %v", all[1].At.Sub(first.At).Round(time.Millisecond))
}

// staysOrLeaves ends the check unless an agent that knows the end of its league
// acknowledges it again, or is gone.
func staysOrLeaves(t *T, tell func() *Answer) {
	// An agent that is about to exit may drop a connection or two.
	for began := time.Now(); ; {
		a := tell()
		switch {
		case a.Err == nil:
			t.Accepted(a, protocol.TypeLeagueCompleted.Answer())
			t.Note("it stays")
			return
		case Reach(t.ctx, t.Session.URL) != nil:
			t.Note("it has left")
			return
		case time.Since(began) > t.Session.Timeout:
			t.Fail("it neither answers nor leaves: %v", a.Err)
		}
	}
}

func registeredOnce(t *T, _ *Registration) {
	r := t.Session.Registrar
	var accepted []*Registration
	r.Do(func() { accepted = r.accepted() })
	if n := len(accepted); n > 1+r.Renewals {
		t.Show(accepted[n-1].Message)
		t.Fail("it registered %s and was accepted each time", Times(n))
	}
}

// Times returns "once", "twice" or "n times".
func Times(n int) string {
	if n == 1 || n == 2 {
		return []string{"once", "twice"}[n-1]
	}
	return Count(n, "time", "times")
}

// Count says a number of things: "1 match", "2 matches".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
