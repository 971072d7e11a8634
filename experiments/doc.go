// Package experiments plays the leagues of a plan on several workers and hands
// their records on in league order.
//
// It knows no strategies and no messages: whatever plays a league is a Driver.
// The package arena drives leagues directly; others may drive them through the
// agents and their messages. What comes out depends on the plan alone, not on
// workers, on how leagues are grouped, or on how often the run was interrupted
// and resumed (save for faults that depend on the clock; see
// game.Fault.Reproducible).
//
// # Quarantine
//
// A player that overruns its time, its budget or its process in league after
// league would slow a run down beyond use. So after every Checkpoint leagues,
// that is before each league whose index is a multiple of Checkpoint, the
// players are put aside that lost their seat to an overrun (game.FaultTimeout,
// game.FaultBudget or game.FaultCrash) in at least QuarantineAfter of the
// Checkpoint leagues before. The crash of a plugin does not count: it costs all
// leagues that are under way at once, and a plugin is started again only so
// often in a run. From then on they are not called any more: each of
// their matches is lost with game.FaultQuarantined. The rule looks at records
// only, so a resumed run comes to the same decisions.
//
// Workers do not wait for the decision. They play on under the set of players
// they know, and a league that was played under another set than the one that
// turns out to hold is played again.
package experiments

import (
	"context"

	"github.com/strategylab/strategylab/host/results"
)

// Checkpoint is the number of leagues after which decisions are taken that
// depend on what happened before: whom to put aside and, unless Options.Every says
// otherwise, whether to stop.
const Checkpoint = 64

// QuarantineAfter is in how many of the Checkpoint leagues before a player must
// have lost its seat to an overrun to be put aside for the rest of the run.
const QuarantineAfter = Checkpoint / 2

// Driver plays the leagues of a plan. It is safe for concurrent use.
type Driver interface {
	// Block is how many consecutive leagues a worker plays best in one call;
	// at least 1. What is played does not depend on it.
	Block() int
	// NewWorker makes a worker, for one goroutine at a time.
	NewWorker(ctx context.Context) (Worker, error)
}

// Worker plays leagues one call after another and keeps between them what can
// be used again.
type Worker interface {
	// Play plays the leagues first, first+1, ... of the plan, one for each
	// element of out, and fills these in, using their memory again. barred[f]
	// says that the player with field index f is put aside.
	//
	// What goes wrong with a player is in the records. An error means that
	// the leagues could not be played, ctx being done among other reasons;
	// what out holds then is undefined.
	Play(ctx context.Context, first int, out []results.League, barred []bool) error
	// Close gives up what the worker keeps.
	Close() error
}

// Sink takes leagues in league order, from one goroutine at a time. A league
// is valid during the call.
type Sink interface {
	Append(l *results.League) error
}

// Flusher is an optional extension of Sink. Flush is called whenever no
// further league is ready, and at the end.
type Flusher interface {
	Sink
	Flush() error
}

// Tee returns a Sink that hands each league to all the given sinks in turn, up
// to the first that fails.
func Tee(sinks ...Sink) Flusher { return tee(sinks) }

type tee []Sink

func (t tee) Append(l *results.League) error {
	for _, s := range t {
		if err := s.Append(l); err != nil {
			return err
		}
	}
	return nil
}

func (t tee) Flush() error {
	for _, s := range t {
		if err := flush(s); err != nil {
			return err
		}
	}
	return nil
}

func flush(s Sink) error {
	if f, ok := s.(Flusher); ok {
		return f.Flush()
	}
	return nil
}
