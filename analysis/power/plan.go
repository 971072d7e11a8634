package power

import (
	"errors"
	"fmt"
	"strings"

	"github.com/strategylab/strategylab/analysis/words"
)

// Plan is what a setup says of an edge and of a number of leagues, without what was not
// asked for. Its String is for people.
type Plan struct {
	Schema  string  `json:"schema"`
	Players int     `json:"players"`
	Legs    int     `json:"legs"`
	Differ  float64 `json:"differ"`
	Chance  float64 `json:"chance"`
	Level   float64 `json:"level"`

	Delta   *float64        `json:"delta,omitempty"` // of the effect, in adjusted points per match
	Effect  *float64        `json:"effect,omitempty"`
	Leagues *both[int]      `json:"leagues,omitempty"` // that see the effect
	Until   *int            `json:"until_best_median,omitempty"`
	Runs    *int            `json:"runs,omitempty"`
	Sees    *both[*float64] `json:"sees,omitempty"`       // smallest effects that the runs see; nil for none
	Deltas  *both[*float64] `json:"sees_delta,omitempty"` // the same in adjusted points per match
	Ratio   float64         `json:"raw_to_adjusted"`

	setup Setup
}

// both is a figure for adjusted and for raw points.
type both[T any] struct {
	Adjusted T `json:"adjusted"`
	Raw      T `json:"raw"`
}

func of[T any](figure func(Measure) (T, error)) (*both[T], error) {
	adjusted, err := figure(Adjusted)
	if err != nil {
		return nil, err
	}
	raw, err := figure(Raw)
	return &both[T]{adjusted, raw}, err
}

// Plan answers what may be nil: how many leagues see an edge, given in adjusted points per
// match (delta) or as an effect, and which edge a number of leagues sees.
func (s Setup) Plan(delta, effect *float64, leagues *int) (Plan, error) {
	p := Plan{
		Schema: "strategylab/power/v1", Players: s.Players, Legs: s.Legs, Differ: s.Differ, Chance: s.Chance, Level: s.Level, Runs: leagues, setup: s,
	}
	err := s.Validate()
	if err != nil {
		return p, err
	}
	switch {
	case effect != nil:
		d := s.Delta(*effect)
		p.Delta, p.Effect = &d, effect
	case delta != nil:
		e := s.EffectOf(*delta)
		if !(*delta > 0 && e <= 1-s.Differ) {
			return p, fmt.Errorf("--delta is %v, want above 0 and at most %.4g", *delta, s.Delta(1-s.Differ))
		}
		p.Delta, p.Effect = delta, &e
	}
	if p.Effect != nil {
		if p.Leagues, err = of(func(m Measure) (int, error) { return s.Leagues(m, *p.Effect) }); err != nil {
			return p, err
		}
		until, err := s.Half(*p.Effect)
		if err != nil {
			return p, err
		}
		p.Until = &until
	}
	if leagues != nil {
		p.Deltas = new(both[*float64])
		if p.Sees, err = of(func(m Measure) (*float64, error) { return s.visible(m, *leagues) }); err != nil {
			return p, err
		}
		p.Deltas.Adjusted, p.Deltas.Raw = s.deltaOf(p.Sees.Adjusted), s.deltaOf(p.Sees.Raw)
	}
	p.Ratio = s.Ratio()
	return p, nil
}

// visible returns the smallest effect that leagues detect; nil for none.
func (s Setup) visible(m Measure, leagues int) (*float64, error) {
	x, err := s.Effect(m, leagues)
	if errors.As(err, new(*TooFewError)) {
		return nil, nil
	}
	return &x, err
}

func (s Setup) deltaOf(effect *float64) *float64 {
	if effect == nil {
		return nil
	}
	d := s.Delta(*effect)
	return &d
}

// String describes the plan in some lines.
func (p Plan) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("%d players, %s, fair draw, no technical losses, strategies that do not learn within a league", p.Players, words.Plain.Plural(int64(p.Legs), "leg"))
	line("Delta: one player's adjusted points per match above those of each other, as in --sprt and --margin.")
	line("Effect: the same as a frequency: its choices differ from each opponent's with probability %v + effect; the others' from each other's with %v.", p.Differ, p.Differ)
	line("Detected: the player is significantly better than all %d others, with all pairs compared at a family-wise error of %.0f %%,", p.Players-1, 100*(1-p.Level))
	line("in %v %% of experiments.", 100*p.Chance)
	if p.Effect != nil {
		c := p.setup.Contrast(Adjusted, *p.Effect)
		line("\nDelta %.4g: adjusted points per match more than the others (effect %.4g), %.2f standard deviations of a league's difference.", *p.Delta, *p.Effect, c.Mean/c.Deviation)
		line("  leagues needed, adjusted points  %12d", p.Leagues.Adjusted)
		line("  leagues needed, raw points       %12d", p.Leagues.Raw)
		line("  --until best: half of all experiments stop by about league %d", *p.Until)
	}
	if p.Runs != nil {
		line("\n%s detect", words.Plain.Plural(int64(*p.Runs), "league"))
		line("  with adjusted points  %s", edge(p.Deltas.Adjusted, p.Sees.Adjusted))
		line("  with raw points       %s", edge(p.Deltas.Raw, p.Sees.Raw))
	}
	line("\nFor small effects raw points need %.1f times as many leagues.", p.Ratio)
	return b.String()
}

func edge(delta, effect *float64) string {
	if effect == nil {
		return "no possible edge"
	}
	return fmt.Sprintf("a delta of %.4g or more (effect %.4g)", *delta, *effect)
}
