package lab

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/cluster"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/builtin"
	"github.com/strategylab/strategylab/strategies/catalog"
	"github.com/strategylab/strategylab/strategies/params"
)

// Cluster has the workers of a broker play the leagues of sessions.
type Cluster struct {
	Link    *cluster.Link
	Cores   int // leagues that this process plays in parallel itself; 0 for none
	Name    string
	Version string
	Limits  budget.Limits
	Isolate bool
	Verify  float64 // share of chunks that two workers play
	// Begun is called with the coordinator of each run; it may be nil.
	Begun func(*cluster.Coordinator) error
}

type settings struct {
	Limits  budget.Limits
	Isolate bool
}

// Ledger opens the ledger of a run in an open folder, whose path is path, and removes the
// leagues that a worker played that was caught. It is nil if there is none and the run does
// not play on a cluster. The caller closes it.
func (c *Cluster) Ledger(dir *results.Dir, path string, note func(format string, args ...any)) (*cluster.Ledger, error) {
	file := filepath.Join(path, cluster.LedgerFile)
	if c == nil && !cluster.HasLedger(file) {
		return nil, nil
	}
	recorded := dir.Len()
	l, keep, err := cluster.OpenLedger(file, recorded)
	if err != nil {
		return nil, err
	}
	if keep < recorded {
		note("leagues %d to %d are played again: a worker that was put aside has played some of them", keep, recorded-1)
		err = dir.Rewind(keep)
	}
	if err == nil {
		err = l.Cut(keep, recorded)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// coordinate announces a run and returns its driver. own plays leagues in this process.
// end waits for everything that was started, and takes the run off the broker.
func (c *Cluster) coordinate(ctx context.Context, plan results.Plan, factories []strategies.Factory, own experiments.Driver, ledger *cluster.Ledger) (*cluster.Coordinator, func() error, error) {
	config := cluster.RunConfig{Plan: plan, Sources: make(map[int][]byte), Version: c.Version, Verify: c.Verify, Own: own, Ledger: ledger}
	var err error
	if config.Settings, err = json.Marshal(settings{c.Limits, c.Isolate}); err != nil {
		return nil, nil, err
	}
	for i, e := range plan.Field {
		switch kind := strategies.Kind(e.Kind); {
		case kind.Script():
			if config.Sources[i], err = sourceOf(factories[i]); err != nil {
				return nil, nil, fmt.Errorf("send %s to the workers: %w", e.Name, err)
			}
			config.Suspects = append(config.Suspects, e.Name)
		case kind == strategies.Plugin:
			config.Suspects = append(config.Suspects, e.Name)
		case kind == strategies.Agent:
			return nil, nil, &InputError{fmt.Errorf("%s: an agent plays on the machine of the experiment only", e.Name), "leave --cluster out"}
		}
	}
	co, err := c.Link.Coordinate(ctx, config)
	if err != nil {
		return nil, nil, err
	}
	end := co.Close
	if c.Cores > 0 {
		playing, cancel := context.WithCancel(ctx)
		played := make(chan error, 1)
		go func() {
			played <- co.Serve(playing, cluster.ServeConfig{
				Cores: c.Cores, Name: c.Name + ", the experiment", Version: c.Version, MaxTime: 24 * time.Hour,
				Open: func(context.Context, cluster.Job, func(string) ([]byte, error)) (experiments.Driver, func() error, error) {
					return own, func() error { return nil }, nil
				},
			})
		}()
		end = func() error {
			cancel()
			return errors.Join(<-played, co.Close())
		}
	}
	if c.Begun != nil {
		if err := c.Begun(co); err != nil {
			return nil, nil, errors.Join(err, end())
		}
	}
	return co, end, nil
}

func sourceOf(f strategies.Factory) ([]byte, error) {
	if script := scriptOf(f); script != nil {
		return script.Source, nil
	}
	return nil, errors.New("it runs in this process; leave out --in-process")
}

// JobError says that this machine cannot play a job, and why.
type JobError struct{ Player, Why string }

// Error names the player.
func (e *JobError) Error() string { return e.Player + ": " + e.Why }

// OpenJob returns what plays a job with the code that it names: scripts in worker
// processes of this machine, plugins that the lock file of s accepts. The limits of s are
// the largest that a job may ask for. The caller calls end after the last league.
func (l Lab) OpenJob(ctx context.Context, s Supply, job cluster.Job, source func(sha string) ([]byte, error)) (driver experiments.Driver, end func() error, err error) {
	var how settings
	if err := json.Unmarshal(job.Settings, &how); err != nil {
		return nil, nil, fmt.Errorf("read the job: %w", err)
	}
	asked := how.Limits.OrDefaults()
	if most := s.Limits.OrDefaults(); asked.Time > most.Time || asked.Instructions > most.Instructions {
		return nil, nil, fmt.Errorf("it allows calls %v and %d instructions, and the run asks for %v and %d; start it with higher --time-limit and --instructions",
			most.Time, most.Instructions, asked.Time, asked.Instructions)
	}
	s.Limits = how.Limits
	o := &jobOpener{lab: l, supply: s, scripts: make(map[string]strategies.Factory), programs: make(map[string][]strategies.Factory)}
	end = o.close
	if how.Isolate {
		o.formats = l.isolatedFormats(s.Log)
	} else {
		var pool *plugins.Pool
		o.formats, pool = l.pooledFormats(s.Log)
		end = func() error { return errors.Join(o.close(), pool.Close()) }
	}
	factories := make([]strategies.Factory, len(job.Plan.Field))
	for i, e := range job.Plan.Field {
		if factories[i], err = o.open(ctx, e, job.Sources[i], source); err != nil {
			return nil, nil, errors.Join(err, end())
		}
	}
	driver, err = Session{}.driverOf(job.Plan, factories)
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	return driver, end, nil
}

type jobOpener struct {
	lab      Lab
	supply   Supply
	formats  []catalog.Format
	scripts  map[string]strategies.Factory   // by source file and SHA-256: copies share one
	programs map[string][]strategies.Factory // by SHA-256 and values
	opened   []strategies.Factory
}

func (o *jobOpener) close() error {
	var err error
	for _, f := range o.opened {
		err = errors.Join(err, f.Close())
	}
	return err
}

// open returns the strategy that a player of the plan was made of.
func (o *jobOpener) open(ctx context.Context, e results.Entrant, sha string, source func(string) ([]byte, error)) (strategies.Factory, error) {
	switch kind := strategies.Kind(e.Kind); {
	case kind.Script():
		return o.script(ctx, e, sha, source)
	case kind == strategies.Plugin:
		return o.plugin(ctx, e)
	}
	f, ok := builtin.Find(e.Ref)
	if !ok {
		return nil, &JobError{e.Name, fmt.Sprintf("this version has no built-in strategy %q; play with one version on all machines", e.Ref)}
	}
	if got := f.Info().Fingerprint; got != e.Fingerprint {
		return nil, &JobError{e.Name, fmt.Sprintf("the built-in strategy is version %q here and %q in the plan; play with one version on all machines", got, e.Fingerprint)}
	}
	return f, nil
}

func (o *jobOpener) script(ctx context.Context, e results.Entrant, sha string, source func(string) ([]byte, error)) (strategies.Factory, error) {
	key := e.Source + "\x00" + e.Fingerprint
	if f := o.scripts[key]; f != nil {
		return f, nil
	}
	code, err := source(sha)
	if err != nil {
		return nil, &JobError{e.Name, err.Error()}
	}
	if !e.Played(code) {
		return nil, &JobError{e.Name, "the code is not that of the plan (SHA-256 " + e.Fingerprint + ")"}
	}
	f, err := loadFormat(o.formats, strategies.Kind(e.Kind), func(format catalog.Format) (strategies.Factory, error) {
		name := strings.TrimSuffix(filepath.Base(e.Source), filepath.Ext(e.Source))
		return format.Load(ctx, name, e.Source, code, o.supply.Limits)
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, &JobError{e.Name, err.Error()}
	}
	o.scripts[key], o.opened = f, append(o.opened, f)
	return f, nil
}

// plugin returns a strategy of the accepted program with the plan's fingerprint.
func (o *jobOpener) plugin(ctx context.Context, e results.Entrant) (strategies.Factory, error) {
	name, values := params.Split(e.Ref)
	key := e.Fingerprint + "\x00" + values
	served, known := o.programs[key]
	if !known {
		var err error
		if served, err = o.program(ctx, e, values); err != nil {
			return nil, err
		}
		o.programs[key], o.opened = served, append(o.opened, served...)
	}
	for _, f := range served {
		if f.Info().Name == name || len(served) == 1 {
			return f, nil
		}
	}
	return nil, &JobError{e.Name, fmt.Sprintf("the plugin has no strategy %q", e.Ref)}
}

func (o *jobOpener) program(ctx context.Context, e results.Entrant, values string) ([]strategies.Factory, error) {
	own, err := o.lab.ownPlugin(ctx, o.supply)
	if err != nil {
		return nil, err
	}
	for _, f := range own {
		if info := f.Info(); info.Name == e.Ref && info.Fingerprint == e.Fingerprint {
			return own, nil
		}
		o.opened = append(o.opened, f)
	}
	dir := o.lab.Path(o.supply.Plugins)
	lock, err := plugins.ReadLock(dir)
	if err != nil {
		return nil, err
	}
	for _, pin := range lock {
		if pin.Sum != e.Fingerprint {
			continue
		}
		_, all, err := openPlugin(ctx, plugins.Config{
			Command: []string{filepath.Join(dir, pin.Name)}, Source: filepath.Join(o.supply.Plugins, pin.Name), CallTime: o.supply.Limits.Time, Log: o.supply.Log,
			Values: values,
		})
		return all, err
	}
	return nil, &JobError{e.Name, fmt.Sprintf("no plugin with SHA-256 %s is in the lock file of %s; copy it there, and accept it with: strategylab plugins lock",
		cmp.Or(e.Fingerprint, "unknown"), o.supply.Plugins)}
}
