package plugins

import (
	"context"
	"io"
	"net"
	"sync"
	"time"

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
			ses.work.Go(func() { ses.serveLane(ctx, conn, offer.GetSecret(), open) })
		}
	})
	return func() {
		_ = listener.Close()
		open.close()
	}
}

// serveLane answers the steps of one lane, one after another.
func (ses *session) serveLane(ctx context.Context, conn net.Conn, secret []byte, open *openLanes) {
	_ = conn.SetDeadline(time.Now().Add(stopTime))
	if err := wire.Welcome(conn, secret); err != nil {
		_ = conn.Close()
		return
	}
	_ = conn.SetDeadline(time.Time{})
	raw, err := blocking(conn)
	if err != nil {
		return
	}
	defer open.remove(raw)
	if !open.add(raw) {
		return
	}
	frames := wire.NewFrames(raw)
	for {
		var request pb.PlayRequest
		if frames.Receive(&request) != nil || len(request.GetSteps()) != 1 {
			return
		}
		reply := ses.carryOut(ctx, request.GetSteps()[0])
		if frames.Send(&pb.PlayReply{Steps: []*pb.StepReply{reply}, CpuUs: cpuTime()}) != nil {
			return
		}
	}
}

// openLanes are the lanes to close at the end of a session.
type openLanes struct {
	mu     sync.Mutex
	closed bool
	of     map[io.Closer]bool
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
