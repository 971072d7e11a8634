package luascript

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	lua "github.com/yuin/gopher-lua"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies/script"
)

// Why a call was ended. A machine that has overrun never runs again.
type overrun uint8

const (
	withinBudget overrun = iota
	overInstructions
	overTime
	overDepth
)

// errStopped stops the interpreter. The reason is in machine.over.
var errStopped = errors.New("stopped")

var closedChannel = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// machine is one Lua state and what it has used up. It is the context of that state, whose Done the
// interpreter asks for once for every instruction. It counts there. Built-in functions find it
// through the state. It belongs to one goroutine at a time; only stop is set from another.
type machine struct {
	state *lua.LState
	rand  *game.Rand
	log   script.Log

	limit int64       // instructions that one call may use
	total int64       // that all calls may use
	given int64       // to this call: the limit, or what is left of the total
	left  int64       // of them in this call; negative when the call is over
	stop  atomic.Bool // set by the watchdog
	over  overrun
	inAll bool  // the call has only what is left of the total
	cause error // why the watchdog has stopped the call

	life int64 // instructions used by all calls before this one
}

// of returns the machine that a built-in function was called in.
func of(l *lua.LState) *machine { return l.Context().(*machine) }

// begin starts a call's budget.
func (m *machine) begin() {
	m.given = min(m.limit, m.total-m.life)
	m.left, m.inAll = m.given, m.given < m.limit
}

// end ends a call's budget.
func (m *machine) end() { m.life += m.given - max(m.left, 0) }

// Done counts an instruction; the interpreter calls it before each. A nil
// channel lets the interpreter continue.
func (m *machine) Done() <-chan struct{} {
	if m.left--; m.left >= 0 && !m.stop.Load() {
		return nil
	}
	if m.stop.Load() {
		m.abort(overTime)
	}
	m.abort(overInstructions)
	return closedChannel
}

// Err is never nil: the interpreter asks for it only after Done.
func (m *machine) Err() error { return errStopped }

// Deadline and Value make a machine a context.Context.
func (m *machine) Deadline() (time.Time, bool) { return time.Time{}, false }

func (m *machine) Value(any) any { return nil }

var _ context.Context = (*machine)(nil)

// abort ends the call and the machine.
func (m *machine) abort(why overrun) {
	if m.over == withinBudget {
		m.over = why
	}
	m.left = 0
}
