// Package strategies is the contract between the host and strategies in any language.
//
// A Factory is compiled once and shared. A Strategy is one seat in one league: the host makes it
// when the league begins, passes it each outcome once (Observe), asks it for choices (Choose), and
// closes it when the league ends.
//
// The host calls a seat in this order:
//
//  1. Factory.New makes the seat and runs the script's start hook. If it
//     fails, the seat forfeits every match of the league.
//  2. Strategy.Choose is called at most once per match. If it fails or returns
//     an invalid choice, the seat loses that match by technical loss. If it
//     exceeds its time, instructions or memory, the seat forfeits the rest of
//     the league.
//  3. Strategy.Observe is called at most once per match, after the match is
//     decided. If it fails, the seat forfeits the rest of the league.
//  4. Strategy.Close is called exactly once for every seat that New returned.
//     A seat that forfeits gets no other call.
//
// A strategy depends on Setup, Turn and Outcome alone. Its randomness is Setup.Rand, which the host
// rekeys before every call, and it has no clock. So the same seed always gives the same choices.
//
// This package imports only the rules of the game and the standard library.
package strategies

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/strategylab/strategylab/host/game"
)

// Factory makes the seats of one strategy. It is compiled once and safe for concurrent use.
type Factory interface {
	// Info describes the strategy. It is cheap and never changes.
	Info() Info
	// New makes one seat. It returns soon after ctx is done. If it fails, the
	// seat forfeits its league.
	New(ctx context.Context, s Setup) (Strategy, error)
	// Close releases what the factory holds, such as a process. Close every
	// seat before, and make none afterwards.
	Close() error
}

// Busy is an optional extension of Factory for runtimes that measure how long the calls
// of their seats take.
type Busy interface {
	// Busy returns the processor time of all calls so far, about. It is safe for concurrent use.
	Busy() time.Duration
}

// Strategy is one seat of one league. It belongs to one goroutine at a time.
//
// The caller owns and reuses Turn and Outcome: a Strategy copies what it wants to keep. The context
// carries the deadline; without one, only the runtime's own budget bounds a call.
type Strategy interface {
	// Choose returns the choice for one match.
	Choose(ctx context.Context, t *Turn) (Choice, error)
	// Observe passes on the outcome of a match. In live play it may come late,
	// out of order with other matches, or never.
	Observe(ctx context.Context, o *Outcome) error
	// Close ends the seat.
	Close() error
}

// Kind is what a strategy is written as.
type Kind string

// The kinds of strategy, as reports name them.
const (
	Builtin     Kind = "builtin"
	Lua         Kind = "lua"
	JavaScript  Kind = "js"
	WebAssembly Kind = "wasm"
	Plugin      Kind = "plugin"
	Agent       Kind = "agent" // served over HTTP
)

// Script reports whether strategies of this kind are scripts.
func (k Kind) Script() bool { return k == Lua || k == JavaScript || k == WebAssembly }

// Info describes a strategy to people and to records.
type Info struct {
	Name        string // "markov-2"; unique in a catalog
	Kind        Kind
	Title       string // one line, may be empty
	Description string // a few sentences, may be empty
	Source      string // file it was loaded from; empty for built-ins
	Fingerprint string // hex SHA-256 of the code, or a version for built-ins
}

// Setup is what a seat knows before its first match. In a foreign league,
// unknown fields are zero or empty.
type Setup struct {
	ID     string   // own player id, "P03"
	Name   string   // own display name; equal to ID where players are anonymous
	Field  []string // ids of all players, own included; shared, do not change
	Rounds int      // of the whole league
	Legs   int      // how often each pair meets
	// Key is the root of the seat's randomness, for runtimes that send it to
	// another process; Rand is the stream itself and never nil.
	Key  game.Key
	Rand *game.Rand
	// Totals is the version of the bound on all calls of the league together, 0 for none; see
	// package budget.
	Totals int
	// Log receives what a script prints; nil discards it.
	Log *slog.Logger
}

// Matches returns how many matches the seat plays.
func (s *Setup) Matches() int { return s.Legs * (len(s.Field) - 1) }

// Spender is an optional extension of Strategy for runtimes that know what their calls cost.
type Spender interface {
	// Spent returns what the calls have cost of what a league may cost. It is for after Close.
	Spent() Spent
}

// Spent is what the calls of a seat have cost: the share of what they may cost in a
// league, in FullShare parts; 0 if that is not bounded.
type Spent struct {
	Share int64
	Exact bool // it is counted; else it is measured, which nobody can reproduce
}

// FullShare is the share that a league may cost.
const FullShare = 1000

// Over reports whether that is more than a league may cost.
func (s Spent) Over() bool { return s.Share > FullShare }

// Turn is what a seat knows when it is asked for a choice. Standing counts the
// outcomes that the seat has observed.
type Turn struct {
	Match    uint64 // keys Rand; the index in the schedule if that is known
	MatchID  string // "R1M1"
	Round    int    // from 1; 0 if unknown
	Opponent string // player id; empty if unknown
	Role     game.Role
	Standing
}

// Standing is a seat's own record. Losses include technical losses.
type Standing struct {
	Played, Wins, Draws, Losses, Points int
}

// Add counts one outcome.
func (s *Standing) Add(result game.Result, points int) {
	s.Played++
	s.Points += points
	switch result {
	case game.Win:
		s.Wins++
	case game.Tie:
		s.Draws++
	case game.Loss, game.TechnicalLoss:
		s.Losses++
	}
}

// Outcome is how one of the seat's matches ended. It is complete, whether or
// not Choose was called for the match.
type Outcome struct {
	Match          uint64 // as in Turn
	MatchID        string
	Round          int
	Opponent       string
	Role           game.Role
	Choice         game.Parity // own; NoParity if there was none
	OpponentChoice game.Parity // NoParity if there was none or it is unknown
	Number         int         // the drawn number; valid if Drew
	Drew           bool        // false after a technical loss, or if the number is unknown
	Result         game.Result // own
	Points         int         // own
}

// Choice is the answer of a strategy: the probability of even. Even and Odd
// are certain; for values in between the host tosses a coin that nobody else
// sees. Values outside [0, 1] and NaN are invalid.
type Choice float64

// The certain choices.
const (
	Even Choice = 1
	Odd  Choice = 0
)

// Play returns the certain choice of a parity. It panics on game.NoParity.
func Play(p game.Parity) Choice {
	switch p {
	case game.Even:
		return Even
	case game.Odd:
		return Odd
	}
	panic("strategies: Play of no parity")
}

// Valid reports whether c lies in [0, 1].
func (c Choice) Valid() bool { return c >= 0 && c <= 1 }

// Resolve turns a valid choice into a parity. It uses the coin, which must be
// keyed to the match, only if the choice is not certain.
func (c Choice) Resolve(coin *game.Rand) game.Parity {
	switch {
	case c == Even:
		return game.Even
	case c == Odd:
		return game.Odd
	case coin.Bernoulli(float64(c)):
		return game.Even
	default:
		return game.Odd
	}
}

// Deferrer is an optional extension of Strategy for runtimes in which a call costs less
// than its beginning: they observe an outcome together with the next choice. Nobody may be
// able to tell but by the time of a failure.
type Deferrer interface {
	Strategy
	// Defer is Observe, except that the strategy may leave the outcome to its next
	// method. It then draws from Setup.Rand as that stood at Defer. If it fails there,
	// the error is an *Error with OpObserve, and the method does nothing else.
	Defer(ctx context.Context, o *Outcome) error
	// Settle observes what was deferred. Close does not.
	Settle(ctx context.Context) error
}

// FailedOp returns the operation that an error of a call of op comes from, which is another
// one if the strategy had deferred it.
func FailedOp(op Op, err error) Op {
	var typed *Error
	if errors.As(err, &typed) && typed.Op == OpObserve {
		return OpObserve
	}
	return op
}
