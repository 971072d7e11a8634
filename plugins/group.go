package plugins

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	pb "github.com/strategylab/strategylab/plugins/internal/strategypb"
	"github.com/strategylab/strategylab/plugins/internal/wire"
	"github.com/strategylab/strategylab/strategies"
)

// group is the host's side of a batch of seats in one process.
type group struct {
	factory *factory
	process *stream
	id      uint64
	encoder *wire.Encoder
	costs   costs
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
	g.costs.begin(&g.factory.supervisor.config, s)
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
	entries, begun := len(s.Open)+len(s.Observe)+len(s.Choose), time.Now()
	reply, err := g.process.exchange(ctx, out, entries)
	if err == nil {
		if err = g.process.late(entries, time.Since(begun)); err != nil {
			_ = g.Close() // the process lives
		}
	}
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
			g.process.fail(fmt.Errorf("%w: killed because its answers broke the protocol", strategies.ErrCrashed), false)
		}
		return err
	}
	g.costs.add(g.factory, s, time.Since(begun))
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

// called returns the seat of each call in a step.
func called(s *strategies.Step) (seats []strategies.SeatID) {
	for i := range s.Open {
		seats = append(seats, s.Open[i].Seat)
	}
	for i := range s.Observe {
		seats = append(seats, s.Observe[i].Seat)
	}
	for i := range s.Choose {
		seats = append(seats, s.Choose[i].Seat)
	}
	return seats
}
