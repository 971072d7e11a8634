package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// Default times.
const (
	DefaultTimeout = 5 * time.Second
	DefaultWait    = 15 * time.Second
)

// Options say which agent is checked, and how. Role and URL are required.
type Options struct {
	Role Role
	URL  string   // of the agent
	Only []string // ids of checks; none means all
	// Timeout is how long the agent may take for one answer, and how long is
	// waited for what it has to do of its own accord. It is also the deadline
	// that the agent is told. Default is DefaultTimeout.
	Timeout time.Duration
	// Wait is how long the agent is given to be there, and an agent that
	// registers to do so; default is DefaultWait.
	Wait time.Duration
	// Listen is where the counterpart's manager listens; default is a free port
	// of 127.0.0.1. Further endpoints take free ports of the same address.
	Listen string
	// ID is what an agent is called that does not register.
	ID string
	// Busy turns the first registration away as a busy manager does, to see
	// whether the agent tries again. One that does not has to be started again.
	Busy bool
	// Players is how many players register with a manager: DefaultPlayers, or
	// from MinPlayers to MaxPlayers. A manager that begins by itself does so with a
	// number.
	Players int
	// AdminToken is what a manager wants to be shown before it starts a league.
	AdminToken string
	// Progress, if set, is told of each check that has ended.
	Progress func(Outcome)
	// Listening, if set, is told the URL of the counterpart's manager, once it
	// listens.
	Listening func(url string)
	// Say, if set, is told in a sentence what the user has to do or to wait for.
	Say func(string)
}

// NobodyError says that there is no agent to be checked.
type NobodyError struct {
	URL  string
	Wait time.Duration
	Err  error // of the last attempt to reach it
}

// Error says where nobody was found.
func (e *NobodyError) Error() string {
	return fmt.Sprintf("nobody listens at %s, and nobody began to within %v: %v", e.URL, e.Wait, e.Err)
}

// Unwrap returns why the agent could not be reached.
func (e *NobodyError) Unwrap() error { return e.Err }

// counterpart is the other side of the agent: everybody it has to do with.
type counterpart struct {
	opts      Options
	transport jsonrpc.RoundTripper
	gone      string // the check during which the agent went away
	checks    []Check
}

// makes reports whether a check is among those that are made.
func (c *counterpart) makes(id string) bool {
	return slices.ContainsFunc(c.checks, func(check Check) bool { return check.ID == id })
}

// Run makes the checks and returns what they have shown. The error says why
// there is no report: the options are wrong, nobody is there (a *NobodyError),
// or ctx has ended.
func Run(ctx context.Context, opts Options) (_ *Report, err error) {
	p, err := partOf(opts.Role)
	if err != nil {
		return nil, err
	}
	checks, err := Select(p.checks(), opts.Only)
	if err != nil {
		return nil, err
	}
	c := &counterpart{opts: opts.withDefaults(), transport: jsonrpc.OverHTTP(jsonrpc.HTTPConfig{}), checks: checks}
	defer func() { err = errors.Join(err, c.transport.Close()) }()
	began := time.Now()
	side, err := p.open(ctx, c)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, side.close()) }()
	r := &Report{Schema: ReportSchema, Role: opts.Role, URL: opts.URL}
	for _, check := range checks {
		o := c.outcome(ctx, side, check, r.Outcomes)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		r.Outcomes = append(r.Outcomes, o)
		if opts.Progress != nil {
			opts.Progress(o)
		}
	}
	side.describe(r)
	r.Seconds = time.Since(began).Seconds()
	return r, nil
}

func (o Options) withDefaults() Options {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Wait <= 0 {
		o.Wait = DefaultWait
	}
	if o.Players == 0 {
		o.Players = DefaultPlayers
	}
	o.Players = min(max(o.Players, MinPlayers), MaxPlayers)
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if o.Listening == nil {
		o.Listening = func(string) {}
	}
	if o.Say == nil {
		o.Say = func(string) {}
	}
	return o
}

// outcome makes a check, unless it would tell nothing new.
func (c *counterpart) outcome(ctx context.Context, side side, check Check, before []Outcome) Outcome {
	o := Outcome{ID: check.ID, Level: check.Level, Rule: check.Rule, Status: Skipped}
	if c.gone != "" {
		o.Detail = fmt.Sprintf("the agent cannot be reached any more since %s", c.gone)
		return o
	}
	for _, id := range check.Needs {
		i := slices.IndexFunc(before, func(o Outcome) bool { return o.ID == id })
		if i >= 0 && before[i].Status != Passed {
			o.Detail = fmt.Sprintf("it needs %s, which %s", id, map[Status]string{Failed: "failed", Skipped: "could not be tested"}[before[i].Status])
			return o
		}
	}
	return c.make(ctx, side, check)
}

// make carries out one check.
func (c *counterpart) make(ctx context.Context, side side, check Check) (o Outcome) {
	t := &T{ctx: ctx, counter: c, side: side}
	o = Outcome{ID: check.ID, Level: check.Level, Rule: check.Rule, Status: Passed}
	began := time.Now()
	defer func() {
		o.Took = time.Since(began)
		o.Seconds = o.Took.Seconds()
		switch p := recover().(type) {
		case nil:
			o.Detail = t.note
		case stop:
			o.Status, o.Detail = p.status, p.detail
			if p.status == Failed {
				o.Advice, o.Evidence = check.Advice, t.evidence
			}
		default:
			panic(p)
		}
		if t.unreachable && c.reach(ctx, c.opts.URL) != nil {
			c.gone = check.ID
		}
	}()
	check.run(t)
	return o
}
