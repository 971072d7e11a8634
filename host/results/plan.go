package results

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/game"
)

// ErrPlanDiffers reports that records belong to another plan.
var ErrPlanDiffers = errors.New("the plan differs from the recorded one")

// MaxRuns is the largest number of leagues in a plan.
const MaxRuns = 1_000_000_000

// schemas returns the versions of plan.json.
func schemas() []string { return []string{PlanSchema, PlanSchema3, PlanSchema2, PlanSchema1} }

// Totals returns the version of the bound on what all calls of a player cost; 0 for none.
func (p Plan) Totals() int { return map[string]int{PlanSchema3: 1, PlanSchema: 2}[p.Schema] }

// kindAgent is the kind of a player that is an agent.
const kindAgent = "agent"

// Reproducible reports whether what the players choose follows from the plan: an agent has
// a clock and randomness of its own.
func (p Plan) Reproducible() bool {
	return !slices.ContainsFunc(p.Field, func(e Entrant) bool { return e.Kind == kindAgent })
}

// Validate reports the first error in the plan.
func (p Plan) Validate() error {
	if !slices.Contains(schemas(), p.Schema) {
		return fmt.Errorf("plan: schema %q, want one of %q", p.Schema, schemas())
	}
	if p.Runs < 1 || p.Runs > MaxRuns {
		return fmt.Errorf("plan: %d runs, want 1 to %d", p.Runs, MaxRuns)
	}
	if _, err := game.NewSchedule(len(p.Field), p.Legs); err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	if _, err := game.ParseDraw(p.Draw); err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	switch p.Transport {
	case "direct", "loopback", "http":
	default:
		return fmt.Errorf("plan: transport %q, want direct, loopback or http", p.Transport)
	}
	names := make(map[string]int, len(p.Field))
	for i, e := range p.Field {
		if e.Name == "" {
			return fmt.Errorf("plan: player %d has no name", i)
		}
		if j, twice := names[e.Name]; twice {
			return fmt.Errorf("plan: players %d and %d are both called %q", j, i, e.Name)
		}
		names[e.Name] = i
	}
	if c := p.Confirms; c != nil && c.First != "" {
		if _, ok := names[c.First]; !ok {
			return fmt.Errorf("plan: confirms %q, which is not in the field", c.First)
		}
	}
	for i, n := range p.Looks {
		if n < 1 || n >= p.Runs || i > 0 && n <= p.Looks[i-1] {
			return fmt.Errorf("plan: look %d is at %d leagues, want ascending numbers of leagues below runs (%d)", i+1, n, p.Runs)
		}
	}
	if err := p.validateShard(); err != nil {
		return err
	}
	switch {
	case p.Records != "" && p.Records != RecordsNone:
		return fmt.Errorf("plan: records %q, want none at most", p.Records)
	case p.Records != "" && (p.Stop != nil || p.Confirms != nil || p.Looks != nil):
		return errors.New("plan: a run without records has a stop, confirms or looks, which need its leagues")
	}
	return p.Stop.validate(names)
}

func (s *Stop) validate(names map[string]int) error {
	switch {
	case s == nil:
		return nil
	case (s.Until == "") == (s.Ratio == nil):
		return errors.New("plan: stop needs until or sprt, and not both")
	case s.Ratio == nil:
		return nil
	}
	for _, name := range []string{s.Ratio.New, s.Ratio.Old} {
		if _, ok := names[name]; !ok {
			return fmt.Errorf("plan: sprt compares %q, which is not in the field", name)
		}
	}
	if s.Ratio.New == s.Ratio.Old {
		return fmt.Errorf("plan: sprt compares %q with itself", s.Ratio.New)
	}
	return nil
}

// ForLeagues returns the part of the plan that its leagues depend on: without Stop,
// Confirms, Looks, Shard and Records.
func (p Plan) ForLeagues() Plan {
	p.Stop, p.Confirms, p.Looks, p.Shard, p.Records = nil, nil, nil, nil, ""
	return p
}

// Hash identifies the plan without Runs, which may grow, and what no league depends
// on: plans with equal hashes play the same leagues.
func (p Plan) Hash() [32]byte {
	p = p.ForLeagues()
	p.Runs = 0
	b, err := json.Marshal(p)
	if err != nil {
		panic(err) // strings and integers always marshal
	}
	return sha256.Sum256(b)
}

// SameLeagues returns nil if q plays the same leagues as p, in any number.
// Otherwise its error wraps ErrPlanDiffers and names the first difference.
func (p Plan) SameLeagues(q Plan) error {
	differ := func(what string, was, is any) error {
		return fmt.Errorf("%w: %s was %v and is %v", ErrPlanDiffers, what, was, is)
	}
	for _, f := range []struct {
		what    string
		was, is any
	}{
		{"schema", p.Schema, q.Schema}, {"legs", p.Legs, q.Legs}, {"seed", p.Seed, q.Seed}, {"draw", p.Draw, q.Draw},
		{"transport", p.Transport, q.Transport}, {"number of players", len(p.Field), len(q.Field)},
	} {
		if f.was != f.is {
			return differ(f.what, f.was, f.is)
		}
	}
	for i, was := range p.Field {
		is := q.Field[i]
		switch {
		case was == is:
		case was.Name != is.Name:
			return differ(fmt.Sprintf("player %d", i), was.Name, is.Name)
		case was.Fingerprint != is.Fingerprint:
			return fmt.Errorf("%w: the code of %s has changed since", ErrPlanDiffers, is.Name)
		default:
			return differ("origin of "+is.Name, was, is)
		}
	}
	return nil
}

// SameRun returns nil if q plays the same leagues as p, as many, and the same shard of them.
func (p Plan) SameRun(q Plan) error {
	if err := p.SameLeagues(q); err != nil {
		return err
	}
	was, is := p.Shard, q.Shard
	if p.Runs != q.Runs || (was == nil) != (is == nil) || was != nil && (was.Number != is.Number || was.Of != is.Of) {
		return fmt.Errorf("it holds another part of the leagues than %v of %d", is, q.Runs)
	}
	return nil
}

// MostPlan is the largest size of a plan.json, in bytes: a field of 990 strategies has some 300 KB.
const MostPlan = 16 << 20

// readPlan reads and validates a plan.json. Unknown fields are errors: a plan that
// is only partly understood would be replayed wrongly.
func readPlan(path string) (Plan, error) {
	b, _, err := disk.ReadFile(path, MostPlan)
	if err != nil {
		return Plan{}, fmt.Errorf("read plan %s: %w", path, err)
	}
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(b, []byte("\ufeff"))))
	dec.DisallowUnknownFields()
	var p Plan
	if err := dec.Decode(&p); err != nil {
		return Plan{}, fmt.Errorf("read plan %s: %w", path, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return Plan{}, fmt.Errorf("read plan %s: more than one JSON value", path)
	}
	if err := p.Validate(); err != nil {
		return Plan{}, fmt.Errorf("read %s: %w", path, err)
	}
	return p, nil
}
