// Package strategies is the contract between the host and the code that
// chooses moves, whatever that code is written in.
//
// There are two lifetimes. A Factory is compiled once and shared. A Strategy
// is one seat of one league: made when the league begins, told what happened
// (Observe), asked for a choice (Choose), and closed when the league ends. It
// is told things once, as they happen, and never handed a growing history.
//
// The life of a seat, in the order the host goes through it:
//
//  1. Factory.New makes the seat and runs the script's start hook. If it
//     fails, the seat forfeits every match of the league.
//  2. Strategy.Choose is called at most once for each match. If it fails or
//     answers with something that is no choice, the match is lost on technical
//     grounds, and the seat goes on. If it overruns its time, instructions or
//     memory, the seat forfeits the rest of the league.
//  3. Strategy.Observe is called at most once for each match, after it is
//     decided. If it fails, the seat forfeits the rest of the league.
//  4. Strategy.Close is called exactly once for every seat that New returned,
//     whatever went before. A seat that has forfeited gets no other call.
//
// Everything a strategy may depend on arrives in Setup, Turn and Outcome.
// Randomness is Setup.Rand, which the host rekeys before every call; there is
// no clock. So the same seed always gives the same moves.
//
// Beyond the rules of the game this package imports only the standard
// library. Nothing here knows that Lua, JavaScript, plugins, HTTP or
// experiments exist.
package strategies

import (
	"context"
	"log/slog"

	"github.com/strategylab/strategylab/host/game"
)

// Factory makes the seats of one strategy. It is compiled once and safe for
// concurrent use.
type Factory interface {
	// Info describes the strategy. It costs nothing and never changes.
	Info() Info
	// New makes one seat. It returns soon after ctx is done; an error means
	// that the seat forfeits its league.
	New(ctx context.Context, s Setup) (Strategy, error)
	// Close releases what the factory holds, such as a process. No seat may
	// be open, and none is made afterwards.
	Close() error
}

// Strategy is one seat of one league. It belongs to one goroutine at a time.
//
// Turn and Outcome are the caller's and are reused: a Strategy copies what it
// wants to keep. Deadlines travel in the context; where it has none, the
// runtime's own budget holds alone.
type Strategy interface {
	// Choose returns the choice for one match.
	Choose(ctx context.Context, t *Turn) (Choice, error)
	// Observe tells how a match ended. In live play it may come late, out of
	// order with other matches, or never.
	Observe(ctx context.Context, o *Outcome) error
	// Close ends the seat.
	Close() error
}

// Kind says what a strategy is made of.
type Kind string

// The kinds of strategy, as they stand in reports.
const (
	Builtin    Kind = "builtin"
	Lua        Kind = "lua"
	JavaScript Kind = "js"
	Plugin     Kind = "plugin"
)

// Script reports whether a strategy of this kind is a script, whose calls may
// have to be given up if it runs in this process; see Outlast.
func (k Kind) Script() bool { return k == Lua || k == JavaScript }

// Info describes a strategy to people and to records.
type Info struct {
	Name        string // "markov-2"; unique in a catalogue
	Kind        Kind
	Title       string // one line, may be empty
	Description string // a few sentences, may be empty
	Source      string // file it was loaded from, empty for built-ins
	Fingerprint string // hex SHA-256 of the code, or a version for built-ins
}

// Setup is what a seat knows before its first match. In a foreign league what
// is unknown is zero or empty.
type Setup struct {
	ID     string   // own player id, "P03"
	Name   string   // own display name, equal to ID where players are anonymous
	Field  []string // ids of all players, own included; shared, not to be changed
	Rounds int      // of the whole league
	Legs   int      // how often each pair meets
	// Key is the root of the seat's randomness, for runtimes that have to send
	// it to another process; Rand is the stream itself. Never nil.
	Key  game.Key
	Rand *game.Rand
	// Log receives what a script prints. Nil discards it.
	Log *slog.Logger
}

// Turn is a call for a choice. The standing is counted from the outcomes the
// seat has observed.
type Turn struct {
	Match    uint64 // position that Rand is keyed with; the index in the schedule where that is known
	MatchID  string // "R1M1"
	Round    int    // from 1; 0 if unknown
	Opponent string // player id; empty if unknown
	Role     game.Role
	Standing
}

// Standing is a seat's own record so far. Losses include technical losses.
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

// Outcome is how one of the seat's matches ended. It carries all there is to
// know of the match, whether or not Choose was called for it.
type Outcome struct {
	Match          uint64 // as in Turn
	MatchID        string
	Round          int
	Opponent       string
	Role           game.Role
	Choice         game.Parity // own; NoParity if none was made
	OpponentChoice game.Parity // NoParity if none was made or it was not told
	Number         int         // the drawn number; means nothing unless Drew
	Drew           bool        // false after a technical loss, or where it was not told
	Result         game.Result // own
	Points         int         // own
}

// Choice is the answer of a strategy: the probability of playing even. Even
// and Odd are its two certain values; in between the host throws a coin that
// nobody else sees. Anything outside [0, 1], NaN included, is no choice.
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

// Resolve turns a valid choice into a parity. The coin is thrown only for a
// choice that is not certain; it must be keyed to the match.
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
