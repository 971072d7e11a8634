package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// ErrRejected is a registration that the manager rejected. What wraps it gives the manager's reason.
var ErrRejected = errors.New("the manager turned the registration away")

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
// final; its error wraps ErrRejected or a *protocol.Refusal.
func (m *Member) Register(ctx context.Context, a Application) error {
	// One conversation and one id for all attempts: by them the manager
	// recognizes a request whose answer was lost.
	conversation, id := jsonrpc.RandomID(), jsonrpc.RandomID()
	err := Try(ctx, RetryPolicy{
		Backoff: m.Backoff,
		Forever: true,
		// What answers otherwise than a manager does will not become one.
		Retryable: func(err error) bool {
			_, unspoken := errors.AsType[*wire.NotUnderstoodError](err)
			return !unspoken && wire.Retryable(err) && wire.CodeOf(err) != protocol.CodeInvalidMove
		},
		OnFailure: func(failed Attempt) {
			m.Log.Info("manager not reachable yet", "manager", m.Manager.URL, "again_in", failed.Delay, "error", failed.Err)
			if failed.Retry == 1 && a.Waiting != nil {
				a.Waiting(failed.Err)
			}
		},
	}, func(ctx context.Context) error {
		ctx, cancel := m.whileSpokenTo(ctx)
		defer cancel()
		return m.registerOnce(ctx, a, conversation, id)
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
	begun := time.Now()
	var look func()
	look = func() {
		if quiet := min(m.Silence(), time.Since(begun)); quiet < m.Timeout && ctx.Err() == nil {
			time.AfterFunc(m.Timeout-quiet, look)
		} else {
			cancel(context.DeadlineExceeded)
		}
	}
	look()
	return ctx, func() { cancel(nil) }
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

// accepted reads an answer that accepts the agent, by the book or in any other form.
func accepted(o *wire.Attempt) (found dialect.Acceptance, yes bool) {
	if o.Answer != nil && o.Answer.Status < http.StatusBadRequest {
		if found, yes = dialect.FindAcceptance(o.Answer.Raw, o.Answer.Status); !yes && o.Form.Input != nil {
			found, yes = dialect.FindWelcome(o.Answer.Raw)
		}
	}
	r, is := o.Message.(*protocol.RegisterResponse)
	if !is || !protocol.Means(protocol.Enrolling, r.Status) {
		return found, yes
	}
	if id := cmp.Or(r.PlayerID, r.RefereeID); id != "" || !yes { // it outranks what else was found
		found = dialect.Acceptance{ID: id, Token: cmp.Or(r.AuthToken, found.Token), League: cmp.Or(r.LeagueID, found.League)}
	}
	return found, true
}

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
	var found dialect.Acceptance
	yes := false
	o, err := m.talk.Send(ctx, msg, id, func(ctx context.Context, o *wire.Attempt) wire.Verdict {
		if found, yes = accepted(o); yes {
			return wire.Understood
		}
		verdict := wire.Judge(o.Err)
		if r, is := o.Message.(*protocol.RegisterResponse); is && o.Err == nil {
			reason := r.Reason.Value()
			switch {
			case r.PlayerID == "" && r.RefereeID == "" && protocol.Says(protocol.BlamesForm, reason):
				o.Err = &dialect.Refusal{Message: reason, Status: o.Answer.Status}
				return wire.Misunderstood
			case r.Status == "" && reason == "": // as in the empty answer of a server that takes it for a notification
				o.Err = &dialect.Refusal{Message: "an answer that neither accepts nor rejects: " + dialect.Words(o.Answer.Raw), Status: o.Answer.Status}
				verdict = wire.Doubtful
			}
		}
		if verdict != wire.Doubtful {
			return verdict
		}
		if id, ok := m.listed(ctx, o.Form); ok {
			found, yes = dialect.Acceptance{ID: id}, true
			return wire.Understood
		}
		if wire.Answered(o.Err) {
			return wire.Misunderstood
		}
		return wire.Doubtful // the same will be judged and tried again, and no other
	})
	if err != nil {
		return dialect.Acceptance{}, err
	}
	r, is := o.Message.(*protocol.RegisterResponse)
	switch {
	case yes:
	case o.Verdict == wire.Refuses:
		err = fmt.Errorf("%s: %w", o.Form, o.Err)
	case o.Err != nil:
		err = o.Err
	case is:
		err = fmt.Errorf("%s: %w: %s", o.Form, ErrRejected, cmp.Or(r.Reason.Value(), dialect.Words(o.Answer.Raw)))
	default:
		err = fmt.Errorf("manager answered with a %s", o.Message.Head().MessageType)
	}
	return found, err
}

// mostAsked limits how often a manager that does not list its players is asked.
const mostAsked = 3

// listed asks the manager whether the agent is registered already, after an attempt that may
// have succeeded, and returns its id.
func (m *Member) listed(ctx context.Context, way wire.Form) (id string, ok bool) {
	asked := way.URL + " " + way.Dialect.Name
	if ctx.Err() != nil || len(m.listless) >= mostAsked || m.listless[asked] {
		return "", false // the time of this attempt is over; the next one asks
	}
	got, err := m.askForAgents(ctx, 2*time.Second, way.URL, way.Dialect)
	if err == nil {
		id, ok = dialect.FindAgent(got.Raw, m.Name, m.Endpoint)
	}
	if !ok && wire.Answered(err) {
		m.listless[asked] = true
	}
	return id, ok
}

// askForAgents asks the manager which agents it has. Many do not answer that.
func (m *Member) askForAgents(ctx context.Context, patience time.Duration, at string, d *dialect.Dialect) (*jsonrpc.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	h := protocol.NewHeader(protocol.TypeLeagueQuery, m.Me.Sender(), protocol.Timestamp(m.Now()), jsonrpc.RandomID())
	call, err := d.Call(&protocol.LeagueQuery{Header: h, QueryType: protocol.QueryPlayers})
	if err != nil {
		return nil, err
	}
	return m.Caller.Send(ctx, wire.NewPeer(at, d), call)
}
