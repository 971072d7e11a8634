package plugins

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	pb "github.com/strategylab/strategylab/plugins/internal/strategypb"
	"github.com/strategylab/strategylab/plugins/internal/wire"
	"github.com/strategylab/strategylab/strategies"
)

// start starts a program that plays strategies and opens its Play stream. ctx bounds only
// the start. The error is an *UnlockedError if the program is another than that of Sum.
func start(ctx context.Context, config *Config) (*process, error) {
	if config.Sum != "" {
		got, err := Sum(config.Command[0])
		if err == nil && !strings.EqualFold(got, config.Sum) {
			err = &UnlockedError{Path: config.Command[0], Want: config.Sum, Got: got}
		}
		if err != nil {
			return nil, err
		}
	}
	p := newProcess(config, config.Script != nil)
	return p, p.launch(ctx, p.open)
}

// open asks for the strategies, and opens the stream.
func (p *process) open(ctx context.Context) error {
	const mostStrategies = 1000 // that a program may serve
	client := pb.NewStrategiesClient(p.conn)
	told, err := client.Describe(ctx, &pb.DescribeRequest{}, grpc.MaxCallRecvMsgSize(wire.MostMessage))
	if err != nil {
		return fmt.Errorf("ask for its strategies: %w", err)
	}
	p.progress = told.GetProgress()
	if script := p.config.Script; script != nil {
		info, err := p.load(ctx, script, p.config.Memory)
		if err != nil {
			return err
		}
		p.info = []strategies.Info{info}
	} else if n := len(told.GetStrategies()); n == 0 || n > mostStrategies {
		return fmt.Errorf("it serves %d strategies, want 1 to %d", n, mostStrategies)
	}
	for _, s := range told.GetStrategies() { // of a worker, none yet
		p.info = append(p.info, p.config.infoOf(s))
	}
	streaming, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	if p.play, err = client.Play(streaming, grpc.MaxCallRecvMsgSize(wire.MostMessage)); err != nil {
		return fmt.Errorf("open the stream: %w", err)
	}
	p.delayed, _ = p.delays()
	p.reading.Go(p.read)
	return nil
}

// load has a worker compile and describe a script. With memory, in bytes, the script gets
// the process to itself. Errors in the script are *strategies.Error.
func (p *process) load(ctx context.Context, s *Script, memory uint64) (info strategies.Info, err error) {
	reply, err := pb.NewStrategiesClient(p.conn).Load(ctx, &pb.LoadRequest{
		Name: s.Name, Path: s.Path, Source: s.Source, TimeUs: uint64(s.Limits.Time.Microseconds()),
		Instructions: s.Limits.Instructions, MemoryBytes: memory,
	}, grpc.MaxCallRecvMsgSize(wire.MostMessage))
	if err != nil {
		return info, fmt.Errorf("send the script: %w", err)
	}
	if f := reply.GetFailure(); f != nil {
		se, err := wire.DecodeFailure(f, s.Path)
		if err == nil {
			err = se.Err
		}
		return info, err
	}
	info = p.config.infoOf(reply.GetStrategy())
	info.Kind, info.Source = s.Kind, s.Path
	return info, nil
}

// call is a step that waits for its answer.
type call struct {
	ctx     context.Context
	id      uint64
	entries int                // calls of strategies in the step
	done    chan *pb.StepReply // has room for one
	made    atomic.Uint64      // completed calls, as the process reports
}

// exchange sends a step on the stream and waits for the answer. entries is the number of
// strategy calls in the step. After an error the process cannot be used.
func (p *process) exchange(ctx context.Context, s *pb.Step, entries int) (*pb.StepReply, error) {
	if deadline, ok := ctx.Deadline(); ok {
		s.BudgetUs = uint64(max(time.Until(deadline).Microseconds(), 1))
	}
	c := &call{ctx: ctx, entries: entries, done: make(chan *pb.StepReply, 1)}
	p.mu.Lock()
	p.lastID++
	c.id, s.Id = p.lastID, p.lastID
	p.calls[c.id] = c
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.calls, c.id)
		p.mu.Unlock()
	}()
	p.send(&pb.PlayRequest{Steps: []*pb.Step{s}})
	return p.await(c)
}

// await waits for the answer to a step and kills the process if it takes too long, whatever
// progress it reports.
func (p *process) await(c *call) (*pb.StepReply, error) {
	calls := time.Duration(max(c.entries, 1))
	patience, most := 2*p.config.CallTime+grace, p.config.CallTime*calls+grace
	switch {
	case !p.progress:
		patience = most
	case p.config.Script != nil: // its calls are limited in processor time
		most = patience * calls
	}
	begun := time.Now()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	made := uint64(0)
	given := c.ctx.Done()
	for {
		select {
		case r := <-c.done:
			return r, nil
		case <-p.alive.Done():
			select {
			case r := <-c.done: // the answer arrived first
				return r, nil
			default:
				return nil, p.failure()
			}
		case <-given:
			given = nil
			p.send(&pb.PlayRequest{Cancel: []uint64{c.id}})
			timer.Reset(grace)
		case <-timer.C:
			left := most - time.Since(begun)
			if now := c.made.Load(); now != made && given != nil && left > 0 {
				made = now
				timer.Reset(min(patience, left))
				continue
			}
			return nil, p.overdue(c.ctx, patience)
		}
	}
}

// late returns the error of a step that a plugin answered too late: later than if each of
// its calls had taken the time limit. A worker watches the calls of its script itself, and
// a plugin of the SDK those that it counts, more closely.
func (p *process) late(entries int, took time.Duration) error {
	limit := p.config.CallTime * time.Duration(max(entries, 1))
	if p.config.Script != nil || took <= limit+grace/2 {
		return nil
	}
	return fmt.Errorf("%w: it answered %d calls after %v, more than %v for each", strategies.ErrTimeout, entries, took.Round(time.Millisecond), p.config.CallTime)
}

// overdue kills a process that does not answer and returns the reason.
func (p *process) overdue(ctx context.Context, patience time.Duration) error {
	if ctx.Err() != nil && context.Cause(ctx) != context.DeadlineExceeded {
		p.fail(errStopped)
		p.child.kill()
		return context.Cause(ctx)
	}
	p.fail(fmt.Errorf("%w: killed because another call did not return in time", strategies.ErrCrashed))
	if ctx.Err() != nil {
		return fmt.Errorf("%w: killed because it did not answer by the deadline", strategies.ErrTimeout)
	}
	return fmt.Errorf("%w: killed because it did not answer within %v", strategies.ErrTimeout, patience)
}

// send sends a request. A process that does not read it in time is killed.
func (p *process) send(r *pb.PlayRequest) {
	deaf := time.AfterFunc(p.config.CallTime+grace, func() {
		p.fail(fmt.Errorf("%w: killed because it did not read its calls", strategies.ErrTimeout))
	})
	defer deaf.Stop()
	p.sending.Lock()
	defer p.sending.Unlock()
	_ = p.play.Send(r) // Recv returns the reason
}

// read receives answers until the stream ends.
func (p *process) read() {
	for {
		reply, err := p.play.Recv()
		if err != nil {
			p.fail(p.exitError(err))
			return
		}
		if us := reply.GetCpuUs(); us > 0 {
			p.cpu.Store(us)
		}
		p.mu.Lock()
		for _, r := range reply.GetSteps() {
			if c := p.calls[r.GetId()]; c != nil {
				select {
				case c.done <- r:
				default: // a second answer
				}
			}
		}
		for _, g := range reply.GetProgress() {
			if c := p.calls[g.GetId()]; c != nil {
				c.made.Store(g.GetCalls())
			}
		}
		p.mu.Unlock()
	}
}
