package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// RejectedError is a registration that the manager turned away for good.
type RejectedError struct{ Reason string }

// Error returns the manager's reason.
func (e *RejectedError) Error() string {
	return "the manager turned the registration away: " + e.Reason
}

// Registration is what the manager grants an agent.
type Registration struct{ ID, Token, League string }

// Application says how an agent registers.
type Application struct {
	// Token is the agent's own, if the manager is to recognize it; or empty.
	Token string
	// Message completes the request to register; its header is given.
	Message func(h protocol.Header) protocol.Message
	// Granted takes on what the manager grants. No message is handled before it
	// returns. Its error ends the registration.
	Granted func(ctx context.Context, r Registration) error
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
		Timeout: m.Timeout, Backoff: m.Backoff,
		// What answers otherwise than a manager does will not become one.
		Again: func(err error) bool { return wire.Retryable(err) && wire.CodeOf(err) != protocol.CodeInvalidMove },
		Before: func(_ context.Context, failed Attempt) {
			m.Log.Info("the manager cannot be reached yet", "manager", m.Manager.URL, "again_in", failed.Delay, "error", failed.Err)
			if failed.Retry == 1 && a.Waiting != nil {
				a.Waiting(failed.Err)
			}
		},
	}
	_, err := Persist(ctx, policy, func(ctx context.Context) (struct{}, error) {
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

// registerOnce is one attempt.
func (m *Member) registerOnce(ctx context.Context, a Application, conversation, id string) error {
	defer m.Me.Registering()()
	t := protocol.TypeLeagueRegisterRequest
	if m.role == protocol.RoleReferee {
		t = protocol.TypeRefereeRegisterRequest
	}
	h := protocol.NewHeader(t, m.Me.Sender(), protocol.Timestamp(m.Now()), conversation)
	h.AuthToken = a.Token
	answer, err := m.registrar.Register(ctx, Applicant{Message: a.Message(h), ID: id, Name: m.Name, Endpoint: m.Endpoint})
	if broken := (*protocol.Error)(nil); errors.As(err, &broken) {
		return fmt.Errorf("the answer cannot be used: %v", err) // not wrapped: the next one will not be better
	}
	if err != nil {
		return err
	}
	r, err := readGrant(answer)
	if err != nil {
		return err
	}
	if r.ID == "" { // the manager leaves the agent its own name
		r.ID = cmp.Or(m.Me.ID(), m.folder())
	}
	if !protocol.ValidID(r.ID) {
		return fmt.Errorf("manager assigned %s id %q, which is not usable", m.role, r.ID)
	}
	if m.Manager.Speaks().Has(protocol.TraitRequests) {
		m.Answers.Begin(protocol.TraitRequests)
	}
	return a.Granted(ctx, r)
}

// readGrant reads the answer to a registration.
func readGrant(answer protocol.Message) (Registration, error) {
	var r Registration
	var status, reason string
	switch a := answer.(type) {
	case *protocol.LeagueRegisterResponse:
		r, status, reason = Registration{a.PlayerID, a.AuthToken, a.LeagueID}, a.Status, a.Reason.Value()
	case *protocol.RefereeRegisterResponse:
		r, status, reason = Registration{a.RefereeID, a.AuthToken, a.LeagueID}, a.Status, a.Reason.Value()
	default:
		return r, fmt.Errorf("manager answered with a %s", answer.Head().MessageType)
	}
	if !protocol.Accepted(status) {
		return r, &RejectedError{reason}
	}
	return r, nil
}

// RequestRegistration asks Stay to register again.
func (m *Member) RequestRegistration() {
	select {
	case m.again <- struct{}{}:
	default: // requested already
	}
}
