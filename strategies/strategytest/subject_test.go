package strategytest

import (
	"time"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

// Maker compiles one behaviour in the runtime under test. The limits are to be
// those of the factory; a runtime without budgets ignores them.
type Maker func(limits budget.Limits) (strategies.Factory, error)

// Named is a behaviour with the name it has in findings.
type Named struct {
	Name string
	Make Maker
}

// Answer is a behaviour whose choose gives one fixed answer, and what the host
// must take it for.
type Answer struct {
	Name string
	Make Maker
	Want strategies.Choice
}

// Subject says how each behaviour is written in the runtime under test. A nil
// field means that the runtime cannot express it; what needs it is skipped.
//
// Unless a field says otherwise, a behaviour has no start and no observe, and
// its choose answers even.
type Subject struct {
	Kind strategies.Kind // what Info().Kind must be

	// Lines says that errors thrown and invalid answers are reported with the
	// line where they came about.
	Lines bool
	// Instructions says that the runtime keeps a budget of instructions, so
	// that endless loops can be told without a clock.
	Instructions bool
	// Patience is how long a call that has to be stopped may take to return;
	// default 2 min. It is far above the deadlines set, so that a busy machine
	// fails nobody: what is caught is a call that does not return at all.
	Patience time.Duration

	Random Maker    // chooses even or odd by its own randomness, and by nothing else
	Memory Maker    // even when first asked, odd ever after; remembers in every place its language has
	Vandal Maker    // overwrites and deletes all it is handed, in start, choose and observe
	Escape Maker    // tries every way out of the sandbox; choose throws, naming one that is open
	Print  Maker    // choose prints the text Printed
	Valid  []Answer // answers of every form that is allowed

	// Invalid behaviours give an answer that is no choice in round 1.
	Invalid []Named
	// Unseeded behaviours choose by something that might differ between two
	// runs though the seed is the same: a clock, an address, an order.
	Unseeded []Named
	// Unloadable behaviours cannot be compiled: the Maker must return the
	// error. Those that loop for ever at the top level belong here too.
	Unloadable []Named

	ThrowStart, ThrowObserve Maker // the hook throws whenever it is called
	ThrowChoose              Maker // throws in round 1
	SpinStart, SpinObserve   Maker // the hook never returns
	SpinChoose               Maker // does not return in round 1

	// Echo returns a behaviour whose choose always throws the text
	// "saw <TYPE VALUE>", or "saw <none>" for what is absent, where TYPE is
	// "string" or "number". What it looks at is named by the path:
	//
	//	setup.FIELD          as it came to start; players joined by commas
	//	turn.FIELD           as it comes to this choose
	//	outcome.FIELD        as it came to the latest observe
	//	history.length       number of entries in turn.history
	//	history.first.FIELD  of its first entry
	//	history.last.FIELD   of its last
	Echo func(path string) Maker
}

// Printed is what Subject.Print prints.
const Printed = "printed by the script"

func (s Subject) patience() time.Duration {
	if s.Patience > 0 {
		return s.Patience
	}
	return 2 * time.Minute
}
