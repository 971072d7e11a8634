package runs

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis/calibration"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host/game"
)

const (
	flagRepetitions = "repetitions"
	flagSizes       = "players"
	flagLeagues     = "leagues"
)

func calibrateCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name: "calibrate", ArgsUsage: "[DIR]", Usage: "measure the lab's own error rates",
		Description: "Plays whole experiments among players whose true values are known and compares promise and result: how\n" +
			"often intervals cover the truth and how wide they are, how often equal players seem different, how often\n" +
			"a better one is found. With DIR, experiments are as the run in that folder: as many players, legs and\n" +
			"leagues, and the same draw. docs/calibration.md has what the authors have measured.",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: flagRepetitions, Value: 200, Usage: "experiments per field", Action: command.AtLeast(flagRepetitions, 1)},
			&cli.StringFlag{Name: flagSizes, Value: "2,4,8", Usage: "`SIZES`: sizes of fields"},
			&cli.IntFlag{Name: command.FlagLegs, Value: game.DefaultLegs, Usage: "matches of each pair in a league", Action: command.AtLeast(command.FlagLegs, 1)},
			&cli.IntFlag{Name: flagLeagues, Value: 200, Usage: "leagues per experiment", Action: command.AtLeast(flagLeagues, 2)},
			command.SeedFlag(),
			command.WorkersFlag("experiments"),
			command.FormatFlag("table", "json"),
		},
		Action: command.Action(p, calibrate, command.Rest),
	}
}

var errMiscalibrated = errors.New("some measurements miss the promise by more than chance")

func calibrate(p *command.Process, c *cli.Context) error {
	suite, err := suiteOf(p, c)
	if err != nil {
		return err
	}
	seed, err := command.Seed(p, c)
	if err != nil {
		return err
	}
	progress := io.Discard
	if !c.Bool(command.FlagQuiet) {
		progress = p.Stderr
	}
	opts := calibration.Options{Repetitions: c.Int(flagRepetitions), Workers: cmp.Or(c.Int(command.FlagWorkers), runtime.GOMAXPROCS(0))}
	fmt.Fprintf(progress, "calibrating: %d repetitions, seed %d\n", opts.Repetitions, seed)
	p.ForBatch()
	var rows []calibration.Row
	fields := suite.Fields()
	for k, f := range fields {
		fmt.Fprintf(progress, "%d of %d: %s\n", k+1, len(fields), f.Name)
		// Each has its own seeds, so that it gives the same figures alone.
		h := fnv.New32a()
		h.Write([]byte(f.Name))
		opts.Seed = seed + uint64(h.Sum32())<<32
		var done atomic.Int64
		opts.Done = func() {
			if n := done.Add(1); n%1000 == 0 {
				fmt.Fprintf(progress, "  %d repetitions\n", n)
			}
		}
		var found []calibration.Row
		if found, err = calibration.Measure(c.Context, f, opts); err != nil {
			break
		}
		rows = append(rows, found...)
	}
	interrupted := command.Stopped(c.Context, err) && len(rows) > 0
	if err != nil && !interrupted {
		return err
	}
	write := calibration.WriteTable
	if c.String(command.FlagFormat) == "json" {
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

// suiteOf is the suite of the flags, or that of a run.
func suiteOf(p *command.Process, c *cli.Context) (suite calibration.Suite, err error) {
	if c.NArg() > 1 {
		return suite, command.Usagef("calibrate: unexpected argument %q", c.Args().Get(1))
	}
	if dir := c.Args().First(); dir != "" {
		for _, flag := range []string{flagSizes, command.FlagLegs, flagLeagues} {
			if c.IsSet(flag) {
				return suite, command.Usagef("--%s cannot be used with DIR, whose run has its own", flag)
			}
		}
		reader, err := p.OpenRun("calibrate", dir)
		if err != nil {
			return suite, err
		}
		defer reader.Close()
		plan := reader.Plan()
		return calibration.Suite{Players: []int{len(plan.Field)}, Legs: plan.Legs, Leagues: max(2, plan.Runs), Draw: plan.Draw}, nil
	}
	for _, text := range strings.Split(c.String(flagSizes), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < game.MinPlayers || n > game.MaxPlayers {
			return suite, command.Usagef("--%s: invalid number of players %q, want %d to %d, separated by commas",
				flagSizes, text, game.MinPlayers, game.MaxPlayers)
		}
		suite.Players = append(suite.Players, n)
	}
	suite.Legs, suite.Leagues = c.Int(command.FlagLegs), c.Int(flagLeagues)
	return suite, nil
}
