package plugins

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	pb "github.com/strategylab/strategylab/plugins/internal/strategypb"
	"github.com/strategylab/strategylab/plugins/internal/wire"
	"github.com/strategylab/strategylab/strategies"
)

// group is the host's side of seats in one process: a strategies.Batch.
type group struct {
	factory *factory
	process *process
	id      uint64
	encoder *wire.Encoder
	logs    map[strategies.SeatID]*slog.Logger // of seats that have one
	begun   bool
	mute    bool // seats say what they have said before
	lost    error
}

// newGroup opens a group in a process that is of use.
func (f *factory) newGroup(ctx context.Context) (*group, error) {
	p, err := f.supervisor.get(ctx)
	if err != nil {
		return nil, err
	}
	return f.groupIn(p), nil
}

func (f *factory) groupIn(p *process) *group {
	return &group{factory: f, process: p, id: p.groups.Add(1), encoder: wire.NewEncoder(), logs: make(map[strategies.SeatID]*slog.Logger)}
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
	reply, err := g.process.step(ctx, out, len(s.Open)+len(s.Observe)+len(s.Choose))
	if err != nil {
		g.lost = err
		return err
	}
	for _, line := range reply.GetLog() {
		if g.mute {
			break
		}
		printed(g.logs[strategies.SeatID(line.GetSeat())], line)
	}
	if err := g.encoder.Decode(reply, s, g.factory.source()); err != nil {
		g.lost = err
		if errors.Is(err, wire.ErrProtocol) {
			g.process.fail(fmt.Errorf("%w: it was killed, because its answers make no sense", strategies.ErrCrashed), false)
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

// Close implements strategies.Batch.
func (g *group) Close() error {
	if g.lost != nil || !g.begun {
		return nil
	}
	g.lost = errEnded
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	_, err := g.process.step(ctx, &pb.Step{Group: g.id, Strategy: g.factory.index, End: true}, 1)
	if errors.Is(err, strategies.ErrCrashed) {
		return nil // then it has ended, too
	}
	return err
}

// endQuietly ends a group that may not exist, or be lost.
func (g *group) endQuietly() {
	if g != nil {
		_ = g.Close() // what could be wrong is noticed by the next who uses the process
	}
}

// grace is how long a process may take over the time that its calls have, so
// that it can say for itself that one has overrun.
const grace = 500 * time.Millisecond

// call is a step that waits for its answer.
type call struct {
	done chan *pb.StepReply // has room for one
	made atomic.Uint64      // calls that the process says it has completed
}

// step sends a step and waits for its answer. Steps of several goroutines that
// are ready while a message is being sent go together in the next. calls is
// how many calls of the strategy the step comes to. An error means that the
// process is lost, or will be.
func (p *process) step(ctx context.Context, s *pb.Step, calls int) (*pb.StepReply, error) {
	if deadline, ok := ctx.Deadline(); ok {
		s.BudgetUs = uint64(max(time.Until(deadline).Microseconds(), 1))
	}
	c := &call{done: make(chan *pb.StepReply, 1)}
	p.mu.Lock()
	if p.why != nil {
		defer p.mu.Unlock()
		return nil, p.why
	}
	p.lastID++
	s.Id = p.lastID
	p.calls[s.Id] = c
	p.queue.Steps = append(p.queue.Steps, s)
	p.flush()
	defer func() {
		p.mu.Lock()
		delete(p.calls, s.Id)
		p.mu.Unlock()
	}()
	return p.await(ctx, s.Id, c, calls)
}

func (p *process) await(ctx context.Context, id uint64, c *call, calls int) (*pb.StepReply, error) {
	patience := 2*p.config.CallTime + grace
	if !p.progress {
		patience = p.config.CallTime*time.Duration(max(calls, 1)) + grace
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	made := uint64(0)
	given := ctx.Done()
	for {
		select {
		case r := <-c.done:
			return r, nil
		case <-p.died:
			select {
			case r := <-c.done: // it came first
				return r, nil
			default:
				return nil, p.reason()
			}
		case <-given:
			given = nil
			p.cut(id)
			timer.Reset(grace)
		case <-timer.C:
			if now := c.made.Load(); p.progress && now != made && given != nil {
				made = now
				timer.Reset(patience)
				continue
			}
			return nil, p.overdue(ctx, patience)
		}
	}
}

// overdue kills a process that does not answer, and says whose fault it is.
func (p *process) overdue(ctx context.Context, patience time.Duration) error {
	if ctx.Err() != nil && context.Cause(ctx) != context.DeadlineExceeded {
		p.fail(fmt.Errorf("%w: it was stopped with a call under way", strategies.ErrCrashed), true)
		return context.Cause(ctx)
	}
	p.fail(fmt.Errorf("%w: it was killed, because it did not answer another call in time", strategies.ErrCrashed), false)
	if ctx.Err() != nil {
		return fmt.Errorf("%w: it did not answer by the deadline, and was killed", strategies.ErrTimeout)
	}
	return fmt.Errorf("%w: it did not answer within %v, and was killed", strategies.ErrTimeout, patience)
}

// flush sends what is queued, unless somebody else is at it already and will
// take it along. It is called with the lock held and gives it up.
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
		_ = p.stream.Send(req) // why it fails is told by Recv
		p.mu.Lock()
	}
	p.sending = false
	p.mu.Unlock()
}

// cut tells the process that nobody waits for a step any more.
func (p *process) cut(id uint64) {
	p.mu.Lock()
	p.queue.Cancel = append(p.queue.Cancel, id)
	p.flush()
}

// read takes answers until the stream ends.
func (p *process) read() {
	for {
		reply, err := p.stream.Recv()
		if err != nil {
			p.fail(p.exitError(err), false)
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
				default: // answered twice
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

// exitError says how the process ended. The stream breaks a moment before the
// process is known to be gone.
func (p *process) exitError(err error) error {
	moment := time.NewTimer(grace)
	defer moment.Stop()
	select {
	case <-p.child.done:
	case <-moment.C:
	}
	_, state := p.child.said()
	if state == "" {
		return fmt.Errorf("%w: it broke off the connection: %s", strategies.ErrCrashed, strategies.OneLine(err.Error(), mostText))
	}
	if words := p.output.words(); words != "" {
		state += "; its last words: " + words
	}
	return fmt.Errorf("%w: %s", strategies.ErrCrashed, state)
}

// fail puts the process out of use and kills it, once. innocent says that this
// is not its fault.
func (p *process) fail(why error, innocent bool) {
	p.mu.Lock()
	first := p.why == nil
	if first {
		p.why, p.innocent = why, innocent
		close(p.died)
	}
	p.mu.Unlock()
	if first && why != errStopped {
		p.kill()
	}
}

func (p *process) reason() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why
}

// blamed reports whether the process is out of use by its own fault.
func (p *process) blamed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why != nil && !p.innocent
}
