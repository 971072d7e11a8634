package manager

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/strategylab/strategylab/host/journal"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// Manager manages one league. Its methods are safe for concurrent use; Run may
// be called once.
type Manager struct {
	cfg      Config
	endpoint *wire.Endpoint
	tolerant *protocol.Codec  // what a tolerant league would take
	journal  *journal.Journal // nil without a data directory
	views    *views           // likewise

	ctx    context.Context // of everything in the background; ends with Run
	cancel context.CancelCauseFunc

	// signup is held while an agent is taken on or the league starts, so that
	// names, ids and the number of players are judged by what is in the journal.
	signup sync.Mutex

	mu         sync.Mutex // guards what follows
	state      *state
	contacts   map[string]*contact                    // by agent
	reserved   map[string]*pending                    // by match: an event of it is on its way into the journal
	scheduling bool                                   // the schedule is being made
	arrived    bool                                   // an agent has registered, and the driver has not been told
	announced  int                                    // the round that the referees have been told of
	programme  func(protocol.Header) protocol.Message // what players are told of the round; nil until one is
	changes    uint64                                 // counts whatever an answer to GET_SCHEDULE could show
	schedule   cachedSchedule
	events     []Event
	refusals   map[string]bool // that have been told of
	busy       int             // contacts whose queue is being delivered
	stopped    bool

	telling    sync.Mutex // held by whoever calls Config.Events
	background sync.WaitGroup
	wake       chan struct{} // tells the driver to look again
	done       chan struct{} // closed when the league is over and everybody had a chance to know
	doneOnce   sync.Once
}

// sender signs everything that the manager sends.
const sender = string(protocol.RoleManager)

// New returns the manager of a league. With a data directory it opens the
// league's journal, which only one process can have open, and goes on where
// that ends: the error wraps disk.ErrLocked or journal.ErrDamaged where those
// are the cause. Whoever calls New must call Run or Close.
func New(cfg Config) (*Manager, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	m := &Manager{
		cfg: cfg, state: newState(cfg.LeagueID), contacts: make(map[string]*contact), reserved: make(map[string]*pending),
		refusals: make(map[string]bool), tolerant: protocol.NewCodec(protocol.Tolerant, cfg.Dialects...),
		wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	m.ctx, m.cancel = context.WithCancelCause(context.Background())
	m.endpoint = &wire.Endpoint{
		Codec:        protocol.NewCodec(cfg.Mode, cfg.Dialects...),
		Sender:       func() string { return sender },
		Now:          cfg.Now,
		Answered:     m.answered,
		Authenticate: m.authenticate,
		Handlers:     m.handlers(),
		Default:      m.unwanted,
		Refusing:     m.refusing,
		Unread:       m.refusedBare,
		Log:          cfg.Log,
	}
	if cfg.DataDir != "" {
		if err := m.open(); err != nil {
			return nil, fmt.Errorf("manager: %w", err)
		}
	}
	return m, nil
}

// JournalName returns the name of the file in which the manager of a league
// keeps its journal.
func JournalName(dataDir, league string) string {
	return filepath.Join(dataDir, "data", "leagues", league, "manager.journal")
}

// open opens the journal and takes over what it holds.
func (m *Manager) open() error {
	name := JournalName(m.cfg.DataDir, m.cfg.LeagueID)
	j, found, err := journal.Open(name, journal.Options{NoSync: m.cfg.NoSync})
	if err != nil {
		return err
	}
	s, err := replay(m.cfg.LeagueID, found.Events)
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w: %w; restore the file from a copy, or move it away to begin anew", name, journal.ErrDamaged, err), j.Close())
	}
	if found.Repaired != "" {
		m.cfg.Log.Warn("the journal was repaired", "file", name, "repair", found.Repaired)
	}
	if s.schedule != nil && s.schedule.Legs() != m.cfg.Legs {
		m.cfg.Log.Warn("the league goes on with the legs it started with", "legs", s.schedule.Legs(), "configured", m.cfg.Legs)
	}
	m.journal, m.state, m.views = j, s, newViews(m)
	m.views.catchUp()
	for _, a := range s.agents {
		m.meet(a).life = LifeRegistered
	}
	if s.told {
		m.finish()
	}
	return nil
}

// Endpoint returns what serves the manager's endpoint. A server in tolerant mode
// should also accept objects without JSON-RPC (jsonrpc.Config.AcceptObjects).
func (m *Manager) Endpoint() *wire.Endpoint { return m.endpoint }

// answered is called when a request has its answer.
func (m *Manager) answered() {
	m.tell()
	// What follows from a registration (the start of the league, matches for a
	// late referee) comes after its answer, since before that the agent knows
	// neither its id nor the manager's token.
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.arrived {
		m.arrived = false
		m.poke()
	}
}

// Done is closed when the league is over and everybody who can be reached has
// been told. Run may go on for a while to tell the others.
func (m *Manager) Done() <-chan struct{} { return m.done }

func (m *Manager) finish() { m.doneOnce.Do(func() { close(m.done) }) }

// Over reports whether every match is played. There may still be agents to
// tell.
func (m *Manager) Over() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.over()
}

// Standings returns the table as it is.
func (m *Manager) Standings() []Standing {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Standing(nil), m.state.standings()...)
}

// Results returns the matches that are over, in the order of the schedule.
func (m *Manager) Results() []Match {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state.schedule == nil {
		return nil
	}
	var all []Match
	for _, p := range m.state.schedule.Matches() {
		if m.state.matches[p.Index].outcome.over() {
			all = append(all, m.state.finished(p))
		}
	}
	return all
}

// record puts an event into the journal and then into effect. When it returns
// nil, what the event says may be told to anybody.
func (m *Manager) record(ctx context.Context, e event) error {
	if m.ctx.Err() != nil {
		return stopping()
	}
	if m.journal != nil {
		// Who asked for it may be gone; the event stands all the same.
		err := m.journal.Append(context.WithoutCancel(ctx), e.kind(), e)
		if errors.Is(err, journal.ErrClosed) {
			return stopping()
		}
		if err != nil {
			m.cancel(fmt.Errorf("manager: %w; what is on disk is unknown now, start again to read it", err))
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := e.apply(m.state); err != nil {
		err = fmt.Errorf("manager: %s event: %w", e.kind(), err)
		m.cancel(err)
		return err
	}
	m.follow(e)
	return nil
}

// stopping refuses what comes while the manager ends: a later attempt may meet
// the next one.
func stopping() error {
	return protocol.RefuseHTTP(503, "The manager is shutting down; try again when it is back.")
}

// poke tells the driver to look again.
func (m *Manager) poke() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// Close gives up the journal of a manager that is never run.
func (m *Manager) Close() error {
	m.cancel(errors.New("the manager was closed"))
	return m.shut()
}

// shut ends everything in the background and closes the journal.
func (m *Manager) shut() error {
	m.mu.Lock()
	again := m.stopped
	m.stopped = true
	for _, c := range m.contacts {
		if c.deadline != nil {
			c.deadline.Stop()
		}
	}
	m.mu.Unlock()
	if again {
		return nil
	}
	m.background.Wait()
	m.tellAll()
	if m.journal == nil {
		return nil
	}
	m.views.flush()
	return m.journal.Close()
}
