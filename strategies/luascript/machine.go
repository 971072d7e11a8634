package luascript

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"

	lua "github.com/yuin/gopher-lua"

	"github.com/strategylab/strategylab/host/game"
)

// The interpreter asks its context's Done once for every VM instruction. A
// machine is that context, and counts there. Built-in functions do their work
// without the interpreter, so they charge for it: one unit is one instruction,
// or an equal amount of work of a built-in and allocates at
// most about a KiB.
const (
	bytesPerUnit   = 16  // of a string that is made or searched
	slotsPerUnit   = 16  // of a table's array that is filled or moved
	valuesPerUnit  = 8   // of a list of arguments or results
	stepsPerUnit   = 2   // of the pattern matcher
	unitsPerCaught = 200 // an error that is caught has had a traceback made
)

const (
	// quantumUnits is the number of units between two checks of the budget and of
	// the watchdog. They take less than a millisecond; checking less often makes
	// every instruction cheaper.
	quantumUnits = 8192
	// heapAllowance is how far the heap of the process may have grown since a
	// seat began, in bytes, before the seat is checked for it.
	heapAllowance = 128 << 20
	// bytesPerUnitAtMost is the most that one unit allocates. A seat that has run
	// too few units cannot have caused the growth of the heap.
	bytesPerUnitAtMost = 1 << 10
)

// Why a call was ended. A machine that has overrun never runs again.
type overrun uint8

const (
	withinBudget overrun = iota
	overInstructions
	overTime
	overDepth
	overMemory
)

// errStopped stops the interpreter. The reason is in machine.over.
var errStopped = errors.New("stopped")

var closedChannel = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// machine is one Lua state and what it has used up. It is the context of that
// state, through which built-in functions find it. It belongs to one goroutine
// at a time; only stop is set from another.
type machine struct {
	state *lua.LState
	rand  *game.Rand
	log   *slog.Logger
	name  string // of the script, for its log
	lines int    // printed so far

	limit   int64       // units that one call may use
	left    int64       // of the call's limit, beyond what is in the quantum
	quantum int64       // units until the next check
	stop    atomic.Bool // set by the watchdog
	over    overrun

	life     int64 // units used by all calls before this one
	looked   int64 // life at the last look at the heap
	baseline uint64
	heap     []metrics.Sample
}

// of returns the machine that a built-in function was called in.
func of(l *lua.LState) *machine { return l.Context().(*machine) }

// begin starts a call's budget.
func (m *machine) begin() {
	m.quantum = min(quantumUnits, m.limit)
	m.left = m.limit - m.quantum
}

// end ends a call's budget, and checks the heap for scripts that allocate little
// per call but keep it.
func (m *machine) end() {
	m.life += m.used()
	m.left, m.quantum = 0, 0
	if m.over == withinBudget && m.life-m.looked >= quantumUnits {
		m.lookAtHeap(m.life)
	}
}

func (m *machine) used() int64 { return m.limit - m.left - m.quantum }

// Done counts an instruction; the interpreter calls it before each. A nil
// channel lets the interpreter continue.
func (m *machine) Done() <-chan struct{} {
	if m.quantum--; m.quantum >= 0 {
		return nil
	}
	if m.refill() {
		return nil
	}
	return closedChannel
}

// Err is never nil: the interpreter asks for it only after Done.
func (m *machine) Err() error { return errStopped }

// Deadline and Value make a machine a context.Context.
func (m *machine) Deadline() (time.Time, bool) { return time.Time{}, false }

func (m *machine) Value(any) any { return nil }

var _ context.Context = (*machine)(nil)

// refill starts the next quantum. It reports whether the call may continue.
func (m *machine) refill() bool {
	switch {
	case m.over != withinBudget:
	case m.stop.Load():
		m.over = overTime
	case m.left+m.quantum < 0:
		m.over = overInstructions
	default:
		if used := m.life + m.used(); used-m.looked >= quantumUnits {
			m.lookAtHeap(used)
		}
	}
	if m.over != withinBudget {
		m.left, m.quantum = 0, -1
		return false
	}
	// A negative quantum is a debt of built-in functions.
	m.left += m.quantum
	m.quantum = min(quantumUnits, m.left)
	m.left -= m.quantum
	return true
}

// charge takes the units of a built-in function before it does its work. If too
// few are left it raises an error, which a script cannot catch for long.
func (m *machine) charge(units int64) {
	m.quantum -= units
	if m.quantum < 0 && !m.refill() {
		m.state.RaiseError("%s", errStopped.Error())
	}
}

// abort ends the call and the machine.
func (m *machine) abort(why overrun) {
	if m.over == withinBudget {
		m.over = why
	}
	m.left, m.quantum = 0, -1
}

const (
	heapObjects = "/memory/classes/heap/objects:bytes" // live and not yet swept
	heapLive    = "/gc/heap/live:bytes"                // found live by the last collection
)

// lookAtHeap ends the call if the heap of the whole process has grown by more
// than heapAllowance since this machine first looked, and this machine has run
// enough to have caused it. Light scripts never get that far.
func (m *machine) lookAtHeap(used int64) {
	m.looked = used
	if m.heap == nil {
		m.heap = []metrics.Sample{{Name: heapObjects}}
		m.baseline = m.readHeap(heapObjects)
		return
	}
	if !m.suspect(used, m.readHeap(heapObjects)) {
		return
	}
	runtime.GC() // most of it may be garbage, and somebody else's
	if m.suspect(used, m.readHeap(heapLive)) {
		m.abort(overMemory)
	}
}

func (m *machine) suspect(used int64, heap uint64) bool {
	grown := int64(heap) - int64(m.baseline)
	return grown >= heapAllowance && grown <= used*bytesPerUnitAtMost
}

func (m *machine) readHeap(metric string) uint64 {
	m.heap[0].Name = metric
	metrics.Read(m.heap)
	return m.heap[0].Value.Uint64()
}
