// Package referee is the league.v2 referee agent: it registers with a manager, plays the matches it
// is assigned, several in parallel, and reports their results.
//
// game.Play decides what the messages of a match mean; the referee carries them, waits, and
// retries. It asks both players at the same time, and neither learns anything before both have
// answered or failed. Like the other agents it opens no socket.
//
// # What is journaled, and when
//
// With a data directory, a match is journaled when it is assigned, when both sides have chosen or
// failed (before the draw), when it is finished (before anybody hears of the number), and when the
// manager has acknowledged the report. The end of the league is journaled, too: a referee that
// starts again after that registers for the next one. So no crash lets it draw twice, and no result
// is lost: a referee that starts again on the same directory finishes what it had begun and reports
// what it had not. Without a data directory it keeps nothing, and a crash costs its matches, which
// the manager assigns again.
package referee

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"sync"
	"sync/atomic"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// Defaults, by league.v2.
const (
	DefaultJoinTimeout   = 5 * time.Second
	DefaultChoiceTimeout = 30 * time.Second
	DefaultConcurrent    = 10
)

// Match is what a draw may depend on.
type Match struct {
	League string
	ID     string
	Round  int
}

// Config configures a referee. The zero value of every field has the meaning named with it, except
// for the required ones of agent.Config. The default name is "Referee".
type Config struct {
	agent.Config

	// Concurrent limits the matches that are played in parallel; default DefaultConcurrent.
	Concurrent int

	JoinTimeout   time.Duration // for one attempt; default DefaultJoinTimeout
	ChoiceTimeout time.Duration // for one attempt; default DefaultChoiceTimeout

	// Draw returns the drawn number of a match; it is called once for each. The default draws from
	// 1 to 10 with a cryptographic source, so that nobody can foresee it.
	Draw func(Match) (int, error)
	// Verifiable makes the draws verifiable for players that understand it, as
	// package host/draws describes: their matches do not call Draw.
	Verifiable bool
	// MatchFiles writes the result of each match, as soon as it is over, to
	// data/matches/LEAGUE/MATCH.json below the data directory, for people and tools:
	// for a referee whose manager keeps its files elsewhere.
	MatchFiles bool
	// Player returns how a player is addressed. dialect is the name of the one that the manager
	// gives, or empty; by default the referee believes it, and guesses without it.
	Player func(id, endpoint, dialect string) *wire.Peer

	Events func(Event) // called for what happens; must not block
	// Progress tells a manager that asks for it how far the matches are, in the
	// background. A referee in the manager's process leaves it to Events.
	Progress bool
}

// Referee is one agent. Its handler is safe for concurrent use.
type Referee struct {
	cfg        Config
	member     *agent.Member
	dispatcher *wire.Dispatcher
	inPlay     chan struct{} // one for each match that may be played in parallel

	assigning sync.Mutex // held while an announcement is accepted

	mu           sync.Mutex
	matches      map[string]*match
	peers        map[[3]string]*wire.Peer // by id, endpoint and dialect
	unjoined     map[string]bool          // players that choose without having joined
	absences     map[absence]int          // matches in a row
	standings    map[string]protocol.OwnStandings
	inbox        []*match // assigned before Run could begin them
	begin        func(*match)
	over         bool          // no match is begun any more
	completed    bool          // the league is
	registration chan struct{} // closed with the next registration

	unacknowledged agent.Tally // results
	progress       *progress

	conducting atomic.Int64 // matches that are not finished, or whose players have not heard the result

	plays      sync.WaitGroup // matches being played
	background sync.WaitGroup // what nobody waits for; begun by plays and by start

	league   context.Context // ends when the league is complete
	complete context.CancelFunc
	idle     context.Context // ends when all plays have ended
	rest     context.CancelFunc
}

// New returns an agent that has not registered yet. With a data directory it
// continues where an earlier process stopped.
func New(cfg Config) (*Referee, error) {
	cfg.Name = cmp.Or(cfg.Name, "Referee")
	member, err := agent.NewMember(protocol.RoleReferee, cfg.Config)
	if err != nil {
		return nil, err
	}
	cfg.Config = member.Config
	defaults(&cfg)
	r := &Referee{
		cfg: cfg, member: member, inPlay: make(chan struct{}, cfg.Concurrent), peers: make(map[[3]string]*wire.Peer),
		matches: make(map[string]*match), unjoined: make(map[string]bool), absences: make(map[absence]int), registration: make(chan struct{}),
		progress: newProgress(),
	}
	r.league, r.complete = context.WithCancel(context.Background())
	r.idle, r.rest = context.WithCancel(context.Background())
	if err := r.recover(); err != nil {
		return nil, err
	}
	r.dispatcher = member.NewDispatcher(r.authenticate, r.handlers())
	if cfg.Mode == protocol.Tolerant {
		r.dispatcher.Default = func(context.Context, *wire.Exchange) (protocol.Message, error) { return nil, nil }
	}
	return r, nil
}

func defaults(cfg *Config) {
	cfg.JoinTimeout = cmp.Or(cfg.JoinTimeout, DefaultJoinTimeout)
	cfg.ChoiceTimeout = cmp.Or(cfg.ChoiceTimeout, DefaultChoiceTimeout)
	if cfg.Concurrent < 1 {
		cfg.Concurrent = DefaultConcurrent
	}
	if cfg.Draw == nil {
		fair := game.FairDraw()
		cfg.Draw = func(Match) (int, error) {
			var word [8]byte
			_, err := rand.Read(word[:])
			return fair.Pick(binary.BigEndian.Uint64(word[:])), err
		}
	}
	if cfg.Player == nil {
		manager := cfg.Manager
		cfg.Player = func(_, endpoint, name string) *wire.Peer {
			d, err := dialect.Named(name)
			if err != nil { // players mostly speak as their manager does
				return wire.GuessPeer(endpoint, manager.Speaks())
			}
			return wire.NewPeer(endpoint, d)
		}
	}
	if cfg.Events == nil {
		cfg.Events = func(Event) {}
	}
}

// Dispatcher answers what comes to the agent.
func (r *Referee) Dispatcher() *wire.Dispatcher { return r.dispatcher }

// ID returns the referee's id, empty before registration.
func (r *Referee) ID() string { return r.member.Me.ID() }

// EventKind says what happened.
type EventKind string

// The kinds of event.
const (
	Waiting    EventKind = "waiting" // for the manager, which cannot be reached; once
	Registered EventKind = "registered"
	Asked      EventKind = "asked"     // a player is asked for its choice: Players, Deadline
	Chose      EventKind = "chose"     // its choice is in, and is not said: Players
	Retried    EventKind = "retried"   // a player has to be asked again
	Forfeited  EventKind = "forfeited" // a player has lost a match by technical loss: Fault, and Error if there is more to say
	Absent     EventKind = "absent"    // a player has not answered in Matches in a row: it is asked once in each, for a short time, until it answers
	Finished   EventKind = "finished"  // a match is
	Alarm      EventKind = "alarm"     // a match cannot be played or reported, or the manager holds another result of it
	Checked    EventKind = "checked"   // a player has verified the number of a match, or could not: Verified
	Completed  EventKind = "completed" // the league is; Matches were conducted
	Deserted   EventKind = "deserted"  // nothing has been heard for Config.IdleExit; Matches were conducted
)

// Event is something that happened, for people who watch. Fields that an event
// has nothing to say of are empty.
type Event struct {
	Kind    EventKind `json:"event"`
	Referee string    `json:"referee"`
	Match   string    `json:"match,omitempty"`
	Round   int       `json:"round,omitempty"`
	Player  string    `json:"player,omitempty"`
	Retry   int       `json:"retry,omitempty"`
	Error   string    `json:"error,omitempty"`
	// Deadline is when the choice has to be in.
	Deadline time.Time `json:"deadline,omitzero"`

	Players  [2]string    `json:"players,omitzero"` // A, B
	Sides    [2]game.Side `json:"-"`
	Number   int          `json:"drawn_number,omitempty"`
	Points   [2]int       `json:"points,omitzero"`
	Matches  int          `json:"matches,omitempty"`
	Verified bool         `json:"verified,omitempty"`

	Dialect string `json:"dialect,omitempty"` // in which the manager is spoken to
	Fault   string `json:"fault,omitempty"`   // as game.Fault has it
	// Tolerant says of an answer that was not taken that a tolerant referee would have taken it.
	Tolerant bool `json:"tolerant_would_accept,omitempty"`
}

func (r *Referee) emit(e Event) {
	e.Referee = r.member.Me.ID()
	r.cfg.Events(e)
	r.progress.note(e)
}

func resultEvent(m *match, p *game.Play) Event {
	v := p.Verdict()
	e := Event{Kind: Finished, Match: m.Match, Round: m.Round, Players: m.Players, Points: [2]int{v.PointsA, v.PointsB}}
	e.Sides[0], e.Sides[1] = p.Sides()
	e.Number, _ = p.Number()
	return e
}
