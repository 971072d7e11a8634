package runs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/power"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
)

func powerCommand(p *command.Process) *cli.Command {
	return command.New(p, &cli.Command{
		Name:  "power",
		Usage: "compute how many leagues detect a difference",
		Description: "Computes from the rules of the game, with a fair draw, how many leagues an experiment needs so that a\n" +
			"player with an edge ends up alone in the first tier, or which edge --runs leagues detect. --delta is the edge\n" +
			"in adjusted points per match, as the table and --sprt have them; --effect is how much more often its\n" +
			"choices differ from each opponent's than the other players' choices do.",
	}, new(powerOptions), planPower)
}

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

// powerDocument is the answer as JSON, without what was not asked for.
type powerDocument struct {
	Schema  string  `json:"schema"`
	Players int     `json:"players"`
	Legs    int     `json:"legs"`
	Differ  float64 `json:"differ"`
	Chance  float64 `json:"chance"`
	Level   float64 `json:"level"`

	Delta   *float64        `json:"delta,omitempty"` // of the effect, in adjusted points per match
	Effect  *float64        `json:"effect,omitempty"`
	Leagues *powerOf[int]   `json:"leagues,omitempty"` // that see the effect
	Until   *int            `json:"until_best_median,omitempty"`
	Runs    *int            `json:"runs,omitempty"`
	Sees    *powerOf[*edge] `json:"sees,omitempty"`       // smallest effects that the runs see
	Deltas  *powerOf[*edge] `json:"sees_delta,omitempty"` // the same in adjusted points per match
	Ratio   float64         `json:"raw_to_adjusted"`
}

type edge float64

// delta is an effect in adjusted points per match.
func (e *edge) delta(s power.Setup) *edge {
	if e == nil {
		return nil
	}
	d := edge(s.Delta(float64(*e)))
	return &d
}

// powerOf is a figure for adjusted and for raw points.
type powerOf[T any] struct {
	Adjusted T `json:"adjusted"`
	Raw      T `json:"raw"`
}

func planPower(p *command.Process, c *cli.Context, o *powerOptions) error {
	if !c.IsSet("delta") && !c.IsSet("effect") && !c.IsSet("runs") {
		return command.WithHint(errors.New("power: --delta or --runs is missing"), "for example: strategylab power --delta 0.01 --players 8 --legs 10")
	}
	s := power.Setup{Players: o.Players, Legs: o.Legs, Differ: o.Differ, Level: analysis.DefaultLevel, Chance: o.Chance}
	d := powerDocument{
		Schema: "strategylab/power/v1", Players: s.Players, Legs: s.Legs, Differ: s.Differ, Chance: s.Chance, Level: s.Level,
	}
	if err := d.fill(c, o, s); err != nil {
		return command.Usagef("%w", err)
	}
	if o.Format == "json" {
		return command.PrintJSON(p.Stdout, d)
	}
	_, err := fmt.Fprint(p.Stdout, powerText(s, &d))
	return err
}

func (d *powerDocument) fill(c *cli.Context, o *powerOptions, s power.Setup) error {
	var err error
	if err := s.Validate(); err != nil {
		return err
	}
	if c.IsSet("effect") || c.IsSet("delta") {
		effect, delta := o.Effect, o.Delta
		if c.IsSet("effect") {
			delta = s.Delta(effect)
		} else if effect = s.EffectOf(delta); !(delta > 0 && effect <= 1-s.Differ) {
			return fmt.Errorf("--delta is %v, want above 0 and at most %.4g", delta, s.Delta(1-s.Differ))
		}
		d.Delta, d.Effect, d.Leagues, d.Until = &delta, &effect, &powerOf[int]{}, new(int)
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
	if c.IsSet("runs") {
		d.Runs, d.Sees = &o.Runs, &powerOf[*edge]{}
		if d.Sees.Adjusted, err = visible(s, power.Adjusted, o.Runs); err != nil {
			return err
		}
		if d.Sees.Raw, err = visible(s, power.Raw, o.Runs); err != nil {
			return err
		}
		d.Deltas = &powerOf[*edge]{d.Sees.Adjusted.delta(s), d.Sees.Raw.delta(s)}
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
	line("%d players, %s, fair draw, no technical losses, strategies that do not learn within a league", s.Players, words.Plain.Plural(int64(s.Legs), "leg"))
	line("Delta: one player's adjusted points per match above those of each other, as in --sprt and --margin.")
	line("Effect: the same as a frequency: its choices differ from each opponent's with probability %v + effect; the others' from each other's with %v.", s.Differ, s.Differ)
	line("Detected: the player is significantly better than all %d others, with all pairs compared at a family-wise error of %.0f %%,", s.Players-1, 100*(1-s.Level))
	line("in %v %% of experiments.", 100*s.Chance)
	if d.Effect != nil {
		c := s.Contrast(power.Adjusted, *d.Effect)
		line("\nDelta %.4g: adjusted points per match more than the others (effect %.4g), %.2f standard deviations of a league's difference.", *d.Delta, *d.Effect, c.Mean/c.Deviation)
		line("  leagues needed, adjusted points  %12d", d.Leagues.Adjusted)
		line("  leagues needed, raw points       %12d", d.Leagues.Raw)
		line("  --until best: half of all experiments stop by about league %d", *d.Until)
	}
	if d.Runs != nil {
		line("\n%s detect", words.Plain.Plural(int64(*d.Runs), "league"))
		line("  with adjusted points  %s", effectText(d.Deltas.Adjusted, d.Sees.Adjusted))
		line("  with raw points       %s", effectText(d.Deltas.Raw, d.Sees.Raw))
	}
	line("\nFor small effects raw points need %.1f times as many leagues.", d.Ratio)
	return b.String()
}

func effectText(delta, effect *edge) string {
	if effect == nil {
		return "no possible edge"
	}
	return fmt.Sprintf("a delta of %.4g or more (effect %.4g)", float64(*delta), float64(*effect))
}
