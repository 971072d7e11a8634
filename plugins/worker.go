package plugins

import (
	"cmp"
	"context"
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
	sweep()
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
		w.process.fail(fmt.Errorf("%w: stopped during a task", strategies.ErrCrashed), true)
		cancel()
	})
	defer stop()
	err := do(calling)
	if err == nil {
		return nil
	}
	w.process.fail(w.process.exitError(err), false)
	w.Close()
	why, _ := w.process.failure()
	return cmp.Or(context.Cause(ctx), why)
}

// limitTime ends the process when it has used more processor time than limit from now
// on, until end is called.
func (p *process) limitTime(limit time.Duration) (end func()) {
	const lookEvery = 20 * time.Millisecond
	began := time.Now()
	before, known := subprocess.CPU(p.child.pid())
	over := func() bool {
		passed := time.Since(began)
		if used, ok := subprocess.CPU(p.child.pid()); known && ok {
			return used-before > limit || passed > 10*limit
		}
		return passed > limit
	}
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for !over() {
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
		p.fail(fmt.Errorf("%w: loading took more than %v of processor time", strategies.ErrTimeout, limit), false)
	})
	return func() {
		close(done)
		watching.Wait()
	}
}

// Dead reports whether the worker cannot be used any more.
func (w *Worker) Dead() bool {
	select {
	case <-w.process.child.done:
		return true
	default:
		return w.process.failed()
	}
}

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

// ServeTasks is the main function of a worker. It gives open a log, whose lines the host
// receives with the next reply, and a channel on which the report of a call that ignores
// its interrupt ends the process.
func ServeTasks(open func(log *slog.Logger, stuck chan<- struct{}) Tasks) {
	s := new(server)
	s.tasks = open(slog.New(&logHandler{lines: &s.log}), endWhenStuck())
	serve(s)
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
