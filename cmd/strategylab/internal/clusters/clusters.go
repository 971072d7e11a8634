// Package clusters holds the commands around a cluster beside the experiment itself: a
// worker, a broker, and what a cluster does at the moment.
package clusters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/cluster"
	"github.com/strategylab/strategylab/host/disk"
)

// Commands returns the commands around a cluster.
func Commands(p *command.Process) []*cli.Command {
	return command.Categorize("Clusters",
		command.New(p, &cli.Command{
			Name:  "worker",
			Usage: "play leagues for experiments on other machines",
			Description: "Takes chunks of leagues from the broker of --cluster and sends their records, for all experiments there,\n" +
				"until it is stopped. Start as many as you like, at any time. Scripts come from the broker and run in\n" +
				"worker processes; plugins must be in the lock file of --plugins. --time-limit and --instructions are\n" +
				"the most that an experiment may ask for.",
		}, &workerOptions{MaxTime: cluster.DefaultMaxTime, MaxCode: cluster.DefaultMaxCode}, work),
		command.New(p, &cli.Command{
			Name:  "broker",
			Usage: "run a broker for experiments on many machines",
			Description: "Runs a NATS server with JetStream until it is stopped, and prints the lines that start workers and\n" +
				"experiments. A token keeps others out; it stays the same for a --data-dir. The server is the program\n" +
				"strategylab-broker, which is beside this one or on PATH.",
		}, new(brokerOptions), serveBroker),
		&cli.Command{
			Name: "cluster", Usage: "show and tidy up a cluster",
			Subcommands: []*cli.Command{
				command.New(p, &cli.Command{Name: "status", Usage: "show the workers and runs of a cluster"}, new(statusOptions), status),
				command.New(p, &cli.Command{Name: "remove", ArgsUsage: "RUN", Usage: "remove a run whose experiment was killed from a broker"}, new(survey), remove, "RUN"),
			},
		},
	)
}

type workerOptions struct {
	broker
	Workers int           `flag:"workers" want:"1.." text:"one per CPU" usage:"leagues played in parallel"`
	Name    string        `flag:"name" text:"that of the machine" usage:"name of this worker"`
	MaxTime time.Duration `flag:"max-time" want:"positive" usage:"time limit of one chunk"`
	MaxCode int           `flag:"max-code BYTES" want:"1.." usage:"largest script to accept"`
}

// broker is that of a cluster that is running.
type broker struct {
	Cluster string `flag:"cluster URL" usage:"broker, such as nats://TOKEN@HOST:4222 or tls://HOST:4222"`
	command.ClusterAccess
}

// config says how to reach the broker.
func (b *broker) config(p *command.Process, c *cli.Context) (cluster.Config, error) {
	if b.Cluster == "" {
		return cluster.Config{}, command.WithHint(errors.New("--cluster is missing"), "the experiment or the broker prints the line that starts a worker")
	}
	return b.Config(p, c, b.Cluster)
}

// connect connects to the broker. The caller closes the link.
func (b *broker) connect(p *command.Process, c *cli.Context) (*cluster.Link, error) {
	config, err := b.config(p, c)
	if err != nil {
		return nil, err
	}
	l, err := cluster.Connect(c.Context, config)
	return l, command.ClusterError(err)
}

func work(p *command.Process, c *cli.Context, o *workerOptions) error {
	config, err := o.config(p, c)
	if err != nil {
		return err
	}
	config.Wait, config.Note = true, p.Note
	p.ForBatch()
	l, err := cluster.Connect(c.Context, config)
	if err != nil {
		return command.ClusterError(err)
	}
	defer l.Close()
	cores, name := cmp.Or(o.Workers, runtime.GOMAXPROCS(0)), cmp.Or(o.Name, command.Machine())
	p.Note("%s plays leagues of %s, %d in parallel; Ctrl-C ends it", name, cluster.Redacted(config.URL), cores)
	supply := p.Supply(c, command.Isolation{})
	err = l.Serve(c.Context, cluster.ServeConfig{
		Cores: cores, Name: name, Version: command.Version(p.Build), MaxTime: o.MaxTime, MaxCode: o.MaxCode,
		Open: func(ctx context.Context, job cluster.Job, source func(string) ([]byte, error)) (experiments.Driver, func() error, error) {
			return p.OpenJob(ctx, supply, job, source)
		},
	})
	if err != nil {
		return command.ClusterError(err)
	}
	return command.Reported(command.ErrStopped)
}

type brokerOptions struct {
	Listen    string `flag:"listen HOST:PORT" default:"127.0.0.1:4222" usage:"where to listen; port 0 picks a free one"`
	Data      string `flag:"data-dir DIR" text:"temporary" usage:"folder for streams and the token"`
	TokenFile string `flag:"token-file FILE" text:"made and printed" usage:"token to use"`
	command.Certificate
}

func serveBroker(p *command.Process, c *cli.Context, o *brokerOptions) error {
	token := ""
	if file := o.TokenFile; file != "" {
		text, _, err := disk.ReadFile(p.Path(file), 1<<12)
		if err != nil {
			return command.Usagef("--token-file: %s: %w", file, err)
		}
		if token = strings.TrimSpace(string(text)); token == "" {
			return command.Usagef("--token-file: %s is empty", file)
		}
	}
	ctx, lost := context.WithCancelCause(c.Context)
	defer lost(nil)
	b, err := p.Broker(ctx, cluster.BrokerConfig{
		Token: token, Listen: o.Listen, Dir: p.Path(o.Data), Cert: p.Path(o.TLSCert), Key: p.Path(o.TLSKey),
	}, lost)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "broker at %s\n", b.URL())
	p.Note("start workers with:     strategylab worker --cluster %s", b.URL())
	p.Note("start experiments with: strategylab experiment --cluster %s", b.URL())
	<-ctx.Done()
	if err := b.Close(); err != nil {
		return err
	}
	return command.Reported(command.ErrStopped)
}

// survey asks everybody on a broker.
type survey struct {
	broker
	Wait time.Duration `flag:"wait" default:"1s" want:"positive" usage:"time for answers"`
}

type statusOptions struct {
	survey
	Format string `flag:"format table|json" want:"one" usage:"output format"`
}

func status(p *command.Process, c *cli.Context, o *statusOptions) error {
	l, err := o.connect(p, c)
	if err != nil {
		return err
	}
	defer l.Close()
	s, err := l.Survey(c.Context, o.Wait)
	if err != nil {
		return err
	}
	if o.Format == "json" {
		return command.PrintJSON(p.Stdout, s)
	}
	return s.WriteText(p.Stdout, p.Now())
}

// remove removes a run from a broker that no experiment plays.
func remove(p *command.Process, c *cli.Context, o *survey) error {
	l, err := o.connect(p, c)
	if err != nil {
		return err
	}
	defer l.Close()
	run := c.Args().First()
	if err := l.Unplayed(c.Context, run, o.Wait); err != nil {
		return fmt.Errorf("remove %w", err)
	}
	if err := l.Remove(c.Context, run); err != nil {
		return fmt.Errorf("remove: %w", err)
	}
	p.Say("run %s is removed", run)
	return nil
}
