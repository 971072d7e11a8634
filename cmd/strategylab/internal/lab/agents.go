package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/conformance"
	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/served"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

// addAgents adds the agents of a supply to the options of a catalog, which closes them.
func (l Lab) addAgents(s Supply, o *catalog.Config) error {
	s.Serving.Dir, s.Serving.Cassette, s.Serving.Log = l.Dir, l.Path(s.Serving.Cassette), s.Log
	for _, spec := range s.Agents {
		f, err := served.Open(spec, s.Serving)
		if err != nil {
			return &InputError{err, ""}
		}
		o.Builtins = append(o.Builtins, f)
	}
	return nil
}

// ready starts the agents of a field, so that one that cannot play is noticed before
// anything is played.
func ready(ctx context.Context, factories []strategies.Factory) error {
	for _, f := range factories {
		a, ok := f.(*served.Factory)
		if !ok {
			continue
		}
		if err := a.Ready(ctx); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return &InputError{err, "strategylab strategies check " + a.Info().Name + " with the same flags shows more"}
		}
	}
	return nil
}

// lockstep returns how many leagues a worker plays at once.
func lockstep(factories []strategies.Factory) int {
	n := arena.Lockstep(scriptsOf(factories))
	for _, f := range factories {
		if a, ok := f.(*served.Factory); ok {
			n = min(n, a.Lockstep())
		}
	}
	return n
}

// agentsOf reports how the agents of a field fared.
func agentsOf(plan results.Plan, factories []strategies.Factory) []report.Agent {
	var list []report.Agent
	at := make(map[*served.Factory]int)
	for i, f := range factories {
		a, ok := f.(*served.Factory)
		if !ok {
			continue
		}
		k, known := at[a]
		if !known {
			k = len(list)
			at[a], list = k, append(list, agentOf(a))
		}
		list[k].Players = append(list[k].Players, plan.Field[i].Name)
	}
	return list
}

func agentOf(a *served.Factory) report.Agent {
	u := a.Usage()
	milliseconds := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	r := report.Agent{
		Name: a.Info().Name, Restart: served.Never, Asked: u.Asked, Replayed: u.Replayed, Missing: u.Missing,
		Messages: u.Messages, Retries: u.Retries, Starts: u.Starts, MedianMS: milliseconds(u.Median), P99MS: milliseconds(u.P99), Log: u.Log,
	}
	if u.Restarts {
		r.Restart = served.League
	}
	for _, x := range u.Faults {
		r.Faults = append(r.Faults, report.AgentFault(x))
	}
	return r
}

// DefaultAgentTime is the time of the check of an agent.
const DefaultAgentTime = time.Minute

// checkAgent checks an agent: whether it keeps the protocol, what a restart does, how
// fast it answers and how it scores.
func (l Lab) checkAgent(ctx context.Context, e catalog.Entry, a *served.Factory, c Checking) (Verdict, error) {
	c.Time = cmp.Or(c.Time, max(DefaultAgentTime, l.CheckTime))
	if err := a.Ready(ctx); err != nil {
		return Verdict{}, &InputError{err, ""}
	}
	limited, steps, end := c.begin(ctx)
	defer end()
	v := Verdict{Strategy: e.Info.Name, Kind: e.Info.Kind}
	field := builtin.Classics()
	var err error
	steps.Do(limited, fmt.Sprintf("a trial against %d others", len(field)), func() {
		if v.Trial, err = tryAgainst(limited, e.Info, e.Factory, c.Seed, trialLeagues, 5, field); cutShort(limited, err) {
			v.Trial, err = nil, nil
		}
	})
	if err != nil {
		return Verdict{}, err
	}
	v.Findings = append(v.Findings, usageFindings(a.Usage())...)
	steps.Do(limited, "what a restart does", func() { v.Findings = append(v.Findings, restartFinding(limited, a)) })
	steps.Do(limited, "the rules of the protocol, with late, repeated and malformed calls", func() {
		v.Findings = append(v.Findings, conformanceFindings(limited, a)...)
	})
	if ctx.Err() != nil {
		return Verdict{}, context.Cause(ctx)
	}
	v.Findings = append(v.Findings, steps.Findings(c.Time)...)
	v.Ready, v.Verdict = strategytest.Worst(v.Findings) < strategytest.Error, strategytest.Verdict(v.Findings)
	return v, nil
}

const trialLeagues = 12

// usageFindings say how the agent answered in the trial.
func usageFindings(u served.Usage) []strategytest.Finding {
	var list []strategytest.Finding
	if u.Asked > 0 {
		list = append(list, strategytest.Finding{ID: "latency", Level: strategytest.OK, What: fmt.Sprintf("it answered %d matches in %v each (median; 99 %% within %v), with %d retries",
			u.Asked, u.Median.Round(10*time.Microsecond), u.P99.Round(10*time.Microsecond), u.Retries)})
	}
	for _, x := range u.Faults {
		f := strategytest.Finding{ID: "fault", Level: strategytest.Error, What: fmt.Sprintf("it lost %d of %d matches by its own fault (%s): %s", x.Count, u.Asked+u.Replayed, x.Kind, x.Cause)}
		if len(u.Log) > 0 {
			f.Hint = "the end of its log: " + strings.Join(u.Log[max(0, len(u.Log)-3):], " / ")
		}
		list = append(list, f)
	}
	return list
}

// restartFinding compares leagues of equal course, with a restart between them and without.
func restartFinding(ctx context.Context, a *served.Factory) strategytest.Finding {
	f := strategytest.Finding{ID: "restart", Level: strategytest.Info, Hint: "--restart league starts its process again for each league; --restart never is the default"}
	kept, err := a.Repeats(ctx, false)
	if err == nil && !a.Restarts() {
		f.What = fmt.Sprintf("in a second league of the same course it chose as in the first in %d of %d matches; it is not restarted, since it runs already", kept, served.RepeatedMatches)
		f.Hint = ""
		return f
	}
	fresh := 0
	if err == nil {
		fresh, err = a.Repeats(ctx, true)
	}
	f.What = fmt.Sprintf("in a second league of the same course it chose as in the first in %d of %d matches, and after a restart in %d", kept, served.RepeatedMatches, fresh)
	if err != nil {
		f.Level, f.What, f.Hint = strategytest.Warning, "what a restart does is not known: "+err.Error(), ""
	}
	return f
}

const mostBroken = 5

// conformanceFindings say which rules of the must level the agent breaks.
func conformanceFindings(ctx context.Context, a *served.Factory) []strategytest.Finding {
	unknown := func(err error) []strategytest.Finding {
		return []strategytest.Finding{{ID: "conformance", Level: strategytest.Warning, What: "whether it keeps the protocol is not known: " + err.Error()}}
	}
	guest, err := a.Guest()
	if err != nil {
		return unknown(err)
	}
	defer guest.Close()
	var must []string
	for _, check := range conformance.Checks(kit.Player) {
		if check.Level == kit.Must {
			must = append(must, check.ID)
		}
	}
	c := kit.Config{Role: kit.Player, URL: guest.URL, Only: must, Timeout: served.DefaultDeadline, Wait: served.DefaultStart}
	if !a.Restarts() {
		c.Wait = time.Second // it has no reason to register with this manager
	}
	var failed error
	c.Listening = func(url string) { failed = guest.Start(url) }
	report, err := conformance.Run(ctx, c)
	if err = errors.Join(failed, err); err != nil {
		return unknown(err)
	}
	count := func(s kit.Status) int { return report.Count(kit.Must, s) }
	all := strategytest.Finding{ID: "conformance", What: fmt.Sprintf("it keeps %d of the %d rules of the must level that could be checked; %d could not",
		count(kit.Passed), count(kit.Passed)+count(kit.Failed), count(kit.Skipped)), Hint: "strategylab conformance player URL checks and explains all rules"}
	list := []strategytest.Finding{all}
	for _, o := range report.Outcomes {
		if o.Status == kit.Failed && len(list) <= mostBroken {
			list[0].Level = strategytest.Warning
			list = append(list, strategytest.Finding{ID: o.ID, Level: strategytest.Warning, What: strategies.OneLine(o.Rule+": "+o.Detail, 300), Hint: o.Advice})
		}
	}
	return list
}
