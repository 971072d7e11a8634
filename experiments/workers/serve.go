package workers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/experiments/chunk"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/plugins/isolate"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// Tasks returns the tasks with which a worker process plays leagues, for isolate.Serve.
func Tasks() map[string]isolate.Task {
	s := new(server)
	return map[string]isolate.Task{taskOpen: isolate.JSON(s.open), taskPlay: s.play, taskClose: isolate.JSON(s.leave)}
}

// server is what a worker process plays.
type server struct {
	field   *field           // nil while none is open: the host opens one before it plays, and closes it once
	leagues []results.League // room for one answer
	encoder *chunk.Encoder
}

// open opens the field of a plan and closes the one before.
func (s *server) open(ctx context.Context, p *isolate.Process, r openRequest, _ func(any) error) error {
	if err := s.field.close(); err != nil {
		return fmt.Errorf("close the field before: %w", err)
	}
	s.field = nil
	if err := p.Extend(r.Histories); err != nil {
		return err
	}
	var err error
	if s.field, err = openField(ctx, r, p); err != nil {
		return err
	}
	s.leagues = make([]results.League, r.Unit)
	s.encoder, err = chunk.NewEncoder(r.Plan)
	return err
}

// leave closes the field and replies with what it has used.
func (s *server) leave(_ context.Context, _ *isolate.Process, _ struct{}, reply func(any) error) error {
	var used []plugins.Usage // by strategy
	for _, f := range s.field.strategies {
		used = append(used, plugins.UsageOf(f))
	}
	err := s.field.close()
	s.field = nil
	return cmp.Or(err, reply(used))
}

// play plays leagues and replies with their records, unit by unit.
func (s *server) play(ctx context.Context, _ *isolate.Process, input []byte, reply func([]byte) error) error {
	var r chunk.Request
	if err := json.Unmarshal(input, &r); err != nil {
		return err
	}
	for at := 0; at < r.Count; at += len(s.leagues) {
		leagues := s.leagues[:min(len(s.leagues), r.Count-at)]
		if err := s.field.worker.Play(ctx, r.First+at, leagues, r.Quarantined); err != nil {
			return err
		}
		records, err := s.encoder.Encode(leagues)
		if err != nil {
			return err
		}
		if err := reply(records); err != nil {
			return err
		}
	}
	return nil
}

// Tasks of a worker: name, input, and answers. They are JSON, except for records of
// leagues, which have the format of host/results.
const (
	taskOpen  = "open"  // openRequest; nothing
	taskPlay  = "play"  // chunk.Request; the records of each unit
	taskClose = "close" // struct{}; []plugins.Usage by strategy
)

// openRequest is the plan to play, with the code of its field.
type openRequest struct {
	Plan       results.Plan
	Strategies []strategy
	Players    []int // by field index, in Strategies
	Unit       int   // leagues from one answer to the next, played in lockstep with plugins
	// Histories is the memory, in bytes, that scripts need beside their own: that of the
	// outcomes of a large field.
	Histories uint64 `json:",omitempty"`
}

// strategy is the code of one strategy.
type strategy struct {
	Builtin string         `json:",omitempty"` // name
	Place   *plugins.Place `json:",omitempty"` // of a plugin or a script
	Alone   bool           `json:",omitempty"` // the script gets a process of its own
}

// script returns the script of a strategy, or nil.
func (s *strategy) script() *plugins.Script {
	if s.Place == nil {
		return nil
	}
	return s.Place.Config.Script
}

// field is the field of an openRequest, ready to play in this process.
type field struct {
	strategies []strategies.Factory // as requested
	opened     []strategies.Factory // to close
	worker     experiments.Worker
}

// openField opens a field. Scripts that do not play alone are loaded into p, whose log
// receives what processes of plugins write, and at debug level what those of scripts do.
func openField(ctx context.Context, r openRequest, p *isolate.Process) (f *field, err error) {
	f = new(field)
	lockstep := 1 // so a script that ends its process ends it for one league, without trials of others
	for _, s := range r.Strategies {
		if s.Place != nil && s.script() == nil {
			lockstep = r.Unit // a plugin's end concerns all leagues that it is in
		}
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("open: %w", err), f.close())
		}
	}()
	if err := f.openAll(ctx, r.Strategies, p); err != nil {
		return nil, err
	}
	players := make([]strategies.Factory, 0, len(r.Players))
	for _, i := range r.Players {
		players = append(players, f.strategies[i])
	}
	a, err := arena.New(r.Plan, players, arena.Config{Block: lockstep})
	if err != nil {
		return nil, err
	}
	f.worker, err = a.NewWorker(ctx)
	return f, err
}

// openAll opens strategies. Those of one plugin share its process.
func (f *field) openAll(ctx context.Context, list []strategy, p *isolate.Process) error {
	f.strategies = make([]strategies.Factory, len(list))
	shared := make(map[string][]strategies.Factory) // by the configuration of a plugin
	for i, e := range list {
		if e.Place == nil {
			f.strategies[i], _ = builtin.Find(e.Builtin) // the host is the same program
			continue
		}
		script := e.script()
		if script != nil && !e.Alone {
			own, err := p.Load(*script, 0)
			if err != nil {
				return err
			}
			f.strategies[i], f.opened = own, append(f.opened, own)
			continue
		}
		key, err := json.Marshal(e.Place.Config)
		if err != nil {
			return err
		}
		served := shared[string(key)]
		if served == nil {
			c := e.Place.Config
			c.Quiet, c.Log = script != nil, p.Log
			if served, err = plugins.Open(ctx, c); err != nil {
				return err
			}
			shared[string(key)] = served
			f.opened = append(f.opened, served...)
		}
		if e.Place.Index < 0 || e.Place.Index >= len(served) {
			return fmt.Errorf("plugin %s has %d strategies, want number %d", e.Place.Config.Name, len(served), e.Place.Index)
		}
		f.strategies[i] = served[e.Place.Index]
	}
	return nil
}

func (f *field) close() error {
	if f == nil {
		return nil
	}
	var err error
	if f.worker != nil {
		err = f.worker.Close()
	}
	for _, s := range f.opened {
		err = errors.Join(err, s.Close())
	}
	return err
}
