// Package agent is what the agents of a league have in common: registering with a manager that may
// speak any dialect, knowing whom a message comes from, keeping a journal, noticing that a league
// has gone silent, retrying calls, and answering a peer in the dialect that it reads.
package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/journal"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// DefaultTimeout limits one attempt to call a peer, by league.v2.
const DefaultTimeout = 10 * time.Second

// Config is what players and referees are configured with alike. Endpoint, Manager and Caller are
// required; the zero value of everything else has the meaning named with it.
type Config struct {
	// Endpoint is the URL under which others reach the agent.
	Endpoint string
	// Manager is how the manager is reached, in the dialect to start with.
	Manager *wire.Peer
	Caller  *wire.Caller

	Name string // display name
	ID   string // the id to ask for; empty leaves it to the manager
	// Proposed is the id that the agent introduces itself by where it asks for none: that of its
	// port. A manager that says which ids are taken gets the next free one.
	Proposed string
	Mode     protocol.Mode // how strictly messages are validated; the zero value is strict

	// Timeout limits one attempt to call a peer; default DefaultTimeout.
	Timeout time.Duration
	// Backoff is how failed calls are retried; the zero value is
	// game.LeagueBackoff. Registration continues at its longest delay.
	Backoff game.Backoff
	// Dialects are tried in this order to register; nil stands for dialect.RegistrationOrder.
	Dialects []*dialect.Dialect
	// FixedAnswers keeps the form of answers to referees: no other is tried for one
	// that seems not to read them.
	FixedAnswers bool
	// IdleExit makes Run return when the agent has taken part in a match and has then heard nothing
	// for this long: many managers never say that the league is over. Zero or less is never.
	IdleExit time.Duration
	// Data is the directory of the journal; empty keeps none.
	Data string
	// ListensAt, if set, reports whether the agent is reached at a port other than
	// that of its endpoint, for advice to people.
	ListensAt func(port int) bool
	// Registered, if set, is called after each registration, and by an agent that comes back
	// where the manager knows it; it must not block.
	Registered func()

	Now func() time.Time // for timestamps; default time.Now
	Log *slog.Logger     // default discards
}

func (c Config) withDefaults() Config {
	c.Timeout = cmp.Or(max(c.Timeout, 0), DefaultTimeout)
	c.Backoff = cmp.Or(c.Backoff, game.LeagueBackoff())
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// Member is the part of a player or a referee that faces its manager. It is
// safe for concurrent use, except that Register, Stay and Close are Run's.
type Member struct {
	Config
	Me      *Identity
	Answers AnswerDialects

	role     protocol.Role
	journal  *journal.Journal   // nil without a data directory
	broken   chan error         // gets the first failure to write it
	talk     *wire.Conversation // with the manager, about the registration
	listless map[string]bool    // where and how the manager was asked in vain for its agents
	asked    bool               // the manager, which ids are taken
	again    chan struct{}      // requests another registration
	started  time.Time          // for last, so that the monotonic clock is used
	last     atomic.Int64       // time of the last activity, since started
}

// NewMember returns the member that an agent is before it has registered.
func NewMember(role protocol.Role, cfg Config) (*Member, error) {
	switch {
	case cfg.Manager == nil, cfg.Caller == nil, cfg.Endpoint == "":
		return nil, fmt.Errorf("%s: endpoint, manager and caller are required", role)
	case cfg.ID != "" && !protocol.ValidForeignID(cfg.ID):
		return nil, fmt.Errorf("%s: id %q is not usable; use 1 to 128 characters, no control characters", role, cfg.ID)
	}
	m := &Member{Config: cfg.withDefaults(), role: role, listless: make(map[string]bool), again: make(chan struct{}, 1), started: time.Now()}
	m.Answers.Fixed = cfg.FixedAnswers
	m.talk = &wire.Conversation{Caller: m.Caller, Peer: m.Manager, Wrappings: m.Dialects}
	m.Forget("")
	return m, nil
}

// Forget drops the registration. The agent signs with the given id, or with the
// one that it asks for, until it has registered again.
func (m *Member) Forget(id string) {
	m.Me = NewIdentity(m.role, cmp.Or(id, m.ID, m.Proposed, m.Name))
}

// Handle returns a handler of messages of one Go type, which refuses those that break their field rules.
func Handle[M protocol.Message](do func(context.Context, *wire.Exchange, M) (protocol.Message, error)) wire.Handler {
	return func(ctx context.Context, in *wire.Exchange) (protocol.Message, error) {
		m, err := wire.Decode[M](in)
		if err != nil {
			return nil, err
		}
		return do(ctx, in, m)
	}
}

// NewDispatcher returns what answers the agent's messages.
func (m *Member) NewDispatcher(authenticate func(context.Context, *wire.Exchange) error, handlers map[protocol.Type]wire.Handler) *wire.Dispatcher {
	return &wire.Dispatcher{
		Codec: dialect.NewCodec(m.Mode), Sender: func() string { return m.Me.Sender() }, Now: m.Now, Log: m.Log,
		Received: m.Touch, Authenticate: authenticate, Handlers: handlers,
	}
}

// FromManager judges whether a message is the manager's. While the agent registers it waits, since
// the manager may speak before the agent has read the manager's answer.
func (m *Member) FromManager(ctx context.Context, in *wire.Exchange) error {
	m.Me.AwaitRegistration(ctx, m.Mode) // an attempt to register has a deadline of its own
	return m.Me.FromManager(in, m.Mode)
}

// Ack returns the acknowledgement of a notification, with the agent's id; nil
// for a message that wants another answer.
func (m *Member) Ack(in *wire.Exchange) protocol.Message {
	ack := in.Type.Acknowledgement()
	switch {
	case ack == nil:
		return nil
	case m.role == protocol.RoleReferee:
		ack.RefereeID = m.Me.ID()
	default:
		ack.PlayerID = m.Me.ID()
	}
	return ack
}

// Query asks the manager a question and reads the answer's data into T. With
// some data missing it returns what there is and an error.
func Query[T protocol.QueryData](ctx context.Context, m *Member, h protocol.Header, what string) (T, error) {
	var none T
	ctx, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	answer, err := m.Caller.Call(ctx, m.Manager, &protocol.LeagueQuery{Header: h, QueryType: what})
	if err != nil {
		return none, fmt.Errorf("query %s: %w", what, err)
	}
	r, ok := answer.(*protocol.LeagueQueryResponse)
	if !ok {
		return none, fmt.Errorf("query %s: manager answered with a %s", what, answer.Head().MessageType)
	}
	data, err := protocol.ReadData[T](r)
	if err != nil {
		return data, fmt.Errorf("query %s: %w", what, err)
	}
	return data, nil
}

// folder returns the name of the agent's data folder: the id that it asks for or, since the
// manager's answer comes later, the display name as far as it can name a file.
func (m *Member) folder() string {
	if m.ID != "" {
		return disk.FileName(m.ID)
	}
	name := m.Name
	if m.role == protocol.RolePlayer {
		name = strings.Map(func(r rune) rune {
			if r < 128 && protocol.ValidID("x"+string(r)) {
				return r
			}
			return '-'
		}, name)
		name = strings.TrimLeft(name[:min(len(name), 64)], "-_.")
	}
	if !protocol.ValidID(name) {
		return string(m.role)
	}
	return name
}

// Brief returns the text of an error, shortened: it may quote a peer at length.
func Brief(err error) string {
	const most = 300
	text := err.Error()
	if e, ok := errors.AsType[*protocol.Error](err); ok && e.Detail != "" {
		text = e.Detail // the code is shown beside it
	}
	return dialect.Clip(strings.ToValidUTF8(text, "?"), most)
}

// Touch notes that something has happened in the league.
func (m *Member) Touch() { m.last.Store(int64(time.Since(m.started))) }

// Silence returns how long nothing has happened.
func (m *Member) Silence() time.Duration {
	return time.Since(m.started) - time.Duration(m.last.Load())
}

// rests reports whether the manager says that the league waits for its next round, so
// that a silence does not mean that it is over.
func (m *Member) rests(ctx context.Context) bool {
	status, err := Query[protocol.StatusData](ctx, m, m.Me.Header(protocol.TypeLeagueQuery, protocol.Timestamp(m.Now())), protocol.QueryStatus)
	if err != nil || status.Status != protocol.LeagueRunning {
		return false
	}
	return status.Paused.Value() || int64(status.PaceMS.Value()) >= m.IdleExit.Milliseconds()
}

// Stay is how an agent takes part in its league once it has registered.
type Stay struct {
	// Over gets a value, or is closed, when the league is complete. Leave then
	// says whether the agent leaves, and with which error.
	Over  <-chan struct{}
	Leave func() (leave bool, err error)
	// Deserted is asked after a silence of Config.IdleExit, unless the manager says that
	// the league is paused; as Leave.
	Deserted func() (leave bool, err error)
	// Register is called when another registration was requested. Its error ends the stay.
	Register func(ctx context.Context) error
	// Every, if positive, calls Look at this interval.
	Every time.Duration
	Look  func(ctx context.Context)
}

// Stay blocks until ctx ends, the agent leaves, or the journal cannot be
// written. The end of ctx is not an error.
func (m *Member) Stay(ctx context.Context, s Stay) error {
	look, idle := time.Tick(s.Every), time.Tick(m.IdleExit/4) // nil unless positive
	for {
		var leave bool
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-idle:
			switch {
			case m.Silence() < m.IdleExit:
			case m.rests(ctx):
				m.Touch()
			default:
				leave, err = s.Deserted()
			}
		case err = <-m.broken:
		case <-s.Over:
			leave, err = s.Leave()
		case <-m.again:
			err = Ended(ctx, s.Register(ctx))
		case <-look:
			s.Look(ctx)
		}
		if leave || err != nil {
			return err
		}
	}
}

// Ended returns the error of an agent, nil if it may be due to the end of ctx.
func Ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
