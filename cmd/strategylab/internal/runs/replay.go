package runs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
)

const (
	flagLeague  = "league"
	flagMatchID = "match"
)

func replayCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name: "replay", ArgsUsage: "DIR", Usage: "replay one match of a run with the scripts' output",
		Flags: append([]cli.Flag{
			&cli.IntFlag{Name: flagLeague, Usage: "number of the league, from 0"},
			&cli.StringFlag{Name: flagMatchID, Value: "R1M1", Usage: "match id: round and match, from 1"},
		}, command.CatalogFlags()...),
		Action: command.Action(p, replay, "DIR"),
	}
}

func replay(p *command.Process, c *cli.Context) error {
	dir := c.Args().First()
	plan, recorded, pairing, err := recordedMatch(p.Path(dir), c.Int(flagLeague), c.String(flagMatchID))
	if err != nil {
		return err
	}
	cat, err := command.LoadCatalog(c.Context, p, c)
	if err != nil {
		return err
	}
	defer cat.Close()
	out := newOutput(p, c)
	factories, err := out.codeOf(cat, dir).All(plan)
	if err != nil {
		return fmt.Errorf("replay %s: %w", dir, err)
	}
	lines := &transcript{match: pairing.ID}
	again, err := playLeague(c.Context, plan, lines.wrap(factories), recorded.Index)
	if err != nil {
		return err
	}
	was, is := recorded.Matches[pairing.Index], again.Matches[pairing.Index]
	writeReplay(p.Stdout, plan, recorded, pairing, lines)
	if was != is {
		return fmt.Errorf("replay %s: the record has %s, but the replay %s; the run had a fault that depends on the machine",
			dir, describe(was), describe(is))
	}
	return nil
}

// recordedMatch reads a match from the folder of a run.
func recordedMatch(dir string, league int, id string) (results.Plan, *results.League, game.Match, error) {
	fail := func(err error) (results.Plan, *results.League, game.Match, error) {
		return results.Plan{}, nil, game.Match{}, err
	}
	run, err := results.OpenReader(dir)
	if err != nil {
		return fail(command.Usagef("replay: %w", err))
	}
	defer run.Close()
	plan := run.Plan()
	sched, err := game.NewSchedule(len(plan.Field), plan.Legs)
	if err != nil {
		return fail(err)
	}
	pairing, ok := sched.Find(id)
	if !ok {
		return fail(command.Usagef("--%s is %q; this run has R1M1 to %s", flagMatchID, id, sched.Matches()[len(sched.Matches())-1].ID))
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
	return fail(command.Usagef("--%s is %d; the run has leagues 0 to %d", flagLeague, league, n-1))
}

// playLeague plays one league of a plan.
func playLeague(ctx context.Context, plan results.Plan, factories []strategies.Factory, index int) (_ results.League, err error) {
	driver, err := arena.New(plan, factories, arena.Config{})
	if err != nil {
		return results.League{}, err
	}
	w, err := driver.NewWorker(ctx)
	if err != nil {
		return results.League{}, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	out := make([]results.League, 1)
	err = w.Play(ctx, index, out, make([]bool, len(factories)))
	return out[0], err
}

func writeReplay(w io.Writer, plan results.Plan, l *results.League, m game.Match, lines *transcript) {
	rec := l.Matches[m.Index]
	v := rec.Verdict()
	fmt.Fprintf(w, "league %d, match %s (round %d)\n\n", l.Index, m.ID, m.Round)
	for i, seat := range []int{m.A, m.B} {
		side, res, points := rec.A, v.ResultA, v.PointsA
		if i == 1 {
			side, res, points = rec.B, v.ResultB, v.PointsB
		}
		choice := side.Choice.String()
		if side.Fault != game.NoFault {
			choice = strings.TrimSpace(choice + " " + side.Fault.String())
		}
		fmt.Fprintf(w, "  %s as %s  %-20s  %-8s  %s, %d points\n",
			[]game.Role{game.RoleA, game.RoleB}[i], game.PlayerID(seat), plan.Field[l.Seats[seat]].Name, choice, res, points)
	}
	if rec.Number != results.NoNumber {
		fmt.Fprintf(w, "  drawn: %d, %s\n", rec.Number, game.ParityOf(int(rec.Number)))
	} else {
		fmt.Fprintln(w, "  no number was drawn")
	}
	for _, text := range lines.lines {
		fmt.Fprintf(w, "  | %s\n", text)
	}
}

func describe(m results.Match) string {
	return fmt.Sprintf("%s%s against %s%s, drawn %d", m.A.Choice, faultSuffix(m.A), m.B.Choice, faultSuffix(m.B), m.Number)
}

func faultSuffix(s game.Side) string {
	if s.Fault == game.NoFault {
		return ""
	}
	return "(" + s.Fault.String() + ")"
}

// transcript collects what the two strategies of one match print and how they
// fail, while one goroutine replays the whole league.
type transcript struct {
	match string
	lines []string
}

func (t *transcript) wrap(factories []strategies.Factory) []strategies.Factory {
	out := make([]strategies.Factory, len(factories))
	for i, f := range factories {
		out[i] = observed{f, t}
	}
	return out
}

func (t *transcript) add(who, what string) { t.lines = append(t.lines, who+": "+what) }

// observed is a factory whose seats write to a transcript. It is deliberately not
// a strategies.Batcher, so that the league is played call by call.
type observed struct {
	strategies.Factory
	t *transcript
}

func (f observed) New(ctx context.Context, s strategies.Setup) (strategies.Strategy, error) {
	seat := &observedSeat{t: f.t, id: s.ID}
	s.Log = slog.New(seat)
	var err error
	seat.Strategy, err = f.Factory.New(ctx, s)
	if err != nil {
		f.t.add(s.ID, err.Error())
		return nil, err
	}
	return seat, nil
}

// observedSeat is a seat and the handler of its log.
type observedSeat struct {
	strategies.Strategy
	t      *transcript
	id     string
	inside bool // in a call of the match of the transcript
}

func (s *observedSeat) Choose(ctx context.Context, t *strategies.Turn) (strategies.Choice, error) {
	s.inside = t.MatchID == s.t.match
	choice, err := s.Strategy.Choose(ctx, t)
	if s.inside {
		switch {
		case err != nil:
			s.t.add(s.id, err.Error())
		case choice != strategies.Even && choice != strategies.Odd:
			s.t.add(s.id, fmt.Sprintf("answered: even with probability %v", float64(choice)))
		}
	}
	s.inside = false
	return choice, err
}

func (s *observedSeat) Observe(ctx context.Context, o *strategies.Outcome) error {
	s.inside = o.MatchID == s.t.match
	err := s.Strategy.Observe(ctx, o)
	if s.inside && err != nil {
		s.t.add(s.id, err.Error())
	}
	s.inside = false
	return err
}

// Enabled, Handle, WithAttrs and WithGroup make the seat a slog.Handler that
// collects what the script prints during the match.
func (s *observedSeat) Enabled(context.Context, slog.Level) bool { return s.inside }

func (s *observedSeat) Handle(_ context.Context, r slog.Record) error {
	s.t.add(s.id, r.Message)
	return nil
}

func (s *observedSeat) WithAttrs([]slog.Attr) slog.Handler { return s }
func (s *observedSeat) WithGroup(string) slog.Handler      { return s }
