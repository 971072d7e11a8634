package lab

import (
	"fmt"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/analysis/sequential"
	"github.com/strategylab/strategylab/host/results"
)

// Study takes in the leagues of a run, in their order, and says what they show: by
// sequences if the run was to end by what it shows, else by what holds for a given
// number of leagues.
type Study struct {
	plan results.Plan
	acc  *analysis.Accumulator
	// rule decides when the run ends, at the level that runs have; shown is what is
	// reported, at the level that was asked for. Both are nil without a rule.
	rule, shown *sequential.Tracker
	ratio       *sequential.Ratio // nil without such a test
	newer, old  int               // field indices of whom it compares
}

func NewStudy(plan results.Plan, level float64) (*Study, error) {
	acc, err := analysis.NewAccumulator(plan)
	if err != nil {
		return nil, err
	}
	s := &Study{plan: plan, acc: acc}
	if plan.Stop == nil {
		return s, nil
	}
	o, err := sequenceOptions(plan.Stop)
	if err != nil {
		return nil, err
	}
	if s.rule, err = acc.Tracker(o); err != nil {
		return nil, err
	}
	s.shown = s.rule
	if level != o.Level {
		o.Level = level
		if s.shown, err = acc.Tracker(o); err != nil {
			return nil, err
		}
	}
	if plan.Stop.Ratio != nil {
		err = s.compare(*plan.Stop.Ratio)
	}
	return s, err
}

// compare makes the test of a plan, whose players are in the field.
func (s *Study) compare(r results.Ratio) error {
	for i, f := range s.plan.Field {
		switch f.Name {
		case r.New:
			s.newer = i
		case r.Old:
			s.old = i
		}
	}
	shape := s.acc.Shape()
	var err error
	s.ratio, err = sequential.NewRatio(sequential.Hypotheses{Delta: r.Delta, Alpha: r.Alpha, Beta: r.Beta}, shape.Scale, shape.Choices.Difference)
	return err
}

// Append takes in the next league.
func (s *Study) Append(l *results.League) error {
	if err := s.acc.Add(*l); err != nil || s.rule == nil {
		return err
	}
	last := s.acc.Last()
	if s.ratio != nil {
		s.ratio.Add(last.Points[s.newer] - last.Points[s.old])
	}
	if err := s.rule.Add(last); err != nil || s.shown == s.rule {
		return err
	}
	return s.shown.Add(last)
}

// stop is asked after every league whether the run may end; nil if it has no rule.
func (s *Study) stop() func(leagues int) bool {
	if s.rule == nil {
		return nil
	}
	return func(int) bool { return s.done() }
}

// ratioTest is what ended a run that a sequential test of two strategies ended.
const ratioTest = "sprt"

func (s *Study) done() bool {
	if s.ratio != nil {
		return s.ratio.Decision() != sequential.Open
	}
	return s.rule != nil && s.rule.Done()
}

// report is all that a report is made from. Whether the leagues have just been
// played or were recorded last month makes no difference to it.
func (s *Study) report(level float64, facts report.Facts) report.Run {
	run := report.Run{Plan: s.plan, Facts: facts, Stopping: report.Stopping{Why: s.why()}}
	if s.rule == nil {
		run.Estimates = s.acc.Estimates(level)
		return run
	}
	run.Estimates = s.acc.SequentialEstimates(s.shown)
	options := s.shown.Options()
	run.Stopping.Options = &options
	run.Stopping.Apart, run.Stopping.Within, run.Stopping.Open = s.shown.Decisions().Counts()
	if s.ratio != nil {
		run.Stopping.Ratio = &report.Ratio{New: s.plan.Stop.Ratio.New, Old: s.plan.Stop.Ratio.Old, Report: s.ratio.Report(level)}
	}
	return run
}

// why says how the run came to its end.
func (s *Study) why() string {
	all := s.acc.Leagues() == s.plan.Runs
	switch {
	case s.done() && s.ratio != nil:
		return ratioTest
	case s.done():
		return string(s.rule.Options().Rule.Kind)
	case all && s.rule != nil:
		return report.MaxRuns
	case all:
		return report.AllRuns
	}
	return report.Interrupted
}

// sequenceOptions turns what a plan says into what analysis takes.
func sequenceOptions(s *results.Stop) (sequential.Options, error) {
	o := sequential.Options{Guarantee: sequential.Asymptotic, Level: analysis.DefaultLevel, Margin: s.Margin}
	if s.Ratio != nil {
		return o, nil
	}
	var err error
	if o.Rule, err = sequential.ParseRule(s.Until); err != nil {
		return o, fmt.Errorf("plan: stop: %w", err)
	}
	if o.Guarantee, err = sequential.ParseGuarantee(s.Guarantee); err != nil {
		return o, fmt.Errorf("plan: stop: %w", err)
	}
	return o, nil
}
