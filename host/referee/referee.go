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
	"sync/atomic"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/game"
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
	// Player returns how a player is addressed. The dialect is the name of the
	// one that the manager gives, empty if it gives none; default is to believe
	// it, and by the book without.
	Player func(id, endpoint, dialect string) *wire.Peer

	// Dialects are the ways to register that are tried, in this order; nil
	// stands for protocol.RegistrationOrder.
	Dialects []*protocol.Dialect

	// IdleExit makes Run return when the agent has conducted a match and then
	// for so long heard nothing and conducted nothing: many managers never say
	// that the league is over. The zero value is never.
	IdleExit time.Duration

	// Data is a directory for the journal; empty keeps none.
	Data string

	Now    func() time.Time // for timestamps; default time.Now
	Log    *slog.Logger     // default discards
	Events func(Event)      // told of what happens; must not block
}

// Referee is one agent. Its handler is safe for concurrent use.
type Referee struct {
	cfg Config

	registrar agent.Registrar
	me        *agent.Identity
	endpoint  *wire.Endpoint
	journal   *store
	slots     chan struct{} // one for each match that may be under way

	assigning sync.Mutex // held while an announcement is taken on

	mu        sync.Mutex
	matches   map[string]*bout
	peers     map[[3]string]*wire.Peer // by id, endpoint and dialect
	standings map[string]protocol.OwnStandings
	inbox     []*bout // assigned before Run could begin them
	begin     func(*bout)
	over      bool          // nothing is begun any more
	completed bool          // the league is
	adopted   chan struct{} // closed with the next registration

	began      time.Time    // for last, which is told by the monotonic clock
	last       atomic.Int64 // when something happened last, since began
	conducting atomic.Int64 // matches that are not finished, or not told to their players

	plays      sync.WaitGroup // matches under way
	background sync.WaitGroup // what nobody waits for; begun by plays only

	league   context.Context // ends when the league is complete
	complete context.CancelFunc
	idle     context.Context // ends when all plays have ended
	rest     context.CancelFunc
	again    chan struct{} // asks for another registration
}

// New returns an agent that has not registered yet. With a data directory it
// goes on where an earlier process was.
func New(cfg Config) (*Referee, error) {
	if cfg.Manager == nil || cfg.Caller == nil || cfg.Endpoint == "" {
		return nil, errors.New("referee: endpoint, manager and caller are required")
	}
	defaults(&cfg)
	r := &Referee{
		cfg: cfg, slots: make(chan struct{}, cfg.Concurrent), peers: make(map[[3]string]*wire.Peer),
		adopted: make(chan struct{}), again: make(chan struct{}, 1), began: time.Now(),
	}
	r.registrar = agent.Registrar{Caller: cfg.Caller, Peer: cfg.Manager, Candidates: cfg.Dialects}
	r.league, r.complete = context.WithCancel(context.Background())
	r.idle, r.rest = context.WithCancel(context.Background())
	r.unregistered()
	if cfg.Data != "" {
		if err := r.recover(); err != nil {
			return nil, fmt.Errorf("referee: %w", err)
		}
	}
	r.endpoint = &wire.Endpoint{
		Codec: protocol.NewCodec(cfg.Mode), Sender: r.me.Sender, Now: cfg.Now, Log: cfg.Log,
		Received: r.touch, Authenticate: r.authenticate, Handlers: r.handlers(),
	}
	if cfg.Mode == protocol.Tolerant {
		r.endpoint.Default = func(context.Context, *wire.Exchange) (protocol.Message, error) { return nil, nil }
	}
	return r, nil
}

// unregistered is the state of an agent that is in no league.
func (r *Referee) unregistered() {
	r.me = agent.NewIdentity(protocol.RoleReferee, cmp.Or(r.cfg.ID, r.cfg.Name))
	r.matches = make(map[string]*bout)
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
		cfg.Player = func(_, endpoint, dialect string) *wire.Peer {
			d, err := protocol.DialectNamed(dialect)
			if err != nil { // players are mostly of their manager's kind
				return wire.GuessPeer(endpoint, cfg.Manager.Speaks())
			}
			return wire.NewPeer(endpoint, d)
		}
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

// Endpoint answers what comes to the agent.
func (r *Referee) Endpoint() *wire.Endpoint { return r.endpoint }

// ID returns the referee's id, empty before registration.
func (r *Referee) ID() string { return r.me.ID() }
