package lab

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/strategylab/strategylab/analysis/power"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

// CheckSeed is the seed of a check unless another is given: the same strategy
// gets the same verdict.
const CheckSeed = 1

// Checking says how a strategy is checked.
type Checking struct {
	Seed   uint64
	Limits budget.Limits
	// Isolated says that the strategy, if it is a script, runs in a process of its
	// own already.
	Isolated bool
	// Trusted lets the check run a script in this process as well as in its own,
	// and compare the two.
	Trusted bool
	Log     *slog.Logger // of the other processes
}

// Verdict is what a check has found.
type Verdict struct {
	Strategy string                 `json:"strategy"`
	Kind     strategies.Kind        `json:"kind"`
	Ready    bool                   `json:"ready"`
	Verdict  string                 `json:"verdict"` // one sentence
	Findings []strategytest.Finding `json:"findings"`
	Trial    *Trial                 `json:"trial"` // null if it is not ready
}

// Check plays small leagues of every shape with a strategy and, if it is ready, a
// trial in a small field. The catalog has the opponents.
func (l Lab) Check(ctx context.Context, cat *catalog.Catalog, e catalog.Entry, c Checking) (Verdict, error) {
	o := strategytest.Config{Seed: c.Seed, Now: l.Now, Memory: budget.Live, Limits: c.Limits}
	findings := strategytest.Check(ctx, e.Factory, o)
	switch {
	case !e.Info.Kind.Script() || l.Exe == "" || ctx.Err() != nil:
	case c.Trusted:
		findings = append(findings, l.compareIsolated(ctx, e, c, o)...)
	default:
		findings = append(findings, workerFinding(e.Factory)...)
	}
	v := Verdict{
		Strategy: e.Info.Name, Kind: e.Info.Kind, Ready: strategytest.Worst(findings) < strategytest.Error,
		Verdict: strategytest.Verdict(findings), Findings: findings,
	}
	if !v.Ready {
		return v, nil
	}
	var err error
	v.Trial, err = l.try(ctx, cat, e, c.Seed)
	return v, err
}

// Slips watches scripts for a short league, in this process, and returns what they read
// although it does not exist and, with failures, how they fail. Each file is watched
// once.
func (l Lab) Slips(ctx context.Context, players []catalog.Player, limits budget.Limits, failures bool) []strategytest.Finding {
	var found []strategytest.Finding
	seen := make(map[string]bool)
	for _, p := range players {
		if p.Info.Kind.Script() && !seen[p.Info.Source] {
			seen[p.Info.Source] = true
			found = append(found, l.slipsOf(ctx, catalog.Entry{Info: p.Info, Factory: p.Factory}, limits, failures)...)
		}
	}
	return found
}

func (l Lab) slipsOf(ctx context.Context, e catalog.Entry, limits budget.Limits, failures bool) []strategytest.Finding {
	o := strategytest.Config{Seed: CheckSeed, Limits: limits}
	f := e.Factory
	if _, isolated := f.(plugins.Metered); isolated {
		var err error
		if f, err = l.loadAgain(e, o, catalog.Formats()); err != nil {
			return nil // what loads it to play says so
		}
		defer f.Close() // nothing is lost
	}
	var found []strategytest.Finding // the goroutine's until it has returned
	err := strategies.RunAbandonable(ctx, func(ctx context.Context) error {
		found = strategytest.Slips(ctx, f, o, failures)
		return nil
	})
	if err != nil {
		return nil
	}
	return found
}

// compareIsolated plays a script in this process and in its own, as live leagues
// do, and reports whether it plays the same and what its process used.
func (l Lab) compareIsolated(ctx context.Context, e catalog.Entry, c Checking, o strategytest.Config) []strategytest.Finding {
	var found []strategytest.Finding
	inside, outside := e.Factory, e.Factory
	if c.Isolated { // what was checked ran outside, where a script cannot be watched
		f, err := l.loadAgain(e, o, catalog.Formats())
		if err != nil {
			return []strategytest.Finding{loadFailure(e, "in this process", err)}
		}
		defer f.Close()
		inside, found = f, insideOnly(strategytest.Check(ctx, f, o))
	} else {
		f, err := l.loadAgain(e, o, l.isolatedFormats(c.Log))
		if err != nil {
			return []strategytest.Finding{loadFailure(e, "in its own process", err)}
		}
		defer f.Close() // a worker that ends badly has failed before, which is reported
		outside = f
	}
	found = append(found, strategytest.CheckIsolated(ctx, inside, outside, o))
	return append(found, workerFinding(outside)...)
}

func loadFailure(e catalog.Entry, where string, err error) strategytest.Finding {
	return strategytest.Finding{
		ID: "isolated", Level: strategytest.Error, Where: e.Info.Source, What: fmt.Sprintf("it does not load %s: %v", where, err),
	}
}

// insideOnly returns the findings that only a script in this process has: what it reads
// and how many instructions it takes.
func insideOnly(all []strategytest.Finding) (found []strategytest.Finding) {
	for _, f := range all {
		if strings.HasPrefix(f.ID, "budget-") || f.ID == "slip" || f.ID == "constant" {
			found = append(found, f)
		}
	}
	return found
}

func (l Lab) loadAgain(e catalog.Entry, o strategytest.Config, formats []catalog.Format) (strategies.Factory, error) {
	source, err := os.ReadFile(l.Path(e.Info.Source))
	if err != nil {
		return nil, err
	}
	return loadFormat(formats, e.Info.Kind, func(f catalog.Format) (strategies.Factory, error) {
		return f.Load(e.Info.Name, e.Info.Source, source, o.Limits)
	})
}

// workerFinding reports what a script's process used for the leagues it played.
func workerFinding(f strategies.Factory) []strategytest.Finding {
	m, ok := f.(plugins.Metered)
	if !ok {
		return nil
	}
	u := m.Usage()
	what := fmt.Sprintf("its process used %v of CPU time", u.CPU.Round(time.Millisecond))
	if u.Peak > 0 {
		what += fmt.Sprintf(" and at most %d MiB of memory, start included", u.Peak>>20)
	}
	what += fmt.Sprintf("; the limit is %d MiB for the script, beside some 30 MiB for the process", u.Memory>>20)
	level := strategytest.OK
	switch {
	case u.Aside:
		level = strategytest.Error
		what += fmt.Sprintf("; it died %d times and was quarantined", u.Failed)
	case u.Failed > 0:
		level = strategytest.Warning
		what += fmt.Sprintf("; it died %d times and was restarted", u.Failed)
	}
	return []strategytest.Finding{{ID: "worker", Level: level, What: what}}
}

// Trial is how a strategy does in a small field.
type Trial struct {
	Leagues  int     `json:"leagues"`
	Players  int     `json:"players"`
	Adjusted float64 `json:"adjusted"` // points per match
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Place    int     `json:"place"` // by adjusted points
	Differ   float64 `json:"differ"`
	// Forecast predicts technical losses in a live league from the time that the
	// strategy took; null if nothing was measured.
	Forecast *power.Forecast `json:"forecast"`
}

// String describes the trial in a paragraph or two.
func (t Trial) String() string {
	text := fmt.Sprintf("In %d leagues against %d others it scored %.3f adjusted points per match (95 %% interval %.3f to %.3f),\n"+
		"place %d of %d; its choice differed from the opponent's in %.1f %% of matches (50 %% is chance).",
		t.Leagues, t.Players-1, t.Adjusted, t.Low, t.High, t.Place, t.Players, 100*t.Differ)
	if t.Forecast != nil {
		text += fmt.Sprintf("\n\nWhat late answers would cost in a live league, by the strategy's own time:\n%s", t.Forecast)
	}
	return text
}

// Opponents names the small field of a trial: easy to read, easy to beat, and two
// that learn.
func Opponents() []string {
	return []string{"random", "alternate", "copy-last", "frequency", "markov-2"}
}

func (l Lab) try(ctx context.Context, cat *catalog.Catalog, e catalog.Entry, seed uint64) (*Trial, error) {
	plan := results.Plan{
		Schema: results.PlanSchema, Runs: 100, Legs: 10, Seed: seed, Draw: game.FairDraw().String(), Transport: "direct",
		Field: []results.Entrant{{Name: e.Info.Name, Kind: string(e.Info.Kind)}},
	}
	took := new(Latencies)
	factories := []strategies.Factory{&timedFactory{e.Factory, l.Now, took}}
	for _, name := range Opponents() {
		other, err := cat.Resolve(name)
		if err != nil {
			return nil, err
		}
		plan.Field = append(plan.Field, results.Entrant{Name: "sparring " + name, Kind: string(other.Info.Kind)})
		factories = append(factories, other.Factory)
	}
	est, err := PlayInMemory(ctx, plan, factories)
	if err != nil {
		return nil, err
	}
	mine := est.Players[0]
	t := &Trial{
		Leagues: est.Leagues, Players: len(plan.Field), Differ: mine.Differ.Estimate,
		Forecast: took.leagueForecast(),
		Adjusted: mine.Adjusted.Estimate, Low: mine.Adjusted.Low, High: mine.Adjusted.High, Place: est.Place(0),
	}
	return t, nil
}

// Latencies collects how long answers took. It is safe for concurrent use.
type Latencies struct {
	mu   sync.Mutex
	took []time.Duration
}

// Add records the time of one answer.
func (l *Latencies) Add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took = append(l.took, d)
}

// Forecast predicts late answers from the recorded times; false if there are none.
func (l *Latencies) Forecast(deadline time.Duration, retries int) (power.Forecast, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, err := power.NewForecast(l.took, deadline, retries)
	return f, err == nil
}

// leagueForecast predicts with the deadlines of league.v2.
func (l *Latencies) leagueForecast() *power.Forecast {
	f, ok := l.Forecast(referee.DefaultChoiceTimeout, game.LeagueBackoff().Retries)
	if !ok {
		return nil
	}
	return &f
}

// timedFactory times the choices of its strategies.
type timedFactory struct {
	strategies.Factory
	now  func() time.Time
	took *Latencies
}

// New implements strategies.Factory.
func (f *timedFactory) New(ctx context.Context, s strategies.Setup) (strategies.Strategy, error) {
	made, err := f.Factory.New(ctx, s)
	if err != nil {
		return nil, err
	}
	return &timedStrategy{made, f}, nil
}

type timedStrategy struct {
	strategies.Strategy
	of *timedFactory
}

// Choose implements strategies.Strategy.
func (s *timedStrategy) Choose(ctx context.Context, t *strategies.Turn) (strategies.Choice, error) {
	start := s.of.now()
	choice, err := s.Strategy.Choose(ctx, t)
	s.of.took.Add(s.of.now().Sub(start))
	return choice, err
}
