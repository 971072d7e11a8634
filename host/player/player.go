// Package player is the league.v2 player agent: it registers with a manager, answers invitations
// and calls for a choice, and leaves every choice to a strategy.
//
// The agent never opens a socket. Its assembler serves Endpoint over a transport, gives the agent
// the URL under which it is reached, and then calls Run; so the agent listens before it registers.
// States, as league.v2 names them: UNREGISTERED, REGISTERED, WAITING_FOR_ROUND, IN_MATCH,
// WAITING_FOR_RESULT.
//
// # What it promises
//
//   - A strategy chooses at most once for each match; a repeated call gets the
//     same answer, after a restart too if there is a data directory.
//   - A strategy that fails costs its matches, never the agent: the call for a
//     choice gets a refusal that is not retryable (E007), so that the referee need not wait, and
//     the opponent learns nothing. A seat that is out still joins its matches.
//   - A match message without the match key is refused (4001). Under
//     a manager that knows no match keys, the first token seen for a match
//     holds for that match.
//   - Without Once the agent stays when a league is over, and registers for the
//     next; one whose manager has lost its memory registers again.
//   - What a manager sends is believed only with the manager's token, once one
//     has been seen, and always in strict mode (3001).
package player

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/seat"
)

// DefaultChoiceTimeout is how long the strategy has for a choice, by league.v2.
const DefaultChoiceTimeout = 30 * time.Second

// DefaultWatch is how long an agent goes without a word from its manager before it asks.
const DefaultWatch = 30 * time.Second

// DefaultIdleExit is how long an agent that is to leave with the league stays
// in one in which nothing happens any more.
const DefaultIdleExit = 5 * time.Minute

// DefaultPatience is how long a referee is given to show that it has read a join.
const DefaultPatience = time.Second

// Config configures a player. Factory is required, and of agent.Config what is required there; the
// zero value of everything else has the meaning named with it. The default name is the strategy's;
// IdleExit is DefaultIdleExit with Once unless it is negative.
type Config struct {
	agent.Config

	Factory strategies.Factory
	// Key and Coin are the roots of the strategy's randomness and of the coin
	// for answers that are probabilities.
	Key, Coin game.Key
	// Barred keeps the strategy from being called: every match is lost as quarantined.
	Quarantined bool
	// Totals is that of the strategy's Setup.
	Totals int
	// Versions, if not nil, supplies the versions of a strategy that is edited while it
	// plays; Factory makes the seats of the first one. It may be nil if the strategy does
	// not load: then the version plays that chose last, says the journal.
	Versions Versions
	// League is what is known of the league beforehand; nil asks the manager.
	League *League

	// ChoiceTimeout limits the strategy's calls; default DefaultChoiceTimeout.
	ChoiceTimeout time.Duration
	// Once makes Run return when the league is complete. Otherwise the agent
	// stays, and registers for the next one.
	Once bool
	// Patience is how long a referee has to call for the choice before the join, which it may not
	// have read in the answer to its invitation, is sent to it as a message; default
	// DefaultPatience, negative for never. Referees that sign with match keys read answers.
	Patience time.Duration
	// Overdue is how long the agent waits for an invitation to an announced match,
	// or for any message after its registration, before it reports that as a
	// Trouble; default DefaultOverdue, negative for ever.
	Overdue time.Duration
	// Watch is how often an agent that hears nothing asks the manager how the league stands, and
	// how often it tries to register for the next league; default DefaultWatch, negative for never.
	Watch time.Duration

	Events func(Event)  // called for what happens; must not block
	Print  *slog.Logger // takes what a script prints
}

// League is what is known of a league beforehand.
type League struct {
	Field  []string       // ids of all players
	Rounds int            // of the whole league
	Legs   int            // how often each pair meets
	Index  map[string]int // of the player's matches in the schedule, by id; not changed
}

// Player is one agent. Its handler is safe for concurrent use.
type Player struct {
	cfg               Config
	member            *agent.Member
	dispatcher        *wire.Dispatcher
	announcedEndpoint string // the endpoint that the manager knows; Run's

	life   context.Context // ends with Run; strategies are called in it
	end    context.CancelFunc
	knows  atomic.Bool   // the manager has answered a question, and so knows tokens
	heard  atomic.Bool   // of the manager, since it was last looked after
	spoken atomic.Bool   // to by anybody, since the registration
	done   chan struct{} // gets one for each league that is complete

	leaves  bool   // it was killed after the end of its league, and before it had left
	resumed *Event // that the version that chose last does not play on; Run's

	mu          sync.Mutex
	league      *leagueState
	version     *version        // of the next seat
	keys        map[string]bool // of draws, revealed so far
	chose       map[string]bool // fingerprints of versions, of any league
	historyFile sync.Mutex      // held while the history is written; before mu

	ended      bool // Run has returned, or is about to
	background sync.WaitGroup
}

// New returns an agent that has not registered yet. With a data directory it
// continues where an earlier process stopped.
func New(cfg Config) (*Player, error) {
	if cfg.Factory == nil && cfg.Versions == nil {
		return nil, errors.New("player: factory is required")
	}
	cfg = defaults(cfg)
	member, err := agent.NewMember(protocol.RolePlayer, cfg.Config)
	if err != nil {
		return nil, err
	}
	cfg.Config = member.Config
	p := &Player{cfg: cfg, member: member, league: newLeagueState(), version: &version{factory: cfg.Factory}, keys: make(map[string]bool), chose: make(map[string]bool), done: make(chan struct{}, 1)}
	p.life, p.end = context.WithCancel(context.Background())
	if err := p.recover(); err != nil {
		return nil, err
	}
	if err := p.resumeVersion(); err != nil {
		return nil, errors.Join(err, p.member.Close())
	}
	p.dispatcher = member.NewDispatcher(p.authenticate, p.handlers())
	p.dispatcher.Refusing, p.dispatcher.ServerRefused = p.refusing, p.unread
	if cfg.Mode == protocol.Tolerant {
		p.dispatcher.AcknowledgeUnknown = true
		p.dispatcher.Default = func(context.Context, *wire.Exchange) (protocol.Message, error) { return nil, nil }
		p.dispatcher.AnswerDialect = p.answerDialect
	}
	return p, nil
}

func defaults(cfg Config) Config {
	if cfg.Factory != nil {
		cfg.Name = cmp.Or(cfg.Name, cfg.Factory.Info().Name)
	}
	cfg.Watch = cmp.Or(cfg.Watch, DefaultWatch)
	cfg.Patience = cmp.Or(cfg.Patience, DefaultPatience)
	cfg.Overdue = cmp.Or(cfg.Overdue, DefaultOverdue)
	if cfg.ChoiceTimeout <= 0 {
		cfg.ChoiceTimeout = DefaultChoiceTimeout
	}
	if cfg.Once {
		cfg.IdleExit = cmp.Or(cfg.IdleExit, DefaultIdleExit)
	}
	if cfg.Events == nil {
		cfg.Events = func(Event) {}
	}
	return cfg
}

// Dispatcher answers what comes to the agent.
func (p *Player) Dispatcher() *wire.Dispatcher { return p.dispatcher }

// ID returns the player id, empty before registration.
func (p *Player) ID() string { return p.member.Me.ID() }

// Run registers and then plays until ctx ends or, with Once, until the league is complete. When it
// returns, the strategy's seat is closed, everything is on disk and nothing of the agent runs any
// more; the handler goes on to acknowledge what still comes. It is called once. The error says why
// the agent could not take part; the end of ctx is not an error.
func (p *Player) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, p.Close()) }()
	defer context.AfterFunc(ctx, p.end)()
	if p.leaves { // its manager may be gone
		e, _ := p.endEvent(p.current(), Completed)
		p.emit(e)
		return p.member.Append(ctx, eventLeft, nil)
	}
	if p.resumed != nil {
		p.emit(*p.resumed)
	}
	if p.cfg.Versions != nil {
		p.inBackground(p.followEdits)
	}
	if err := p.join(ctx); err != nil {
		return agent.Ended(ctx, err)
	}
	err = p.stay(ctx)
	p.mu.Lock()
	over := p.league.completed
	p.mu.Unlock()
	if err != nil || !p.cfg.Once || !over {
		return err
	}
	return p.member.Append(context.WithoutCancel(ctx), eventLeft, nil)
}

// inBackground runs something that Run waits for, unless it is too late.
func (p *Player) inBackground(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.background.Go(do)
	}
}

// Close ends what is running and closes what the agent holds. Call it for an
// agent that is never run; Run does it itself.
func (p *Player) Close() error {
	p.mu.Lock()
	p.ended = true
	s := p.league
	p.mu.Unlock()
	p.end()
	p.background.Wait()
	if e, over := p.endEvent(s, Left); !over && e.Standing.Played > 0 {
		p.emit(e)
	}
	p.closeSeat(s)
	p.leave(p.version, 0, true)
	p.writeHistory(s)
	return p.member.Close()
}

// EventKind says what happened.
type EventKind string

// The kinds of event.
const (
	Waiting    EventKind = "waiting" // for the manager, which cannot be reached; once
	Registered EventKind = "registered"
	Announced  EventKind = "announced" // a match of the agent's; without one it pauses in the round
	Invited    EventKind = "invited"
	Chose      EventKind = "chose"
	Answered   EventKind = "answered" // a call for a choice, be it a repeated one
	Failed     EventKind = "failed"   // the strategy did
	Ended      EventKind = "ended"    // a match did
	Completed  EventKind = "completed"
	Deserted   EventKind = "deserted" // nothing has been heard for Config.IdleExit
	Trouble    EventKind = "trouble"  // Error costs matches, or may; Cause names it, Advice is what to change
	Left       EventKind = "left"     // the agent has left a league in which it has played and that is not over
	Reloaded   EventKind = "reloaded" // an edited version of the strategy plays from now on
	Kept       EventKind = "kept"     // an edit cannot play, says Error; the version before plays on
)

// Event is something that happened to the agent, for people who watch. Fields
// that an event has nothing to say of are empty.
type Event struct {
	Kind     EventKind           `json:"event"`
	Player   string              `json:"player"`
	Match    string              `json:"match,omitempty"`
	Round    int                 `json:"round,omitempty"`
	Opponent string              `json:"opponent,omitempty"`
	Choice   string              `json:"choice,omitempty"`
	Fault    string              `json:"fault,omitempty"`
	Error    string              `json:"error,omitempty"`
	Cause    string              `json:"cause,omitempty"` // of Trouble
	Advice   string              `json:"advice,omitempty"`
	Result   string              `json:"result,omitempty"`
	Number   *int                `json:"drawn_number,omitempty"`    // nil where none was drawn, or it is unknown
	Other    string              `json:"opponent_choice,omitempty"` // empty where it is unknown
	Draw     string              `json:"draw,omitempty"`            // "verified" or "broken", of a number that the referee committed to
	Points   int                 `json:"points,omitempty"`
	Place    int                 `json:"place,omitempty"` // in the final table
	League   string              `json:"league,omitempty"`
	Endpoint string              `json:"endpoint,omitempty"` // of Registered: where the agent expects to be called
	Dialect  string              `json:"dialect,omitempty"`  // that the manager, or the referee, speaks
	Referee  string              `json:"referee,omitempty"`
	Role     string              `json:"role,omitempty"`
	Table    []protocol.Standing `json:"table,omitempty"`   // the last that the manager sent
	Took     time.Duration       `json:"took_ns,omitempty"` // from the call for a choice to the answer
	Standing strategies.Standing `json:"standing,omitzero"`
	Draws    *Draws              `json:"draws,omitempty"`   // at the end; nil if no referee committed to a key
	Version  string              `json:"version,omitempty"` // fingerprint of the code that plays, or chose
	Former   string              `json:"former_version,omitempty"`
	Replayed int                 `json:"replayed,omitempty"` // matches that a version was taken through
	Versions []VersionRecord     `json:"versions,omitempty"` // at the end, in the order of their first choices
}

func (p *Player) emit(e Event) {
	e.Player = p.ID()
	p.cfg.Events(e)
}

// Faults returns the matches of the current league in which the strategy made
// no choice, by match id, with what it brought to each.
func (p *Player) Faults() map[string]seat.Answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	faults := make(map[string]seat.Answer)
	for id, m := range p.league.matches {
		if m.answer.Fault != game.NoFault {
			faults[id] = m.answer
		}
	}
	return faults
}

// Failures returns what the strategy did wrong in the current league, in order, and what it has cost,
// see strategies.Spender. It is for when Run has returned: a seat that does not exist yet is made no more.
func (p *Player) Failures() ([]Failure, strategies.Spent) {
	s := p.current()
	s.open.Do(func() {})
	if s.seat == nil {
		return nil, strategies.Spent{}
	}
	s.seat.mu.Lock()
	defer s.seat.mu.Unlock()
	return slices.Clone(s.seat.failures), s.seat.spent
}
