package main

import (
	"errors"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis/population"
	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/host/results"
)

const (
	flagRatings  = "ratings"
	plackettLuce = "plackett-luce"
)

func ratingsFlag() cli.Flag {
	return &cli.StringFlag{Name: flagRatings, Usage: plackettLuce + " adds a model of the placings to the report"}
}

// ratings gathers what the rating needs that was asked for; nil if none was.
type ratings struct{ *population.Placings }

// Append makes ratings a sink.
func (r *ratings) Append(l *results.League) error { return r.Add(l) }

// newRatings refuses ratings that would rank noise.
func newRatings(c *cli.Context, plan results.Plan) (*ratings, error) {
	if err := checkRatings(c); err != nil || c.String(flagRatings) == "" {
		return nil, err
	}
	p, err := population.NewPlacings(plan)
	return &ratings{p}, err
}

// checkRatings says whether there is the rating that was asked for, and if not why.
func checkRatings(c *cli.Context) error {
	switch name := c.String(flagRatings); name {
	case "", plackettLuce:
		return nil
	case "elo", "glicko", "trueskill", "bradley-terry":
		return withHint(usagef("--%s: %w", flagRatings, population.RefuseRating(name)), "--%s %s", flagRatings, plackettLuce)
	default:
		return usagef("--%s is %q, want %s", flagRatings, name, plackettLuce)
	}
}

// ratingsSink gathers for a rating while recorded leagues are read; it has no sink
// if none was asked for.
func ratingsSink(c *cli.Context, plan results.Plan) (*ratings, experiments.Sink, error) {
	r, err := newRatings(c, plan)
	if r == nil || err != nil {
		return nil, nil, err
	}
	return r, r, nil
}

// worths fits the model to the placings; nil if none was asked for. Placings that no
// model fits are said, not an error: the report stands without.
func (r *ratings) worths(warn func(format string, args ...any)) (w *population.Worths, leagues int, err error) {
	if r == nil {
		return nil, 0, nil
	}
	fitted, err := r.Fit()
	if errors.Is(err, population.ErrSeparated) || errors.Is(err, population.ErrNoPlacings) {
		warn("no worths: %v", err)
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	return &fitted, r.Leagues(), nil
}
