package served

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

// NewBatch implements strategies.Batcher. It starts nothing before a seat must be asked.
func (f *Factory) NewBatch(context.Context) (strategies.Batch, error) {
	return &batch{factory: f, seats: make(map[strategies.SeatID]*seat)}, nil
}

// batch is a group of seats that share an agent or, if it starts for each league, have one each.
type batch struct {
	factory *Factory
	seats   map[strategies.SeatID]*seat
	window  window

	mu    sync.Mutex
	agent *agent // that the seats share; nil until one must be asked
}

// task is what a seat has to do in a step.
type task struct {
	seat     *seat
	outcomes []*strategies.Outcome
	turn     int // in Step.Choose; -1 for none
	choice   strategies.Choice
	failed   *strategies.SeatError
}

// Step implements strategies.Batch. Seats play at the same time, as many as the window allows.
func (b *batch) Step(ctx context.Context, s *strategies.Step) error {
	for i := range s.Open {
		b.seats[s.Open[i].Seat] = newSeat(b, &s.Open[i].Setup)
	}
	var tasks []*task
	of := make(map[strategies.SeatID]*task)
	taskOf := func(id strategies.SeatID) *task {
		t := of[id]
		if t == nil && b.seats[id] != nil {
			t = &task{seat: b.seats[id], turn: -1}
			of[id], tasks = t, append(tasks, t)
		}
		return t
	}
	for i := range s.Observe {
		if t := taskOf(s.Observe[i].Seat); t != nil {
			t.outcomes = append(t.outcomes, &s.Observe[i].Outcome)
		}
	}
	for i := range s.Choose {
		if t := taskOf(s.Choose[i].Seat); t != nil {
			t.turn = i
		}
	}
	began := time.Now()
	asked := b.inFlight(tasks, func(t *task) { t.run(ctx, s) })
	b.window.adapt(time.Since(began), asked, b.factory.config.Deadline)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.Choices = append(s.Choices, make([]strategies.Choice, len(s.Choose))...)
	for _, t := range tasks {
		if t.turn >= 0 {
			s.Choices[t.turn] = t.choice
		}
		if t.failed != nil {
			id := s.Choose[t.turn].Seat
			t.failed.Seat, t.failed.Index = id, t.turn
			s.Failed = append(s.Failed, *t.failed)
			if strategies.EndsSeat(strategies.OpChoose, strategies.FaultOf(t.failed.Err)) {
				b.end(ctx, id, s)
			}
		}
	}
	for _, id := range s.Close {
		b.end(ctx, id, s)
	}
	return nil
}

// inFlight does tasks, as many at the same time as the window allows, and returns how many
// asked the agent.
func (b *batch) inFlight(tasks []*task, do func(*task)) int {
	size := min(b.window.get(), len(tasks))
	if size <= 1 {
		for _, t := range tasks {
			do(t)
		}
	} else {
		var next atomic.Int64
		var all sync.WaitGroup
		for range size {
			all.Go(func() {
				for i := next.Add(1) - 1; i < int64(len(tasks)); i = next.Add(1) - 1 {
					do(tasks[i])
				}
			})
		}
		all.Wait()
	}
	asked := 0
	for _, t := range tasks {
		if t.turn >= 0 && t.seat.live {
			asked++
		}
	}
	return asked
}

func (t *task) run(ctx context.Context, s *strategies.Step) {
	for _, o := range t.outcomes {
		t.seat.observe(ctx, o)
	}
	if t.turn < 0 {
		return
	}
	var err error
	if t.choice, err = t.seat.choose(ctx, &s.Choose[t.turn].Turn); err != nil && ctx.Err() == nil {
		name := t.seat.batch.factory.spec.Name
		t.failed = &strategies.SeatError{Op: strategies.OpChoose, Err: &strategies.Error{Source: name, Op: strategies.OpChoose, Err: err}}
	}
}

// end ends a seat, and reports what it has cost.
func (b *batch) end(ctx context.Context, id strategies.SeatID, s *strategies.Step) {
	seat := b.seats[id]
	if seat == nil {
		return
	}
	delete(b.seats, id)
	seat.leave(ctx)
	if spent := seat.spent(); spent.Over() {
		s.Spent = append(s.Spent, strategies.SeatSpent{Seat: id, Spent: spent})
	}
}

// Close implements strategies.Batch.
func (b *batch) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), b.factory.config.Deadline)
	defer cancel()
	for id := range b.seats {
		b.end(ctx, id, new(strategies.Step))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.agent != nil {
		b.factory.release(b.agent)
		b.agent = nil
	}
	return nil
}

var errOffline = errors.New("the cassette has no answer for this match, and --offline asks nobody")

// shared returns the agent of the batch, another one if the last has ended.
func (b *batch) shared(ctx context.Context) (*agent, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.agent != nil && b.agent.process.dead() {
		b.factory.release(b.agent)
		b.agent = nil
	}
	if b.agent == nil {
		var err error
		if b.agent, err = b.factory.acquire(ctx); err != nil {
			return nil, err
		}
	}
	return b.agent, nil
}

// mostInFlight is the largest number of matches of a batch in flight.
const mostInFlight = 16

// window is how many matches are in flight together: more and more, as long as that takes
// the agent no longer for each. An agent that waits for others while it thinks answers many
// at once; one that computes, or answers one after the other, would only be late.
type window struct {
	size    int
	best    time.Duration // the least time of a match so far
	matches int           // since the size was changed
	took    time.Duration // by them, all seats together
	settled bool
}

func (w *window) get() int { return max(1, w.size) }

// fewest is how many matches say how long one takes.
const fewest = 12

// adapt learns from a step in which some matches took a time together.
func (w *window) adapt(took time.Duration, matches int, deadline time.Duration) {
	if matches == 0 {
		return
	}
	size := min(w.get(), matches)
	w.matches, w.took = w.matches+matches, w.took+took*time.Duration(size)
	if w.matches < fewest {
		return
	}
	each := w.took / time.Duration(w.matches)
	if w.best == 0 || each < w.best {
		w.best = each
	}
	switch {
	case w.size > 1 && (each > 2*w.best || each > deadline/4):
		w.size, w.settled = w.size/2, true
	case !w.settled && each < w.best*3/2 && each < deadline/4:
		w.size = min(2*w.get(), mostInFlight)
	}
	w.matches, w.took = 0, 0
}

// total is what the answers of an agent may take in a league, as package budget has it for
// scripts in its first version: half of a deadline for each match on the average, and two deadlines beside.
func (f *Factory) total(s *strategies.Setup) budget.Total {
	const parts = 40
	return budget.Limits{Time: parts * f.config.Deadline}.Total(min(s.Totals, 1), s.Matches())
}
