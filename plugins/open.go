// Package plugins runs strategies and tasks in other processes, with go-plugin and gRPC.
//
// The program of an author is one line:
//
//	func main() { plugins.Serve(factory) }
//
// The host calls Open. Its factories are strategies.Batcher: one message carries a whole
// step of many leagues over a gRPC stream. docs/plugins.md is the guide for authors in any
// language; internal/strategypb has the protocol. Workers, which are processes of this
// program, carry out tasks besides (ServeTasks, Pool).
//
// A plugin gets neither the standard input nor the environment of the host, which logs its
// standard error, bounded. It runs in a process group of its own and watches a pipe whose
// other end only the host holds, so it ends with the host. The host kills a process that
// hangs or breaks the protocol. When a process ends, all its seats are lost: their leagues
// continue with technical losses. The next group of seats restarts it, until it is
// quarantined.
//
// Of a script, whose choices depend on its calls alone, the host records the calls of
// every open seat. When the process dies, it tries each seat alone: it makes the seat again
// and repeats its calls, including the one in progress. Only seats that kill the process
// again are lost.
package plugins

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	pb "github.com/strategylab/strategylab/plugins/internal/strategypb"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/batch"
	"github.com/strategylab/strategylab/strategies/budget"
)

// Config is the settings of Open.
type Config struct {
	// Command is the program, as a path, and its arguments.
	Command []string
	// Name is the plugin's name in messages; default is the file name of the program.
	Name string
	// Source is the file that reports name for its strategies; may be empty.
	Source string
	// Env adds "KEY=value" entries to the environment of the plugin.
	Env []string
	// Sum is the SHA-256 of the program in hex, which Open wants it to have, unless it is
	// empty.
	Sum string
	// NoTLS replaces mTLS with fresh certificates by a socket that nobody else can reach.
	NoTLS bool
	// NoChildren says that the program starts no others: nothing guards its descendants.
	NoChildren bool
	// CallTime is the time limit of one call of a strategy; default budget.DefaultTime.
	// The host kills a process whose call takes more than twice as long.
	CallTime time.Duration
	// StartTimeout is the time limit of the program's start; default 20 s.
	StartTimeout time.Duration
	// Restarts is the number of restarts after a failure; default 5. After that, and
	// after a hundred failed starts in a row, the plugin is quarantined.
	Restarts int
	// Backoff is the pause before the first restart; it doubles with each
	// restart, up to 64 times. Default 50 ms; negative means none.
	Backoff time.Duration
	// Values is what ParamsVariable says to the program; empty for the defaults.
	Values string
	// Log receives the plugin's standard error; nil discards it.
	Log *slog.Logger `json:"-"`
	// Strategies lists the plugin's strategies, if known: it starts when it is first needed.
	Strategies []strategies.Info
	// Script is what a worker runs; nil for a plugin.
	Script *Script
	// Memory is the memory limit of a worker, in bytes.
	Memory uint64
	// Quiet logs failures of the process at debug level only.
	Quiet bool
	// Workers, if not nil, may play the script in their processes.
	Workers *Pool `json:"-"`
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
		return c, errors.New("open plugin: no command; set Config.Command")
	}
	c.Name = cmp.Or(c.Name, filepath.Base(c.Command[0]))
	if c.CallTime <= 0 {
		c.CallTime = budget.DefaultTime
	}
	if c.StartTimeout <= 0 {
		c.StartTimeout = 20 * time.Second
	}
	if c.Script != nil { // the program is this one
		c.NoTLS = privateSockets
	}
	c.Restarts = cmp.Or(c.Restarts, 5)
	c.Backoff = cmp.Or(c.Backoff, 50*time.Millisecond)
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	return c, nil
}

// privateSockets reports whether go-plugin connects processes by sockets in a folder
// that nobody else can read.
const privateSockets = runtime.GOOS != "windows"

// infoOf bounds what a program, or a lock file, says of a strategy.
func (c *Config) infoOf(s *pb.Strategy) strategies.Info {
	return strategies.Info{
		Name: strategies.OneLine(s.GetName(), 80), Kind: strategies.Plugin, Title: strategies.OneLine(s.GetTitle(), 200), Source: c.Source,
		Description: strategies.OneLine(s.GetDescription(), 2000), Fingerprint: cmp.Or(c.Sum, strategies.OneLine(s.GetFingerprint(), 100)),
	}
}

// Sum returns the SHA-256 of a file, in hex.
func Sum(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read plugin: %w", err)
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("read plugin: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Open starts a plugin and returns its strategies, each a strategies.Batcher.
// They share the process, which ends when the last of them is closed. ctx bounds
// only the start.
func Open(ctx context.Context, config Config) ([]strategies.Factory, error) {
	config, err := config.orDefaults()
	if err != nil {
		return nil, err
	}
	k := &supervisor{config: config, turn: make(chan struct{}, 1)}
	if config.Strategies == nil {
		p, err := start(ctx, &k.config)
		if err != nil {
			return nil, err
		}
		k.process, k.starts, k.config.Strategies = p, 1, p.info
	}
	var all []strategies.Factory
	for i, info := range k.config.Strategies {
		all = append(all, &factory{supervisor: k, info: info, index: uint32(i)})
	}
	k.users.Store(int32(len(all)))
	return all, nil
}

// Place is how a factory was opened: another process that opens Config gets the same
// strategy at Index.
type Place struct {
	Config Config
	Index  int
}

// PlaceOf returns how a factory was opened, with the strategies listed; false if it
// is not one that Open returned.
func PlaceOf(f strategies.Factory) (Place, bool) {
	own, ok := f.(*factory)
	if !ok {
		return Place{}, false
	}
	return Place{Config: own.supervisor.config, Index: int(own.index)}, true
}

type factory struct {
	supervisor *supervisor
	info       strategies.Info
	index      uint32
	closed     sync.Once
}

var _ strategies.Batcher = (*factory)(nil)

func (f *factory) Info() strategies.Info { return f.info }

// source returns what errors of the strategy name as their source.
func (f *factory) source() string { return cmp.Or(f.info.Source, f.info.Name) }

func (f *factory) NewBatch(ctx context.Context) (strategies.Batch, error) {
	if f.supervisor.config.Script != nil {
		return &replayed{factory: f, callLogs: make(callLogs)}, nil
	}
	return f.newGroup(ctx)
}

func (f *factory) New(ctx context.Context, setup strategies.Setup) (strategies.Strategy, error) {
	return batch.Alone(ctx, f, setup)
}

func (f *factory) Close() error {
	f.closed.Do(f.supervisor.leave)
	return nil
}
