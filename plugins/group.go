package plugins

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	pb "github.com/strategylab/strategylab/plugins/internal/strategypb"
	"github.com/strategylab/strategylab/plugins/internal/wire"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

// group is the host's side of a batch of seats in one process.
type group struct {
	factory *factory
	process *process
	id      uint64
	encoder *wire.Encoder
	costs   map[strategies.SeatID]*seatCost
	drop    []strategies.SeatID                // seats that the host has ended; the plugin does not know yet
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
	return &group{
		factory: f, process: p, id: p.groups.Add(1), encoder: wire.NewEncoder(),
		costs: make(map[strategies.SeatID]*seatCost), logs: make(map[strategies.SeatID]*slog.Logger),
	}, nil
}

// Step implements strategies.Batch.
func (g *group) Step(ctx context.Context, s *strategies.Step) error {
	if g.lost != nil {
		return g.lost
	}
	s.Close, g.drop = append(s.Close, g.drop...), g.drop[:0]
	out := &pb.Step{Group: g.id, Strategy: g.factory.index}
	if g.lost = g.encoder.Encode(s, out); g.lost != nil {
		return g.lost
	}
	config := &g.factory.supervisor.config
	for i := range s.Open {
		id, setup := s.Open[i].Seat, &s.Open[i].Setup
		if setup.Log != nil {
			g.logs[id] = setup.Log
		}
		if setup.Totals > 0 && config.Script == nil {
			g.costs[id] = newSeatCost(config.CallTime, setup)
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
			g.process.fail(fmt.Errorf("%w: killed because its answers broke the protocol", strategies.ErrCrashed))
		}
		return err
	}
	g.charge(s, time.Since(begun))
	for _, id := range s.Close {
		delete(g.logs, id)
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

// seatCost is what a bounded seat of a plugin has cost: how long the host waited for it. A
// busy machine makes that several times as long, so the first bound holds for it, of twice the
// time. The bound of the version holds for what remains without the waits for a processor.
// Seats of a worker count for themselves, where they run.
type seatCost struct {
	waiting, working budget.Total // working is the zero value in the first version
	spent            time.Duration
}

func newSeatCost(limit time.Duration, s *strategies.Setup) *seatCost {
	c := &seatCost{waiting: budget.Limits{Time: 2 * limit}.Total(1, s.Matches())}
	if s.Totals > 1 {
		c.working = budget.Limits{Time: limit}.Total(s.Totals, s.Matches())
	}
	return c
}

// share returns what a seat has cost of what a league may cost.
func (c *seatCost) share(p *process) strategies.Spent {
	spent := c.waiting.Share(c.spent, 0)
	if !spent.Over() && c.working.Share(c.spent, 0).Over() {
		return c.working.Share(time.Duration(p.busy()*float64(c.spent)), 0)
	}
	return spent
}

// charge shares the time of a step among its calls, ends the seats that have taken more
// than a single league may take, and reports what those cost that end.
func (g *group) charge(s *strategies.Step, took time.Duration) {
	g.process.waited.Add(int64(took))
	if len(g.costs) == 0 {
		return
	}
	called := called(s)
	each := took / time.Duration(max(1, len(called)))
	for _, id := range called {
		if seat := g.costs[id]; seat != nil {
			seat.spent += each
		}
	}
	ended := slices.Clone(s.Close)
	for _, failed := range s.Failed {
		if strategies.EndsSeat(failed.Op, strategies.FaultOf(failed.Err)) {
			ended = append(ended, failed.Seat)
		}
	}
	for i := range s.Choose {
		id := s.Choose[i].Seat
		seat := g.costs[id]
		if seat == nil || slices.ContainsFunc(s.Failed, func(e strategies.SeatError) bool { return e.Seat == id }) {
			continue
		}
		if most, _ := seat.waiting.Most(); seat.spent > most {
			err := strategies.Wrap(g.factory.source(), strategies.OpChoose, fmt.Errorf("%w: more than %v in one league", strategies.ErrTimeout, most))
			s.Failed = append(s.Failed, strategies.SeatError{Seat: id, Op: strategies.OpChoose, Index: i, Err: err})
			g.drop, ended = append(g.drop, id), append(ended, id)
		}
	}
	for _, id := range ended {
		if seat := g.costs[id]; seat != nil {
			if spent := seat.share(g.process); spent.Over() {
				s.Spent = append(s.Spent, strategies.SeatSpent{Seat: id, Spent: spent})
			}
			delete(g.costs, id)
		}
	}
}
