package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// RejectedError is a registration that the manager rejected.
type RejectedError struct{ Reason string }

// Error returns the manager's reason.
func (e *RejectedError) Error() string {
	return "the manager turned the registration away: " + e.Reason
}

// Application says how an agent registers.
type Application struct {
	// Token is the agent's own, if the manager is to recognize it; or empty.
	Token string
	// Concurrent is how many matches a referee plays in parallel.
	Concurrent int
	// Granted takes on what the manager grants, whose token and league may be empty. No
	// message is handled before it returns. Its error ends the registration.
	Granted func(ctx context.Context, r dialect.Acceptance) error
	// Waiting, if set, is called once if the manager cannot be reached.
	Waiting func(err error)
}

// Register registers with the manager. A manager that cannot be reached, or is
// busy, is tried again until ctx ends: it may be about to start. A refusal is
// final; its error wraps a *RejectedError or a *protocol.Refusal.
func (m *Member) Register(ctx context.Context, a Application) error {
	// One conversation and one id for all attempts: by them the manager
	// recognizes a request whose answer was lost.
	conversation, id := jsonrpc.RandomID(), jsonrpc.RandomID()
	policy := RetryPolicy{
		Backoff: m.Backoff,
		// What answers otherwise than a manager does will not become one.
		Retryable: func(err error) bool {
			_, unspoken := errors.AsType[*wire.NotUnderstoodError](err)
			return !unspoken && wire.Retryable(err) && wire.CodeOf(err) != protocol.CodeInvalidMove
		},
		OnFailure: func(_ context.Context, failed Attempt) {
			m.Log.Info("manager not reachable yet", "manager", m.Manager.URL, "again_in", failed.Delay, "error", failed.Err)
			if failed.Retry == 1 && a.Waiting != nil {
				a.Waiting(failed.Err)
			}
		},
	}
	_, err := Persist(ctx, policy, func(ctx context.Context) (struct{}, error) {
		ctx, cancel := m.whileSpokenTo(ctx)
		defer cancel()
		return struct{}{}, m.registerOnce(ctx, a, conversation, id)
	})
	if err != nil {
		return fmt.Errorf("register with %s: %w", m.Manager.URL, err)
	}
	if m.Registered != nil {
		m.Registered()
	}
	return nil
}

// whileSpokenTo returns a context that ends when Config.Timeout has passed in which
// the agent has heard nothing. A manager that does one thing at a time may play the
// league before it answers the registration that has completed it.
func (m *Member) whileSpokenTo(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	begun := time.Since(m.started)
	var timer *time.Timer
	var mu sync.Mutex // guards timer
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(m.Timeout, func() {
		mu.Lock()
		defer mu.Unlock()
		if quiet := min(m.Silence(), time.Since(m.started)-begun); quiet < m.Timeout && ctx.Err() == nil {
			timer.Reset(m.Timeout - quiet)
			return
		}
		cancel(context.DeadlineExceeded)
	})
	return ctx, func() {
		mu.Lock()
		defer mu.Unlock()
		timer.Stop()
		cancel(nil)
	}
}

// apply registers under the id by which the agent introduces itself.
func (m *Member) apply(ctx context.Context, a Application, conversation, id string) error {
	defer m.Me.BeginRegistration()()
	found, err := m.ask(ctx, m.request(a, conversation), id)
	if broken := (*protocol.Error)(nil); errors.As(err, &broken) {
		return fmt.Errorf("the answer cannot be used: %v", err) // not wrapped: the next one will not be better
	}
	if err != nil {
		return err
	}
	m.Log.Debug("manager understood", "manager", m.Manager.URL, "evidence", m.talk.Evidence().String())
	if found.ID == "" { // the manager leaves the agent its own name
		found.ID = cmp.Or(m.Me.ID(), m.ID, m.Proposed, m.folder())
	}
	if !protocol.ValidID(found.ID) && (m.Mode == protocol.Strict || !protocol.ValidForeignID(found.ID)) {
		return fmt.Errorf("manager assigned %s id %q, which is not usable", m.role, found.ID)
	}
	m.Answers.SetDefault(m.Manager.Speaks())
	return a.Granted(ctx, found)
}

// request is the message by which the agent registers.
func (m *Member) request(a Application, conversation string) protocol.Message {
	const version, protocolVersion = "1.0.0", "2.1.0"
	meta := protocol.PlayerMeta{
		DisplayName: m.Name, Version: version, ProtocolVersion: protocolVersion, GameTypes: []string{protocol.GameEvenOdd}, ContactEndpoint: m.Endpoint,
	}
	h := protocol.NewHeader(protocol.TypeLeagueRegisterRequest, m.Me.Sender(), protocol.Timestamp(m.Now()), conversation)
	h.AuthToken = a.Token
	if m.role == protocol.RolePlayer {
		return &protocol.LeagueRegisterRequest{Header: h, Meta: meta}
	}
	h.MessageType = protocol.TypeRefereeRegisterRequest
	return &protocol.RefereeRegisterRequest{Header: h, Meta: protocol.RefereeMeta{
		PlayerMeta: meta, MaxConcurrentMatches: protocol.Some(a.Concurrent), MatchKeys: protocol.Some(true),
	}}
}

type grant struct {
	dialect.Acceptance
	status, reason string
}

// grantOf reads an answer to a registration; false for every other message.
func grantOf(answer protocol.Message) (grant, bool) {
	a, is := answer.(*protocol.RegisterResponse)
	if !is {
		return grant{}, false
	}
	return grant{dialect.Acceptance{ID: cmp.Or(a.PlayerID, a.RefereeID), Token: a.AuthToken, League: a.LeagueID}, a.Status, a.Reason.Value()}, true
}

func (g grant) enrolls() bool { return protocol.Means(protocol.Enrolling, g.status) }

// RequestRegistration asks Stay to register again.
func (m *Member) RequestRegistration() {
	select {
	case m.again <- struct{}{}:
	default: // requested already
	}
}

// ask makes one attempt to register: each form once, as far as the manager does not understand it.
// The agent is never registered twice: a yes is recognised wherever in the answer it stands, and
// when it is doubtful whether an attempt has succeeded, the manager is asked first, and the attempt
// is repeated rather than another one made. The error is that of the attempt after which it makes
// no sense to go on; if no form is understood it is a *wire.NotUnderstoodError.
func (m *Member) ask(ctx context.Context, msg protocol.Message, id string) (dialect.Acceptance, error) {
	if m.talk == nil {
		m.talk = &wire.Conversation{Caller: m.Caller, Peer: m.Manager, Wrappings: m.Dialects}
	}
	if m.doubtful {
		if id, ok := m.listed(ctx, msg, m.talk.Next()); ok {
			m.talk.Settle(msg, m.talk.Next())
			m.doubtful = false
			return dialect.Acceptance{ID: id}, nil
		}
	}
	var found dialect.Acceptance
	yes := false
	o, err := m.talk.Send(ctx, msg, id, func(ctx context.Context, o *wire.Attempt) wire.Verdict {
		if o.Answer != nil && o.Answer.Status < http.StatusBadRequest {
			if found, yes = dialect.FindAcceptance(o.Answer.Raw, o.Answer.Status); !yes && o.Form.Input != nil {
				found, yes = dialect.FindWelcome(o.Answer.Raw)
			}
		}
		if yes {
			return wire.Understood
		}
		verdict := wire.Judge(o.Err)
		if g, is := grantOf(o.Message); o.Err == nil && is {
			switch {
			case !g.enrolls() && g.ID == "" && protocol.Says(protocol.BlamesForm, g.reason):
				o.Err = &dialect.Refusal{Message: g.reason, Status: o.Answer.Status}
				return wire.Misunderstood
			case g.status == "" && g.reason == "": // as in the empty answer of a server that takes it for a notification
				o.Err = &dialect.Refusal{Message: "an answer that neither accepts nor rejects: " + dialect.Words(o.Answer.Raw), Status: o.Answer.Status}
				verdict = wire.Doubtful
			}
		}
		if verdict != wire.Doubtful {
			return verdict
		}
		if id, ok := m.listed(ctx, msg, o.Form); ok {
			found, yes = dialect.Acceptance{ID: id}, true
			return wire.Understood
		}
		if wire.Answered(o.Err) {
			return wire.Misunderstood
		}
		return wire.Doubtful // the same will be tried again, and no other
	})
	if err != nil {
		return dialect.Acceptance{}, err
	}
	g, is := grantOf(o.Message)
	switch m.doubtful = !yes && o.Verdict == wire.Doubtful; {
	case yes && is && g.ID != "" && g.enrolls(): // the answer by the book outranks what else was found
		found = dialect.Acceptance{ID: g.ID, Token: cmp.Or(g.Token, found.Token), League: cmp.Or(g.League, found.League)}
	case yes:
	case o.Verdict == wire.Refuses:
		err = fmt.Errorf("%s: %w", o.Form, o.Err)
	case o.Err != nil:
		err = o.Err
	case is && !g.enrolls():
		err = fmt.Errorf("%s: %w", o.Form, &RejectedError{cmp.Or(g.reason, dialect.Words(o.Answer.Raw))})
	case is:
		found = g.Acceptance
	default:
		err = fmt.Errorf("manager answered with a %s", o.Message.Head().MessageType)
	}
	return found, err
}

// patience is how long a manager is given to list its players.
const patience = 2 * time.Second

// mostAsked limits how often a manager that does not list its players is asked.
const mostAsked = 3

// listed asks the manager whether the agent is registered already, after an
// attempt that may have succeeded, and returns its id. Many do not answer that.
func (m *Member) listed(ctx context.Context, msg protocol.Message, way wire.Form) (id string, ok bool) {
	if ctx.Err() != nil || len(m.listless) >= mostAsked {
		return "", false // the time of this attempt is over; the next one asks
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	head := msg.Head()
	h := protocol.NewHeader(protocol.TypeLeagueQuery, head.Sender, head.Timestamp, head.ConversationID)
	call, err := way.Dialect.Call(&protocol.LeagueQuery{Header: h, QueryType: protocol.QueryPlayers})
	asked := fmt.Sprint(way.URL, way.Dialect.NumericIDs, call.Method, string(call.Params), string(call.Body))
	if err != nil || m.listless[asked] {
		return "", false
	}
	got, err := m.Caller.Send(ctx, wire.NewPeer(way.URL, way.Dialect), call)
	if err == nil {
		if id, ok = dialect.FindAgent(got.Raw, m.Name, m.Endpoint); ok {
			return id, true
		}
	}
	if wire.Answered(err) {
		if m.listless == nil {
			m.listless = make(map[string]bool)
		}
		m.listless[asked] = true
	}
	return "", false
}
