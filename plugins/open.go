// Package plugins plays strategies in other processes, by way of go-plugin and
// gRPC.
//
// An author's program is
//
//	func main() { plugins.Serve(factory) }
//
// where the factory is the same as any other strategy in Go. The host's side is
// Open, whose factories are strategies.Batcher: a whole step of many leagues
// goes to the process in one message, and steps that are ready at the same time
// go together. docs/plugins.md is the guide for authors, other languages
// included; internal/strategypb has the protocol.
//
// # A process and its end
//
// A plugin gets neither the host's standard input nor its environment. What it
// writes to its standard error goes to the host's log, bounded. It lives in a
// process group of its own and watches a pipe whose other end only the host
// holds, so that it dies with the host however that ends; on Linux the kernel
// sees to it besides.
//
// A process that exits, hangs, or breaks the protocol is killed, and all seats
// in it are lost: their leagues go on with technical losses. The next group of
// seats starts it again, after a pause that doubles each time. After so many
// restarts (Config.Restarts) it is put aside: every further seat fails with
// strategies.ErrQuarantined.
//
// # Rebuilding seats
//
// With Config.Replay the host remembers the calls of every seat that is open.
// When the process dies, each seat is first tried alone: made anew, given its
// calls once more, and the one that was under way. Those that the process
// survives are then rebuilt, and only those that kill it again are lost. It is
// meant for scripts, which play the same whenever they are told the same.
package plugins

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	pb "github.com/strategylab/strategylab/plugins/internal/strategypb"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

// Config says which plugin is opened, and how.
type Config struct {
	// Command is the program, as a path, and its arguments.
	Command []string
	// Name is what messages and the log call the plugin; default is the file
	// name of the program.
	Name string
	// Source is what reports name as the file of its strategies. It may be
	// empty.
	Source string
	// Env is what the plugin finds in its environment besides what the
	// protocol puts there: "KEY=value".
	Env []string
	// Sum is the SHA-256 of the program in hex. A program with another one is
	// not started. Empty means that it is not looked at.
	Sum string
	// NoTLS says that the connection is not encrypted; then it goes over a
	// socket that nobody else can reach. The default is mTLS, with
	// certificates made for the occasion.
	NoTLS bool
	// CallTime is how long one call of a strategy may take; default
	// budget.DefaultTime. A process with a call that takes twice as long is
	// killed.
	CallTime time.Duration
	// StartTimeout is how long the program may take to start; default 20 s.
	StartTimeout time.Duration
	// Restarts is how often the program is started again after it has failed;
	// default 5. After that it is put aside.
	Restarts int
	// Backoff is the pause before the first restart, doubled for each that
	// follows up to 64 times as long; default 50 ms, and none if negative.
	Backoff time.Duration
	// Replay rebuilds seats whose process has died; see the package comment.
	Replay bool
	// Log receives what the plugin writes to its standard error; nil discards
	// it.
	Log *slog.Logger
	// Strategies says what the plugin plays, if that is known. Then it is not
	// started before it is needed.
	Strategies []strategies.Info
	// Script is what a worker is to run; nil for a plugin.
	Script *Script
	// Memory is what a worker may take up in all, in bytes.
	Memory uint64
}

// Script is a script for a worker.
type Script struct {
	Name, Path string
	Kind       strategies.Kind
	Source     []byte
	Limits     budget.Limits
}

func (c Config) orDefaults() (Config, error) {
	if len(c.Command) == 0 {
		return c, errors.New("open a plugin: no command")
	}
	if c.Name == "" {
		c.Name = filepath.Base(c.Command[0])
	}
	if c.CallTime <= 0 {
		c.CallTime = budget.DefaultTime
	}
	if c.StartTimeout <= 0 {
		c.StartTimeout = 20 * time.Second
	}
	if c.Restarts == 0 {
		c.Restarts = 5
	}
	if c.Backoff == 0 {
		c.Backoff = 50 * time.Millisecond
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// infoOf is what the host says of a strategy that a plugin has described.
func (c *Config) infoOf(s *pb.Strategy) strategies.Info {
	info := strategies.Info{
		Name: strategies.OneLine(s.GetName(), 80), Kind: strategies.Plugin, Title: strategies.OneLine(s.GetTitle(), 200),
		Description: strategies.OneLine(s.GetDescription(), 2000), Source: c.Source, Fingerprint: c.Sum,
	}
	if info.Fingerprint == "" {
		info.Fingerprint = strategies.OneLine(s.GetFingerprint(), 100)
	}
	return info
}

func (c *Config) verify() error {
	if c.Sum == "" {
		return nil
	}
	got, err := Sum(c.Command[0])
	if err != nil {
		return err
	}
	if !strings.EqualFold(got, c.Sum) {
		return &UnlockedError{Path: c.Command[0], Want: c.Sum, Got: got}
	}
	return nil
}

// Sum returns the SHA-256 of a file, in hex.
func Sum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read the plugin: %w", err)
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("read the plugin: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Open starts a plugin and returns the strategies that it plays, each a
// strategies.Batcher. They share the process, which ends when the last of them
// is closed. ctx bounds the start alone.
func Open(ctx context.Context, config Config) ([]strategies.Factory, error) {
	config, err := config.orDefaults()
	if err != nil {
		return nil, err
	}
	sweep()
	k := &supervisor{config: config, turn: make(chan struct{}, 1)}
	infos := config.Strategies
	if infos == nil {
		p, err := start(ctx, &k.config)
		if err != nil {
			return nil, err
		}
		k.process, k.starts, infos = p, 1, p.info
	}
	var all []strategies.Factory
	for i, info := range infos {
		all = append(all, &factory{supervisor: k, info: info, index: uint32(i)})
	}
	k.users = len(all)
	return all, nil
}

// factory is one strategy of a plugin.
type factory struct {
	supervisor *supervisor
	info       strategies.Info
	index      uint32
	closed     sync.Once
}

var _ strategies.Batcher = (*factory)(nil)

// Info implements strategies.Factory.
func (f *factory) Info() strategies.Info { return f.info }

// source is what an error of the strategy names.
func (f *factory) source() string {
	if f.info.Source != "" {
		return f.info.Source
	}
	return f.info.Name
}

// NewBatch implements strategies.Batcher.
func (f *factory) NewBatch(ctx context.Context) (strategies.Batch, error) {
	if f.supervisor.config.Replay {
		return newReplayed(f), nil
	}
	return f.newGroup(ctx)
}

// New implements strategies.Factory.
func (f *factory) New(ctx context.Context, setup strategies.Setup) (strategies.Strategy, error) {
	b, err := f.NewBatch(ctx)
	if err != nil {
		return nil, f.wrap(strategies.OpStart, err)
	}
	s := &seat{factory: f, batch: b}
	s.step.Open = append(s.step.Open, strategies.OpenSeat{Setup: setup})
	if _, err := s.exchange(ctx, strategies.OpStart); err != nil {
		_ = b.Close()
		return nil, err
	}
	return s, nil
}

// wrap makes the error that a host sees of a failure of the whole process.
func (f *factory) wrap(op strategies.Op, err error) error {
	var typed *strategies.Error
	if errors.As(err, &typed) {
		return err
	}
	return &strategies.Error{Source: f.source(), Op: op, Err: err}
}

// Close implements strategies.Factory.
func (f *factory) Close() error {
	f.closed.Do(f.supervisor.leave)
	return nil
}

// seat is one seat that is called by itself: a batch of one.
type seat struct {
	factory *factory
	batch   strategies.Batch
	step    strategies.Step
}

// exchange carries out the step and empties it. It returns the answer to a
// turn.
func (s *seat) exchange(ctx context.Context, op strategies.Op) (answer strategies.Choice, err error) {
	defer s.step.Reset()
	if err := s.batch.Step(ctx, &s.step); err != nil {
		return 0, s.factory.wrap(op, err)
	}
	if len(s.step.Failed) > 0 {
		return 0, s.step.Failed[0].Err
	}
	if len(s.step.Choices) > 0 {
		answer = s.step.Choices[0]
	}
	return answer, nil
}

// Choose implements strategies.Strategy.
func (s *seat) Choose(ctx context.Context, t *strategies.Turn) (strategies.Choice, error) {
	s.step.Choose = append(s.step.Choose, strategies.SeatTurn{Turn: *t})
	return s.exchange(ctx, strategies.OpChoose)
}

// Observe implements strategies.Strategy.
func (s *seat) Observe(ctx context.Context, o *strategies.Outcome) error {
	s.step.Observe = append(s.step.Observe, strategies.SeatOutcome{Outcome: *o})
	_, err := s.exchange(ctx, strategies.OpObserve)
	return err
}

// Close implements strategies.Strategy.
func (s *seat) Close() error { return s.batch.Close() }
