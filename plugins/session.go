package plugins

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	pb "github.com/strategylab/strategylab/plugins/internal/strategypb"
	"github.com/strategylab/strategylab/plugins/internal/wire"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/batch"
	"github.com/strategylab/strategylab/strategies/budget"
)

// progressEvery is the longest interval of looks at the steps in progress.
const progressEvery = 100 * time.Millisecond

// session is the plugin's side of one Play stream.
type session struct {
	server *server
	stream grpc.BidiStreamingServer[pb.PlayRequest, pb.PlayReply]
	work   sync.WaitGroup

	mu     sync.Mutex
	groups map[uint64]*seats

	sending sync.Mutex
}

// Play implements the protocol: it handles each step in a goroutine of its own
// and ends all seats with the stream.
func (s *server) Play(stream grpc.BidiStreamingServer[pb.PlayRequest, pb.PlayReply]) error {
	ses := &session{server: s, stream: stream, groups: make(map[uint64]*seats)}
	ctx, cancel := context.WithCancel(stream.Context())
	ses.work.Go(func() { ses.reportProgress(ctx) })
	err := ses.receive(ctx)
	cancel()
	ses.work.Wait()
	for _, g := range ses.groups {
		g.end()
	}
	return err
}

func (ses *session) receive(ctx context.Context) error {
	for {
		req, err := ses.stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		for _, step := range req.GetSteps() {
			ses.work.Go(func() {
				ses.send(&pb.PlayReply{Steps: []*pb.StepReply{ses.carryOut(ctx, step)}})
			})
		}
		ses.cancelSteps(req.GetCancel())
	}
}

// carryOut carries out a step. Call it with one step of a group at a time.
func (ses *session) carryOut(ctx context.Context, step *pb.Step) *pb.StepReply {
	ses.mu.Lock()
	g := ses.groups[step.GetGroup()]
	if g == nil {
		g = newSeats(ses.server, step.GetStrategy())
		ses.groups[step.GetGroup()] = g
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if us := step.GetBudgetUs(); us > 0 {
		var end context.CancelFunc
		ctx, end = context.WithTimeout(ctx, time.Duration(us)*time.Microsecond)
		defer end()
	}
	g.running, g.stop, g.sent, g.since = step.GetId(), cancel, g.calls.Load(), 0
	ses.mu.Unlock()
	reply := g.step(ctx, step)
	ses.mu.Lock()
	if g.running = 0; step.GetEnd() {
		delete(ses.groups, step.GetGroup())
	}
	ses.mu.Unlock()
	if step.GetEnd() {
		g.end()
	}
	return reply
}

func (ses *session) cancelSteps(ids []uint64) {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	for _, g := range ses.groups {
		if slices.Contains(ids, g.running) {
			g.stop()
		}
	}
}

// send sends a reply.
func (ses *session) send(reply *pb.PlayReply) {
	ses.sending.Lock()
	defer ses.sending.Unlock()
	reply.CpuUs = uint64(budget.ProcessorTime().Microseconds())
	_ = ses.stream.Send(reply) // Recv returns the reason
}

// reportProgress looks at the steps in progress: it reports calls that they have completed,
// and marks the one that takes longer than the limit of a call. That is cheaper than to read
// the clock for each call.
func (ses *session) reportProgress(ctx context.Context) {
	const looks = 8 // in the limit of a call
	limit := ses.server.limit
	every := progressEvery
	if limit > 0 {
		every = min(every, max(limit/looks, time.Millisecond))
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		reply := new(pb.PlayReply)
		ses.mu.Lock()
		for _, g := range ses.groups {
			if g.running == 0 {
				continue
			}
			if n := g.calls.Load(); n != g.sent {
				g.sent, g.since = n, 0
				reply.Progress = append(reply.Progress, &pb.Progress{Id: g.running, Calls: n})
			} else if g.since++; limit > 0 && time.Duration(g.since-1)*every > limit { // the first may have come at once
				g.late.Store(n + 1)
			}
		}
		ses.mu.Unlock()
		if len(reply.Progress) > 0 {
			ses.send(reply)
		}
	}
}

// seats is the plugin's side of one group.
type seats struct {
	calls atomic.Uint64 // completed
	late  atomic.Uint64 // which call takes too long, from 1
	limit time.Duration // of a call; 0 if others see to it

	// The mutex of the session guards these.
	running uint64             // the step in progress; 0 for none
	stop    context.CancelFunc // ends that
	sent    uint64             // calls at the last look
	since   int                // looks at which there were no more

	// The goroutine of the step in progress uses these; hosts send one of a group at a time.
	batch   strategies.Batch
	decoder *wire.Decoder
	log     logLines
	lost    error
	scratch strategies.Step
}

func newSeats(s *server, strategy uint32) (g *seats) {
	g = &seats{limit: s.limit}
	g.decoder = wire.NewDecoder(func(id strategies.SeatID) *slog.Logger {
		return slog.New(&logHandler{lines: &g.log, seat: uint32(id)})
	})
	defer strategies.Rescue(&g.lost)
	s.mu.Lock()
	all := s.factories
	s.mu.Unlock()
	if int(strategy) >= len(all) {
		g.lost = fmt.Errorf("no strategy %d: this process serves %d", strategy, len(all))
		return g
	}
	own, ok := all[strategy].(strategies.Batcher)
	if !ok { // its calls are counted, and timed
		own = batch.Watched(all[strategy], g.called)
	}
	g.batch, g.lost = own.NewBatch(context.Background())
	return g
}

// step carries out one step. ctx bounds the calls of strategies, not the group.
func (g *seats) step(ctx context.Context, in *pb.Step) *pb.StepReply {
	out := &pb.StepReply{Id: in.GetId()}
	s := &g.scratch
	s.Reset()
	if g.lost == nil {
		g.lost = g.decoder.Decode(in, s)
	}
	if g.lost == nil {
		g.lost = g.carryOut(ctx, s)
	}
	if g.lost != nil {
		out.Lost = g.lost.Error()
		return out
	}
	g.decoder.Reply(s, out)
	out.Log = g.log.take()
	return out
}

func (g *seats) carryOut(ctx context.Context, s *strategies.Step) (err error) {
	defer strategies.Rescue(&err)
	err = g.batch.Step(ctx, s)
	if err != nil && ctx.Err() != nil && len(s.Choices) == len(s.Choose) {
		return nil // every seat has reported its own timeout
	}
	if err == nil && len(s.Choices) != len(s.Choose) {
		return fmt.Errorf("batch returned %d choices, want %d", len(s.Choices), len(s.Choose))
	}
	return err
}

func (g *seats) end() {
	defer func() { _ = recover() }() // errors on close are of no use
	if g.batch != nil {
		_ = g.batch.Close()
	}
}

var errEnded = errors.New("group closed")

// called counts a call that has returned, and makes it fail if it took too long.
func (g *seats) called(err error) error {
	if g.calls.Add(1) == g.late.Load() {
		return fmt.Errorf("%w: the call took more than %v", strategies.ErrTimeout, g.limit)
	}
	return err
}
