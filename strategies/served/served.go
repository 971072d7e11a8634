// Package served plays an agent that is served over HTTP, in whatever language, as a
// strategy: it speaks to it as the manager and the referee of a league.v2 league speak to a
// player, in the dialect that it understands.
//
// The agent runs already, at a URL, or a command of the operator starts it, a process for
// each group of seats that plays at the same time. To the agent all leagues of a run are one
// league without an end: it keeps its id, every match has an id of its own, and in each
// league it meets opponents with new ids, since they are other strategies then. A match is an
// announcement, an invitation, a call for a choice and its outcome; after the last match of a
// league the agent receives its standing. Matches of several leagues are in flight together
// as far as that makes it no slower.
//
// An agent has a clock and randomness of its own, so what it plays cannot be reproduced. A
// cassette keeps its answers.
package served

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/strategylab/strategylab/strategies"
	batches "github.com/strategylab/strategylab/strategies/batch"
)

// The defaults of a Config.
const (
	DefaultDeadline = 2 * time.Second
	DefaultStart    = 15 * time.Second
)

// When the process of an agent is started again.
const (
	Never  = "never"
	League = "league" // for each
)

// Config says how agents are played. The zero value of a field means the default named with it.
type Config struct {
	// Deadline is the time for an answer: DefaultDeadline.
	Deadline time.Duration
	// Retries is how often a message is sent again that can be: none.
	Retries int
	// EachLeague starts the process of an agent again for each league.
	EachLeague bool
	// Start is the time for a process to listen and to register: DefaultStart, or Deadline if
	// that is longer.
	Start time.Duration
	// Cassette is a folder for recordings with the answers of each agent, which is not
	// asked for those that are there; empty for none. Offline asks no agent at all.
	Cassette string
	Offline  bool
	// Dir is the working directory of processes.
	Dir string
	// Log receives what processes write and how they end; nil discards it.
	Log *slog.Logger
}

// Factory makes the seats of an agent. It implements strategies.Batcher and is safe for
// concurrent use.
type Factory struct {
	spec     Spec
	config   Config
	info     strategies.Info
	cassette *cassette // nil for none
	stats    stats

	deaths atomic.Int32 // processes that have ended since the last answer

	starting sync.Mutex // held while a process starts, and guards what follows
	idle     []*agent
	closed   bool
}

var _ strategies.Batcher = (*Factory)(nil)

// Open returns the factory of an agent. It starts nothing. The caller closes the factory.
func Open(s Spec, c Config) (*Factory, error) {
	c.Deadline = cmp.Or(c.Deadline, DefaultDeadline)
	c.Start = cmp.Or(c.Start, max(DefaultStart, c.Deadline))
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	f := &Factory{spec: s, config: c, info: strategies.Info{
		Name: s.Name, Kind: strategies.Agent, Title: "an agent that runs already", Source: s.URL, Fingerprint: fingerprint(s, c.EachLeague),
	}}
	if s.URL == "" {
		f.info.Title = "an agent that is started to play" // its command may hold what others are not to see
	}
	f.stats.faults = make(map[string]*Fault)
	if c.Cassette == "" {
		return f, nil
	}
	var err error
	f.cassette, err = openCassette(c.Cassette, s.Name, c.Offline)
	return f, err
}

// fingerprint identifies how an agent is reached; its code is not known.
func fingerprint(s Spec, eachLeague bool) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %v", s.URL, s.Command, eachLeague))
	return hex.EncodeToString(sum[:])
}

// Info implements strategies.Factory.
func (f *Factory) Info() strategies.Info { return f.info }

// Lockstep is how many leagues an agent should play at once: their matches are in flight
// together, and with a process for each league every one costs a process.
func (f *Factory) Lockstep() int {
	if f.config.EachLeague {
		return 1
	}
	return mostInFlight
}

// Ready starts a process, or reaches the address, so that an agent that cannot play is
// noticed before anything is played. With answers in a cassette it does nothing.
func (f *Factory) Ready(ctx context.Context) error {
	if f.config.Offline || f.cassette.filled() {
		return nil
	}
	a, err := f.acquire(ctx)
	if err != nil {
		return fmt.Errorf("agent %s: %w", f.spec.Name, err)
	}
	f.release(a)
	return nil
}

// mostDeaths is how many processes of an agent may end, one after the other, before one of
// them answers.
const mostDeaths = 3

var errKeepsEnding = fmt.Errorf("%w %d times without an answer, and is not started again", strategies.ErrCrashed, mostDeaths)

// acquire returns an agent that can be asked, and is the caller's until release unless it
// has an address of its own.
func (f *Factory) acquire(ctx context.Context) (*agent, error) {
	f.starting.Lock()
	defer f.starting.Unlock()
	for len(f.idle) > 0 {
		last := len(f.idle) - 1
		a := f.idle[last]
		if a.process.dead() {
			a.close()
			f.idle = f.idle[:last]
			continue
		}
		if !f.spec.Shared() {
			f.idle = f.idle[:last]
		}
		return a, nil
	}
	if f.closed {
		return nil, errors.New("the agent is closed")
	}
	if f.deaths.Load() >= mostDeaths {
		return nil, errKeepsEnding
	}
	a, err := meet(ctx, f)
	f.stats.count(func(u *Usage) { u.Starts++ })
	if err != nil {
		if ctx.Err() == nil {
			f.deaths.Add(1)
		}
		return nil, err
	}
	if f.spec.Shared() {
		f.idle = append(f.idle, a)
	}
	return a, nil
}

// release takes an agent back.
func (f *Factory) release(a *agent) {
	f.starting.Lock()
	defer f.starting.Unlock()
	switch {
	case a.process.dead():
		f.deaths.Add(1)
		f.idle = slices.DeleteFunc(f.idle, func(b *agent) bool { return b == a })
		a.close()
	case f.spec.Shared():
	case f.closed:
		a.close()
	default:
		f.idle = append(f.idle, a)
	}
}

// Close ends all processes. Close all seats before.
func (f *Factory) Close() error {
	f.starting.Lock()
	defer f.starting.Unlock()
	f.closed = true
	for _, a := range f.idle {
		a.complete()
		a.close()
	}
	f.idle = nil
	return f.cassette.close()
}

// New implements strategies.Factory: a seat that is a batch of its own.
func (f *Factory) New(ctx context.Context, s strategies.Setup) (strategies.Strategy, error) {
	return batches.Alone(ctx, f, s)
}
