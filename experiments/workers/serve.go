package workers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"

	"github.com/strategylab/strategylab/experiments/chunk"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/plugins/isolate"
	"github.com/strategylab/strategylab/plugins/subprocess"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// DefaultMemory is the memory limit of a worker process, in bytes, beside the
// program itself.
const DefaultMemory = budget.Memory

// Task is a function that Pool.Do runs in a worker. It loads scripts into the worker
// with load, and answers with reply, as often as it likes: the answer becomes JSON.
type Task func(ctx context.Context, load func(plugins.Script) (strategies.Factory, error), input json.RawMessage, reply func(answer any) error) error

// ServerConfig is the settings of a worker process.
type ServerConfig struct {
	Formats []catalog.Format // script languages
	Memory  uint64           // limit in bytes; 0 means none
	Tasks   map[string]Task
}

// Serve is the main function of a worker process. It serves the pool that has started
// the process until that is done. The caller should then end the process at once.
func Serve(c ServerConfig) error {
	limit, err := subprocess.LimitMemory(c.Memory)
	if err != nil {
		return fmt.Errorf("limit the worker's memory: %w", err)
	}
	tune(c.Memory)
	plugins.ServeTasks(func(log *slog.Logger, stuck chan<- struct{}) plugins.Tasks {
		return &server{config: c, limit: limit, log: log, stuck: stuck}
	})
	return nil
}

// tune lets the heap grow to many times what is live before it is collected, since
// script machines live shortly. One processor is enough: there is a worker for each.
func tune(memory uint64) {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(1600)
	if memory > 0 {
		debug.SetMemoryLimit(int64(memory / 2))
	}
}

// server is the state of a worker.
type server struct {
	config ServerConfig
	limit  *subprocess.MemoryLimit
	log    *slog.Logger
	stuck  chan<- struct{} // receives when a call cannot be stopped

	field   *field // nil while none is open
	leagues []results.League
	encoder *chunk.Encoder
}

// Load implements plugins.Tasks.
func (s *server) Load(script plugins.Script) (strategies.Factory, error) {
	script.Limits.Stuck = s.stuck
	return isolate.Load(context.Background(), s.config.Formats, script)
}

// Do implements plugins.Tasks.
func (s *server) Do(ctx context.Context, task string, input []byte, reply func([]byte) error) error {
	answer := func(output any) error {
		body, err := json.Marshal(output)
		if err != nil {
			return err
		}
		return reply(body)
	}
	switch run := s.config.Tasks[task]; {
	case task == taskOpen:
		return s.open(ctx, input)
	case task == taskPlay:
		return s.play(ctx, input, reply)
	case task == taskClose && s.field != nil:
		used := s.field.usage()
		if err := s.close(); err != nil {
			return err
		}
		return answer(used)
	case run != nil:
		return run(ctx, s.Load, input, answer)
	}
	return fmt.Errorf("unknown task %q", task)
}

// open opens the field of a plan and closes the one before.
func (s *server) open(ctx context.Context, input []byte) error {
	var r openRequest
	if err := json.Unmarshal(input, &r); err != nil {
		return fmt.Errorf("open: %w", err)
	}
	if err := s.close(); err != nil {
		return fmt.Errorf("close the field before: %w", err)
	}
	if s.config.Memory > 0 {
		// Twice, as the collector lets a heap grow before it is done.
		if err := s.limit.Set(s.config.Memory + 2*r.Histories); err != nil {
			return fmt.Errorf("limit the worker's memory: %w", err)
		}
		debug.SetMemoryLimit(int64(s.config.Memory/2 + r.Histories))
	}
	var err error
	if s.field, err = openField(ctx, r, s.Load, s.log); err != nil {
		return err
	}
	s.leagues = make([]results.League, s.field.unit)
	s.encoder, err = chunk.NewEncoder(r.Plan)
	return err
}

// close closes the field.
func (s *server) close() error {
	if s.field == nil {
		return nil
	}
	f := s.field
	s.field = nil
	return f.close()
}

// play plays leagues and replies with their records, unit by unit.
func (s *server) play(ctx context.Context, input []byte, reply func([]byte) error) error {
	var r chunk.Request
	if err := json.Unmarshal(input, &r); err != nil {
		return fmt.Errorf("play: %w", err)
	}
	if s.field == nil {
		return errors.New("play: no plan is open")
	}
	for at := 0; at < r.Count; at += s.field.unit {
		leagues := s.leagues[:min(s.field.unit, r.Count-at)]
		if err := s.field.play(ctx, r.First+at, leagues, r.Quarantined, nil); err != nil {
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
