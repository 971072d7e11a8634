package plugins

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc"

	pb "github.com/strategylab/strategylab/plugins/internal/strategypb"
	"github.com/strategylab/strategylab/plugins/subprocess"
	"github.com/strategylab/strategylab/strategies"
)

// mostTask bounds the input of a task and each of its outputs, in bytes: more than the
// sources of the largest field.
const mostTask = 1 << 29

// Worker is a process of this program that carries out tasks. One goroutine at a time
// uses it.
type Worker struct {
	process *process
}

// Died reports whether an error of Open, a factory or a worker is the end of its process.
// The error says why it ended.
func Died(err error) bool {
	return errors.Is(err, strategies.ErrCrashed) || errors.Is(err, strategies.ErrTimeout)
}

// startWorker starts a program whose main function is ServeTasks. ctx bounds only the
// start.
func startWorker(ctx context.Context, c Config) (*Worker, error) {
	c, err := c.orDefaults()
	if err != nil {
		return nil, err
	}
	c.NoTLS = privateSockets
	c.Env = append([]string{"TMPDIR=" + os.TempDir()}, c.Env...) // of plugins that it starts
	w := &Worker{process: newProcess(&c, true)}
	return w, w.process.launch(ctx, nil)
}

// Load has the worker compile a script and describe it. Errors in the script are
// *strategies.Error. limit is the processor time that it may take; a script that takes
// more ends the worker, and the error wraps strategies.ErrTimeout. Where the system does
// not tell processor time, and otherwise after ten times as much, time ends it.
func (w *Worker) Load(ctx context.Context, s *Script, limit time.Duration) (info strategies.Info, err error) {
	var typed *strategies.Error
	defer w.process.limitTime(limit)()
	died := w.call(ctx, func(ctx context.Context) error {
		if info, err = w.process.load(ctx, s, 0); errors.As(err, &typed) {
			return nil
		}
		return err
	})
	return info, cmp.Or(died, err)
}

// Do has the worker carry out a task and passes its outputs to each; they stay valid.
// If the process ends, or each returns an error, or ctx is done, the worker is dead and
// the error the reason (Died), or the cause of ctx.
func (w *Worker) Do(ctx context.Context, task string, input []byte, each func(output []byte) error) error {
	var failure error
	died := w.call(ctx, func(ctx context.Context) error {
		replies, err := pb.NewWorkerClient(w.process.conn).Do(ctx, &pb.Task{Name: task, Input: input}, grpc.MaxCallRecvMsgSize(mostTask), grpc.MaxCallSendMsgSize(mostTask))
		for err == nil {
			var reply *pb.TaskReply
			if reply, err = replies.Recv(); err != nil {
				break
			}
			for _, line := range reply.GetLog() {
				forward(w.process.config.Log, line)
			}
			if reply.GetFailure() != "" {
				failure = errors.New(strategies.Clip(reply.GetFailure(), 2*mostText))
			} else if each != nil && len(reply.GetOutput()) > 0 {
				err = each(reply.GetOutput())
			}
		}
		if err == io.EOF {
			return nil
		}
		return err
	})
	return cmp.Or(died, failure)
}

// call makes a call that ends with the worker. A ctx that is done ends both.
func (w *Worker) call(ctx context.Context, do func(context.Context) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	calling, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		w.process.fail(errStopped)
		w.process.child.kill()
		cancel()
	})
	defer stop()
	err := do(calling)
	if err == nil {
		return nil
	}
	w.process.fail(w.process.exitError(err))
	w.Close()
	return cmp.Or(context.Cause(ctx), w.process.failure())
}

// limitTime ends the process when it has used more processor time than limit from the first look
// on, until end is called.
func (p *process) limitTime(limit time.Duration) (end func()) {
	const lookEvery = 20 * time.Millisecond // most scripts take less
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		began, tick := time.Now(), time.NewTicker(lookEvery)
		defer tick.Stop()
		for first, used := time.Duration(0), time.Duration(0); used <= limit; {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			now, known := subprocess.CPU(p.child.pid())
			first = cmp.Or(first, now)
			used = now - first
			if passed := time.Since(began); !known || passed > 10*limit {
				used = passed
			}
		}
		p.fail(fmt.Errorf("%w: loading took more than %v of processor time", strategies.ErrTimeout, limit))
	})
	return func() {
		close(done)
		watching.Wait()
	}
}

// Dead reports whether the worker cannot be used any more.
func (w *Worker) Dead() bool { return w.process.failure() != nil || w.process.child.pid() == 0 }

// Close ends the process at once and waits for it.
func (w *Worker) Close() {
	w.process.child.kill()
	w.process.stop()
}

// Tasks is what a worker does. Its methods are called one at a time.
type Tasks interface {
	// Load compiles a script in this process. Unless memory is 0, the script has the
	// process to itself, whose memory limit that is, in bytes.
	Load(s Script, memory uint64) (strategies.Factory, error)
	// Do carries out a task. It passes on what it finds with reply, as often as it likes.
	Do(ctx context.Context, task string, input []byte, reply func(output []byte) error) error
}

// Do implements the protocol.
func (s *server) Do(task *pb.Task, replies grpc.ServerStreamingServer[pb.TaskReply]) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.tasks.Do(replies.Context(), task.GetName(), task.GetInput(), func(output []byte) error {
		return replies.Send(&pb.TaskReply{Output: output, Log: s.log.take()})
	})
	last := &pb.TaskReply{Log: s.log.take()}
	if err != nil {
		last.Failure = cmp.Or(err.Error(), "failed without a reason")
	}
	if last.Failure == "" && len(last.Log) == 0 {
		return nil
	}
	return replies.Send(last)
}

// Pool is a number of workers. It is safe for concurrent use. Its processes start when
// they are needed.
type Pool struct {
	config Config
	rest   time.Duration // after which workers without work end; 0 for never

	ending sync.Mutex // held until those that end have ended, so that Close waits for them

	mu      sync.Mutex
	idle    []*Worker
	resting *time.Timer // ends them
	closed  bool
}

// NewPool returns a pool without processes. A worker that has no work waits for more until
// Close; unless rest is 0, at most for that time.
func NewPool(c Config, rest time.Duration) *Pool {
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	return &Pool{config: c, rest: rest}
}

// Log returns the log of the pool.
func (p *Pool) Log() *slog.Logger { return p.config.Log }

// Take returns a worker for one user at a time, started if none waits. The caller gives it
// back.
func (p *Pool) Take(ctx context.Context) (*Worker, error) {
	p.mu.Lock()
	closed := p.closed
	if p.resting != nil {
		p.resting.Stop()
	}
	if n := len(p.idle); n > 0 {
		w := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return w, nil
	}
	p.mu.Unlock()
	if closed {
		return nil, errors.New("start worker: the pool is closed")
	}
	return startWorker(ctx, p.config)
}

// Give returns a worker after its use. One that is dead is dropped.
func (p *Pool) Give(w *Worker) {
	p.mu.Lock()
	keep := !p.closed && !w.Dead()
	if keep {
		p.idle = append(p.idle, w)
		if p.rest > 0 {
			p.resting = time.AfterFunc(p.rest, func() { p.end(false) })
		}
	}
	p.mu.Unlock()
	if !keep {
		w.Close()
	}
}

// Do has a worker carry out a task, and calls each with its outputs as they come; the
// input becomes JSON. The error is the one of Worker.Do.
func (p *Pool) Do(ctx context.Context, task string, input any, each func(output []byte) error) error {
	body, err := json.Marshal(input)
	if err != nil {
		return fmt.Errorf("task %s: %w", task, err)
	}
	w, err := p.Take(ctx)
	if err != nil {
		return err
	}
	defer p.Give(w)
	return w.Do(ctx, task, body, each)
}

// Close ends the processes that wait for work, and waits for those that end already; the
// others end when they are given back.
func (p *Pool) Close() error {
	p.end(true)
	return nil
}

// end ends the processes that wait for work, which have nothing to lose.
func (p *Pool) end(closing bool) {
	p.ending.Lock()
	defer p.ending.Unlock()
	p.mu.Lock()
	p.closed = p.closed || closing
	if p.resting != nil {
		p.resting.Stop()
	}
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, w := range idle {
		w.Close()
	}
}
