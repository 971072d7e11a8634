package plugins

import (
	"context"
	"io"
	"net"
	"runtime"
	"sync"
	"time"

	"github.com/strategylab/strategylab/plugins/internal/memory"
	pb "github.com/strategylab/strategylab/plugins/internal/strategypb"
	"github.com/strategylab/strategylab/plugins/internal/wire"
)

// serveLanes accepts lanes until the returned function is called, which closes
// them and lets the steps in progress end.
func (ses *session) serveLanes(ctx context.Context) (stop func()) {
	ses.server.mu.Lock()
	listener, offer := ses.server.lanes, ses.server.offer
	ses.server.mu.Unlock()
	if listener == nil {
		return func() {}
	}
	open := &openLanes{of: make(map[io.Closer]bool)}
	ses.work.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			ses.work.Go(func() { ses.serveLane(ctx, conn, offer, open) })
		}
	})
	return func() {
		_ = listener.Close()
		open.close()
	}
}

// measureEvery is the interval in which a lane reports processor time: asking for
// it costs as much as a step.
const measureEvery = 10 * time.Millisecond

// serveLane answers the steps of one lane, one after another.
func (ses *session) serveLane(ctx context.Context, conn net.Conn, offer *pb.Lane, open *openLanes) {
	_ = conn.SetDeadline(time.Now().Add(stopTime))
	if err := wire.Welcome(conn, offer.GetSecret()); err != nil {
		_ = conn.Close()
		return
	}
	own := offer.GetShared() && open.addProcessor()
	defer open.removeProcessor(own)
	raw, err := laneOf(conn, offer, func(conn *net.UnixConn) (io.ReadWriteCloser, error) { return memory.Accept(conn, own) })
	if err != nil {
		return
	}
	defer open.remove(raw)
	if !open.add(raw) {
		return
	}
	frames := wire.NewFrames(raw)
	var measured time.Time
	var request pb.PlayRequest
	var reply pb.PlayReply
	for {
		if frames.Receive(&request) != nil || len(request.GetSteps()) != 1 {
			return
		}
		reply.Steps, reply.CpuUs = append(reply.Steps[:0], ses.carryOut(ctx, request.GetSteps()[0])), 0
		if now := time.Now(); now.Sub(measured) > measureEvery {
			measured, reply.CpuUs = now, cpuTime()
		}
		if frames.Send(&reply) != nil {
			return
		}
	}
}

// openLanes are the lanes to close at the end of a session.
type openLanes struct {
	mu     sync.Mutex
	closed bool
	of     map[io.Closer]bool
	added  int // processors
}

// addProcessor adds a processor for a lane that waits, unless there are as many of
// them as the machine has: idle ones make Go's scheduler search for work.
func (o *openLanes) addProcessor() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.added == runtime.NumCPU() {
		return false
	}
	o.added++
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	return true
}

func (o *openLanes) removeProcessor(added bool) {
	if !added {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.added--
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) - 1)
}

// add returns false if the session has ended.
func (o *openLanes) add(c io.Closer) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.of[c] = true
	return !o.closed
}

func (o *openLanes) remove(c io.Closer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.of, c)
	_ = c.Close()
}

func (o *openLanes) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	for c := range o.of {
		_ = c.Close()
	}
}
