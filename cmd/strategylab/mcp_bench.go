package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/strategylab/strategylab/analysis"
	"github.com/strategylab/strategylab/analysis/assert"
	"github.com/strategylab/strategylab/analysis/explain"
	"github.com/strategylab/strategylab/analysis/population"
	"github.com/strategylab/strategylab/analysis/report"
	"github.com/strategylab/strategylab/cmd/strategylab/labtools"
	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

// labBench does for assistants what the commands do for people.
type labBench struct {
	p      *process
	supply supply // scripts are isolated
	token  string // for managers
	log    *slog.Logger
}

var _ labtools.Bench = (*labBench)(nil)

func (b *labBench) Catalog(ctx context.Context) (*catalog.Catalog, error) {
	return b.p.load(ctx, b.supply)
}

func (b *labBench) Load(name string, kind strategies.Kind, source []byte) (strategies.Factory, error) {
	for _, f := range b.p.apart(b.log) {
		if f.Kind == kind {
			return f.Load(name, name+f.Ext, source, b.supply.limits)
		}
	}
	return nil, fmt.Errorf("nothing runs a %s script", kind)
}

// checkSeed is that of the command without --seed: the same strategy gets the
// same verdict.
const checkSeed = 1

func (b *labBench) Check(ctx context.Context, cat *catalog.Catalog, f strategies.Factory) (labtools.Checked, error) {
	o := strategytest.Config{Seed: checkSeed, Now: b.p.now, Memory: budget.Live, Limits: b.supply.limits}
	findings := append(strategytest.Check(ctx, f, o), workerFinding(f)...)
	v, err := judged(ctx, b.p, cat, catalog.Entry{Info: f.Info(), Factory: f}, findings, checkSeed)
	c := labtools.Checked{Ready: v.Ready, Verdict: v.Verdict, Findings: v.Findings}
	if t := v.Trial; t != nil {
		c.Trial = &labtools.Trial{
			Leagues: t.Leagues, Players: t.Players, Place: t.Place, Differ: t.Differ,
			Adjusted: labtools.Estimate{Estimate: t.Adjusted, Low: t.Low, High: t.High},
		}
	}
	return c, err
}

func (b *labBench) Play(ctx context.Context, dir string, plan results.Plan, factories []strategies.Factory, seen experiments.Sink) (labtools.Played, error) {
	judging, err := assert.NewJudge(plan, nil)
	if err != nil {
		return labtools.Played{}, err
	}
	collector, err := explain.NewCollector(plan, explain.Options{})
	if err != nil {
		return labtools.Played{}, err
	}
	page := &reportMaker{
		collector: collector, note: func(format string, args ...any) { b.log.Warn(fmt.Sprintf(format, args...)) },
		mirrors: func(ctx context.Context, run report.Run) ([]population.Mirror, error) {
			return playMirrors(ctx, run, factories)
		},
	}
	folder, err := results.Create(dir, plan)
	if err != nil {
		return labtools.Played{}, err
	}
	run, err := session{p: b.p, judging: judging, page: page, seen: seen}.play(ctx, folder, factories)
	if run != nil && ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) && run.Estimates.Leagues > 0 {
		err = nil // what is complete counts
	}
	if err = keepRun(ctx, folder, dir, run, page, err); err != nil {
		return labtools.Played{}, err
	}
	return labtools.Played{Run: *run, Explanations: collector.Explanations(analysis.DefaultLevel)}, nil
}

// queryTime is how long a manager may take to answer a question.
const queryTime = 5 * time.Second

func (b *labBench) Query(ctx context.Context, m labtools.Manager, kind string) (json.RawMessage, error) {
	q := &protocol.LeagueQuery{QueryType: kind}
	q.MessageType = protocol.TypeLeagueQuery
	answer, err := ask{manager: m.URL, token: b.token, league: m.League, timeout: queryTime}.tell(ctx, b.p, q)
	if code := protocol.CodeOf(err); code == protocol.CodeTokenMissing || code == protocol.CodeTokenInvalid {
		return nil, fmt.Errorf("it wants a token: start this server with --%s or %s", flagAdminToken, adminVariable)
	}
	if err != nil {
		return nil, err
	}
	r, ok := answer.(*protocol.LeagueQueryResponse)
	if !ok || r.Data == nil {
		return nil, errors.New("the answer holds no data")
	}
	return json.RawMessage(r.Data), nil
}

func (b *labBench) Seed() (uint64, error) {
	s, err := b.p.entropy()
	return s >> 11, err // as the commands draw it
}

func (b *labBench) Now() time.Time { return b.p.now() }
