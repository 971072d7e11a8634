package runs

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/matches"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
)

type replayOptions struct {
	League int    `flag:"league" text:"0" usage:"number of the league, from 0"`
	Match  string `flag:"match ID" default:"R1M1" usage:"match id: round and match, from 1"`
	command.Isolation
	finding
}

func replay(p *command.Process, c *cli.Context, o *replayOptions) error {
	dir := c.Args().First()
	if o.finding == (finding{}) && !c.IsSet("player") {
		return replayMatch(p, c, o.Isolation, dir, o.League, o.Match)
	}
	run, err := p.OpenRun("replay", dir)
	if err != nil {
		return err
	}
	defer run.Close()
	s, choice, err := o.search(c, dir, run)
	if err != nil {
		return err
	}
	if o.Nth == 0 && !o.Next && !o.Previous {
		return s.List(p.Stdout, o.All)
	}
	f, err := s.Choose(choice)
	switch {
	case err != nil:
		return err
	case o.Nth > f.All && f.All > 0:
		return command.Usagef("--nth is %d; %s", o.Nth, s.Count(f.All))
	case f.Nth == 0:
		fmt.Fprintln(p.Stdout, s.Nothing(f, choice))
		return nil
	}
	err = replayMatch(p, c, o.Isolation, dir, f.League, f.ID)
	s.Neighbours(p.Stdout, f)
	return err
}

type finding struct {
	Faults   bool   `flag:"faults" usage:"list the matches in which strategies failed"`
	Player   string `flag:"player STRATEGY" text:"all" usage:"list the matches of this one only"`
	Lost     bool   `flag:"lost" usage:"list the matches that --player lost"`
	All      bool   `flag:"all" usage:"list all, not the first 20"`
	Nth      int    `flag:"nth" want:"1.." usage:"replay this match of the list, from 1"`
	Next     bool   `flag:"next" usage:"replay the match of the list after --league and --match"`
	Previous bool   `flag:"previous" usage:"replay the match of the list before --league and --match"`
}

// search reads what to find in a run, and which of it to choose. The caller closes run.
func (o *replayOptions) search(c *cli.Context, dir string, run *results.Reader) (*matches.Search, matches.Choice, error) {
	plan, choice := run.Plan(), matches.Choice{Nth: o.Nth, Next: o.Next, Previous: o.Previous}
	if o.Player == "" && !o.Faults && !o.Lost {
		return nil, choice, command.WithHint(errors.New("replay: which matches to find is missing"), "add --faults, --player NAME or --player NAME --lost")
	}
	_, who, err := namedIn(plan, "player", o.Player)
	if err != nil {
		return nil, choice, err
	}
	if o.Lost && len(who) == 0 {
		return nil, choice, command.WithHint(errors.New("--lost needs --player"), "name the strategy whose losses to find: %s", playerNames(plan))
	}
	q := matches.Query{Faults: o.Faults, Lost: o.Lost, Player: o.Player, Who: who, League: -1, Dir: dir}
	switch beside := o.Next || o.Previous; {
	case !c.IsSet("league") && !c.IsSet("match"):
	case beside:
		m, err := matchIn(plan, o.Match)
		if err != nil {
			return nil, choice, err
		}
		choice.From = &matches.Place{League: o.League, Match: m.Index}
	case c.IsSet("match"):
		return nil, choice, command.WithHint(errors.New("--match names a match, and the other flags search for matches"), "--next or --previous finds the match beside it")
	default:
		q.League = o.League
	}
	s, err := matches.New(q, plan, func(visit func(*results.League) error) error {
		if err := lab.EachLeague(c.Context, run, visit); err != nil {
			return lab.ReadError("replay", dir, err)
		}
		return nil
	})
	return s, choice, err
}

func replayMatch(p *command.Process, c *cli.Context, i command.Isolation, dir string, league int, id string) error {
	plan, recorded, pairing, err := recordedMatch(p.Path(dir), league, id)
	if err != nil {
		return err
	}
	cat, err := p.LoadCatalog(c.Context, p.Supply(c, i))
	if err != nil {
		return err
	}
	defer cat.Close()
	out := newOutput(p, c, "")
	factories, err := out.codeOf(cat, dir).All(c.Context, plan)
	if err != nil {
		return fmt.Errorf("replay %s: %w", dir, err)
	}
	lines := &arena.Transcript{Match: pairing.ID}
	again, err := arena.PlayLeague(c.Context, plan, lines.Wrap(factories), recorded.Index)
	if err != nil {
		return err
	}
	matches.Write(p.Stdout, plan, recorded, pairing)
	for _, l := range lines.Lines {
		fmt.Fprintf(p.Stdout, "  | %s: %s\n", l.Player, l.Text)
	}
	if differs := differences(recorded, &again, pairing); differs != "" {
		return fmt.Errorf("replay %s: the %s", dir, differs)
	}
	return nil
}

// differences says how a match went when it was replayed; empty for the same.
func differences(recorded, again *results.League, m game.Match) string {
	if was, is := recorded.Matches[m.Index], again.Matches[m.Index]; was != is {
		return fmt.Sprintf("record has %s, but the replay %s; the run had a fault that depends on the machine", matches.Describe(was), matches.Describe(is))
	}
	return ""
}

func recordedMatch(dir string, league int, id string) (results.Plan, *results.League, game.Match, error) {
	fail := func(err error) (results.Plan, *results.League, game.Match, error) {
		return results.Plan{}, nil, game.Match{}, err
	}
	run, err := results.OpenReader(dir)
	if err != nil {
		return fail(lab.ReadError("replay", dir, err))
	}
	defer run.Close()
	plan := run.Plan()
	pairing, err := matchIn(plan, id)
	if err != nil {
		return fail(err)
	}
	n := 0
	for l, err := range run.Leagues() {
		if err != nil {
			return fail(err)
		}
		if l.Index == league {
			return plan, l, pairing, nil // the iteration ends, so l stays valid
		}
		n++
	}
	return fail(command.Usagef("--league is %d; the run has leagues 0 to %d", league, n-1))
}

func matchIn(plan results.Plan, id string) (game.Match, error) {
	s, err := game.NewSchedule(len(plan.Field), plan.Legs)
	if err != nil {
		return game.Match{}, err
	}
	m, ok := s.Find(id)
	if !ok {
		return m, command.Usagef("--match is %q; this run has R1M1 to %s", id, s.Matches()[len(s.Matches())-1].ID)
	}
	return m, nil
}

type matchOptions struct {
	Matches int `flag:"matches" default:"1000" want:"1.." usage:"matches to play, rounded up to whole series"`
	Legs    int `flag:"legs" default:"10" want:"1.." usage:"matches in a series"`
	command.Seeding
	command.Drawing
	Format string `flag:"format table|json" want:"one" usage:"output format"`
	command.Isolation
	command.Agents
}

func match(p *command.Process, c *cli.Context, o *matchOptions) error {
	seed, err := o.Seed(p)
	if err != nil {
		return err
	}
	plan := results.Plan{
		Schema: results.PlanSchema, Runs: (o.Matches + o.Legs - 1) / o.Legs, Legs: o.Legs, Seed: seed, Draw: o.Draw().String(), Transport: "direct",
	}
	supply, err := p.SupplyAgents(c, o.Isolation, &o.Agents, c.Args().Slice()...)
	if err != nil {
		return err
	}
	cat, err := p.LoadCatalog(c.Context, supply)
	if err != nil {
		return err
	}
	defer cat.Close()
	factories, err := opponents(c.Context, cat, c.Args().Slice(), &plan)
	if err != nil {
		return err
	}
	p.ForBatch()
	est, err := lab.PlayInMemory(c.Context, plan, factories, analysis.DefaultLevel)
	if err != nil {
		return err
	}
	if o.Format == "json" {
		return command.PrintJSON(p.Stdout, report.New(report.Run{Plan: plan, Estimates: est}).Pairs[0])
	}
	return report.WriteMatch(p.Stdout, plan, est)
}

func opponents(ctx context.Context, cat *catalog.Catalog, targets []string, plan *results.Plan) ([]strategies.Factory, error) {
	var factories []strategies.Factory
	for i, target := range targets {
		e, err := cat.Resolve(ctx, target)
		if err != nil {
			return nil, lab.NameError(err)
		}
		name := e.Info.Name
		if i == 1 && name == plan.Field[0].Name {
			plan.Field[0].Name, name = name+"#1", name+"#2"
		}
		plan.Field = append(plan.Field, results.Entrant{Name: name, Kind: string(e.Info.Kind), Ref: target})
		factories = append(factories, e.Factory)
	}
	if err := plan.Validate(); err != nil {
		return nil, command.Usagef("%w", err)
	}
	return factories, nil
}
