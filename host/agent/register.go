package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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
		Retryable: func(err error) bool { return wire.Retryable(err) && wire.CodeOf(err) != protocol.CodeInvalidMove },
		OnFailure: func(_ context.Context, failed Attempt) {
			m.Log.Info("manager not reachable yet", "manager", m.Manager.URL, "again_in", failed.Delay, "error", failed.Err)
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

// apply registers under the id by which the agent introduces itself.
func (m *Member) apply(ctx context.Context, a Application, conversation, id string) error {
	defer m.Me.BeginRegistration()()
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
		r.ID = cmp.Or(m.Me.ID(), m.ID, m.Proposed, m.folder())
	}
	if !protocol.ValidID(r.ID) && (m.Mode == protocol.Strict || !protocol.ValidForeignID(r.ID)) {
		return fmt.Errorf("manager assigned %s id %q, which is not usable", m.role, r.ID)
	}
	m.Answers.SetDefault(m.Manager.Speaks())
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
	if !dialect.Accepted(status) {
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

// Registrar registers with a manager of which it is not known how it wants to
// be spoken to. It tries one wrapping after another, and takes care that the
// agent is never registered twice: a yes is recognised wherever in the answer it
// stands, and when it is doubtful whether an attempt has succeeded, the manager
// is asked first, and the attempt is repeated rather than another one made. It
// belongs to one agent, which registers once at a time.
type Registrar struct {
	Caller *wire.Caller
	// Peer is the manager. The registration settles in which dialect it is
	// addressed from then on.
	Peer *wire.Peer
	// Candidates are the dialects that are tried, in this order; nil stands for
	// protocol.RegistrationOrder.
	Candidates []*dialect.Dialect

	doubtful *dialect.Dialect // in which an attempt was made that may have succeeded
	settled  bool
}

// Applicant is what an agent says of itself, as far as it can be found again in
// a manager's list of players.
type Applicant struct {
	Message  protocol.Message
	ID       string // of the JSON-RPC request
	Name     string // display name
	Endpoint string
}

// verdict is what an attempt to register has led to.
type verdict int

const (
	accepted  verdict = iota
	refused           // definitely, whatever the wrapping
	misread           // the manager does not understand this wrapping
	undecided         // nothing is known
	unreached         // nobody was there, or had time
)

// Register makes one attempt: each wrapping once, as far as the manager does
// not understand it. The error is that of the attempt after which it makes no
// sense to go on; if no wrapping is understood it is that of the first.
func (r *Registrar) Register(ctx context.Context, a Applicant) (protocol.Message, error) {
	candidates := r.Candidates
	if candidates == nil {
		candidates = dialect.RegistrationOrder()
	}
	if r.settled {
		candidates = []*dialect.Dialect{r.Peer.Speaks()}
	}
	if r.doubtful != nil {
		if answer, ok := r.listed(ctx, a); ok {
			return answer, nil
		}
		at := slices.Index(candidates, r.doubtful)
		candidates = candidates[max(at, 0):]
	}
	var first error
	for _, d := range candidates {
		answer, judged, err := r.attempt(ctx, d, a)
		switch judged {
		case accepted, refused, unreached:
			return answer, err
		case undecided:
			r.doubtful = d
			if answer, ok := r.listed(ctx, a); ok {
				return answer, nil
			}
			if !answered(err) {
				return nil, err // the same will be tried again, and no other
			}
		}
		if first == nil {
			first = err
		}
	}
	r.doubtful = nil
	if len(candidates) > 1 {
		return nil, fmt.Errorf("the manager takes none of %d ways to register; to the first it says: %w", len(candidates), first)
	}
	return nil, first
}

// attempt registers in one dialect.
func (r *Registrar) attempt(ctx context.Context, d *dialect.Dialect, a Applicant) (protocol.Message, verdict, error) {
	kind := a.Message.Head().MessageType
	names := d.MethodsOf(kind)
	if d.Request.Name == "" { // the other names are those of other dialects
		names = names[:1]
	}
	var err error
	for _, name := range names {
		var call dialect.Call
		if call, err = d.CallAs(name, a.Message); err != nil {
			return nil, refused, err
		}
		var got *jsonrpc.Answer
		id := a.ID
		if d.NumericIDs {
			id = ""
		}
		got, err = r.Caller.Send(ctx, wire.NewPeer(r.Peer.URL, d), call, id)
		if err != nil {
			return nil, judgeFailure(err), fmt.Errorf("send %s: %w", kind, err)
		}
		var answer protocol.Message
		answer, err = r.Caller.Read(kind, got)
		if found, yes := dialect.FindAcceptance(got.Raw); yes {
			r.settle(d, got)
			return granted(kind, answer, found), accepted, nil
		}
		if err == nil {
			r.settle(d, got)
			return answer, accepted, nil // a no in the usual form
		}
		if !wire.UnknownMethod(err) {
			break
		}
	}
	return nil, judgeRefusal(err), err
}

// settle notes how the manager is addressed from now on.
func (r *Registrar) settle(d *dialect.Dialect, got *jsonrpc.Answer) {
	if got.Kind == jsonrpc.AnswerRequest {
		d = d.With(dialect.TraitRequests)
	}
	r.Peer.Learn(d)
	r.doubtful, r.settled = nil, true
}

// granted is the answer to a registration that was found, in the usual form.
func granted(kind protocol.Type, answer protocol.Message, found dialect.Acceptance) protocol.Message {
	h := protocol.Header{AuthToken: found.Token, LeagueID: found.League}
	if kind == protocol.TypeRefereeRegisterRequest {
		if m, ok := answer.(*protocol.RefereeRegisterResponse); ok && m.RefereeID != "" && dialect.Accepted(m.Status) {
			return m
		}
		h.MessageType = protocol.TypeRefereeRegisterRequest.Answer()
		return &protocol.RefereeRegisterResponse{Header: h, Status: protocol.StatusAccepted, RefereeID: found.ID}
	}
	if m, ok := answer.(*protocol.LeagueRegisterResponse); ok && m.PlayerID != "" && dialect.Accepted(m.Status) {
		return m
	}
	h.MessageType = protocol.TypeLeagueRegisterRequest.Answer()
	return &protocol.LeagueRegisterResponse{Header: h, Status: protocol.StatusAccepted, PlayerID: found.ID}
}

// judgeFailure judges an attempt that has brought no answer.
func judgeFailure(err error) verdict {
	call, ok := errors.AsType[*jsonrpc.CallError](err)
	switch {
	case ok && errors.Is(err, jsonrpc.ErrConnect):
		return unreached
	case ok && errors.Is(err, jsonrpc.ErrStatus) && wire.BadForm(call.Status):
		return misread
	case wire.Retryable(err) && ok && errors.Is(err, jsonrpc.ErrStatus):
		return unreached
	}
	return undecided
}

// answered reports whether an attempt that has led to nothing certain has had
// an answer at all: then repeating it leads nowhere.
func answered(err error) bool {
	return !errors.Is(err, jsonrpc.ErrTimeout) && !errors.Is(err, jsonrpc.ErrClosed) && !errors.Is(err, context.Canceled) &&
		!errors.Is(err, context.DeadlineExceeded)
}

// judgeRefusal judges an answer that is no yes.
func judgeRefusal(err error) verdict {
	refusal, ok := errors.AsType[*dialect.Refusal](err)
	switch {
	case !ok:
		return undecided
	case wire.Misread(err):
		return misread
	}
	switch refusal.Code {
	case "", protocol.CodeRateLimited:
		return unreached
	case protocol.CodeInternalError:
		return undecided
	}
	return refused
}

// patience is how long a manager is given to list its players.
const patience = 2 * time.Second

// listed asks the manager whether the agent is registered already, after an
// attempt that may have succeeded. Many do not answer that.
func (r *Registrar) listed(ctx context.Context, a Applicant) (protocol.Message, bool) {
	if ctx.Err() != nil {
		return nil, false // the time of this attempt is over; the next one asks
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	head := a.Message.Head()
	h := protocol.NewHeader(protocol.TypeLeagueQuery, head.Sender, head.Timestamp, head.ConversationID)
	call, err := r.doubtful.Call(&protocol.LeagueQuery{Header: h, QueryType: protocol.QueryPlayers})
	if err != nil {
		return nil, false
	}
	got, err := r.Caller.Send(ctx, wire.NewPeer(r.Peer.URL, r.doubtful), call, "")
	if err != nil {
		return nil, false
	}
	id, ok := dialect.FindAgent(got.Raw, a.Name, a.Endpoint)
	if !ok {
		return nil, false
	}
	r.settle(r.doubtful, got)
	return granted(head.MessageType, nil, dialect.Acceptance{ID: id}), true
}
