package runs

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/power"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
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
	delta, effect, runs := &o.Delta, &o.Effect, &o.Runs
	if !c.IsSet("delta") {
		delta = nil
	}
	if !c.IsSet("effect") {
		effect = nil
	}
	if !c.IsSet("runs") {
		runs = nil
	}
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
