package lab

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/power"
	"github.com/strategylab/strategylab/analysis/words"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/builtin"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/served"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

// CheckSeed is the seed of a check unless another is given: the same strategy
// gets the same verdict.
const CheckSeed = 1

// Checking says how a strategy is checked.
type Checking struct {
	Seed   uint64
	Limits budget.Limits
	// Isolated says that the strategy, if it is a script, is judged by what it does in
	// a process of its own.
	Isolated bool
	// Compared also runs a script in a worker, where it can be watched, and compares
	// its choices with those in a process of its own.
	Compared bool
	// Time is the time of the whole check, after which the rest is left out; default
	// Lab.CheckTime.
	Time time.Duration
	// Step, if not nil, is called with the name of each step before it.
	Step func(step string)
}

// DefaultCheckTime is the time of a check. Strategies take a second.
const DefaultCheckTime = 10 * time.Second

// begin starts the time of a check, until end is called.
func (c *Checking) begin(ctx context.Context) (_ context.Context, steps *strategytest.Steps, end func()) {
	// No deadline: that would be handed on as the time of a call.
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(c.Time, func() { cancel(strategytest.ErrTime) })
	return ctx, &strategytest.Steps{Show: c.Step}, func() {
		timer.Stop()
		cancel(nil)
	}
}

// Verdict is what a check has found.
type Verdict struct {
	Strategy string                 `json:"strategy"`
	Kind     strategies.Kind        `json:"kind"`
	Ready    bool                   `json:"ready"`
	Verdict  string                 `json:"verdict"` // one sentence
	Findings []strategytest.Finding `json:"findings"`
	Trial    *Trial                 `json:"trial"` // null if it is not ready, or there was no time
}

// Check plays small leagues of every shape with a strategy and, if it is ready, a
// trial in a small field. It calls the strategy's factory unless c.Compared is set.
// What it has no time for is left out, with a finding that says so.
func (l Lab) Check(ctx context.Context, e catalog.Entry, c Checking) (Verdict, error) {
	if a, ok := e.Factory.(*served.Factory); ok {
		return l.checkAgent(ctx, e, a, c)
	}
	c.Time = cmp.Or(c.Time, l.CheckTime, DefaultCheckTime)
	began := l.Now()
	if script := scriptOf(e.Factory); script != nil && c.Compared {
		pool := plugins.NewPool(l.worker(nil), 0)
		defer pool.Close() // its processes have done their work
		var answer checkReply
		err := pool.Do(ctx, taskCheck, checkRequest{Script: *script, Seed: c.Seed, Isolated: c.Isolated, Time: c.Time}, func(body []byte) error {
			if err := json.Unmarshal(body, &answer); err != nil {
				return err
			}
			if c.Step != nil && answer.Verdict == nil {
				c.Step(strategies.OneLine(answer.Step, 200))
			}
			return nil
		})
		if err == nil && answer.Verdict == nil {
			err = errors.New("check: the worker gave no verdict")
		}
		if err == nil {
			return *answer.Verdict, nil
		}
		if !plugins.Died(err) {
			return Verdict{}, err
		}
		// What it does in a process of its own shows how it ended the worker.
		c.Time = max(c.Time-l.Now().Sub(began), c.Time/4)
	}
	limited, steps, end := c.begin(ctx)
	defer end()
	findings := strategytest.Check(limited, e.Factory, l.checkConfig(c.Seed, c.Limits, steps))
	if ctx.Err() == nil {
		findings = append(findings, workerFinding(e.Factory)...)
	}
	return l.verdict(limited, e, findings, c, steps)
}

// CheckSource checks a script that need not be in a file, isolated and compared with a
// worker. If it does not load, broken says why, and there is no verdict. It calls step
// with the name of each step.
func (l Lab) CheckSource(ctx context.Context, s Supply, name string, kind strategies.Kind, source []byte, step func(string)) (v Verdict, broken *strategies.Error, err error) {
	step("loading the script in its own process")
	f, err := l.LoadScript(ctx, s, name, kind, source)
	if errors.As(err, &broken) {
		return v, broken, nil
	}
	if err != nil {
		return v, nil, err
	}
	v, err = l.Check(ctx, catalog.Entry{Info: f.Info(), Factory: f}, Checking{Seed: CheckSeed, Limits: s.Limits, Isolated: true, Compared: true, Step: step})
	return v, nil, errors.Join(err, f.Close())
}

func (l Lab) checkConfig(seed uint64, limits budget.Limits, steps *strategytest.Steps) strategytest.Config {
	return strategytest.Config{Seed: seed, Now: l.Now, Memory: budget.Live, Limits: limits, Steps: steps}
}

// verdict concludes from findings and, if they allow it, plays the trial.
func (l Lab) verdict(ctx context.Context, e catalog.Entry, findings []strategytest.Finding, c Checking, steps *strategytest.Steps) (Verdict, error) {
	v := Verdict{Strategy: e.Info.Name, Kind: e.Info.Kind, Ready: strategytest.Worst(findings) < strategytest.Error}
	var err error
	if v.Ready {
		steps.Do(ctx, fmt.Sprintf("a trial against %d others", len(Opponents())), func() {
			if v.Trial, err = l.try(ctx, e, c.Seed); cutShort(ctx, err) && errors.Is(context.Cause(ctx), strategytest.ErrTime) {
				v.Trial, err = nil, nil
			}
		})
		if t := v.Trial; t != nil && t.Lost > 0 {
			what := fmt.Sprintf("lost %s of the trial by failing, first by %s in league %d", words.Plain.Plural(t.Lost, "match"), words.Cause(t.fault.Kind), t.fault.League)
			findings = append(findings, strategytest.Finding{ID: "trial", Level: strategytest.Warning, What: what, Hint: t.fault.Where})
		}
	}
	v.Findings = append(findings, steps.Findings(c.Time)...)
	v.Verdict = strategytest.Verdict(v.Findings)
	return v, err
}

// workerFinding reports what a script's process used for the leagues it played.
func workerFinding(f strategies.Factory) []strategytest.Finding {
	u := plugins.UsageOf(f)
	if u.Process == "" {
		return nil
	}
	what := fmt.Sprintf("its process used %v of CPU time", u.CPU.Round(time.Millisecond))
	if u.Peak > 0 {
		what += fmt.Sprintf(" and at most %d MiB of memory, start included", u.Peak>>20)
	}
	what += fmt.Sprintf("; the limit is %d MiB for the script, beside some 30 MiB for the process", u.Memory>>20)
	level := strategytest.OK
	switch {
	case u.Aside:
		level = strategytest.Error
		what += fmt.Sprintf("; it died %s and was quarantined", words.Plain.Times(u.Failed))
	case u.Failed > 0:
		level = strategytest.Warning
		what += fmt.Sprintf("; it died %s and was restarted", words.Plain.Times(u.Failed))
	}
	return []strategytest.Finding{{ID: "worker", Level: level, What: what}}
}

// Trial is how a strategy does in a small field.
type Trial struct {
	Leagues  int            `json:"leagues"`
	Players  int            `json:"players"`
	Adjusted float64        `json:"adjusted"` // points per match
	Low      float64        `json:"low"`
	High     float64        `json:"high"`
	Place    int            `json:"place"`  // by adjusted points
	Places   [2]int         `json:"places"` // that the evidence allows
	Lost     int64          `json:"technical_losses"`
	Differ   float64        `json:"differ"`
	fault    analysis.Fault // the first kind of them
	// Forecast predicts technical losses in a live league from the time that the
	// strategy took; null if nothing was measured.
	Forecast *power.Forecast `json:"forecast"`
}

// String describes the trial in a paragraph or two.
func (t Trial) String() string {
	text := fmt.Sprintf("In %d leagues against %d others it scored %.3f adjusted points per match (95 %% interval %.3f to %.3f),\n"+
		"place %d of %d (possible: %s); its choice differed from the opponent's in %.1f %% of matches (50 %% is chance).",
		t.Leagues, t.Players-1, t.Adjusted, t.Low, t.High, t.Place, t.Players, words.Plain.Places(t.Places), 100*t.Differ)
	if t.Forecast != nil {
		text += fmt.Sprintf("\n\nWhat late answers would cost in a live league, by the strategy's own time:\n%s", t.Forecast)
	}
	return text
}

// Opponents names the small field of a trial: easy to read, easy to beat, and two
// that learn.
func Opponents() []string {
	return []string{"random", "alternate", "copy-last", "frequency", "markov-2"}
}

func (l Lab) try(ctx context.Context, e catalog.Entry, seed uint64) (*Trial, error) {
	took := new(Latencies)
	t, err := tryAgainst(ctx, e.Info, strategytest.Timed(e.Factory, l.Now, took.Add), seed, 100, 10, Opponents())
	if f, ok := took.Forecast(referee.DefaultChoiceTimeout, game.LeagueBackoff().Retries); err == nil && ok {
		t.Forecast = &f
	}
	return t, err
}

func tryAgainst(ctx context.Context, info strategies.Info, f strategies.Factory, seed uint64, leagues, legs int, field []string) (*Trial, error) {
	plan := results.Plan{
		Schema: results.PlanSchema, Runs: leagues, Legs: legs, Seed: seed, Draw: game.FairDraw().String(), Transport: "direct",
		Field: []results.Entrant{{Name: info.Name, Kind: string(info.Kind)}},
	}
	factories := []strategies.Factory{f}
	for _, name := range field {
		other, ok := builtin.Find(name)
		if !ok {
			return nil, fmt.Errorf("no built-in strategy %q", name)
		}
		plan.Field = append(plan.Field, results.Entrant{Name: "sparring " + name, Kind: string(strategies.Builtin)})
		factories = append(factories, other)
	}
	est, err := PlayInMemory(ctx, plan, factories, analysis.DefaultLevel)
	if err != nil {
		return nil, err
	}
	mine := est.Players[0]
	t := &Trial{
		Leagues: est.Leagues, Players: len(plan.Field), Differ: mine.Differ.Estimate,
		Adjusted: mine.Adjusted.Estimate, Low: mine.Adjusted.Low, High: mine.Adjusted.High, Place: est.Place(0), Places: est.Ranking.Places[0],
		Lost: mine.TechnicalLosses,
	}
	if len(mine.Faults) > 0 {
		t.fault = mine.Faults[0]
	}
	return t, nil
}

// Latencies collects how long answers took. It is safe for concurrent use.
type Latencies struct {
	mu   sync.Mutex
	took []time.Duration
}

// Add records the time of one answer.
func (l *Latencies) Add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took = append(l.took, d)
}

// Forecast predicts late answers from the recorded times; false if there are none.
func (l *Latencies) Forecast(deadline time.Duration, retries int) (power.Forecast, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, err := power.NewForecast(l.took, deadline, retries)
	return f, err == nil
}
