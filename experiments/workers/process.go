package workers

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/strategylab/strategylab/plugins/subprocess"
	"github.com/strategylab/strategylab/strategies"
)

// silence is the time after which a worker from which nothing came is killed. It
// reports every heartbeat that it works; the rest is for machines that are busy.
const (
	heartbeat = time.Second
	silence   = 30 * time.Second
	drain     = 2 * time.Second // for what an ended process has left in its pipes
)

// DeathError is the end of a worker process, with what is known of the reason.
type DeathError struct{ Reason string }

// Error returns the reason.
func (e *DeathError) Error() string { return "worker process ended: " + e.Reason }

// process is one worker process. One goroutine at a time uses it.
type process struct {
	cmd    *exec.Cmd
	to     frameWriter
	out    io.Closer // of from
	from   frameReader
	stderr *excerpt
	ended  chan struct{} // closed after the process
	log    *slog.Logger
	state  string      // how it ended
	gone   atomic.Bool // ended, or to be used no more
	silent *time.Timer // kills it
	closed sync.Once
}

func startProcess(c *Config) (*process, error) {
	p := &process{stderr: new(excerpt), log: c.Log, ended: make(chan struct{})}
	p.cmd = exec.Command(c.Command[0], c.Command[1:]...)
	// GOTRACEBACK: the stacks of a thousand goroutines tell nobody anything.
	p.cmd.Env = append([]string{"GOTRACEBACK=none", "TMPDIR=" + os.TempDir()}, c.Env...)
	p.cmd.Stderr, p.cmd.WaitDelay = p.stderr, drain
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start worker: %w", err)
	}
	out, theirs, err := os.Pipe() // Wait closes it only when it is read
	if err != nil {
		return nil, fmt.Errorf("start worker: %w", err)
	}
	p.cmd.Stdout = theirs
	p.to.w, p.out, p.from.r = in, out, bufio.NewReaderSize(out, 1<<16)
	err = subprocess.Start(p.cmd, subprocess.Config{})
	_ = theirs.Close()
	if err != nil {
		_ = out.Close()
		return nil, fmt.Errorf("start worker: %w", err)
	}
	p.silent = time.AfterFunc(silence, p.end)
	p.silent.Stop()
	go func() {
		p.state = "exit status 0"
		if err := p.cmd.Wait(); err != nil {
			p.state = err.Error()
		}
		p.gone.Store(true)
		close(p.ended)
	}()
	return p, nil
}

// end ends the process without waiting for it.
func (p *process) end() {
	p.gone.Store(true)
	select {
	case <-p.ended: // the system may have reused its number
	default:
		subprocess.Kill(p.cmd)
	}
}

// kill ends the process and waits for it.
func (p *process) kill() {
	p.end()
	<-p.ended
	p.closed.Do(func() { _ = p.out.Close() })
}

func (p *process) dead() bool { return p.gone.Load() }

// died returns the reason of an error on the pipes.
func (p *process) died(err error) error {
	p.kill()
	reason := p.state
	if text := p.stderr.first(); text != "" {
		reason += ": " + text
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		reason += " (" + err.Error() + ")"
	}
	return &DeathError{reason}
}

// ask sends a request and returns the body of its reply.
func (p *process) ask(ctx context.Context, request, reply byte, v any) (answer []byte, err error) {
	err = p.exchange(ctx, request, v, func(kind byte, body []byte) (bool, error) {
		if kind != reply {
			return false, fmt.Errorf("unexpected frame %q", kind)
		}
		answer = bytes.Clone(body)
		return true, nil
	})
	return answer, err
}

// exchange sends a request and passes its replies to each until that returns done.
// The error is a DeathError if the process ends or breaks the protocol, and the
// cause of ctx if that is done; the process is then dead.
func (p *process) exchange(ctx context.Context, request byte, v any, each func(kind byte, body []byte) (done bool, err error)) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	stop := context.AfterFunc(ctx, p.end)
	defer stop()
	p.silent.Reset(silence)
	defer p.silent.Stop()
	broke := func(err error) error {
		err = p.died(err)
		return cmp.Or(context.Cause(ctx), err)
	}
	if err := p.to.write(request, body); err != nil {
		return broke(err)
	}
	for {
		kind, body, err := p.from.read()
		if err != nil {
			return broke(err)
		}
		p.silent.Reset(silence)
		switch kind {
		case frameAlive:
			continue
		case frameLog:
			relay(p.log, body)
			continue
		case frameStuck:
			return broke(errors.New(strategies.OneLine(string(body), mostWords)))
		case frameFailed:
			return errors.New(strategies.Clip(string(body), mostWords))
		}
		done, err := each(kind, body)
		if err != nil {
			return broke(err)
		}
		if done {
			return nil
		}
	}
}

// mostWords is the length of a worker's messages that are passed on, in bytes.
const mostWords = 1000

// excerpt keeps the beginning of what a process writes to its standard error. The
// reason of a crash comes first.
type excerpt struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer.
func (e *excerpt) Write(b []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.text = append(e.text, b[:min(len(b), mostWords-len(e.text))]...)
	return len(b), nil
}

// first returns the first line.
func (e *excerpt) first() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	line, _, _ := strings.Cut(string(e.text), "\n")
	return strategies.OneLine(line, mostWords)
}
