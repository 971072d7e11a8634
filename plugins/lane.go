package plugins

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"time"

	goplugin "github.com/hashicorp/go-plugin"

	"github.com/strategylab/strategylab/plugins/internal/memory"
	pb "github.com/strategylab/strategylab/plugins/internal/strategypb"
	"github.com/strategylab/strategylab/plugins/internal/wire"
)

// mostLanes is the number of lanes to a process. Beyond it steps share messages
// on the stream, which costs less than a thread for each.
const mostLanes = 16

// lane is a connection for one step at a time, without HTTP/2; see Lane in
// strategy.proto. The goroutine of the step writes and reads itself, so an
// exchange wakes one thread of each process.
type lane struct {
	process *process
	conn    io.ReadWriteCloser
	frames  *wire.Frames
	request pb.PlayRequest
	reply   pb.PlayReply
}

// lanes are the lanes to a process, guarded by the mutex of the process.
type lanes struct {
	offer *pb.Lane // nil without lanes
	all   []*lane
	idle  []*lane
	next  int // lanes open or being opened
}

// verifyLane returns an error unless the lanes of a plugin are as private as its
// gRPC connection.
func (p *process) verifyLane(l *pb.Lane) error {
	switch l.GetNetwork() {
	case "unix":
		if filepath.Dir(l.GetAddress()) == p.folder {
			return nil
		}
	case "tcp":
		host, _, err := net.SplitHostPort(l.GetAddress())
		if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsLoopback() && !p.config.NoTLS {
			return nil
		}
	}
	return fmt.Errorf("its lanes are at %s %q, want a socket in the folder named by %s", l.GetNetwork(), l.GetAddress(), goplugin.EnvUnixSocketDir)
}

// openLane opens a lane. ctx bounds the greeting.
func (p *process) openLane(ctx context.Context, offer *pb.Lane) (*lane, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, offer.GetNetwork(), offer.GetAddress())
	if err != nil {
		return nil, fmt.Errorf("open lane: %w", err)
	}
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	if err := wire.Greet(conn, offer.GetSecret()); err != nil {
		return nil, errors.Join(fmt.Errorf("open lane: %w", err), conn.Close())
	}
	raw, err := laneOf(conn, offer, memory.Offer)
	if err != nil {
		return nil, fmt.Errorf("open lane: %w", err)
	}
	return &lane{process: p, conn: raw, frames: wire.NewFrames(raw)}, nil
}

// laneOf turns a connection whose ends have greeted each other into a lane. share
// passes on or receives shared memory.
func laneOf(conn net.Conn, offer *pb.Lane, share func(*net.UnixConn) (io.ReadWriteCloser, error)) (io.ReadWriteCloser, error) {
	if unix, ok := conn.(*net.UnixConn); ok && offer.GetShared() {
		return share(unix)
	}
	_ = conn.SetDeadline(time.Time{})
	return blocking(conn)
}

// takeLane returns a free lane, or nil if the step has to use the stream. Call it
// with the lock held.
func (p *process) takeLane() *lane {
	if n := len(p.lanes.idle); n > 0 {
		l := p.lanes.idle[n-1]
		p.lanes.idle = p.lanes.idle[:n-1]
		return l
	}
	if p.lanes.offer == nil || p.lanes.next == mostLanes {
		return nil
	}
	p.lanes.next++
	offer := p.lanes.offer
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	l, err := p.openLane(ctx, offer)
	p.mu.Lock()
	switch {
	case err != nil:
		p.config.Log.Warn("plugin offers lanes that do not work; using gRPC", "plugin", p.config.Name, "reason", err)
		p.lanes.offer = nil
		return nil
	case p.why != nil:
		_ = l.conn.Close()
		return nil
	}
	p.lanes.all = append(p.lanes.all, l)
	return l
}

// closeLanes ends what waits on a lane. Call it with the lock held.
func (p *process) closeLanes() {
	for _, l := range p.lanes.all {
		_ = l.conn.Close()
	}
	p.lanes = lanes{}
}

// receiveLane receives the answer to a step on a lane. The goroutine of guard
// waits in await for steps that take long.
func (p *process) receiveLane(c *call) (*pb.StepReply, error) {
	p.mu.Lock()
	c.waiting = true
	p.mu.Unlock()
	reply, err := c.lane.answer(c)
	if err != nil {
		p.laneFailed(err)
	} else {
		c.done <- reply
	}
	p.mu.Lock()
	delete(p.calls, c.id)
	guarded := c.guarded
	if err == nil && p.why == nil {
		p.lanes.idle = append(p.lanes.idle, c.lane)
	}
	p.mu.Unlock()
	switch {
	case err == nil:
		return reply, nil
	case guarded != nil:
		return nil, <-guarded // why it was killed
	}
	return nil, p.reason()
}

func (l *lane) answer(c *call) (*pb.StepReply, error) {
	if c.broken != nil {
		return nil, c.broken
	}
	if err := l.frames.Receive(&l.reply); err != nil {
		return nil, err
	}
	steps := l.reply.GetSteps()
	if len(steps) != 1 || steps[0].GetId() != c.id {
		return nil, fmt.Errorf("%w: a lane answered another step", wire.ErrProtocol)
	}
	l.process.spentSoFar(&l.reply)
	return steps[0], nil
}

func (l *lane) send(s *pb.Step) error {
	l.request.Steps = append(l.request.Steps[:0], s)
	return l.frames.Send(&l.request)
}

func (p *process) laneFailed(err error) {
	if errors.Is(err, wire.ErrProtocol) {
		p.brokeProtocol()
		return
	}
	p.fail(p.exitError(err), false)
}

// guardEvery is the interval in which guard looks for steps that take long.
const guardEvery = 100 * time.Millisecond

// guard lets await watch the steps on lanes that take long: only they need a
// goroutine and a timer of their own. The time until the host looks for an answer
// does not count.
func (p *process) guard() {
	tick := time.NewTicker(guardEvery)
	defer tick.Stop()
	for {
		select {
		case <-p.died:
			return
		case <-tick.C:
		}
		p.mu.Lock()
		for _, c := range p.calls {
			if !c.waiting || c.guarded != nil {
				continue
			}
			if !c.seen {
				c.seen = true
				continue
			}
			guarded := make(chan error, 1)
			c.guarded = guarded
			p.reading.Go(func() {
				_, err := p.await(c)
				guarded <- err
			})
		}
		p.mu.Unlock()
	}
}
