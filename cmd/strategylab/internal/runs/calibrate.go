package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis/calibration"
	"github.com/strategylab/strategylab/analysis/words"
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
	flagFields      = "fields"
)

func calibrateCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name:  "calibrate",
		Usage: "measure the lab's own error rates",
		Description: "Plays whole experiments among players whose true values are known, with the code that plays and judges\n" +
			"real ones, and compares promise and result: how often intervals cover the truth and how wide they are,\n" +
			"how often equal players seem different, how often a better one is found, also when somebody looks after\n" +
			"every league, when a run is extended until it shows something, and when a player fails, or rarely\n" +
			"behaves differently for a whole league. Each part, size and field gives the same figures alone. The\n" +
			"tables in docs/calibration.md stand below the commands that print them.",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: flagRepetitions, Value: 200, Usage: "experiments per field", Action: command.AtLeast(flagRepetitions, 1)},
			&cli.StringFlag{Name: flagSizes, Value: "2,4,8", Usage: "`SIZES`: sizes of fields"},
			&cli.StringFlag{Name: flagParts, Value: strings.Join(allParts, ","), Usage: "`PARTS`: what to measure"},
			&cli.StringFlag{Name: flagFields, Usage: "measure only fields whose name contains `TEXT`"},
			&cli.IntFlag{Name: command.FlagLegs, Value: game.DefaultLegs, Usage: "matches of each pair in a league", Action: command.AtLeast(command.FlagLegs, 1)},
			&cli.IntFlag{Name: flagLeagues, Value: 200, Usage: "leagues per experiment", Action: command.AtLeast(flagLeagues, 2)},
			command.SeedFlag(),
			command.WorkersFlag("experiments"),
			command.FormatFlag("table", "json", "markdown"),
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
	rows, err := measureAll(c.Context, parts, c.String(flagFields), suite, opts, progress)
	interrupted := command.Stopped(c.Context, err) && len(rows) > 0
	if err != nil && !interrupted {
		return err
	}
	write := map[string]func(io.Writer, []calibration.Row) error{
		"table": calibration.WriteTable, "json": calibration.WriteJSON, "markdown": calibration.WriteMarkdown,
	}[c.String(command.FlagFormat)]
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
		if !slices.Contains(allParts, part) {
			return nil, command.Usagef("--%s: unknown part %q, want %s, separated by commas",
				flagParts, part, words.List(allParts, "or", 0))
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
var allParts = []string{"intervals", "rare", "looking", "extending", "widths"}

// measurement is a part of a calibration in one field.
type measurement struct {
	field string // its name
	what  string // for the progress; the seeds depend on it
	run   func(calibration.Options) ([]calibration.Row, error)
}

// measurementsOf lists the measurements of a part.
func measurementsOf(ctx context.Context, part string, suite calibration.Suite) (list []measurement) {
	type rows = []calibration.Row
	add := func(field, what string, run func(calibration.Options) (rows, error)) {
		list = append(list, measurement{field, what, run})
	}
	switch part {
	case "intervals":
		for _, f := range suite.Fields() {
			add(f.Name, f.Name, func(o calibration.Options) (rows, error) { return calibration.Measure(ctx, f, playBots, o) })
		}
	case "rare":
		for _, f := range suite.Rarities() {
			what := fmt.Sprintf("%s, %d leagues", f.Name, f.Leagues)
			add(what, what, func(o calibration.Options) (rows, error) {
				return calibration.MeasureRare(ctx, f, playBots, o)
			})
		}
	case "looking":
		for _, w := range suite.Watches() {
			what := "looking after every league: " + w.Field.Name
			if len(w.Guarantees) == 1 {
				what = fmt.Sprintf("looking after every league, %s guarantee: %s", w.Guarantees[0], w.Field.Name)
			}
			add(w.Field.Name, what, func(o calibration.Options) (rows, error) {
				return calibration.MeasureLooking(ctx, w, playBots, o)
			})
		}
	case "extending":
		for _, f := range suite.Extensions() {
			add(f.Name, "extending: "+f.Name, func(o calibration.Options) (rows, error) {
				return calibration.MeasureExtending(ctx, f, playBots, o)
			})
		}
	case "widths":
		for _, n := range suite.Players {
			if n == 2 {
				continue
			}
			what := fmt.Sprintf("widths among %d equal players", n)
			add(what, what, func(o calibration.Options) (rows, error) {
				row, err := calibration.MeasureNarrowing(ctx, n, suite.Legs, playBots, o)
				return rows{row}, err
			})
		}
	}
	return list
}

// measureAll measures the fields of the parts whose name contains a text, in order. It
// returns what was measured before an error with the error.
func measureAll(ctx context.Context, parts []string, text string, suite calibration.Suite, opts calibration.Options, progress io.Writer) ([]calibration.Row, error) {
	var list []measurement
	for _, part := range parts {
		list = append(list, measurementsOf(ctx, part, suite)...)
	}
	list = slices.DeleteFunc(list, func(m measurement) bool { return !strings.Contains(m.field, text) })
	if len(list) == 0 {
		return nil, command.Usagef("--%s: no field of these parts and sizes contains %q", flagFields, text)
	}
	var rows []calibration.Row
	for k, m := range list {
		fmt.Fprintf(progress, "%d of %d: %s\n", k+1, len(list), m.what)
		found, err := m.run(own(opts, m.what, progress))
		if err != nil {
			return rows, err
		}
		rows = append(rows, found...)
	}
	return rows, nil
}

// own gives a measurement its own seeds, which depend on what is measured and not on
// what else is, and reports its progress.
func own(opts calibration.Options, what string, progress io.Writer) calibration.Options {
	var done atomic.Int64
	h := fnv.New32a()
	h.Write([]byte(what))
	opts.Seed += uint64(h.Sum32()) << 32
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
	fault := f.bot.Fault
	if f.bot.Rarely > 0 {
		if s.Rand.Bernoulli(f.bot.Rarely) {
			even = 1
		} else {
			even = (even - f.bot.Rarely) / (1 - f.bot.Rarely)
		}
	}
	if f.bot.Down > 0 && s.Rand.Bernoulli(f.bot.Down) {
		fault = 1
	}
	return &botSeat{even: even, fault: fault, rand: rand.New(rand.NewPCG(s.Rand.Uint64(), s.Rand.Uint64()))}, nil
}

func (botFactory) Close() error { return nil }

// botSeat tosses its own coins, all from one stream: that of the host is keyed to each
// match, which takes longer than the toss.
type botSeat struct {
	even, fault float64
	rand        *rand.Rand
}

func (b *botSeat) Choose(context.Context, *strategies.Turn) (strategies.Choice, error) {
	if b.fault > 0 && b.rand.Float64() < b.fault {
		return 2, nil // not a choice
	}
	if b.rand.Float64() < b.even {
		return strategies.Even, nil
	}
	return strategies.Odd, nil
}

func (*botSeat) Observe(context.Context, *strategies.Outcome) error { return nil }

func (*botSeat) Close() error { return nil }
