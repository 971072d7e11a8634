package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/sequential"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies/catalog"
)

const (
	flagUntil     = "until"
	flagMaxRuns   = "max-runs"
	flagGuarantee = "guarantee"
	flagMargin    = "margin"
	flagSPRT      = "sprt"
)

// defaultMaxRuns is the most leagues of an experiment that ends by what it shows.
const defaultMaxRuns = 20_000

func untilFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: flagUntil, Usage: "in the place of --runs, play until this is shown: ranked, best or precision=0.005"},
		&cli.IntFlag{Name: flagMaxRuns, Usage: fmt.Sprintf("the most leagues with --until or --sprt (default: %d)", defaultMaxRuns)},
		&cli.StringFlag{Name: flagGuarantee, Value: string(sequential.Asymptotic), Usage: "of --until: asymptotic, or finite for bounds that need no approximation and about twice the leagues"},
		&cli.Float64Flag{Name: flagMargin, Usage: "with --until ranked: players count as ranked who differ by less than so many adjusted points a match"},
		&cli.StringFlag{Name: flagSPRT, Usage: "in the place of --runs, test whether one player is better than another: new=x.lua,old=y.lua,delta=0.01,alpha=0.05,beta=0.05"},
	}
}

// stopFlags is when an experiment is to end, as the command line says it.
type stopFlags struct {
	runs int // the most leagues
	stop *results.Stop
}

// readStop reads the flags of untilFlags, and --runs.
func readStop(c *cli.Context) (stopFlags, error) {
	s := stopFlags{runs: c.Int(flagRuns)}
	if err := exclusive(c, flagRuns, flagUntil, flagSPRT); err != nil {
		return s, err
	}
	if !c.IsSet(flagUntil) && !c.IsSet(flagSPRT) {
		for _, flag := range []string{flagMaxRuns, flagGuarantee, flagMargin} {
			if c.IsSet(flag) {
				return s, withHint(fmt.Errorf("--%s goes with --%s, which is missing", flag, flagUntil), "--%s N says how many leagues to play", flagRuns)
			}
		}
		return s, nil
	}
	s.runs = defaultMaxRuns
	if c.IsSet(flagMaxRuns) {
		var err error
		if s.runs, err = atLeast(c, flagMaxRuns, 1); err != nil {
			return s, err
		}
	}
	var err error
	if c.IsSet(flagSPRT) {
		s.stop, err = readSPRT(c)
	} else {
		s.stop, err = readUntil(c)
	}
	return s, err
}

// exclusive refuses more than one of several flags.
func exclusive(c *cli.Context, flags ...string) error {
	first := ""
	for _, flag := range flags {
		switch {
		case !c.IsSet(flag):
		case first == "":
			first = flag
		default:
			return withHint(fmt.Errorf("--%s and --%s both say when to stop", first, flag), "give one of them; --%s limits the leagues of --%s and --%s",
				flagMaxRuns, flagUntil, flagSPRT)
		}
	}
	return nil
}

func readUntil(c *cli.Context) (*results.Stop, error) {
	rule, err := sequential.ParseRule(c.String(flagUntil))
	if err != nil {
		return nil, usagef("--%s: %w", flagUntil, err)
	}
	guarantee, err := sequential.ParseGuarantee(c.String(flagGuarantee))
	if err != nil {
		return nil, usagef("--%s: %w", flagGuarantee, err)
	}
	margin := c.Float64(flagMargin)
	switch {
	case c.IsSet(flagMargin) && !(margin > 0 && margin < 3):
		return nil, usagef("--%s is %v, want points per match above 0 and below 3", flagMargin, margin)
	case margin > 0 && rule.Kind != sequential.Ranked:
		return nil, usagef("--%s goes with --%s ranked, not with %s", flagMargin, flagUntil, rule)
	case rule.Kind == sequential.Ranked && !c.IsSet(flagMaxRuns) && margin == 0:
		return nil, withHint(fmt.Errorf("--%s ranked may never come to an end: players who are equal are never ranked", flagUntil),
			"say how long to try with --%s 5000, or what difference is none with --%s 0.005", flagMaxRuns, flagMargin)
	}
	return &results.Stop{Until: rule.String(), Guarantee: string(guarantee), Margin: margin}, nil
}

// sequenceOptions turns what a plan says into what analysis takes.
func sequenceOptions(s *results.Stop) (sequential.Options, error) {
	o := sequential.Options{Guarantee: sequential.Asymptotic, Level: analysis.DefaultLevel, Margin: s.Margin}
	if s.Ratio != nil {
		return o, nil
	}
	var err error
	if o.Rule, err = sequential.ParseRule(s.Until); err != nil {
		return o, fmt.Errorf("plan: stop: %w", err)
	}
	if o.Guarantee, err = sequential.ParseGuarantee(s.Guarantee); err != nil {
		return o, fmt.Errorf("plan: stop: %w", err)
	}
	return o, nil
}

// stopRule completes the rule of a new run, now that its field is known.
func (e *experimentRun) stopRule(plan *results.Plan, field catalog.Field) error {
	if e.stop.stop == nil {
		return nil
	}
	stop := *e.stop.stop
	plan.Stop = &stop
	flag := flagUntil
	if stop.Ratio != nil {
		flag = flagSPRT
		ratio := *stop.Ratio
		var err error
		if ratio.New, err = playerOf(field, ratio.New); err != nil {
			return usagef("--%s: new: %w", flag, err)
		}
		if ratio.Old, err = playerOf(field, ratio.Old); err != nil {
			return usagef("--%s: old: %w", flag, err)
		}
		if ratio.New == ratio.Old {
			return usagef("--%s: new and old are both %s; a strategy is no better than itself", flag, ratio.New)
		}
		stop.Ratio = &ratio
	}
	if err := plan.Validate(); err != nil {
		return usagef("%w", err)
	}
	if _, err := newStudy(*plan, analysis.DefaultLevel); err != nil {
		return usagef("--%s: %w", flag, err)
	}
	return nil
}

// extend gives the run in a folder more leagues, if the command line asks for it.
func (e *experimentRun) extend(dir *results.Dir) error {
	plan := dir.Plan()
	flag, other := flagRuns, flagMaxRuns
	if plan.Stop != nil {
		flag, other = flagMaxRuns, flagRuns
	}
	if e.c.IsSet(other) {
		return withHint(fmt.Errorf("--%s does not go with the run in %s, which %s", other, e.c.String(flagResume), howItEnds(plan)),
			"give it more leagues with --%s", flag)
	}
	if !e.c.IsSet(flag) {
		return nil
	}
	var err error
	if plan.Runs, err = atLeast(e.c, flag, 1); err != nil {
		return err
	}
	if err := dir.Extend(plan); err != nil {
		return usagef("--%s: %w", flag, err)
	}
	return nil
}

func howItEnds(plan results.Plan) string {
	switch {
	case plan.Stop == nil:
		return "plays a given number of leagues"
	case plan.Stop.Ratio != nil:
		return "ends by --" + flagSPRT
	}
	return "ends by --" + flagUntil + " " + plan.Stop.Until
}

// howMany says how many leagues a run is to play.
func howMany(plan results.Plan) string {
	if plan.Stop == nil {
		return fmt.Sprintf("%d leagues", plan.Runs)
	}
	what := "the test is decided"
	if plan.Stop.Until != "" {
		what = plan.Stop.Until
	}
	return fmt.Sprintf("at most %d leagues (until %s)", plan.Runs, what)
}
