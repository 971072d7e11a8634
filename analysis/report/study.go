package report

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/robust"
	"github.com/strategylab/strategylab/analysis/sequential"
	"github.com/strategylab/strategylab/host/results"
)

// Study computes what the leagues of a run show, given in their order: with
// confidence sequences if the run has a stopping rule, else with intervals for a
// fixed number of leagues.
type Study struct {
	Yours []int // field indices of the user's strategies
	Sums  *analysis.Accumulator

	plan      results.Plan
	remaining *analysis.Remaining
	// rule decides when the run ends, at the default level; shown is what is
	// reported, at the requested level. Both are nil without a stopping rule.
	rule, shown *sequential.Tracker
	ratio       *sequential.Ratio // nil without a test
	newer, old  int               // field indices of the compared players
}

// NewStudy returns a study of the leagues of a plan, at a confidence level.
func NewStudy(plan results.Plan, level float64) (*Study, error) {
	acc, err := analysis.NewAccumulator(plan)
	if err != nil {
		return nil, err
	}
	s := &Study{plan: plan, Sums: acc}
	if plan.Stop == nil {
		s.remaining, err = analysis.NewRemaining(plan, nil)
		return s, err
	}
	o, err := sequenceOptions(plan.Stop)
	if err != nil {
		return nil, err
	}
	if s.rule, err = acc.Tracker(o); err != nil {
		return nil, err
	}
	if s.shown = s.rule; level != o.Level {
		o.Level = level
		if s.shown, err = acc.Tracker(o); err != nil {
			return nil, err
		}
	}
	if r := plan.Stop.Ratio; r != nil {
		field := func(name string) int {
			return max(0, slices.IndexFunc(plan.Field, func(e results.Entrant) bool { return e.Name == name }))
		}
		s.newer, s.old = field(r.New), field(r.Old)
		s.ratio, err = sequential.NewRatio(sequential.Hypotheses{Delta: r.Delta, Alpha: r.Alpha, Beta: r.Beta}, o.Guarantee, acc.Shape())
		if err != nil {
			return nil, err
		}
	}
	s.remaining, err = analysis.NewRemaining(plan, &o)
	return s, err
}

// Append adds the next league.
func (s *Study) Append(l *results.League) error {
	if err := s.Sums.Add(*l); err != nil {
		return err
	}
	if err := s.remaining.Add(l); err != nil || s.rule == nil {
		return err
	}
	last := s.Sums.Last()
	if s.ratio != nil {
		s.ratio.Add(last[s.newer] - last[s.old])
	}
	if err := s.rule.Add(last); err != nil || s.shown == s.rule {
		return err
	}
	return s.shown.Add(last)
}

// Stop returns what reports after each league whether the run may end; nil without
// a stopping rule.
func (s *Study) Stop() func(leagues int) bool {
	if s.rule == nil {
		return nil
	}
	return func(int) bool { return s.done() }
}

func (s *Study) done() bool {
	if s.ratio != nil {
		return s.ratio.Decision() != sequential.Open
	}
	return s.rule != nil && s.rule.Done()
}

// Progress returns what the leagues so far have shown, in microseconds.
func (s *Study) Progress() Progress {
	p := Progress{Plan: s.plan, Yours: s.Yours, Leagues: s.Sums.Leagues(), Standings: s.Sums.Standings(analysis.AfterLooks(analysis.DefaultLevel, len(s.plan.Looks)), s.shown)}
	if s.rule == nil {
		return p
	}
	c := &Closeness{Rule: s.rule.Options().Rule}
	p.Closeness = c
	if s.ratio != nil {
		c.Ratio = new(Evidence)
		c.Ratio.LLR, c.Ratio.Low, c.Ratio.High, c.Ratio.Known = s.ratio.Evidence()
		return p
	}
	decisions := s.rule.Decisions()
	c.Apart, c.Within, c.Open = decisions.Counts()
	for k, x := range p.Standings {
		if k > 0 && decisions.Better(p.Standings[0].Field, x.Field) {
			c.Ahead++
		}
		c.Widest = max(c.Widest, (x.Adjusted.High-x.Adjusted.Low)/2)
	}
	return p
}

// Report returns everything that a report is made from, whether the leagues are new
// or recorded.
//
// The level of a run that was extended is that of its last look.
func (s *Study) Report(level float64, facts Facts) Run {
	run := s.Estimated(level, facts)
	run.Robustness = robust.Of(&run.Estimates, s.plan.Seed)
	return run
}

// Estimated is Report without what is simulated of other fields.
func (s *Study) Estimated(level float64, facts Facts) Run {
	run := Run{Plan: s.plan, Yours: s.Yours, Facts: facts, Stopping: Stopping{Why: s.why()}}
	if s.rule == nil {
		level = analysis.AfterLooks(level, len(s.plan.Looks))
		run.Estimates, run.Since = s.Sums.Estimates(level), s.remaining.Estimates(level)
		return run
	}
	run.Estimates, run.Since = s.Sums.SequentialEstimates(s.shown), s.remaining.Estimates(level)
	options := s.shown.Options()
	run.Stopping.Options = &options
	run.Stopping.Apart, run.Stopping.Within, run.Stopping.Open = s.shown.Decisions().Counts()
	if s.ratio != nil {
		run.Stopping.Ratio = &Ratio{New: s.plan.Stop.Ratio.New, Old: s.plan.Stop.Ratio.Old, Report: s.ratio.Report(level)}
	}
	return run
}

// why says what ended the run.
func (s *Study) why() string {
	all := s.Sums.Leagues() == s.plan.Runs
	switch {
	case s.done() && s.ratio != nil:
		return "sprt"
	case s.done():
		return string(s.rule.Options().Rule.Kind)
	case all && s.rule != nil:
		return MaxRuns
	case all:
		return AllRuns
	}
	return Interrupted
}

// sequenceOptions converts the stopping rule of a plan.
func sequenceOptions(s *results.Stop) (o sequential.Options, err error) {
	o = sequential.Options{Guarantee: sequential.Asymptotic, Level: analysis.DefaultLevel, Margin: s.Margin}
	if s.Ratio == nil {
		if o.Rule, err = sequential.ParseRule(s.Until); err != nil {
			return o, fmt.Errorf("plan: stop: %w", err)
		}
	}
	if s.Ratio == nil || s.Guarantee != "" {
		if o.Guarantee, err = sequential.ParseGuarantee(s.Guarantee); err != nil {
			return o, fmt.Errorf("plan: stop: %w", err)
		}
	}
	return o, nil
}

// ParseRatio reads a sequential test as users write it: new=x,old=y,delta=0.01, and alpha and beta
// unless they are 0.05.
func ParseRatio(s string) (results.Ratio, error) {
	r := results.Ratio{Alpha: 0.05, Beta: 0.05}
	values := map[string]any{"new": &r.New, "old": &r.Old, "delta": &r.Delta, "alpha": &r.Alpha, "beta": &r.Beta}
	for _, part := range strings.Split(s, ",") {
		key, value, ok := strings.Cut(part, "=")
		if key, value = strings.TrimSpace(key), strings.TrimSpace(value); !ok {
			return r, fmt.Errorf("%q is not of the form name=value", part)
		}
		to, known := values[key]
		switch to := to.(type) {
		case *string:
			*to = value
		case *float64:
			var err error
			if *to, err = strconv.ParseFloat(value, 64); err != nil {
				return r, fmt.Errorf("%s is %q, want a number", key, value)
			}
		default:
			if known {
				return r, fmt.Errorf("%s is given twice", key)
			}
			return r, fmt.Errorf("unknown key %q, want new, old, delta, alpha and beta", key)
		}
		values[key] = nil
	}
	switch {
	case r.New == "" || r.Old == "":
		return r, errors.New("new or old is missing: name the two strategies to compare")
	case r.New == r.Old:
		return r, fmt.Errorf("new and old are both %q; name two strategies", r.New)
	case values["delta"] != nil:
		return r, errors.New("delta is missing: how many adjusted points per match new has to be better")
	}
	return r, sequential.Hypotheses{Delta: r.Delta, Alpha: r.Alpha, Beta: r.Beta}.Validate()
}
