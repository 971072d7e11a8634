// Package clusters holds the commands around a cluster beside the experiment itself: a
// worker, a broker, and what a cluster does at the moment.
package clusters

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/command"
	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/cluster"
)

// Commands returns the commands around a cluster.
func Commands(p *command.Process) []*cli.Command {
	return command.Categorize("Clusters", workerCommand(p), brokerCommand(p), statusCommand(p))
}

const (
	flagMaxTime = "max-time"
	flagMaxCode = "max-code"

	flagTokenFile = "token-file"
)

func workerCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name:  "worker",
		Usage: "play leagues for experiments on other machines",
		Description: "Takes chunks of leagues from the broker of --cluster and sends their records, for all experiments there,\n" +
			"until it is stopped. Start as many as you like, at any time. Scripts come from the broker and run in\n" +
			"worker processes; plugins must be in the lock file of --plugins. --time-limit and --instructions are\n" +
			"the most that an experiment may ask for.",
		Flags: append([]cli.Flag{
			command.ClusterFlag(),
			command.WorkersFlag("leagues played"),
			&cli.StringFlag{Name: command.FlagName, Usage: "name of this worker", DefaultText: "that of the machine"},
			&cli.DurationFlag{Name: flagMaxTime, Value: cluster.DefaultMaxTime, Usage: "time limit of one chunk", Action: command.Positive(flagMaxTime)},
			&cli.IntFlag{Name: flagMaxCode, Value: cluster.DefaultMaxCode, Usage: "`BYTES`: largest script to accept", Action: command.AtLeast(flagMaxCode, 1)},
		}, command.ClusterFlags()...),
		Action: command.Action(p, work),
	}
}

// work plays leagues until the user stops it.
func work(p *command.Process, c *cli.Context) error {
	config, err := reach(p, c)
	if err != nil {
		return err
	}
	config.Wait = true
	if !c.Bool(command.FlagQuiet) {
		config.Note = p.Say
	}
	p.ForBatch()
	l, err := cluster.Connect(c.Context, config)
	if err != nil {
		return command.ClusterError(err)
	}
	defer l.Close()
	cores, name := c.Int(command.FlagWorkers), c.String(command.FlagName)
	if cores == 0 {
		cores = runtime.GOMAXPROCS(0)
	}
	if name == "" {
		name = command.Machine()
	}
	if config.Note != nil {
		config.Note("%s plays leagues of %s, %d in parallel; Ctrl-C ends it", name, cluster.Redacted(config.URL), cores)
	}
	supply := command.Supply(p, c)
	err = l.Serve(c.Context, cluster.ServeConfig{
		Cores: cores, Name: name, Version: command.Version(p.Build), MaxTime: c.Duration(flagMaxTime), MaxCode: c.Int(flagMaxCode),
		Open: func(ctx context.Context, job cluster.Job, source func(string) ([]byte, error)) (experiments.Driver, func() error, error) {
			return p.OpenJob(ctx, supply, job, source)
		},
	})
	if err != nil {
		return command.ClusterError(err)
	}
	return command.Reported(command.ErrStopped)
}

// reach reads --cluster and its flags.
func reach(p *command.Process, c *cli.Context) (cluster.Config, error) {
	if c.String(command.FlagCluster) == "" {
		return cluster.Config{}, command.WithHint(fmt.Errorf("--%s is missing", command.FlagCluster),
			"the experiment or the broker prints the line that starts a worker")
	}
	return command.ClusterConfig(p, c, c.String(command.FlagCluster))
}

func brokerCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name:  "broker",
		Usage: "run a broker for experiments on many machines",
		Description: "Runs a NATS server with JetStream until it is stopped, and prints the lines that start workers and\n" +
			"experiments. A token keeps others out; it stays the same for a --data-dir. The server is the program\n" +
			"strategylab-broker, which is beside this one or on PATH.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: command.FlagListen, Value: "127.0.0.1:4222", Usage: "`HOST:PORT`: where to listen; port 0 picks a free one"},
			&cli.StringFlag{Name: command.FlagData, Usage: "`DIR`: folder for streams and the token", DefaultText: "temporary"},
			&cli.StringFlag{Name: flagTokenFile, Usage: "`FILE`: token to use", DefaultText: "made and printed"},
		}, command.TLSFlags()...),
		Action: command.Action(p, serveBroker),
	}
}

func serveBroker(p *command.Process, c *cli.Context) error {
	cert, key, err := command.TLSFiles(p, c)
	if err != nil {
		return err
	}
	token := ""
	if file := c.String(flagTokenFile); file != "" {
		text, err := os.ReadFile(p.Path(file))
		if err != nil {
			return command.Usagef("--%s: %w", flagTokenFile, err)
		}
		if token = strings.TrimSpace(string(text)); token == "" {
			return command.Usagef("--%s: %s is empty", flagTokenFile, file)
		}
	}
	ctx, lost := context.WithCancelCause(c.Context)
	defer lost(nil)
	b, err := p.Broker(ctx, cluster.BrokerConfig{
		Token:  token,
		Listen: c.String(command.FlagListen), Dir: p.Path(c.String(command.FlagData)), Cert: cert, Key: key,
	}, lost)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.Stdout, "broker at %s\n", b.URL())
	if !c.Bool(command.FlagQuiet) {
		p.Say("start workers with:     strategylab worker --cluster %s", b.URL())
		p.Say("start experiments with: strategylab experiment --cluster %s", b.URL())
	}
	<-ctx.Done()
	if err := b.Close(); err != nil {
		return err
	}
	return command.Reported(command.ErrStopped)
}

const flagWait = "wait"

func statusCommand(p *command.Process) *cli.Command {
	return &cli.Command{
		Name: "cluster", Usage: "show and tidy up a cluster",
		Subcommands: []*cli.Command{{
			Name: "status", Usage: "show the workers and runs of a cluster",
			Flags:  surveyFlags(command.FormatFlag("table", "json")),
			Action: command.Action(p, status),
		}, {
			Name: "remove", Usage: "remove a run whose experiment was killed from a broker", ArgsUsage: "RUN",
			Flags:  surveyFlags(),
			Action: command.Action(p, remove, "RUN"),
		}},
	}
}

// surveyFlags are the flags of commands that ask everybody on a broker, and others.
func surveyFlags(others ...cli.Flag) []cli.Flag {
	flags := append([]cli.Flag{command.ClusterFlag()}, others...)
	flags = append(flags, &cli.DurationFlag{Name: flagWait, Value: time.Second, Usage: "time for answers", Action: command.Positive(flagWait)})
	return append(flags, command.ClusterFlags()...)
}
