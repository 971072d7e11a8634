package plugins

import (
	"context"
	"errors"
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

func newReplayed(f *factory) *replayed { return &replayed{factory: f, callLogs: make(callLogs)} }

// Step implements strategies.Batch.
func (r *replayed) Step(ctx context.Context, s *strategies.Step) error {
	if r.lost != nil {
		return r.lost
	}
	sent, err := r.step(ctx, s)
	if err != nil && died(err) && ctx.Err() == nil {
		r.callLogs.open(s)
		err = r.recover(ctx, s, sent)
	} else if err == nil {
		r.callLogs.open(s)
	}
	if err != nil {
		r.lost = err
		return err
	}
	r.callLogs.enter(s)
	return nil
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

// died reports whether an error means that the process ended, rather than that
// it is quarantined.
func died(err error) bool {
	return errors.Is(err, strategies.ErrCrashed) || errors.Is(err, strategies.ErrTimeout)
}

// ensure opens the group if necessary. If the process ended since the last step,
// it rebuilds all seats together: none of them was being called.
func (r *replayed) ensure(ctx context.Context) (err error) {
	if r.group == nil || r.group.process.failed() {
		if r.group, err = r.factory.newGroup(ctx); err != nil {
			return err
		}
		if seats := r.callLogs.seats(); len(seats) > 0 {
			if err := r.rebuild(ctx, r.group, seats); err != nil {
				return err
			}
		}
	}
	return nil
}

// recover finds the seats that killed the process and carries out the step for
// the others. It is alone in the process, so that a failure points to the seats
// being tried: one after the other, and then all that are sound together. The only seat
// whose call can have ended the process needs no trial, which would take the time limit of
// a call again.
func (r *replayed) recover(ctx context.Context, s *strategies.Step, sent bool) error {
	trial := &r.factory.supervisor.trial
	trial.Lock()
	defer trial.Unlock()
	s.Choices, s.Failed, s.Spent = make([]strategies.Choice, len(s.Choose)), s.Failed[:0], s.Spent[:0]
	culprit, convicted := onlySeat(s)
	convicted = convicted && sent && r.group.process.stuckAlone()
	seats := r.callLogs.seats()
	var sound []strategies.SeatID
	for _, id := range seats {
		var err error
		switch {
		case convicted && id == culprit:
			err = errStuck
		case !convicted && len(seats) > 1:
			var g *group
			if g, _, _, err = r.try(ctx, []strategies.SeatID{id}, s); g != nil {
				_ = g.Close() // the next use of the process reports what is wrong
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil {
			sound = append(sound, id)
			continue
		}
		r.refuse(s, id, err)
	}
	if r.group = nil; len(sound) == 0 {
		return nil // ensure makes the next
	}
	g, sub, places, err := r.try(ctx, sound, s)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if r.group = g; err != nil { // each survives alone, but not together
		for _, id := range sound {
			r.refuse(s, id, err)
		}
		return nil
	}
	s.Spent = sub.Spent
	for i, place := range places {
		s.Choices[place] = sub.Choices[i]
	}
	for _, f := range sub.Failed {
		if f.Op == strategies.OpChoose {
			f.Index = places[f.Index]
		}
		s.Failed = append(s.Failed, f)
	}
	return nil
}

// try rebuilds seats in a new group and carries out their part of a step there.
func (r *replayed) try(ctx context.Context, seats []strategies.SeatID, s *strategies.Step) (g *group, sub strategies.Step, places []int, err error) {
	if g, err = r.factory.newGroup(ctx); err == nil {
		err = r.rebuild(ctx, g, seats)
	}
	if err == nil {
		sub, places = part(s, seats)
		err = g.Step(ctx, &sub)
	}
	return g, sub, places, err
}

// onlySeat returns the seat that a step calls, if it calls just one.
func onlySeat(s *strategies.Step) (id strategies.SeatID, only bool) {
	called := make(map[strategies.SeatID]bool)
	for _, o := range s.Open {
		id, called[o.Seat] = o.Seat, true
	}
	for _, o := range s.Observe {
		id, called[o.Seat] = o.Seat, true
	}
	for _, t := range s.Choose {
		id, called[t.Seat] = t.Seat, true
	}
	return id, len(called) == 1
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
	f.Err = r.factory.wrap(f.Op, err)
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

// open starts the logs of the seats that a step opens.
func (d callLogs) open(s *strategies.Step) {
	for _, o := range s.Open {
		d[o.Seat] = &callLog{setup: o.Setup}
	}
}

// enter records a step that was carried out and drops the logs of seats that
// have ended.
func (d callLogs) enter(s *strategies.Step) {
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

// seats returns the open seats.
func (d callLogs) seats() []strategies.SeatID { return slices.Sorted(maps.Keys(d)) }

// part returns the entries of some seats in a step, without the openings. places[i] is the
// index in the step of its i-th turn.
func part(s *strategies.Step, of []strategies.SeatID) (sub strategies.Step, places []int) {
	for _, o := range s.Observe {
		if slices.Contains(of, o.Seat) {
			sub.Observe = append(sub.Observe, o)
		}
	}
	for i, t := range s.Choose {
		if slices.Contains(of, t.Seat) {
			sub.Choose, places = append(sub.Choose, t), append(places, i)
		}
	}
	for _, id := range s.Close {
		if slices.Contains(of, id) {
			sub.Close = append(sub.Close, id)
		}
	}
	return sub, places
}
