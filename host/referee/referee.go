package referee

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// Defaults, by league.v2.
const (
	DefaultJoinTimeout   = 5 * time.Second
	DefaultChoiceTimeout = 30 * time.Second
	DefaultTimeout       = 10 * time.Second
	DefaultConcurrent    = 10
)

// Match is what a draw may depend on.
type Match struct {
	League string
	ID     string
	Round  int
}

// Config says how a referee works. Endpoint, Manager and Caller are required;
// the zero value of everything else has the meaning named with it.
type Config struct {
	Endpoint string // the URL under which others reach the agent
	Manager  *wire.Peer
	Caller   *wire.Caller

	Name string        // display name; default "Referee"
	ID   string        // the id to ask for; empty leaves it to the manager
	Mode protocol.Mode // how much is asked of messages; the zero value is strict

	// Concurrent is how many matches are under way at once, at most; default
	// DefaultConcurrent.
	Concurrent int

	JoinTimeout   time.Duration // for one attempt; default DefaultJoinTimeout
	ChoiceTimeout time.Duration // for one attempt; default DefaultChoiceTimeout
	Timeout       time.Duration // for everything else; default DefaultTimeout
	Backoff       game.Backoff  // the zero value is game.LeagueBackoff

	// Draw returns the drawn number of a match; it is called once for each.
	// The default draws from 1 to 10 with a cryptographic source, so that
	// nobody can foresee it.
	Draw func(Match) (int, error)
	// Player returns how a player is addressed; default is by the book.
	Player func(id, endpoint string) *wire.Peer

	// Data is a directory for the journal; empty keeps none.
	Data string

	Now    func() time.Time // for timestamps; default time.Now
	Log    *slog.Logger     // default discards
	Events func(Event)      // told of what happens; must not block
}

// Referee is one agent. Its handler is safe for concurrent use.
type Referee struct {
	cfg      Config
	me       *wire.Identity
	endpoint *wire.Endpoint
	journal  *store
	slots    chan struct{} // one for each match that may be under way

	mu         sync.Mutex
	matches    map[string]*bout
	standings  map[string]protocol.OwnStandings
	inbox      []*bout // assigned before Run could begin them
	begin      func(*bout)
	completed  bool
	background sync.WaitGroup

	done  chan struct{} // closed when the league is complete
	again chan struct{} // asks for another registration
}

// New returns an agent that has not registered yet. With a data directory it
// goes on where an earlier process was.
func New(cfg Config) (*Referee, error) {
	if cfg.Manager == nil || cfg.Caller == nil || cfg.Endpoint == "" {
		return nil, errors.New("referee: endpoint, manager and caller are required")
	}
	defaults(&cfg)
	r := &Referee{
		cfg: cfg, me: wire.NewIdentity(protocol.RoleReferee, cmp.Or(cfg.ID, cfg.Name)),
		slots: make(chan struct{}, cfg.Concurrent), matches: make(map[string]*bout),
		done: make(chan struct{}), again: make(chan struct{}, 1),
	}
	r.endpoint = &wire.Endpoint{
		Codec: protocol.NewCodec(cfg.Mode), Sender: r.me.Sender, Now: cfg.Now, Log: cfg.Log,
		Authenticate: r.authenticate, Handlers: r.handlers(),
	}
	if cfg.Mode == protocol.Tolerant {
		r.endpoint.Default = func(context.Context, *wire.Inbound) (protocol.Message, error) { return nil, nil }
	}
	if cfg.Data != "" {
		if err := r.recover(); err != nil {
			return nil, fmt.Errorf("referee: %w", err)
		}
	}
	return r, nil
}

func defaults(cfg *Config) {
	cfg.Name = cmp.Or(cfg.Name, "Referee")
	cfg.JoinTimeout = cmp.Or(cfg.JoinTimeout, DefaultJoinTimeout)
	cfg.ChoiceTimeout = cmp.Or(cfg.ChoiceTimeout, DefaultChoiceTimeout)
	cfg.Timeout = cmp.Or(cfg.Timeout, DefaultTimeout)
	if cfg.Concurrent < 1 {
		cfg.Concurrent = DefaultConcurrent
	}
	if cfg.Backoff == (game.Backoff{}) {
		cfg.Backoff = game.LeagueBackoff()
	}
	if cfg.Draw == nil {
		fair := game.FairDraw()
		cfg.Draw = func(Match) (int, error) { return drawUnforeseen(fair) }
	}
	if cfg.Player == nil {
		cfg.Player = func(_, endpoint string) *wire.Peer { return wire.NewPeer(endpoint, protocol.Contracts) }
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

// drawUnforeseen draws with a cryptographic source.
func drawUnforeseen(d game.Draw) (int, error) {
	var word [8]byte
	if _, err := rand.Read(word[:]); err != nil {
		return 0, fmt.Errorf("draw: %w", err)
	}
	return d.Pick(binary.BigEndian.Uint64(word[:])), nil
}

// Handler answers what comes to the agent's endpoint.
func (r *Referee) Handler() jsonrpc.Handler { return r.endpoint }

// Refuse gives what the server refuses by itself the league's error shape.
func (r *Referee) Refuse() jsonrpc.RefuseFunc { return r.endpoint.Refuse }

// ID returns the referee's id, empty before registration.
func (r *Referee) ID() string { return r.me.ID() }

// Run registers and plays what is assigned until ctx ends or the league is
// complete and everything reported. It is called once, and waits for all it
// has begun. The error says why the agent could not take part; the end of ctx
// is none.
func (r *Referee) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, r.journal.close()) }()
	if r.me.ID() == "" {
		if err := r.register(ctx); err != nil {
			return ended(ctx, err)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.start(ctx)
	defer r.background.Wait()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.again:
			if err := r.register(ctx); err != nil {
				cancel()
				return ended(ctx, err)
			}
		case <-r.done:
			r.background.Wait() // what is under way is still to be reported
			return nil
		}
	}
}

// start begins what was assigned already, and from now on what is assigned.
func (r *Referee) start(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin = func(b *bout) {
		r.background.Go(func() { r.play(ctx, b) })
	}
	for _, b := range r.inbox {
		r.begin(b)
	}
	r.inbox = nil
}

func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (r *Referee) register(ctx context.Context) error {
	defer r.me.Registering()()
	conversation := jsonrpc.RandomID()
	policy := wire.Policy{Timeout: r.cfg.Timeout, Backoff: r.cfg.Backoff, Before: func(_ context.Context, a wire.Attempt) {
		r.cfg.Log.Info("the manager cannot be reached yet", "manager", r.cfg.Manager.URL, "again_in", a.Delay, "error", a.Err)
	}}
	answer, err := wire.Persist(ctx, policy, func(ctx context.Context) (protocol.Message, error) {
		return r.cfg.Caller.Call(ctx, r.cfg.Manager, &protocol.RefereeRegisterRequest{
			Header: protocol.NewHeader(protocol.TypeRefereeRegisterRequest, r.me.Sender(), protocol.Timestamp(r.cfg.Now()), conversation),
			Meta: protocol.RefereeMeta{
				DisplayName: r.cfg.Name, Version: "1.0.0", ProtocolVersion: "2.1.0", GameTypes: []string{protocol.GameEvenOdd},
				ContactEndpoint: r.cfg.Endpoint, MaxConcurrentMatches: protocol.Some(r.cfg.Concurrent),
			},
		})
	})
	if err != nil {
		return fmt.Errorf("register with %s: %w", r.cfg.Manager.URL, err)
	}
	a, ok := answer.(*protocol.RefereeRegisterResponse)
	switch {
	case !ok:
		return fmt.Errorf("register with %s: answered by a %s", r.cfg.Manager.URL, answer.Head().MessageType)
	case !protocol.Accepted(a.Status):
		return fmt.Errorf("register with %s: the manager turned the registration away: %s", r.cfg.Manager.URL, a.Reason.Value())
	case !protocol.ValidID(a.RefereeID):
		return fmt.Errorf("register with %s: the manager gave the referee id %q, which is none", r.cfg.Manager.URL, a.RefereeID)
	}
	reg := registration{ID: a.RefereeID, Token: a.AuthToken, League: a.LeagueID}
	if err := r.journal.append(ctx, eventRegistered, reg); err != nil {
		return err
	}
	r.me.Adopt(reg.ID, reg.Token, reg.League)
	r.tell(Event{Kind: Registered})
	return nil
}
