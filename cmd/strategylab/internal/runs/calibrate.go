package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis/calibration"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
)

const (
	flagRepetitions = "repetitions"
	flagSizes       = "players"
	flagLeagues     = "leagues"
	flagParts       = "parts"
)

func calibrateCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name:  "calibrate",
		Usage: "measure the lab's own error rates",
		Description: "Plays whole experiments among players whose true values are known, with the code that plays and judges\n" +
			"real ones, and compares promise and result: how often intervals cover the truth and how wide they are,\n" +
			"how often equal players seem different, how often a better one is found, also when somebody looks after\n" +
			"every league. The figures in docs/calibration.md come from more repetitions than the default.",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: flagRepetitions, Value: 200, Usage: "experiments per field", Action: command.AtLeast(flagRepetitions, 1)},
			&cli.StringFlag{Name: flagSizes, Value: "2,4,8", Usage: "field sizes"},
			&cli.StringFlag{Name: flagParts, Value: "intervals,looking,widths", Usage: "what to measure: intervals, looking, widths"},
			&cli.IntFlag{Name: command.FlagLegs, Value: game.DefaultLegs, Usage: "matches of each pair in a league", Action: command.AtLeast(command.FlagLegs, 1)},
			&cli.IntFlag{Name: flagLeagues, Value: 200, Usage: "leagues per experiment", Action: command.AtLeast(flagLeagues, 2)},
			command.SeedFlag(),
			command.WorkersFlag("experiments"),
			command.FormatFlag("table", "json"),
			command.QuietFlag(),
		},
		Action: command.Action(p, calibrate),
	}
}

var errMiscalibrated = errors.New("some measurements miss the promise by more than chance")

func calibrate(p *command.Process, c *cli.Context) error {
	parts, err := partsOf(c)
	if err != nil {
		return err
	}
	suite, opts, err := calibrationOf(p, c)
	if err != nil {
		return err
	}
	progress := io.Discard
	if !c.Bool(command.FlagQuiet) {
		progress = p.Stderr
	}
	fmt.Fprintf(progress, "calibrating: %d repetitions, seed %d\n", opts.Repetitions, opts.Seed)
	p.ForBatch()
	rows, err := measureAll(c.Context, parts, suite, opts, progress)
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

func partsOf(c *cli.Context) ([]string, error) {
	parts := strings.Split(c.String(flagParts), ",")
	for _, part := range parts {
		if part != partIntervals && part != partLooking && part != partWidths {
			return nil, command.Usagef("--%s: unknown part %q, want %s, %s or %s, separated by commas",
				flagParts, part, partIntervals, partLooking, partWidths)
		}
	}
	return parts, nil
}

func calibrationOf(p *command.Process, c *cli.Context) (suite calibration.Suite, opts calibration.Options, err error) {
	for _, text := range strings.Split(c.String(flagSizes), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < game.MinPlayers || n > game.MaxPlayers {
			return suite, opts, command.Usagef("--%s: invalid number of players %q, want %d to %d, separated by commas",
				flagSizes, text, game.MinPlayers, game.MaxPlayers)
		}
		suite.Players = append(suite.Players, n)
	}
	suite.Legs, suite.Leagues = c.Int(command.FlagLegs), c.Int(flagLeagues)
	opts.Repetitions, opts.Workers = c.Int(flagRepetitions), cmp.Or(c.Int(command.FlagWorkers), runtime.GOMAXPROCS(0))
	opts.Seed, err = command.Seed(p, c)
	return suite, opts, err
}

// The parts of a calibration, which --parts chooses from.
const (
	partIntervals = "intervals"
	partLooking   = "looking"
	partWidths    = "widths"
)

// measureAll measures the parts in order. It returns what was measured before an
// error with the error.
func measureAll(ctx context.Context, parts []string, suite calibration.Suite, opts calibration.Options, progress io.Writer) (rows []calibration.Row, err error) {
	measure := func(number int, what string, f func(calibration.Options) ([]calibration.Row, error)) {
		if err != nil {
			return
		}
		fmt.Fprintln(progress, what)
		var list []calibration.Row
		if list, err = f(own(opts, number, progress)); err == nil {
			rows = append(rows, list...)
		}
	}
	fields := suite.Fields()
	for _, part := range parts {
		switch part {
		case partIntervals:
			for k, f := range fields {
				measure(k, fmt.Sprintf("%d of %d: %s", k+1, len(fields), f.Name), func(o calibration.Options) ([]calibration.Row, error) {
					return calibration.Measure(ctx, f, playBots, o)
				})
			}
		case partLooking:
			for k, w := range suite.Watches() {
				measure(1000+k, fmt.Sprintf("looking after every league, %s guarantee: %s", w.Guarantee, w.Field.Name), func(o calibration.Options) ([]calibration.Row, error) {
					return calibration.MeasureLooking(ctx, w, playBots, o)
				})
			}
		case partWidths:
			for k, n := range suite.Players {
				if n == 2 {
					continue
				}
				measure(2000+k, fmt.Sprintf("widths among %d equal players", n), func(o calibration.Options) ([]calibration.Row, error) {
					row, err := calibration.MeasureNarrowing(ctx, n, suite.Legs, playBots, o)
					return []calibration.Row{row}, err
				})
			}
		}
	}
	return rows, err
}

// own gives a measurement its own seeds and reports its progress.
func own(opts calibration.Options, number int, progress io.Writer) calibration.Options {
	var done atomic.Int64
	opts.Seed += uint64(number) << 40
	opts.Done = func() {
		if n := done.Add(1); n%1000 == 0 {
			fmt.Fprintf(progress, "  %d repetitions\n", n)
		}
	}
	return opts
}

// playBots plays an experiment among simulated players like any other, on one
// goroutine.
func playBots(ctx context.Context, plan results.Plan, bots []calibration.Player, add func(*results.League) error) error {
	factories := make([]strategies.Factory, len(bots))
	for i, b := range bots {
		factories[i] = botFactory{b}
	}
	return lab.PlayDirect(ctx, plan, factories, 1, add)
}

// botFactory makes seats of a simulated player with known probabilities.
type botFactory struct{ bot calibration.Player }

func (f botFactory) Info() strategies.Info {
	return strategies.Info{Name: "bot", Kind: strategies.Builtin, Fingerprint: "v1"}
}

func (f botFactory) New(_ context.Context, s strategies.Setup) (strategies.Strategy, error) {
	even := f.bot.Even
	if f.bot.Mood > 0 {
		if s.Rand.Bernoulli(0.5) {
			even += f.bot.Mood
		} else {
			even -= f.bot.Mood
		}
	}
	return &botSeat{even: strategies.Choice(even), fault: f.bot.Fault, rand: s.Rand}, nil
}

func (botFactory) Close() error { return nil }

// botSeat answers with its probability of even; the host tosses the coin.
type botSeat struct {
	even  strategies.Choice
	fault float64
	rand  *game.Rand
}

func (b *botSeat) Choose(context.Context, *strategies.Turn) (strategies.Choice, error) {
	if b.fault > 0 && b.rand.Bernoulli(b.fault) {
		return 2, nil // not a choice
	}
	return b.even, nil
}

func (*botSeat) Observe(context.Context, *strategies.Outcome) error { return nil }

func (*botSeat) Close() error { return nil }
