package player

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/strategies"
)

// Default times, by league.v2.
const (
	DefaultTimeout       = 10 * time.Second
	DefaultChoiceTimeout = 30 * time.Second
)

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
	// Once makes Run return when the league is complete.
	Once bool
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
	Index  map[string]int // of matches in the schedule, by id; not changed
}

// Player is one agent. Its handler is safe for concurrent use.
type Player struct {
	cfg      Config
	endpoint *wire.Endpoint
	record   *record // nil without a data directory

	me *wire.Identity

	mu        sync.Mutex
	announced map[string]bool // referees that the manager has named
	matches   map[string]*match
	seat      *seat
	index     map[string]int // of matches in the schedule
	stand     strategies.Standing
	ended     []strategies.Outcome           // for the history; only with a data directory
	rebuild   []func(context.Context, *seat) // what a recovered seat is taken through
	completed bool

	seatOnce sync.Mutex    // held while the seat is being made
	done     chan struct{} // closed when the league is complete
	again    chan struct{} // asks for another registration
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
		cfg: cfg, me: wire.NewIdentity(protocol.RolePlayer, cmp.Or(cfg.ID, cfg.Name)),
		announced: make(map[string]bool), matches: make(map[string]*match),
		done: make(chan struct{}), again: make(chan struct{}, 1),
	}
	p.endpoint = &wire.Endpoint{
		Codec: protocol.NewCodec(cfg.Mode), Sender: p.me.Sender, Now: cfg.Now, Log: cfg.Log,
		Authenticate: p.authenticate, Handlers: p.handlers(),
	}
	if cfg.Mode == protocol.Tolerant {
		p.endpoint.Default = acknowledge
	}
	if cfg.Data != "" {
		if err := p.recover(); err != nil {
			return nil, fmt.Errorf("player: %w", err)
		}
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

// Handler answers what comes to the agent's endpoint.
func (p *Player) Handler() jsonrpc.Handler { return p.endpoint }

// Refuse gives what the server refuses by itself the league's error shape.
func (p *Player) Refuse() jsonrpc.RefuseFunc { return p.endpoint.Refuse }

// ID returns the player id, empty before registration.
func (p *Player) ID() string { return p.me.ID() }

// Run registers and then plays until ctx ends or, with Once, until the league
// is complete. When it returns, the strategy's seat is closed and everything
// is on disk. It is called once. The error says why the agent could not take
// part; the end of ctx is none.
func (p *Player) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, p.finish()) }()
	if p.ID() == "" {
		if err := p.register(ctx); err != nil {
			return ended(ctx, err)
		}
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-p.again:
			if err := p.register(ctx); err != nil {
				return ended(ctx, err)
			}
		case <-p.done:
			if p.cfg.Once {
				return nil
			}
			<-ctx.Done()
			return nil
		}
	}
}

// ended is the error of a Run that ctx may have ended.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// finish closes what the agent holds.
func (p *Player) finish() error {
	p.mu.Lock()
	seat := p.seat
	p.mu.Unlock()
	var err error
	if seat != nil {
		err = seat.close()
	}
	return errors.Join(err, p.record.close(p.history()))
}

func acknowledge(context.Context, *wire.Inbound) (protocol.Message, error) { return nil, nil }
