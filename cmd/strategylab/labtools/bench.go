package labtools

import (
	"context"
	"encoding/json"
	"time"

	"github.com/strategylab/strategylab/analysis/explain"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

// Bench does the work behind the tools. It is safe for concurrent use.
type Bench interface {
	// Catalog reads which strategies there are. A script is loaded when it is
	// named, in a process of its own. The caller closes the catalogue.
	Catalog(ctx context.Context) (*catalog.Catalog, error)
	// Load loads a script in a process of its own; kind says its language. An
	// error that is the script's fault is a *strategies.Error. The caller closes
	// the factory.
	Load(name string, kind strategies.Kind, source []byte) (strategies.Factory, error)
	// Check takes a script that was loaded through all that 'strategies check'
	// takes it through. The catalogue has the opponents.
	Check(ctx context.Context, cat *catalog.Catalog, f strategies.Factory) (Checked, error)
	// Play plays a plan and keeps in dir, which must hold no run, all that
	// 'experiment' keeps. What is seen of every league goes to the sink as well.
	// When ctx ends it returns what was complete by then, and an error only if
	// that is nothing.
	Play(ctx context.Context, dir string, plan results.Plan, factories []strategies.Factory, seen experiments.Sink) (Played, error)
	// Query asks a manager a query of league.v2 and returns the data of its
	// answer.
	Query(ctx context.Context, m Manager, kind string) (json.RawMessage, error)
	// Seed draws a seed below 2^53.
	Seed() (uint64, error)
	// Now is the time of day.
	Now() time.Time
}

// Checked is what a check has found.
type Checked struct {
	Ready    bool
	Verdict  string // one sentence
	Findings []strategytest.Finding
	Trial    *Trial // nil if it is not ready
}

// Played is what a run has shown.
type Played struct {
	Run          report.Run
	Explanations explain.Explanations
}

// Manager is a league manager that may be asked.
type Manager struct {
	Name   string // as the model calls it
	URL    string
	League string // its name
}
