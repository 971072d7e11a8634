package conformance

import (
	"context"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// Options say which agent is checked, and how.
type Options struct {
	Role Role
	URL  string   // of the agent
	Only []string // ids of checks; none means all
	// Timeout is how long the agent may take for one answer, and how long is
	// waited for what it has to do of its own accord.
	Timeout time.Duration
	// Progress, if set, is told of each check that has ended.
	Progress func(Outcome)
}

// counterpart is the other side of the agent: everybody it has to do with.
type counterpart struct {
	opts      Options
	transport jsonrpc.RoundTripper
}

// Run makes the checks and returns what they have shown. The error says why
// there is no report: the options are wrong, or ctx has ended.
func Run(ctx context.Context, opts Options) (*Report, error) {
	checks, err := Select(Checks(opts.Role), opts.Only)
	if err != nil {
		return nil, err
	}
	c := &counterpart{opts: opts, transport: jsonrpc.OverHTTP(jsonrpc.HTTPConfig{})}
	began := time.Now()
	r := &Report{Schema: ReportSchema, Role: opts.Role, URL: opts.URL}
	for _, check := range checks {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		o := c.make(ctx, check)
		r.Outcomes = append(r.Outcomes, o)
		if opts.Progress != nil {
			opts.Progress(o)
		}
	}
	r.Seconds = time.Since(began).Seconds()
	return r, c.transport.Close()
}

// make carries out one check.
func (c *counterpart) make(ctx context.Context, check Check) (o Outcome) {
	t := &T{ctx: ctx, counter: c}
	o = Outcome{ID: check.ID, Level: check.Level, Rule: check.Rule, Status: Passed}
	began := time.Now()
	defer func() {
		o.Took = time.Since(began)
		o.Seconds = o.Took.Seconds()
		switch p := recover().(type) {
		case nil:
		case stop:
			o.Status, o.Detail = p.status, p.detail
			if p.status == Failed {
				o.Advice, o.Evidence = check.Advice, t.evidence
			}
		default:
			panic(p)
		}
	}()
	check.run(t)
	return o
}
