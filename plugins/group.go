package plugins

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

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
	p, err := f.keeper.get(ctx)
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
