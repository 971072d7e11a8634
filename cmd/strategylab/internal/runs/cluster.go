package runs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
	"github.com/strategylab/strategylab/experiments/cluster"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/results"
)

const embedded = "embedded"

// clusterOptions says on which machines leagues are played, and how many in parallel.
type clusterOptions struct {
	Workers       int           `flag:"workers" text:"one per CPU" usage:"leagues played in parallel; 0 with --cluster: none here"`
	Cluster       string        `flag:"cluster URL" usage:"play on the workers of this broker, or embedded[:PORT]"`
	Verify        float64       `flag:"verify SHARE" want:"0..1" usage:"share of leagues that two workers play, 0 to 1"`
	WorkerTimeout time.Duration `flag:"worker-timeout" default:"5s" want:"100ms.." usage:"silence after which a worker's leagues go to others"`
	command.ClusterAccess
}

// clusterOf is the cluster that an experiment plays on; nil for this machine alone.
type clusterOf struct {
	o      *output
	opt    clusterOptions
	supply lab.Supply
	broker *cluster.Broker // nil unless embedded
	lost   func(error)     // stops the experiment when an embedded broker has ended
	lab    *lab.Cluster    // nil until the first run
	shown  *cluster.Coordinator
}

// clusterNotes is what the folder of a run keeps of its cluster while it plays, for
// --resume: the same address and token, so that workers find it again, and the name
// under which the broker may still have its chunks.
type clusterNotes struct {
	Run, Address, Token string
}

const clusterFile = "cluster.json"

// clusterFor returns the cluster that flags name; nil without one.
func (o *output) clusterFor(opt clusterOptions, i command.Isolation) (*clusterOf, error) {
	if on := command.Given(o.c, "cluster"); o.c.IsSet("workers") && (opt.Workers < 0 || opt.Workers == 0 && !on) {
		return nil, command.Usagef("--workers is %d, want at least 1", opt.Workers)
	} else if !on {
		return nil, nil
	}
	return &clusterOf{o: o, opt: opt, supply: o.p.Supply(o.c, i)}, nil
}

// stopWith has an embedded broker that ends stop the command.
func (k *clusterOf) stopWith(stop func()) {
	if k != nil {
		k.lost = func(err error) {
			k.o.p.Say("strategylab: %v; what is complete is kept", err)
			stop()
		}
	}
}

// session adds the cluster to how a run is played, whose folder is at path. The first
// run starts a broker, if it is embedded, and connects.
func (k *clusterOf) session(ctx context.Context, path string, s *lab.Session) error {
	if k == nil {
		return nil
	}
	if err := k.ready(ctx, path); err != nil {
		return err
	}
	k.lab.Begun = func(co *cluster.Coordinator) error {
		k.shown = co
		if k.broker == nil {
			k.o.p.Note("this is run %s on the broker; if %s is lost, play it again with: strategylab experiment --resume %s --cluster URL", co.Run(), path, co.Run())
		}
		notes := clusterNotes{Run: co.Run()}
		if k.broker != nil {
			notes.Address, notes.Token = k.broker.Address(), k.broker.Token()
		}
		return disk.WriteJSON(filepath.Join(path, clusterFile), notes, 0o600)
	}
	s.Cluster = k.lab
	return nil
}

// ready starts the broker, if it is embedded, and connects, unless that is done. path is
// the folder of the run, empty for a new one.
func (k *clusterOf) ready(ctx context.Context, path string) error {
	if k == nil || k.lab != nil {
		return nil
	}
	return command.ClusterError(k.start(ctx, path))
}

// start does the work of ready.
func (k *clusterOf) start(ctx context.Context, path string) error {
	p, c := k.o.p, k.o.c
	var before clusterNotes
	if path != "" {
		err := disk.ReadJSON(filepath.Join(path, clusterFile), results.MostPlan, &before)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read %s: %w; remove it", filepath.Join(path, clusterFile), err)
		}
	}
	var err error
	url := k.opt.Cluster
	if at, own := strings.CutPrefix(url, embedded); own {
		if url, err = k.embed(ctx, at, before); err != nil {
			return err
		}
	}
	config, err := k.opt.Config(p, c, url)
	if err != nil {
		return err
	}
	if config.Memory = k.broker != nil; config.Memory {
		config.URL = k.broker.Local()
	}
	config.Note, config.AckWait = k.o.p.Note, k.opt.WorkerTimeout
	link, err := cluster.Connect(ctx, config)
	if err != nil {
		return err
	}
	cores := k.opt.Workers
	if !c.IsSet("workers") {
		cores = runtime.GOMAXPROCS(0)
	}
	k.lab = &lab.Cluster{
		Link: link, Cores: cores, Name: command.Machine(), Version: command.Version(p.Build),
		Limits: k.supply.Limits, Isolate: k.supply.Isolate, Verify: k.opt.Verify,
	}
	if before.Run != "" && k.broker == nil {
		var gone *cluster.UnknownRunError
		if err := link.Remove(ctx, before.Run); err != nil && !errors.As(err, &gone) { // its coordinator is this one
			return err
		}
	}
	k.o.p.Say("start workers with: strategylab worker --cluster %s", url)
	return nil
}

// adopt returns the folder of a run that --resume names. A run that has none here, but is
// on the broker of --cluster, gets one with its plan and scripts.
func (k *clusterOf) adopt(ctx context.Context, run string) (folder string, err error) {
	if k == nil || strings.ContainsAny(run, `/\`) {
		return run, nil
	}
	if _, err := os.Stat(k.o.p.Path(run)); err == nil {
		return run, nil
	}
	if err := k.ready(ctx, ""); err != nil {
		return "", err
	}
	job, sources, err := k.lab.Link.FindRun(ctx, run)
	if err != nil {
		return "", fmt.Errorf("resume %s: the folder does not exist, and %w", run, err)
	}
	if err := k.lab.Link.Unplayed(ctx, run, time.Second); err != nil {
		return "", fmt.Errorf("resume %w", err)
	}
	folder = filepath.Join("runs", run)
	dir, err := results.Create(k.o.p.Path(folder), job.Plan)
	if err != nil {
		return "", fmt.Errorf("resume %s: %w", run, err)
	}
	for field, source := range sources {
		if e := job.Plan.Field[field]; err == nil && e.Played(source) {
			err = results.KeepSource(k.o.p.Path(folder), e, source)
		}
	}
	if err = errors.Join(err, dir.Close()); err != nil {
		return "", err
	}
	k.o.p.Note("plan and scripts of run %s are in %s; its leagues are played again", run, folder)
	return folder, k.lab.Link.Remove(ctx, run)
}

// embed starts a broker that ends with this process. at is empty, :PORT or :HOST:PORT.
func (k *clusterOf) embed(ctx context.Context, at string, before clusterNotes) (url string, err error) {
	listen := "127.0.0.1:0"
	if before.Address != "" {
		listen = before.Address
	}
	if at != "" {
		rest, ok := strings.CutPrefix(at, ":")
		if listen = rest; !strings.Contains(rest, ":") {
			listen = net.JoinHostPort("127.0.0.1", rest)
		}
		if _, port, err := net.SplitHostPort(listen); !ok || err != nil || port == "" {
			return "", command.Usagef("--cluster is %q, want embedded, embedded:PORT or embedded:HOST:PORT", k.opt.Cluster)
		}
	}
	k.broker, err = k.o.p.Broker(ctx, cluster.BrokerConfig{Listen: listen, Token: before.Token}, k.lost)
	if err != nil {
		return "", err
	}
	return k.broker.URL(), nil
}

// ended removes what the folder of a run keeps of its cluster.
func (k *clusterOf) ended(path string) {
	if k != nil {
		_ = os.Remove(filepath.Join(path, clusterFile)) // it is in nobody's way
	}
}

func (k *clusterOf) close() error {
	if k == nil {
		return nil
	}
	if k.lab != nil {
		k.lab.Link.Close()
	}
	if k.broker != nil {
		return k.broker.Close()
	}
	return nil
}

// lines are what the screen shows of the cluster.
func (k *clusterOf) lines() []string {
	if k == nil || k.shown == nil {
		return nil
	}
	var lines []string
	for _, w := range k.shown.Workers() {
		lines = append(lines, fmt.Sprintf("worker %s: %d cores, %.0f leagues per second, %d chunks in flight", w.Name, w.Cores, w.Rate, w.InFlight))
	}
	s := k.shown.LastStatus()
	return append(lines, fmt.Sprintf("chunks: %d waiting, %d in flight, %d redelivered, %d failed", s.Waiting, s.InFlight, s.Redelivered, s.Failed))
}
