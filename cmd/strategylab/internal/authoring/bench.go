package authoring

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

func benchCommand(p *command.Process) *cli.Command {
	return command.New(p, &cli.Command{
		Name: "bench", ArgsUsage: command.ValueStrategy, Usage: "time a strategy's decisions",
		Description: "A decision is one choose and one observe, in leagues of 16 players and 10 legs. For a script it also times\n" +
			"a bare VM, without sandbox, budgets and time limit, in alternation with the real one.",
	}, new(benchOptions), benchStrategy, command.ValueStrategy)
}

type benchOptions struct {
	command.Isolated
	For    time.Duration `flag:"for" default:"1s" usage:"duration of the measurement"`
	Format string        `flag:"format table|json" want:"one" usage:"output format"`
}

// barer is a factory that can also make a seat in a bare VM, which protects nobody
// from its script.
type barer interface {
	NewBare(s strategies.Setup) (strategies.Strategy, error)
}

// timing is the JSON form of a bench.
type timing struct {
	Strategy    string   `json:"strategy"`
	Kind        string   `json:"kind"`
	Decisions   int      `json:"decisions"`
	Nanoseconds float64  `json:"ns_per_decision"` // median over leagues
	Bare        *float64 `json:"bare_ns_per_decision"`
	Ratio       *float64 `json:"ratio"` // median over pairs of leagues, one after the other
}

func benchStrategy(p *command.Process, c *cli.Context, o *benchOptions) error {
	if o.For <= 0 || o.For > time.Hour {
		return command.Usagef("--for is %v, want a positive duration of at most 1h", o.For)
	}
	supply := p.Supply(c, command.Isolation{Isolated: o.Isolated})
	supply.InProcess = !supply.Isolate // to time calls, not pipes
	cat, e, err := p.LoadStrategy(c.Context, supply, c.Args().First())
	if err != nil {
		return err
	}
	defer cat.Close()
	p.ForBatch() // collections of a small heap would dominate the times
	t, err := timeDecisions(c.Context, p, e.Factory, o.For)
	if err != nil {
		return err
	}
	if o.Format == "json" {
		return json.NewEncoder(p.Stdout).Encode(t)
	}
	fmt.Fprintf(p.Stdout, "%s (%s): %.0f ns per decision (choose and observe), median of %d leagues of %d\n",
		t.Strategy, t.Kind, t.Nanoseconds, t.Decisions/benchMatches, benchMatches)
	if t.Ratio != nil {
		fmt.Fprintf(p.Stdout, "the bare VM: %.0f ns; with sandbox and budgets it takes %.2f times as long\n", *t.Bare, *t.Ratio)
	}
	return nil
}

// timeDecisions times leagues alternately with and without the sandbox, so that
// other load on the machine affects both alike.
func timeDecisions(ctx context.Context, p *command.Process, f strategies.Factory, budget time.Duration) (timing, error) {
	info := f.Info()
	t := timing{Strategy: info.Name, Kind: string(info.Kind)}
	var own, bare []float64
	bareFactory, hasBare := f.(barer)
	for began, league := p.Now(), 0; league < 3 || p.Now().Sub(began) < budget; league++ {
		ns, err := timeLeague(ctx, p, league, func(s strategies.Setup) (strategies.Strategy, error) { return f.New(ctx, s) })
		if err != nil {
			return t, err
		}
		own = append(own, ns)
		t.Decisions += benchMatches
		if !hasBare {
			continue
		}
		if ns, err = timeLeague(ctx, p, league, bareFactory.NewBare); err != nil {
			return t, err
		}
		bare = append(bare, ns)
	}
	t.Nanoseconds = median(own)
	if hasBare {
		b := median(bare)
		for i := range own {
			own[i] /= bare[i]
		}
		ratio := median(own)
		t.Bare, t.Ratio = &b, &ratio
	}
	return t, nil
}

const (
	benchPlayers = 16
	benchMatches = (benchPlayers - 1) * 10
)

// timeLeague returns nanoseconds per decision in one league against random
// opponents.
func timeLeague(ctx context.Context, p *command.Process, league int, open func(strategies.Setup) (strategies.Strategy, error)) (_ float64, err error) {
	turns, outcomes := benchLeague(league)
	setup := strategies.Setup{
		ID: game.PlayerID(0), Rounds: benchMatches, Legs: 10, Key: game.StrategyKey(1, league, 0),
		Rand: game.NewRand(game.StrategyKey(1, league, 0)),
	}
	for seat := range benchPlayers {
		setup.Field = append(setup.Field, game.PlayerID(seat))
	}
	seat, err := open(setup)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, seat.Close()) }()
	began := p.Now()
	for i := range turns {
		setup.Rand.Rekey(game.ChoosePosition(turns[i].Match))
		if _, err := seat.Choose(ctx, &turns[i]); err != nil {
			return 0, err
		}
		setup.Rand.Rekey(game.ObservePosition(turns[i].Match))
		if err := seat.Observe(ctx, &outcomes[i]); err != nil {
			return 0, err
		}
	}
	return float64(p.Now().Sub(began).Nanoseconds()) / benchMatches, nil
}

// benchLeague makes a league for one seat before the clock starts.
func benchLeague(league int) (turns []strategies.Turn, outcomes []strategies.Outcome) {
	chance := game.NewRand(game.StrategyKey(2, league, 0))
	var standing strategies.Standing
	for i := range benchMatches {
		t := strategies.Turn{
			Match: uint64(i), MatchID: fmt.Sprintf("R%dM1", i+1), Round: i + 1,
			Opponent: game.PlayerID(1 + i%(benchPlayers-1)), Role: game.RoleA + game.Role(i/(benchPlayers-1)%2), Standing: standing,
		}
		a := game.Side{Choice: game.Even + game.Parity(chance.IntN(2))}
		b := game.Side{Choice: game.Even + game.Parity(chance.IntN(2))}
		number := 1 + chance.IntN(10)
		v := game.Judge(a, b, number)
		standing.Add(v.ResultA, v.PointsA)
		turns = append(turns, t)
		outcomes = append(outcomes, strategies.Outcome{
			Match: t.Match, MatchID: t.MatchID, Round: t.Round, Opponent: t.Opponent, Role: t.Role,
			Choice: a.Choice, OpponentChoice: b.Choice, Number: number, Drew: true, Result: v.ResultA, Points: v.PointsA,
		})
	}
	return turns, outcomes
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}
