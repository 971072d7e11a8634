package player

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/strategies"
)

// Default times, by league.v2.
const (
	DefaultTimeout       = 10 * time.Second
	DefaultChoiceTimeout = 30 * time.Second
)

// DefaultWatch is how long an agent goes without a word from its manager
// before it asks.
const DefaultWatch = 30 * time.Second

// DefaultIdleExit is how long an agent that is to leave with the league stays
// in one in which nothing happens any more.
const DefaultIdleExit = 5 * time.Minute

// DefaultPatience is how long a referee is given to show that it has read a
// join.
const DefaultPatience = time.Second

// Config says who plays, and where. Factory, Endpoint, Manager and Caller are
// required; the zero value of everything else has the meaning named with it.
type Config struct {
	Factory strategies.Factory
	// Endpoint is the URL under which others reach the agent.
	Endpoint string
	// Manager is how the manager is reached, in the dialect it is to be
	// addressed in.
	Manager *wire.Peer
	Caller  *wire.Caller

	// Name is the display name; default is the strategy's.
	Name string
	// ID is the player id to ask for; empty leaves it to the manager.
	ID string
	// Mode is how much is asked of messages; the zero value is strict.
	Mode protocol.Mode
	// Key and Coin are the roots of the strategy's randomness and of the coin
	// for answers that are probabilities.
	Key, Coin game.Key

	// League is what is known of the league beforehand; nil asks the manager.
	League *League

	// Timeout is for one attempt to call the manager; default DefaultTimeout.
	Timeout time.Duration
	// ChoiceTimeout bounds the strategy's calls; default DefaultChoiceTimeout.
	ChoiceTimeout time.Duration
	// Backoff is how calls to the manager are tried again; the zero value is
	// game.LeagueBackoff. Registration goes on at its longest delay.
	Backoff game.Backoff
	// Once makes Run return when the league is complete. Otherwise the agent
	// stays, and registers for the next one.
	Once bool
	// IdleExit makes Run return when the agent has played and then for so long
	// heard nothing: many managers never say that the league is over. The zero
	// value is DefaultIdleExit with Once and never without; negative is never.
	IdleExit time.Duration
	// Patience is how long a referee is given to call for the choice before the
	// join, which it may not have read in the answer to its invitation, is sent
	// to it as a message; default DefaultPatience, negative for never. Referees
	// that sign with match keys read answers.
	Patience time.Duration
	// Dialects are the ways to register that are tried, in this order; nil
	// stands for protocol.RegistrationOrder. A Manager of our own takes the
	// first.
	Dialects []*protocol.Dialect
	// Watch is how often an agent that hears nothing asks the manager how the
	// league stands, and how often it tries to register for the next league;
	// default DefaultWatch, negative for never.
	Watch time.Duration
	// Barred keeps the strategy from being called at all: every match is lost
	// as quarantined.
	Barred bool
	// Data is a directory for the journal and the history; empty keeps none.
	Data string

	Now    func() time.Time // for timestamps; default time.Now
	Log    *slog.Logger     // default discards
	Events func(Event)      // told of what happens; must not block
	Print  *slog.Logger     // takes what a script prints
}

// League is who plays and when.
type League struct {
	Field  []string       // ids of all players
	Rounds int            // of the whole league
	Legs   int            // how often each pair meets
	Index  map[string]int // of the player's matches in the schedule, by id; not changed
}

// Player is one agent. Its handler is safe for concurrent use.
type Player struct {
	cfg      Config
	endpoint *wire.Endpoint
	record   *record // nil without a data directory

	registrar agent.Registrar // Run's
	manners   agent.AnswerDialects

	me   *agent.Identity
	told string // the endpoint that the manager was told; Run's

	life  context.Context // ends with Run; strategies are called in it
	end   context.CancelFunc
	knows atomic.Bool   // the manager has answered a question, and so knows tokens
	heard atomic.Bool   // of the manager, since it was last looked after
	last  atomic.Int64  // when a message came last, since began
	began time.Time     // for last, which is told by the monotonic clock
	done  chan struct{} // gets one for each league that is complete
	again chan struct{} // asks for another registration

	mu         sync.Mutex
	season     *season
	ended      bool // Run has returned, or is about to
	background sync.WaitGroup
}

// New returns an agent that has not registered yet. With a data directory it
// goes on where an earlier process was.
func New(cfg Config) (*Player, error) {
	switch {
	case cfg.Factory == nil, cfg.Manager == nil, cfg.Caller == nil, cfg.Endpoint == "":
		return nil, errors.New("player: factory, endpoint, manager and caller are required")
	case cfg.ID != "" && !protocol.ValidID(cfg.ID):
		return nil, fmt.Errorf("player: %q is no player id", cfg.ID)
	}
	defaults(&cfg)
	p := &Player{
		cfg: cfg, me: agent.NewIdentity(protocol.RolePlayer, cmp.Or(cfg.ID, cfg.Name)),
		season: newSeason(), done: make(chan struct{}, 1), again: make(chan struct{}, 1),
	}
	p.registrar = agent.Registrar{Caller: cfg.Caller, Peer: cfg.Manager, Candidates: cfg.Dialects}
	p.began = time.Now()
	p.life, p.end = context.WithCancel(context.Background())
	if cfg.Data != "" {
		if err := p.recover(); err != nil {
			return nil, fmt.Errorf("player: %w", err)
		}
	}
	p.endpoint = &wire.Endpoint{
		Codec: protocol.NewCodec(cfg.Mode), Sender: p.me.Sender, Now: cfg.Now, Log: cfg.Log,
		Received:     func() { p.last.Store(int64(time.Since(p.began))) },
		Authenticate: p.authenticate, Handlers: p.handlers(),
	}
	if cfg.Mode == protocol.Tolerant {
		p.endpoint.Default, p.endpoint.AcknowledgeUnknown = acknowledge, true
		p.endpoint.Manner = p.manner
	}
	return p, nil
}

func defaults(cfg *Config) {
	if cfg.Name == "" {
		cfg.Name = cfg.Factory.Info().Name
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.ChoiceTimeout <= 0 {
		cfg.ChoiceTimeout = DefaultChoiceTimeout
	}
	if cfg.Backoff == (game.Backoff{}) {
		cfg.Backoff = game.LeagueBackoff()
	}
	if cfg.Watch == 0 {
		cfg.Watch = DefaultWatch
	}
	if cfg.IdleExit == 0 && cfg.Once {
		cfg.IdleExit = DefaultIdleExit
	}
	if cfg.Patience == 0 {
		cfg.Patience = DefaultPatience
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Events == nil {
		cfg.Events = func(Event) {}
	}
}

// Endpoint answers what comes to the agent.
func (p *Player) Endpoint() *wire.Endpoint { return p.endpoint }

// ID returns the player id, empty before registration.
func (p *Player) ID() string { return p.me.ID() }

// Run registers and then plays until ctx ends or, with Once, until the league
// is complete. When it returns, the strategy's seat is closed, everything is on
// disk and nothing of the agent runs any more; the handler goes on to
// acknowledge what still comes. It is called once. The error says why the agent
// could not take part; the end of ctx is none.
func (p *Player) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, p.finish()) }()
	defer context.AfterFunc(ctx, p.end)()
	if err := p.join(ctx); err != nil {
		return ended(ctx, err)
	}
	return p.stay(ctx)
}

// Close gives up what an agent holds that is never run.
func (p *Player) Close() error { return p.finish() }

// inBackground runs something that Run waits for, unless it is too late.
func (p *Player) inBackground(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.background.Go(do)
	}
}

// ended is the error of a Run that ctx may have ended.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// finish ends what is under way and closes what the agent holds.
func (p *Player) finish() error {
	p.mu.Lock()
	p.ended = true
	s := p.season
	p.mu.Unlock()
	p.end()
	p.background.Wait()
	p.depart(s)
	p.leave(s)
	p.writeHistory(s)
	return p.record.close()
}

func acknowledge(context.Context, *wire.Exchange) (protocol.Message, error) { return nil, nil }
