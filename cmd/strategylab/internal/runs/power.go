package runs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/power"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/host/game"
)

const (
	flagEffect = "effect"
	flagDiffer = "differ"
	flagChance = "chance"
)

func powerCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name:  "power",
		Usage: "compute how many leagues detect a difference",
		Description: "Computes from the rules of the game, with a fair draw, how many leagues an experiment needs so that a\n" +
			"player with an edge ends up alone in the first tier, or which edge --runs leagues detect. The edge is how\n" +
			"much more often its choices differ from each opponent's than the other players' choices do.",
		Flags: []cli.Flag{
			&cli.Float64Flag{Name: flagEffect, Usage: "edge in P(differ), such as 0.01"},
			&cli.IntFlag{Name: command.FlagRuns, Usage: "leagues whose detectable edge to compute"},
			&cli.IntFlag{Name: command.FlagPlayers, Value: 8, Usage: "players in the field"},
			&cli.IntFlag{Name: command.FlagLegs, Value: game.DefaultLegs, Usage: "matches of each pair in a league"},
			&cli.Float64Flag{Name: flagDiffer, Value: 0.5, Usage: "P(differ) of the other players"},
			&cli.Float64Flag{Name: flagChance, Value: 0.9, Usage: "probability of detecting the edge"},
			command.FormatFlag("table", "json"),
		},
		Action: command.Action(p, planPower),
	}
}

// powerDocument is the answer as JSON, without what was not asked for.
type powerDocument struct {
	Schema  string  `json:"schema"`
	Players int     `json:"players"`
	Legs    int     `json:"legs"`
	Differ  float64 `json:"differ"`
	Chance  float64 `json:"chance"`
	Level   float64 `json:"level"`

	Effect  *float64        `json:"effect,omitempty"`
	Leagues *powerOf[int]   `json:"leagues,omitempty"` // that see the effect
	Until   *int            `json:"until_best_median,omitempty"`
	Runs    *int            `json:"runs,omitempty"`
	Sees    *powerOf[*edge] `json:"sees,omitempty"` // smallest effects that the runs see
	Ratio   float64         `json:"raw_to_adjusted"`
}

type edge float64

// powerOf is a figure for adjusted and for raw points.
type powerOf[T any] struct {
	Adjusted T `json:"adjusted"`
	Raw      T `json:"raw"`
}

func planPower(p *command.Process, c *cli.Context) error {
	if !c.IsSet(flagEffect) && !c.IsSet(command.FlagRuns) {
		return command.WithHint(fmt.Errorf("power: --%s or --%s is missing", flagEffect, command.FlagRuns), "for example: strategylab power --effect 0.01 --players 8 --legs 10")
	}
	s := power.Setup{
		Players: c.Int(command.FlagPlayers), Legs: c.Int(command.FlagLegs), Differ: c.Float64(flagDiffer),
		Level: analysis.DefaultLevel, Chance: c.Float64(flagChance),
	}
	d := powerDocument{
		Schema: "strategylab/power/v1", Players: s.Players, Legs: s.Legs, Differ: s.Differ, Chance: s.Chance, Level: s.Level,
	}
	if err := d.fill(c, s); err != nil {
		return command.Usagef("%w", err)
	}
	if c.String(command.FlagFormat) == "json" {
		return command.PrintJSON(p.Stdout, d)
	}
	_, err := fmt.Fprint(p.Stdout, powerText(s, &d))
	return err
}

func (d *powerDocument) fill(c *cli.Context, s power.Setup) error {
	var err error
	if c.IsSet(flagEffect) {
		effect := c.Float64(flagEffect)
		d.Effect, d.Leagues, d.Until = &effect, &powerOf[int]{}, new(int)
		if d.Leagues.Adjusted, err = s.Leagues(power.Adjusted, effect); err != nil {
			return err
		}
		if d.Leagues.Raw, err = s.Leagues(power.Raw, effect); err != nil {
			return err
		}
		if *d.Until, err = s.Half(effect); err != nil {
			return err
		}
	}
	if c.IsSet(command.FlagRuns) {
		runs := c.Int(command.FlagRuns)
		d.Runs, d.Sees = &runs, &powerOf[*edge]{}
		if d.Sees.Adjusted, err = visible(s, power.Adjusted, runs); err != nil {
			return err
		}
		if d.Sees.Raw, err = visible(s, power.Raw, runs); err != nil {
			return err
		}
	}
	d.Ratio = s.Ratio()
	return nil
}

// visible returns the smallest effect that leagues detect; nil for none.
func visible(s power.Setup, m power.Measure, leagues int) (*edge, error) {
	x, err := s.Effect(m, leagues)
	var few *power.TooFewError
	if errors.As(err, &few) {
		return nil, nil
	}
	e := edge(x)
	return &e, err
}

func powerText(s power.Setup, d *powerDocument) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("%d players, %d legs, fair draw, no technical losses, strategies that do not learn within a league", s.Players, s.Legs)
	line("Effect: one player's choices differ from each opponent's with probability %v + effect; the others' from each other's with %v.", s.Differ, s.Differ)
	line("Detected: the player is significantly better than all %d others, with all pairs compared at a family-wise error of %.0f %%,", s.Players-1, 100*(1-s.Level))
	line("in %v %% of experiments.", 100*s.Chance)
	if d.Effect != nil {
		c := s.Contrast(power.Adjusted, *d.Effect)
		line("\nEffect %v: %.5f adjusted points per match more than the others, %.2f standard deviations of a league's difference.", *d.Effect, c.Mean, c.Mean/c.Deviation)
		line("  leagues needed, adjusted points  %12d", d.Leagues.Adjusted)
		line("  leagues needed, raw points       %12d", d.Leagues.Raw)
		line("  --until best: half of all experiments stop by about league %d", *d.Until)
	}
	if d.Runs != nil {
		line("\n%d leagues detect", *d.Runs)
		line("  with adjusted points  %s", effectText(d.Sees.Adjusted))
		line("  with raw points       %s", effectText(d.Sees.Raw))
	}
	line("\nFor small effects raw points need %.1f times as many leagues.", d.Ratio)
	return b.String()
}

func effectText(e *edge) string {
	if e == nil {
		return "no possible effect"
	}
	return fmt.Sprintf("an effect of %.4g or more", float64(*e))
}
