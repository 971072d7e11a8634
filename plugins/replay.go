package plugins

import (
	"context"
	"maps"
	"slices"

	"github.com/strategylab/strategylab/strategies"
)

// replayed is a batch that rebuilds its seats when their process ends.
type replayed struct {
	factory  *factory
	group    *group // nil before the first step and after a loss
	callLogs callLogs
	lost     error
}

// Step implements strategies.Batch.
func (r *replayed) Step(ctx context.Context, s *strategies.Step) error {
	if r.lost != nil {
		return r.lost
	}
	sent, err := r.step(ctx, s)
	switch {
	case err == nil:
		r.callLogs.enter(s)
	case Died(err) && ctx.Err() == nil:
		err = r.recover(ctx, s, sent)
	}
	if err != nil {
		r.lost = err
	}
	return err
}

// step carries out a step beside those of other groups, and reports whether the
// process was asked to. It holds the supervisor's trial lock for reading.
func (r *replayed) step(ctx context.Context, s *strategies.Step) (sent bool, err error) {
	trial := &r.factory.supervisor.trial
	trial.RLock()
	defer trial.RUnlock()
	if err := r.ensure(ctx); err != nil {
		return false, err
	}
	return true, r.group.Step(ctx, s)
}

// ensure opens the group if necessary. If the process ended since the last step,
// it rebuilds all seats together: none of them was being called.
func (r *replayed) ensure(ctx context.Context) (err error) {
	if r.group == nil || r.group.process.failure() != nil {
		if r.group, err = r.factory.newGroup(ctx); err != nil {
			return err
		}
		if len(r.callLogs) > 0 {
			return r.rebuild(ctx, r.group, slices.Sorted(maps.Keys(r.callLogs)))
		}
	}
	return nil
}

// recover finds the seats that killed the process, and carries out the step for the others.
// It is alone in the process, so that a failure points to the one seat that is tried. The
// only seat that a step calls needs no trial if the process has ended by its own report:
// that would take the time limit of a call again. Seats that survive alone, but not
// together, are lost from the next step on.
func (r *replayed) recover(ctx context.Context, s *strategies.Step, sent bool) error {
	trial := &r.factory.supervisor.trial
	trial.Lock()
	defer trial.Unlock()
	s.Choices, s.Failed, s.Spent = make([]strategies.Choice, len(s.Choose)), s.Failed[:0], s.Spent[:0]
	r.callLogs.open(s)
	stuck := false
	if sent {
		p := r.group.process
		p.mu.Lock()
		stuck = p.failure() == errStuck && p.single // its only step has ended it
		p.mu.Unlock()
	}
	r.group = nil
	concerned := append(called(s), s.Close...)
	slices.Sort(concerned)
	concerned = slices.Compact(concerned)
	for _, id := range concerned {
		err := errStuck
		if !stuck || len(concerned) > 1 {
			err = r.try(ctx, id, s)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			r.refuse(s, id, err)
		}
	}
	if r.callLogs.enter(s); len(r.callLogs) > 0 {
		r.lost = r.ensure(ctx)
	}
	return nil
}

// try rebuilds a seat in a new group and carries out its part of a step there.
func (r *replayed) try(ctx context.Context, id strategies.SeatID, s *strategies.Step) error {
	g, err := r.factory.newGroup(ctx)
	if err != nil {
		return err
	}
	defer g.Close() // the next use of the process reports what is wrong
	if err := r.rebuild(ctx, g, []strategies.SeatID{id}); err != nil {
		return err
	}
	part, places := partOf(s, id)
	if err := g.Step(ctx, &part); err != nil {
		return err
	}
	s.Spent = append(s.Spent, part.Spent...)
	for i, place := range places {
		s.Choices[place] = part.Choices[i]
	}
	for _, f := range part.Failed {
		if f.Op == strategies.OpChoose {
			f.Index = places[f.Index]
		}
		s.Failed = append(s.Failed, f)
	}
	return nil
}

// refuse records the loss of a seat in the operation that the step asked of it.
func (r *replayed) refuse(s *strategies.Step, id strategies.SeatID, err error) {
	f := strategies.SeatError{Seat: id, Op: strategies.OpObserve, Err: err}
	for i := range s.Choose {
		if s.Choose[i].Seat == id {
			f.Op, f.Index = strategies.OpChoose, i
		}
	}
	for i := range s.Open {
		if s.Open[i].Seat == id {
			f.Op, f.Index = strategies.OpStart, 0
		}
	}
	f.Err = strategies.Wrap(r.factory.source(), f.Op, err)
	s.Failed = append(s.Failed, f)
}

// rebuild makes seats again in a group and repeats their calls, in as few steps
// as possible. It fails if a seat does.
func (r *replayed) rebuild(ctx context.Context, g *group, seats []strategies.SeatID) error {
	g.mute = true
	defer func() { g.mute = false }()
	var s strategies.Step
	left := make([][]any, len(seats))
	for i, id := range seats {
		s.Open = append(s.Open, strategies.OpenSeat{Seat: id, Setup: r.callLogs[id].setup})
		left[i] = r.callLogs[id].calls
	}
	for more := true; more; {
		more = false
		for i, id := range seats {
			left[i] = take(&s, id, left[i])
			more = more || len(left[i]) > 0
		}
		if err := g.Step(ctx, &s); err != nil {
			return err
		}
		for _, f := range s.Failed {
			if strategies.EndsSeat(f.Op, strategies.FaultOf(f.Err)) {
				return f.Err
			}
		}
		s.Reset()
	}
	return nil
}

// take moves calls of a seat into a step as long as their order allows: outcomes
// come before turns.
func take(s *strategies.Step, id strategies.SeatID, calls []any) (left []any) {
	asked := false
	for i, call := range calls {
		switch call := call.(type) {
		case strategies.Outcome:
			if asked {
				return calls[i:]
			}
			s.Observe = append(s.Observe, strategies.SeatOutcome{Seat: id, Outcome: call})
		case strategies.Turn:
			asked = true
			s.Choose = append(s.Choose, strategies.SeatTurn{Seat: id, Turn: call})
		}
	}
	return nil
}

func (r *replayed) Close() error {
	if r.lost == nil {
		r.lost = errEnded
	}
	if r.group == nil {
		return nil
	}
	return r.group.Close()
}

// callLog is the calls of one open seat, in order.
type callLog struct {
	setup strategies.Setup
	calls []any // of type strategies.Outcome or strategies.Turn
}

// callLogs are the call logs of the open seats of a batch.
type callLogs map[strategies.SeatID]*callLog

// open starts the logs of the seats that a step opens, once.
func (d callLogs) open(s *strategies.Step) {
	for _, o := range s.Open {
		if d[o.Seat] == nil {
			d[o.Seat] = &callLog{setup: o.Setup}
		}
	}
}

// enter records a step that was carried out and drops the logs of seats that
// have ended.
func (d callLogs) enter(s *strategies.Step) {
	d.open(s)
	for i := range s.Observe {
		if x := d[s.Observe[i].Seat]; x != nil {
			x.calls = append(x.calls, s.Observe[i].Outcome)
		}
	}
	for i := range s.Choose {
		if x := d[s.Choose[i].Seat]; x != nil {
			x.calls = append(x.calls, s.Choose[i].Turn)
		}
	}
	for _, f := range s.Failed {
		if strategies.EndsSeat(f.Op, strategies.FaultOf(f.Err)) {
			delete(d, f.Seat)
		}
	}
	for _, id := range s.Close {
		delete(d, id)
	}
}

// partOf returns the entries of a seat in a step, without its opening. places[i] is the
// index in the step of its i-th turn.
func partOf(s *strategies.Step, id strategies.SeatID) (part strategies.Step, places []int) {
	for _, o := range s.Observe {
		if o.Seat == id {
			part.Observe = append(part.Observe, o)
		}
	}
	for i, t := range s.Choose {
		if t.Seat == id {
			part.Choose, places = append(part.Choose, t), append(places, i)
		}
	}
	if slices.Contains(s.Close, id) {
		part.Close = []strategies.SeatID{id}
	}
	return part, places
}
