package plugins

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	pb "github.com/strategylab/strategylab/plugins/internal/strategypb"
	"github.com/strategylab/strategylab/plugins/internal/wire"
	"github.com/strategylab/strategylab/strategies"
)

// group is the host's side of a batch of seats in one process.
type group struct {
	factory *factory
	process *process
	id      uint64
	encoder *wire.Encoder
	logs    map[strategies.SeatID]*slog.Logger // of seats that have one
	begun   bool
	mute    bool // drop what replayed calls print
	lost    error
}

// newGroup opens a group in a working process.
func (f *factory) newGroup(ctx context.Context) (*group, error) {
	p, err := f.supervisor.get(ctx)
	if err != nil {
		return nil, err
	}
	return &group{factory: f, process: p, id: p.groups.Add(1), encoder: wire.NewEncoder(), logs: make(map[strategies.SeatID]*slog.Logger)}, nil
}

// Step implements strategies.Batch.
func (g *group) Step(ctx context.Context, s *strategies.Step) error {
	if g.lost != nil {
		return g.lost
	}
	out := &pb.Step{Group: g.id, Strategy: g.factory.index}
	if g.lost = g.encoder.Encode(s, out); g.lost != nil {
		return g.lost
	}
	for i := range s.Open {
		if log := s.Open[i].Setup.Log; log != nil {
			g.logs[s.Open[i].Seat] = log
		}
	}
	g.begun = true
	reply, err := g.process.exchange(ctx, out, len(s.Open)+len(s.Observe)+len(s.Choose))
	if err != nil {
		g.lost = err
		return err
	}
	for _, line := range reply.GetLog() {
		if g.mute {
			break
		}
		forward(g.logs[strategies.SeatID(line.GetSeat())], line)
	}
	if err := g.encoder.Decode(reply, s, g.factory.source()); err != nil {
		g.lost = err
		if errors.Is(err, wire.ErrProtocol) {
			g.process.brokeProtocol()
		}
		return err
	}
	if len(g.logs) > 0 {
		for _, id := range s.Close {
			delete(g.logs, id)
		}
	}
	return nil
}

// Close implements strategies.Batch. It cannot fail: a group whose process hangs or has
// ended ends with it, and the next use of the process reports why.
func (g *group) Close() error {
	if g.lost != nil || !g.begun {
		return nil
	}
	g.lost = errEnded
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	_, _ = g.process.exchange(ctx, &pb.Step{Group: g.id, Strategy: g.factory.index, End: true}, 1)
	return nil
}

// grace is the time that a process gets beyond the limit of its calls, to report
// a timeout itself.
const grace = 500 * time.Millisecond

// call is a step that waits for its answer.
type call struct {
	ctx     context.Context
	id      uint64
	entries int                // calls of strategies in the step
	done    chan *pb.StepReply // has room for one
	made    atomic.Uint64      // completed calls, as the process reports
}

// exchange sends a step on the stream, where steps that become ready while a message
// is being sent share the next message, and waits for the answer. entries is the
// number of strategy calls in the step. After an error the process cannot be used.
func (p *process) exchange(ctx context.Context, s *pb.Step, entries int) (*pb.StepReply, error) {
	if deadline, ok := ctx.Deadline(); ok {
		s.BudgetUs = uint64(max(time.Until(deadline).Microseconds(), 1))
	}
	c := &call{ctx: ctx, entries: entries, done: make(chan *pb.StepReply, 1)}
	p.mu.Lock()
	if p.why != nil {
		defer p.mu.Unlock()
		return nil, p.why
	}
	p.lastID++
	c.id, s.Id = p.lastID, p.lastID
	p.calls[c.id] = c
	p.queue.Steps = append(p.queue.Steps, s)
	p.flush()
	defer func() {
		p.mu.Lock()
		delete(p.calls, c.id)
		p.mu.Unlock()
	}()
	return p.await(c)
}

// await waits for the answer to a step and kills the process if it takes too long.
func (p *process) await(c *call) (*pb.StepReply, error) {
	patience := 2*p.config.CallTime + grace
	if !p.progress {
		patience = p.config.CallTime*time.Duration(max(c.entries, 1)) + grace
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	made := uint64(0)
	given := c.ctx.Done()
	for {
		select {
		case r := <-c.done:
			return r, nil
		case <-p.died:
			select {
			case r := <-c.done: // the answer arrived first
				return r, nil
			default:
				return nil, p.reason()
			}
		case <-given:
			given = nil
			p.mu.Lock()
			p.queue.Cancel = append(p.queue.Cancel, c.id)
			p.flush()
			timer.Reset(grace)
		case <-timer.C:
			if now := c.made.Load(); p.progress && now != made && given != nil {
				made = now
				timer.Reset(patience)
				continue
			}
			return nil, p.overdue(c.ctx, patience)
		}
	}
}

// overdue kills a process that does not answer and returns the reason.
func (p *process) overdue(ctx context.Context, patience time.Duration) error {
	if ctx.Err() != nil && context.Cause(ctx) != context.DeadlineExceeded {
		p.fail(fmt.Errorf("%w: stopped during a call", strategies.ErrCrashed), true)
		return context.Cause(ctx)
	}
	p.fail(fmt.Errorf("%w: killed because another call did not return in time", strategies.ErrCrashed), false)
	if ctx.Err() != nil {
		return fmt.Errorf("%w: killed because it did not answer by the deadline", strategies.ErrTimeout)
	}
	return fmt.Errorf("%w: killed because it did not answer within %v", strategies.ErrTimeout, patience)
}

// flush sends the queue, unless another goroutine is sending and will take it
// along. Call it with the lock held; it releases the lock.
func (p *process) flush() {
	if p.sending {
		p.mu.Unlock()
		return
	}
	p.sending = true
	for p.why == nil && len(p.queue.Steps)+len(p.queue.Cancel) > 0 {
		req := p.queue
		p.queue = new(pb.PlayRequest)
		p.mu.Unlock()
		_ = p.stream.Send(req) // Recv returns the reason
		p.mu.Lock()
	}
	p.sending = false
	p.mu.Unlock()
}

// read receives answers until the stream ends.
func (p *process) read() {
	for {
		reply, err := p.stream.Recv()
		if err != nil {
			p.fail(p.exitError(err), false)
			return
		}
		p.spentSoFar(reply)
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

// errStuck is the end of a worker by its own report.
var errStuck = fmt.Errorf("%w: %s", strategies.ErrTimeout, stuckText)

// exitError returns how the process ended. The stream breaks shortly before the
// exit status is known.
func (p *process) exitError(err error) error {
	moment := time.NewTimer(grace)
	defer moment.Stop()
	select {
	case <-p.child.done:
	case <-moment.C:
	}
	_, state := p.child.status()
	if state == "" {
		return fmt.Errorf("%w: connection closed: %s", strategies.ErrCrashed, strategies.OneLine(err.Error(), mostText))
	}
	if p.output.reason() == stuckText && p.config.Script != nil {
		return errStuck
	}
	return fmt.Errorf("%w: %s", strategies.ErrCrashed, p.exited(state))
}

// noMemory is how the process of a script ends at its memory limit: by Go's runtime, by
// the C library, by the race detector, or by a signal where one of them does not expect
// the end of the memory.
var noMemory = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("out of memory|cannot allocate memory|pthread_create failed|failed to allocate|^SIG")
})

// exited says how a process ended whose exit state is known.
func (p *process) exited(state string) string {
	switch words := p.output.reason(); {
	case words == "":
		return state
	case p.config.Script != nil && noMemory().MatchString(words):
		return fmt.Sprintf("out of memory, of which a script has %d MiB", p.config.Memory>>20)
	default:
		return state + "; last output: " + words
	}
}

// fail marks the process as failed and kills it, once. innocent means that the
// failure is not its fault.
func (p *process) fail(why error, innocent bool) {
	p.mu.Lock()
	first := p.why == nil
	if first {
		p.why, p.innocent, p.single = why, innocent, len(p.calls) == 1
		close(p.died)
	}
	p.mu.Unlock()
	if first && why != errStopped {
		p.kill()
	}
}

// brokeProtocol kills a process after an invalid answer.
func (p *process) brokeProtocol() {
	p.fail(fmt.Errorf("%w: killed because its answers broke the protocol", strategies.ErrCrashed), false)
}

func (p *process) reason() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why
}

// stuckAlone reports whether the process has ended itself because a call ignored its
// interrupt, while one step was in progress.
func (p *process) stuckAlone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why == errStuck && p.single
}

// blamed reports whether the process failed by its own fault.
func (p *process) blamed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why != nil && !p.innocent
}
