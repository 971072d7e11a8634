package runs

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/calibration"
	"github.com/strategylab/strategylab/analysis/power"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

type powerOptions struct {
	Delta   float64 `flag:"delta" usage:"edge in adjusted points per match, such as 0.01"`
	Effect  float64 `flag:"effect" usage:"edge in P(differ), such as 0.01"`
	Runs    int     `flag:"runs" usage:"leagues whose detectable edge to compute"`
	Players int     `flag:"players" default:"8" usage:"players in the field"`
	Legs    int     `flag:"legs" default:"10" usage:"matches of each pair in a league"`
	Differ  float64 `flag:"differ" default:"0.5" usage:"P(differ) of the other players"`
	Chance  float64 `flag:"chance" default:"0.9" usage:"probability of detecting the edge"`
	Format  string  `flag:"format table|json" want:"one" usage:"output format"`
}

func planPower(p *command.Process, c *cli.Context, o *powerOptions) error {
	delta, effect, runs := given(c, "delta", &o.Delta), given(c, "effect", &o.Effect), given(c, "runs", &o.Runs)
	if delta == nil && effect == nil && runs == nil {
		return command.WithHint(errors.New("power: --delta or --runs is missing"), "for example: strategylab power --delta 0.01 --players 8 --legs 10")
	}
	s := power.Setup{Players: o.Players, Legs: o.Legs, Differ: o.Differ, Level: analysis.DefaultLevel, Chance: o.Chance}
	plan, err := s.Plan(delta, effect, runs)
	if err != nil {
		return command.Usagef("%w", err)
	}
	if o.Format == "json" {
		return command.PrintJSON(p.Stdout, plan)
	}
	_, err = fmt.Fprint(p.Stdout, plan)
	return err
}

// given returns the value of a flag; nil without the flag.
func given[T any](c *cli.Context, flag string, value *T) *T {
	if c.IsSet(flag) {
		return value
	}
	return nil
}

type calibrateOptions struct {
	Repetitions int    `flag:"repetitions" default:"200" want:"1.." usage:"experiments per field"`
	Sizes       string `flag:"players SIZES" default:"2,4,8" usage:"sizes of fields"`
	Legs        int    `flag:"legs" default:"10" want:"1.." usage:"matches of each pair in a league"`
	Leagues     int    `flag:"leagues" default:"200" want:"2.." usage:"leagues per experiment"`
	command.Seeding
	Workers int    `flag:"workers" want:"1.." text:"one per CPU" usage:"experiments in parallel"`
	Format  string `flag:"format table|json" want:"one" usage:"output format"`
}

var errMiscalibrated = errors.New("some measurements miss the promise by more than chance")

func calibrate(p *command.Process, c *cli.Context, o *calibrateOptions) error {
	suite, err := o.suite(p, c)
	if err != nil {
		return err
	}
	seed, err := o.Seed(p)
	if err != nil {
		return err
	}
	progress := io.Discard
	if !p.Quiet {
		progress = p.Stderr
	}
	opts := calibration.Options{Repetitions: o.Repetitions, Workers: cmp.Or(o.Workers, runtime.GOMAXPROCS(0)), Seed: seed}
	fmt.Fprintf(progress, "calibrating: %d repetitions, seed %d\n", opts.Repetitions, seed)
	p.ForBatch()
	rows, err := calibration.MeasureAll(c.Context, suite.Fields(), opts, progress)
	interrupted := command.Stopped(c.Context, err) && len(rows) > 0
	if err != nil && !interrupted {
		return err
	}
	write := calibration.WriteTable
	if o.Format == "json" {
		write = calibration.WriteJSON
	}
	if err := write(p.Stdout, rows); err != nil {
		return err
	}
	if interrupted {
		fmt.Fprintln(p.Stderr, "stopped; the measurements so far are above")
		return command.Reported(command.ErrStopped)
	}
	for _, r := range rows {
		if !r.Kept() {
			return errMiscalibrated
		}
	}
	return nil
}

// suite is the suite of the flags, or that of a run.
func (o *calibrateOptions) suite(p *command.Process, c *cli.Context) (suite calibration.Suite, err error) {
	if dir := c.Args().First(); dir != "" {
		if err := command.Refuse(c, "DIR"); err != nil {
			return suite, err
		}
		reader, err := p.OpenRun("calibrate", dir)
		if err != nil {
			return suite, err
		}
		defer reader.Close()
		plan, leagues := reader.Plan(), 0
		err = lab.EachLeague(c.Context, reader, func(*results.League) error { leagues++; return nil })
		if errors.Is(err, lab.ErrNoLeague) {
			err = nil // the plan says the rest
		}
		return calibration.Suite{Players: []int{len(plan.Field)}, Legs: plan.Legs, Leagues: max(2, leagues), Draw: plan.Draw}, err
	}
	for _, text := range strings.Split(o.Sizes, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < game.MinPlayers || n > game.MaxPlayers {
			return suite, command.Usagef("--players: invalid number of players %q, want %d to %d, separated by commas",
				text, game.MinPlayers, game.MaxPlayers)
		}
		suite.Players = append(suite.Players, n)
	}
	suite.Legs, suite.Leagues = o.Legs, o.Leagues
	return suite, nil
}
