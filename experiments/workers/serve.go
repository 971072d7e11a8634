package workers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/strategylab/strategylab/experiments/chunk"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/plugins/subprocess"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// DefaultMemory is the memory limit of a worker process, in bytes, beside the
// program itself.
const DefaultMemory = budget.Memory

// Task is a function that Pool.Do runs in a worker. It loads scripts into the worker
// with load. What it returns becomes JSON.
type Task func(ctx context.Context, load func(plugins.Script) (strategies.Factory, error), input json.RawMessage) (output any, err error)

// ServerConfig is the settings of a worker process.
type ServerConfig struct {
	Formats []catalog.Format // script languages
	Memory  uint64           // limit in bytes; 0 means none
	Tasks   map[string]Task
}

// Serve is the main function of a worker process. It answers the requests on in with
// frames on out until in ends or a call of a script cannot be stopped. The caller
// should then end the process at once: goroutines of scripts may still run.
func Serve(in io.Reader, out io.Writer, c ServerConfig) error {
	if err := subprocess.LimitMemory(c.Memory); err != nil {
		return fmt.Errorf("limit the worker's memory: %w", err)
	}
	tune(c.Memory)
	if f, ok := in.(*os.File); ok {
		var err error
		if in, err = subprocess.Polled(f); err != nil {
			return fmt.Errorf("read the worker's requests: %w", err)
		}
	}
	s := &server{config: c, out: frameWriter{w: out}, stuck: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 2)
	go func() { ended <- s.beat(ctx) }()
	go func() { ended <- s.answer(ctx, in) }()
	select {
	case err := <-ended:
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	case <-s.stuck:
		return s.out.write(frameStuck, []byte("a call ignores its interrupt"))
	}
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

// server is the state of a worker. The goroutine of answer owns it.
type server struct {
	config ServerConfig
	out    frameWriter
	stuck  chan struct{} // receives when a call cannot be stopped

	field   *field // nil while none is open
	leagues []results.League
	encoder *chunk.Encoder
}

// beat reports that the process works.
func (s *server) beat(ctx context.Context) error {
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := s.out.write(frameAlive, nil); err != nil {
			return err
		}
	}
}

// answer reads requests and answers them. Requests are read ahead, so that the end
// of the input ends a worker that plays.
func (s *server) answer(ctx context.Context, in io.Reader) error {
	type request struct {
		kind byte
		body []byte
	}
	requests := make(chan request, 1)
	done := make(chan error, 1)
	go func() {
		defer close(done)
		for r := range requests {
			if err := s.serve(ctx, r.kind, r.body); err != nil {
				done <- err
				return
			}
		}
	}()
	from := frameReader{r: bufio.NewReader(in)}
	for {
		kind, body, err := from.read()
		if err != nil {
			return err
		}
		select {
		case requests <- request{kind, bytes.Clone(body)}:
		case err := <-done:
			return err
		}
	}
}

// serve answers one request. An error ends the worker.
func (s *server) serve(ctx context.Context, kind byte, body []byte) error {
	var answer []byte
	var err error
	switch kind {
	case frameLoad:
		answer, err = s.load(body)
	case frameOpen:
		answer, err = s.open(ctx, body)
	case frameTask:
		answer, err = s.task(ctx, body)
	case frameClose:
		if s.field == nil {
			err = errors.New("close: no plan is open")
			break
		}
		used := s.field.usage()
		if err = s.close(); err == nil {
			answer, err = json.Marshal(used)
		}
	case framePlay:
		var broken error
		if broken, err = s.play(ctx, body); broken != nil || err == nil {
			return broken
		}
	default:
		return fmt.Errorf("unknown request %q", kind)
	}
	if err != nil {
		return s.out.write(frameFailed, []byte(err.Error()))
	}
	return s.out.write(kind, answer)
}

// compile loads a script into this process.
func (s *server) compile(script plugins.Script) (strategies.Factory, error) {
	script.Limits.Stuck = s.stuck
	return load(s.config.Formats, script)
}

func load(formats []catalog.Format, s plugins.Script) (strategies.Factory, error) {
	for _, f := range formats {
		if f.Kind == s.Kind {
			return f.Load(s.Name, s.Path, s.Source, s.Limits)
		}
	}
	return nil, fmt.Errorf("this worker has no language %q", s.Kind)
}

func (s *server) load(body []byte) ([]byte, error) {
	var script plugins.Script
	if err := json.Unmarshal(body, &script); err != nil {
		return nil, err
	}
	var reply loadReply
	f, err := s.compile(script)
	if err == nil {
		reply.Info = f.Info()
		err = f.Close()
	}
	reply.Failure = failureOf(err)
	return json.Marshal(reply)
}

func (s *server) task(ctx context.Context, body []byte) ([]byte, error) {
	var r taskRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, err
	}
	run := s.config.Tasks[r.Name]
	if run == nil {
		return nil, fmt.Errorf("unknown task %q", r.Name)
	}
	output, err := run(ctx, s.compile, r.Input)
	if err != nil {
		return nil, err
	}
	return json.Marshal(output)
}

// open opens the field of a plan and closes the one before.
func (s *server) open(ctx context.Context, body []byte) (reply []byte, err error) {
	var r openRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	if err := s.close(); err != nil {
		return nil, fmt.Errorf("close the field before: %w", err)
	}
	if s.field, err = openField(ctx, r, s.compile, slog.New(remote{out: &s.out})); err != nil {
		return nil, err
	}
	s.leagues = make([]results.League, s.field.unit)
	s.encoder, err = chunk.NewEncoder(r.Plan)
	return nil, err
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

// play plays leagues and sends their records, unit by unit. It returns an error of
// the connection, or why the leagues cannot be played.
func (s *server) play(ctx context.Context, body []byte) (broken, err error) {
	var r chunk.Request
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, fmt.Errorf("play: %w", err)
	}
	if s.field == nil {
		return nil, errors.New("play: no plan is open")
	}
	for at := 0; at < r.Count; at += s.field.unit {
		leagues := s.leagues[:min(s.field.unit, r.Count-at)]
		if err := s.field.play(ctx, r.First+at, leagues, r.Quarantined, nil); err != nil {
			return nil, err
		}
		records, err := s.encoder.Encode(leagues)
		if err != nil {
			return nil, err
		}
		if err := s.out.write(frameLeagues, records); err != nil {
			return err, nil
		}
	}
	return nil, nil
}
