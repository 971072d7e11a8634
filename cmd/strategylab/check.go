package main

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/power"
	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

func checkCommand(p *process) *cli.Command {
	return &cli.Command{
		Name: "check", ArgsUsage: "FILE", Usage: "say whether a strategy is ready to play, and how it does",
		Description: "Takes it through small leagues of every shape it may meet, and tells what it does there, how much of\n" +
			"its budgets it uses, and whether a script plays the same in a process of its own, as it does in live\n" +
			"leagues. In JSON the share of a budget is a number from 0 to 1.",
		Flags:  append([]cli.Flag{seedFlag(), formatFlag("table or json")}, catalogFlags()...),
		Action: func(c *cli.Context) error { return checkStrategy(p, c) },
	}
}

// verdict is the JSON form of a check.
type verdict struct {
	Strategy string                 `json:"strategy"`
	Kind     strategies.Kind        `json:"kind"`
	Ready    bool                   `json:"ready"`
	Verdict  string                 `json:"verdict"`
	Findings []strategytest.Finding `json:"findings"`
	Trial    *trial                 `json:"trial"` // null if it is not ready
}

func checkStrategy(p *process, c *cli.Context) error {
	args, err := arguments(c, "FILE")
	if err != nil {
		return err
	}
	format, err := oneOf(c, flagFormat, "table", "json")
	if err != nil {
		return err
	}
	cat, e, err := loadStrategy(p, c, args[0])
	if err != nil {
		return err
	}
	defer cat.Close()
	l, err := limits(c)
	if err != nil {
		return err
	}
	var s uint64 = 1 // the same strategy gets the same verdict
	if c.IsSet(flagSeed) {
		if s, err = seed(p, c); err != nil {
			return err
		}
	}
	o := strategytest.Config{Seed: s, Now: p.now, Memory: budget.Live, Limits: l}
	findings := strategytest.Check(c.Context, e.Factory, o)
	findings = append(findings, checkIsolated(p, c, e, o)...)
	v, err := judged(c.Context, p, cat, e, findings, s)
	if err != nil {
		return err
	}
	if err := printVerdict(p.stdout, format, v); err != nil {
		return err
	}
	if !v.Ready {
		return &reported{errCheckFailed}
	}
	return nil
}

// judged sums up the findings about a strategy, and tries one that is ready in a
// small field.
func judged(ctx context.Context, p *process, cat *catalog.Catalog, e catalog.Entry, findings []strategytest.Finding, seed uint64) (verdict, error) {
	v := verdict{
		Strategy: e.Info.Name, Kind: e.Info.Kind, Ready: strategytest.Worst(findings) < strategytest.Error,
		Verdict: strategytest.Verdict(findings), Findings: findings,
	}
	if !v.Ready {
		return v, nil
	}
	var err error
	v.Trial, err = trialOf(ctx, p, cat, e, seed)
	return v, err
}

func printVerdict(w io.Writer, format string, v verdict) error {
	if format == "json" {
		return printJSON(w, v)
	}
	fmt.Fprintf(w, "%s (%s)\n\n", v.Strategy, v.Kind)
	for _, f := range v.Findings {
		fmt.Fprintf(w, "  %-7s  %s\n", f.Level, f.What)
		if f.Where != "" && f.Level > strategytest.Info {
			fmt.Fprintf(w, "           at %s\n", f.Where)
		}
		if f.Hint != "" {
			fmt.Fprintf(w, "           %s\n", f.Hint)
		}
	}
	if v.Trial != nil {
		fmt.Fprintf(w, "\n%s\n", v.Trial)
	}
	_, err := fmt.Fprintf(w, "\n%s\n", v.Verdict)
	return err
}

// trial is how a strategy does in a small field.
type trial struct {
	Leagues  int     `json:"leagues"`
	Players  int     `json:"players"`
	Adjusted float64 `json:"adjusted"` // points per match
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Place    int     `json:"place"` // by adjusted points
	Differ   float64 `json:"differ"`
	// Forecast is of technical losses in a live league, by the time that the
	// strategy itself has taken; null where nothing could be measured.
	Forecast *power.Forecast `json:"forecast"`
}

func (t trial) String() string {
	text := fmt.Sprintf("In %d leagues against %d others it scored %.3f adjusted points a match (95 %% interval %.3f to %.3f),\n"+
		"place %d of %d; its choice differed from the opponent's in %.1f %% of matches (50 %% is chance).",
		t.Leagues, t.Players-1, t.Adjusted, t.Low, t.High, t.Place, t.Players, 100*t.Differ)
	if t.Forecast != nil {
		text += fmt.Sprintf("\n\nWhat lateness would cost in a live league, by the strategy's own time:\n%s", t.Forecast)
	}
	return text
}

// sparring is the small field of a trial: easy to read, easy to beat, and two
// that learn.
var sparring = [...]string{"random", "alternate", "copy-last", "frequency", "markov-2"}

func trialOf(ctx context.Context, p *process, cat *catalog.Catalog, e catalog.Entry, seed uint64) (*trial, error) {
	plan := results.Plan{
		Schema: results.PlanSchema, Runs: 100, Legs: 10, Seed: seed, Draw: game.FairDraw().String(), Transport: "direct",
		Field: []results.Entrant{{Name: e.Info.Name, Kind: string(e.Info.Kind)}},
	}
	took := new(latencies)
	factories := []strategies.Factory{&timedFactory{e.Factory, p.now, took}}
	for _, name := range sparring {
		other, err := cat.Resolve(name)
		if err != nil {
			return nil, err
		}
		plan.Field = append(plan.Field, results.Entrant{Name: "sparring " + name, Kind: string(other.Info.Kind)})
		factories = append(factories, other.Factory)
	}
	est, err := playInMemory(ctx, plan, factories)
	if err != nil {
		return nil, err
	}
	mine := est.Players[0]
	t := &trial{
		Leagues: est.Leagues, Players: len(plan.Field), Differ: mine.Differ.Estimate,
		Forecast: took.leagueForecast(),
		Adjusted: mine.Adjusted.Estimate, Low: mine.Adjusted.Low, High: mine.Adjusted.High,
	}
	for place, field := range est.Order {
		if field == 0 {
			t.Place = place + 1
		}
	}
	return t, nil
}

// playInMemory plays a plan and keeps nothing but what it shows.
func playInMemory(ctx context.Context, plan results.Plan, factories []strategies.Factory) (analysis.Estimates, error) {
	acc, err := analysis.NewAccumulator(plan)
	if err != nil {
		return analysis.Estimates{}, err
	}
	driver, err := arena.New(plan, factories, arena.Config{})
	if err != nil {
		return analysis.Estimates{}, err
	}
	_, err = experiments.Run(ctx, plan, driver, accumulate{acc}, experiments.Config{})
	return acc.Estimates(analysis.DefaultLevel), err
}
