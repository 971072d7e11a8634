package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/analysis/sequential"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies/catalog"
)

const sprtExample = "new=x.lua,old=y.lua,delta=0.01,alpha=0.05,beta=0.05"

// readSPRT reads the flag of that name. The players are what the user calls them
// until the field is known.
func readSPRT(c *cli.Context) (*results.Stop, error) {
	for _, flag := range []string{flagGuarantee, flagMargin} {
		if c.IsSet(flag) {
			return nil, usagef("--%s goes with --%s, not with --%s", flag, flagUntil, flagSPRT)
		}
	}
	r, err := parseSPRT(c.String(flagSPRT))
	if err != nil {
		return nil, withHint(fmt.Errorf("--%s: %w", flagSPRT, err), "for example --%s %s", flagSPRT, sprtExample)
	}
	return &results.Stop{Ratio: &r}, nil
}

func parseSPRT(s string) (results.Ratio, error) {
	r := results.Ratio{Alpha: 0.05, Beta: 0.05}
	numbers := map[string]*float64{"delta": &r.Delta, "alpha": &r.Alpha, "beta": &r.Beta}
	names := map[string]*string{"new": &r.New, "old": &r.Old}
	seen := map[string]bool{}
	for _, part := range strings.Split(s, ",") {
		key, value, ok := strings.Cut(part, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch {
		case !ok:
			return r, fmt.Errorf("%q is not of the form name=value", part)
		case seen[key]:
			return r, fmt.Errorf("%s is given twice", key)
		case names[key] != nil:
			*names[key] = value
		case numbers[key] != nil:
			x, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return r, fmt.Errorf("%s is %q, want a number", key, value)
			}
			*numbers[key] = x
		default:
			return r, fmt.Errorf("there is no %q; want new, old, delta, alpha and beta", key)
		}
		seen[key] = true
	}
	switch {
	case r.New == "" || r.Old == "":
		return r, errors.New("want both new and old, the strategies that are compared")
	case r.New == r.Old:
		return r, fmt.Errorf("new and old are both %q; a strategy is no better than itself", r.New)
	case !seen["delta"]:
		return r, errors.New("delta is missing: by how many adjusted points a match new has to be better")
	}
	return r, sequential.Hypotheses{Delta: r.Delta, Alpha: r.Alpha, Beta: r.Beta}.Validate()
}

// field finds the players of a new run. Whom a test compares is in the field, named
// there or not.
func (e *experimentRun) field(cat *catalog.Catalog) (catalog.Field, error) {
	field, err := cat.Field(e.refs)
	if err != nil || e.stop.stop == nil || e.stop.stop.Ratio == nil {
		return field, named(err)
	}
	refs := e.refs
	for _, target := range []string{e.stop.stop.Ratio.New, e.stop.stop.Ratio.Old} {
		var missing *missingError
		if _, err := playerOf(field, target); !errors.As(err, &missing) {
			continue // in the field, or a mistake that is told when the plan is made
		}
		if len(refs) == 0 {
			for _, p := range field.Players {
				refs = append(refs, catalog.Ref{Target: p.Target, Copies: 1})
			}
		}
		refs = append(refs, catalog.Ref{Target: target, Copies: 1})
	}
	if len(refs) == len(e.refs) {
		return field, nil
	}
	warnings := field.Warnings
	if field, err = cat.Field(refs); err != nil {
		return field, named(fmt.Errorf("--%s: %w", flagSPRT, err))
	}
	field.Warnings = warnings
	return field, nil
}

// missingError is a strategy that is not in the field.
type missingError struct{ target string }

func (e *missingError) Error() string { return fmt.Sprintf("%q is not in the field", e.target) }

// playerOf returns the name of the one player that a name or a path stands for.
func playerOf(field catalog.Field, target string) (string, error) {
	var found []string
	for _, p := range field.Players {
		switch {
		case p.Name == target:
			return p.Name, nil
		case p.Target == target, p.Info.Name == target,
			p.Info.Source != "" && filepath.Clean(p.Info.Source) == filepath.Clean(target):
			found = append(found, p.Name)
		}
	}
	switch len(found) {
	case 0:
		return "", &missingError{target}
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%q stands for several players: name one of %s", target, strings.Join(found, ", "))
}
