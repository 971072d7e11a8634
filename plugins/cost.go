package plugins

import (
	"fmt"
	"slices"
	"time"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

// costs is what the bounded seats of a plugin in one group have cost: how long the host
// waited for them. A busy machine makes that longer than it is, so they have as much time
// as counted strategies. Seats of a worker count for themselves, where they run.
type costs struct {
	seats map[strategies.SeatID]*seatCost
	drop  []strategies.SeatID // seats that the host has ended; the plugin does not know yet
}

type seatCost struct {
	total budget.Total
	spent time.Duration
}

// worthCounting is the time of one call below which nobody cares.
const worthCounting = 20 * time.Microsecond

// begin prepares a step: the seats that it opens, and the end of those that were ended.
func (c *costs) begin(config *Config, s *strategies.Step) {
	s.Close, c.drop = append(s.Close, c.drop...), c.drop[:0]
	if config.Script != nil {
		return
	}
	for i := range s.Open {
		if setup := &s.Open[i].Setup; setup.Bounded {
			if c.seats == nil {
				c.seats = make(map[strategies.SeatID]*seatCost)
			}
			total := budget.Limits{Time: config.CallTime}.Total(setup.Legs * (len(setup.Field) - 1))
			c.seats[s.Open[i].Seat] = &seatCost{total: total.Counted()}
		}
	}
}

// add shares the time of a step among its calls, ends the seats that have taken more than a
// single league may take, and reports what those cost that end.
func (c *costs) add(f *factory, s *strategies.Step, took time.Duration) {
	if len(c.seats) == 0 {
		return
	}
	called := called(s)
	if each := took / time.Duration(max(1, len(called))); each >= worthCounting {
		for _, id := range called {
			if seat := c.seats[id]; seat != nil {
				seat.spent += each
			}
		}
		c.stop(f, s)
	}
	for _, failed := range s.Failed {
		if strategies.EndsSeat(failed.Op, strategies.FaultOf(failed.Err)) {
			c.end(failed.Seat, s)
		}
	}
	for _, id := range s.Close {
		c.end(id, s)
	}
}

// stop fails the seats that choose in a step and have taken too much.
func (c *costs) stop(f *factory, s *strategies.Step) {
	for i := range s.Choose {
		id := s.Choose[i].Seat
		seat := c.seats[id]
		if seat == nil {
			continue
		}
		most, _ := seat.total.Most()
		if seat.spent <= most || slices.ContainsFunc(s.Failed, func(e strategies.SeatError) bool { return e.Seat == id }) {
			continue
		}
		err := strategies.Wrap(f.source(), strategies.OpChoose, fmt.Errorf("%w: more than %v in one league", strategies.ErrTimeout, most))
		s.Failed = append(s.Failed, strategies.SeatError{Seat: id, Op: strategies.OpChoose, Index: i, Err: err})
		c.drop = append(c.drop, id)
	}
}

// end reports what a seat has cost, once.
func (c *costs) end(id strategies.SeatID, s *strategies.Step) {
	seat := c.seats[id]
	if seat == nil {
		return
	}
	delete(c.seats, id)
	if spent := seat.total.Share(seat.spent, 0); spent.Over() {
		s.Spent = append(s.Spent, strategies.SeatSpent{Seat: id, Spent: spent})
	}
}
