package main

import (
	"errors"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis/page"
	"github.com/strategylab/strategylab/analysis/population"
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

// rate adds the rating to a report. Placings that no model fits are said, not an
// error: the report stands without.
func (r *ratings) rate(in *page.Input) (note string, err error) {
	if r == nil {
		return "", nil
	}
	w, err := r.Fit()
	if errors.Is(err, population.ErrSeparated) || errors.Is(err, population.ErrNoPlacings) {
		return "no worths: " + err.Error(), nil
	}
	if err != nil {
		return "", err
	}
	in.Worths, in.WorthLeagues = &w, r.Leagues()
	return "", nil
}
