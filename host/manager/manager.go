// Package manager is the league manager of league.v2: it registers referees and players, announces
// the rounds, records the results and announces how the league ends. What the league is at any
// moment is the business of package league; this package answers requests and delivers: it knows
// whom to notify of what, and until when.
//
// It knows neither sockets nor strategies. The assembler of a league gives it a [wire.Caller],
// serves [Manager.Dispatcher] over whatever transport, and calls [Manager.Run]:
//
//	m, err := manager.New(manager.Config{LeagueID: "cup", Players: 4, DataDir: dir, Caller: caller})
//	...
//	go server.Serve(ctx, m.Dispatcher())
//	err = m.Run(ctx) // until the league is over, or ctx ends
//
// # The order of messages
//
// In each round ROUND_ANNOUNCEMENT goes to all players at the same time, and is waited for until
// every player that is not SUSPENDED has acknowledged, failed to, or had its 10 s; then to the
// referees, with the endpoints of the players and the match keys of exactly those matches that each
// conducts. Each MATCH_RESULT_REPORT is answered when it is in the journal. After the last,
// LEAGUE_STANDINGS_UPDATE and then ROUND_COMPLETED go to everybody, and LEAGUE_COMPLETED after the
// last round.
//
// Each agent gets its messages one after another and in this order. An attempt that fails is
// repeated in the background by [Config.Backoff]; a message that is still waiting when a newer one
// of its type comes is dropped. An agent that cannot be reached is SUSPENDED: it is notified like
// any other, but nobody waits for it, so that it costs the league one timeout and not one in every
// round. A player that the organiser has taken out is sent the end of the league only, and forfeits.
// Between rounds, and while the organiser has paused the league, nothing runs out.
//
// The announcement is repeated to a referee, and to the players concerned, when it has become
// wrong: a referee that could not be notified, or that owes a report and has sent none for
// [Config.MatchDeadline], loses its matches to another one; an agent has come back at another
// endpoint or with a new token; a player is taken out or readmitted; the manager was started again.
// A referee then gets the matches that are not over.
//
// # Restarts
//
// An event of the league is in the journal before anybody learns what follows from it; the end of a
// round and of the league once everybody was notified or given up on. So a manager that is killed at
// any moment and started again on the same data directory announces the current round again, without
// the matches that are over, or repeats the messages that end a round; it may send a message twice,
// but it forgets nothing that it acknowledged, and a result counts once. The JSON files for people
// are written in the background at the ends of rounds, and never read back.
//
// # Who may do what
//
// Every request but a registration must show the token of its sender. The launcher (START_LEAGUE)
// shows the admin token as auth_token or as Authorization: Bearer. Where none is configured, its
// requests count only if they come from a loopback address with a JSON content type, a loopback
// Host, no Origin and no header of a proxy. Queries are public: the launcher, and anybody whose id
// no agent has, asks without a token. Where players listen is for referees and the holder of the
// admin token. [league.State.Admit] says who is known again.
package manager

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/journal"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// Manager manages one league. Its methods are safe for concurrent use; Run may be called once.
type Manager struct {
	cfg        Config
	dispatcher *wire.Dispatcher
	tolerant   *dialect.Codec   // what a tolerant league would take
	journal    *journal.Journal // nil without a data directory
	declined   agent.Tally      // notifications that agents refuse
	scheduling atomic.Bool      // the schedule is being made

	ctx    context.Context // of everything in the background; ends with Run
	cancel context.CancelCauseFunc

	// deciding is held while the organiser or an agent that registers changes the league, so
	// that what is decided is judged by what is in the journal.
	deciding sync.Mutex

	mu         sync.Mutex // guards what follows
	state      *league.State
	contacts   map[string]*contact                    // by agent
	reserved   map[string]chan struct{}               // by match: an event of it is on its way into the journal
	arrived    bool                                   // an agent has registered, and the driver does not know yet
	announced  int                                    // the round that was announced to the referees
	forPlayers func(protocol.Header) protocol.Message // the announcement to players; nil until the first
	changes    uint64                                 // counts whatever an answer to GET_SCHEDULE could show
	schedule   cachedSchedule
	files      struct { // for people and tools that are outdated
		agents, table bool
		matches       []game.Match // over, and not written yet
	}
	events   []Event
	refusals map[string]bool   // that were reported
	probed   map[string]bool   // endpoints that were reached, or are being tried
	busy     int               // contacts whose queue is being delivered
	verdicts map[string]bool   // by player: on the number of its match in the round that ends
	versions map[string]string // by player: the version of its strategy that chose last
	failures map[string]int    // by player: the round in which its strategy failed last

	delivering sync.Mutex // held while Config.Events is called
	writing    sync.Mutex // held while files are written
	background sync.WaitGroup
	wake       chan struct{} // wakes the driver
	done       chan struct{} // closed when the league is over and everybody had a chance to know
	finish     func()        // closes done
	shut       func() error  // ends everything in the background and closes the journal
}

// sender signs everything that the manager sends.
const sender = string(protocol.RoleManager)

// New returns the manager of a league. With a data directory it opens the league's journal, which
// only one process can have open, and goes on where that ends: the error wraps disk.ErrLocked or
// journal.ErrDamaged where those are the cause. The caller of New must call Run or Close.
func New(cfg Config) (*Manager, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	m := &Manager{
		cfg: cfg, contacts: make(map[string]*contact), reserved: make(map[string]chan struct{}),
		refusals: make(map[string]bool), verdicts: make(map[string]bool), versions: make(map[string]string),
		failures: make(map[string]int), probed: make(map[string]bool), tolerant: dialect.NewCodec(protocol.Tolerant),
		wake: make(chan struct{}, 1), done: make(chan struct{}),
		state: league.New(cfg.LeagueID, league.Rules{
			Mode: cfg.Mode, MaxPlayers: cfg.MaxPlayers, MaxReferees: cfg.MaxReferees, MaxPerAddress: cfg.MaxPerAddress,
			Legs: cfg.Legs, Draw: cfg.Draw, Pace: cfg.Pace,
		}),
	}
	m.finish, m.shut = sync.OnceFunc(func() { close(m.done) }), sync.OnceValue(m.end)
	m.ctx, m.cancel = context.WithCancelCause(context.Background())
	m.dispatcher = &wire.Dispatcher{
		Codec:         dialect.NewCodec(cfg.Mode),
		Sender:        func() string { return sender },
		Now:           cfg.Now,
		Answered:      m.answered,
		Authenticate:  m.authenticate,
		Handlers:      m.handlers(),
		Default:       m.unwanted,
		Refusing:      m.refusing,
		ServerRefused: m.refusedBare,
		Log:           cfg.Log,
	}
	if cfg.DataDir != "" {
		if err := m.open(); err != nil {
			return nil, fmt.Errorf("manager: %w", err)
		}
	}
	return m, nil
}

// JournalName returns the name of the file in which the manager of a league keeps its journal.
func JournalName(dataDir, league string) string {
	return filepath.Join(dataDir, "data", "leagues", league, "manager.journal")
}

// open opens the journal and takes over what it holds.
func (m *Manager) open() (err error) {
	s := m.state
	m.journal, err = journal.Recover(JournalName(m.cfg.DataDir, s.ID), journal.Config{NoSync: m.cfg.NoSync}, m.cfg.Log, s.Replay)
	if err != nil {
		return err
	}
	if s.Schedule != nil && s.Schedule.Legs() != m.cfg.Legs {
		m.cfg.Log.Warn("league continues with its original legs", "legs", s.Schedule.Legs(), "configured", m.cfg.Legs)
	}
	m.catchUp()
	for _, a := range s.Members {
		m.updateContact(a).life = league.Registered
	}
	switch {
	case s.Concluded:
		m.finish()
	case s.Running():
		m.emit(Event{Kind: LeagueResumed, Round: s.Round(), Total: s.Rounds(), Paused: s.Paused, PaceMS: s.Pace().Milliseconds()})
	}
	return nil
}

// Dispatcher returns what serves the manager's endpoint. A server in tolerant mode
// should also accept objects without JSON-RPC (jsonrpc.Config.Lenient).
func (m *Manager) Dispatcher() *wire.Dispatcher { return m.dispatcher }

// answered is called when a request has its answer.
func (m *Manager) answered() {
	m.deliverEvents()
	// What follows from a registration (the start of the league, matches for a late referee) comes
	// after its answer, since before that the agent knows neither its id nor the manager's token.
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.arrived {
		m.arrived = false
		m.wakeDriver()
	}
}

// Done is closed when the league is over and every agent that can be reached has
// heard of it. Run may continue for a while to notify the others.
func (m *Manager) Done() <-chan struct{} { return m.done }

// read returns something of the league.
func read[T any](m *Manager, what func(*league.State) T) T {
	m.mu.Lock()
	defer m.mu.Unlock()
	return what(m.state)
}

// Over reports whether every match is played. There may still be agents to tell.
func (m *Manager) Over() bool { return read(m, (*league.State).Over) }

// Standings returns the table as it is.
func (m *Manager) Standings() []league.Standing {
	return slices.Clone(read(m, (*league.State).Standings))
}

// Results returns the matches that are over, in the order of the schedule.
func (m *Manager) Results() []league.Match { return read(m, (*league.State).Results) }

// Draws returns what the players said of the numbers of the rounds that are over, with
// their acknowledgements of ROUND_COMPLETED; a referee has no part in it.
func (m *Manager) Draws() league.Draws {
	return read(m, func(s *league.State) league.Draws { return s.Draws })
}

// Endpoints returns where the agents of the league listen, as they have last registered, by
// their ids.
func (m *Manager) Endpoints() map[string]string {
	return read(m, func(s *league.State) map[string]string {
		all := make(map[string]string, len(s.Members))
		for id, a := range s.Members {
			all[id] = a.Endpoint
		}
		return all
	})
}

// decide has an event decided and puts it into effect, if there is one; no other may be
// decided in the meantime.
func decide[E interface {
	comparable
	league.Event
}](ctx context.Context, m *Manager, decision func(*league.State) (E, error)) error {
	defer m.deliverEvents()
	m.deciding.Lock()
	defer m.deciding.Unlock()
	m.mu.Lock()
	e, err := decision(m.state)
	m.mu.Unlock()
	var none E
	if e == none || err != nil {
		return err
	}
	return m.record(ctx, e)
}

// record puts an event into the journal and then into effect. When it returns
// nil, anybody may learn what the event says.
func (m *Manager) record(ctx context.Context, e league.Event) error {
	if m.ctx.Err() != nil {
		return stopping()
	}
	if m.journal != nil {
		// Who asked for it may be gone; the event stands all the same.
		err := m.journal.Append(context.WithoutCancel(ctx), e.Kind(), e)
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
	if err := m.state.Apply(e); err != nil {
		err = fmt.Errorf("manager: %w", err)
		m.cancel(err)
		return err
	}
	m.react(e)
	return nil
}

// stopping refuses what comes while the manager ends: a later attempt may meet the next one.
func stopping() error {
	return protocol.Refuse(protocol.CodeRateLimited, "", "The manager is shutting down; try again when it is back.")
}

// wakeDriver has the driver look for something to do.
func (m *Manager) wakeDriver() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// Close closes the journal of a manager that is never run.
func (m *Manager) Close() error {
	m.cancel(errors.New("the manager was closed"))
	return m.shut()
}

// end is shut, once.
func (m *Manager) end() error {
	m.mu.Lock()
	for _, c := range m.contacts {
		if c.deadline != nil {
			c.deadline.Stop()
		}
	}
	m.mu.Unlock() // whoever holds it next sees that the context has ended
	m.background.Wait()
	m.declined.Close(m.cfg.Log)
	m.flushEvents()
	if m.journal == nil {
		return nil
	}
	m.writeFiles()
	return m.journal.Close()
}
