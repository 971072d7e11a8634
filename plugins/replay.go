package plugins

import (
	"context"
	"errors"
	"slices"

	"github.com/strategylab/strategylab/strategies"
)

// replayed is a batch whose seats outlive their process.
type replayed struct {
	factory  *factory
	group    *group // nil before the first step, and if it was lost
	callLogs callLogs
	lost     error
}

func newReplayed(f *factory) *replayed { return &replayed{factory: f, callLogs: newCallLogs()} }

// Step implements strategies.Batch.
func (r *replayed) Step(ctx context.Context, s *strategies.Step) error {
	if r.lost != nil {
		return r.lost
	}
	err := r.attempt(ctx, s)
	if err != nil && died(err) && ctx.Err() == nil {
		r.callLogs.open(s)
		err = r.recover(ctx, s)
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

// died reports whether an error means that the process is gone, rather than
// that it will not be started.
func died(err error) bool {
	return errors.Is(err, strategies.ErrCrashed) || errors.Is(err, strategies.ErrTimeout)
}

// attempt carries out a step as usual, beside others. Seats that were lost
// since the last step are rebuilt before, all at once: they were not at work
// when the process died.
func (r *replayed) attempt(ctx context.Context, s *strategies.Step) (err error) {
	trial := &r.factory.supervisor.trial
	trial.RLock()
	defer trial.RUnlock()
	if r.group == nil || r.group.process.reason() != nil {
		if r.group, err = r.factory.newGroup(ctx); err != nil {
			return err
		}
		if seats := r.callLogs.seats(); len(seats) > 0 {
			if err := r.rebuild(ctx, r.group, seats); err != nil {
				return err
			}
		}
	}
	return r.group.Step(ctx, s)
}

// recover finds out which of the seats have killed the process, and carries
// out the step for the others. Nobody else uses the process meanwhile, so that
// what dies is known to be the seat that is tried.
func (r *replayed) recover(ctx context.Context, s *strategies.Step) error {
	trial := &r.factory.supervisor.trial
	trial.Lock()
	defer trial.Unlock()
	s.Choices, s.Failed = make([]strategies.Choice, len(s.Choose)), s.Failed[:0]
	var sound []strategies.SeatID
	for _, id := range r.callLogs.seats() {
		failures := len(s.Failed)
		if err := r.try(ctx, id, s); err != nil {
			return err
		}
		if !ended(s.Failed[failures:], id) {
			sound = append(sound, id)
		}
	}
	var err error
	if r.group, err = r.factory.newGroup(ctx); err == nil {
		if err = r.rebuild(ctx, r.group, sound); err == nil {
			sub, _ := part(s, sound)
			sub.Close = s.Close
			sub.Close = openOf(sub.Close, sound)
			err = r.group.Step(ctx, &sub) // whose answers are known
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil { // each is sound alone, but not all together
		for _, id := range sound {
			r.refuse(s, id, err)
		}
	}
	return nil
}

func openOf(ids, open []strategies.SeatID) (both []strategies.SeatID) {
	for _, id := range ids {
		for _, o := range open {
			if id == o {
				both = append(both, id)
			}
		}
	}
	return both
}

func ended(failed []strategies.SeatError, id strategies.SeatID) bool {
	for _, f := range failed {
		if f.Seat == id && strategies.EndsSeat(f.Op, strategies.FaultOf(f.Err)) {
			return true
		}
	}
	return false
}

// try carries out what a step holds for one seat, in a process in which that
// seat is alone. What goes wrong with it is told in the step; an error is the
// context's.
func (r *replayed) try(ctx context.Context, id strategies.SeatID, s *strategies.Step) error {
	alone := []strategies.SeatID{id}
	g, err := r.factory.newGroup(ctx)
	if err == nil {
		err = r.rebuild(ctx, g, alone)
	}
	if err == nil {
		sub, places := part(s, alone)
		if err = g.Step(ctx, &sub); err == nil {
			for i, place := range places {
				s.Choices[place] = sub.Choices[i]
			}
			for _, f := range sub.Failed {
				if f.Op == strategies.OpChoose {
					f.Index = places[f.Index]
				}
				s.Failed = append(s.Failed, f)
			}
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var failed *seatFailed
	switch {
	case errors.As(err, &failed):
		s.Failed = append(s.Failed, failed.SeatError)
	case err != nil:
		r.refuse(s, id, err)
	}
	g.endQuietly()
	return nil
}

// refuse tells that a seat is lost with its process, in the operation that the
// step wanted of it.
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

// seatFailed is a seat that ends when it is rebuilt.
type seatFailed struct{ strategies.SeatError }

func (e *seatFailed) Error() string { return e.Err.Error() }
func (e *seatFailed) Unwrap() error { return e.Err }

// rebuild makes seats anew in a group and gives them all their calls once more,
// as many at once as can be.
func (r *replayed) rebuild(ctx context.Context, g *group, seats []strategies.SeatID) error {
	g.mute = true
	defer func() { g.mute = false }()
	var s strategies.Step
	left := make([][]entry, len(seats))
	for i, id := range seats {
		s.Open = append(s.Open, strategies.OpenSeat{Seat: id, Setup: r.callLogs.of[id].setup})
		left[i] = r.callLogs.of[id].calls
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
				return &seatFailed{f}
			}
		}
		s.Reset()
	}
	return nil
}

// take moves calls of a seat into a step, as far as they keep their order
// there: outcomes first, then turns.
func take(s *strategies.Step, id strategies.SeatID, calls []entry) (left []entry) {
	for len(calls) > 0 && !calls[0].asked {
		s.Observe = append(s.Observe, strategies.SeatOutcome{Seat: id, Outcome: calls[0].outcome})
		calls = calls[1:]
	}
	for len(calls) > 0 && calls[0].asked {
		s.Choose = append(s.Choose, strategies.SeatTurn{Seat: id, Turn: calls[0].turn()})
		calls = calls[1:]
	}
	return calls
}

// Close implements strategies.Batch.
func (r *replayed) Close() error {
	if r.lost == nil {
		r.lost = errEnded
	}
	if r.group == nil {
		return nil
	}
	return r.group.Close()
}

// callLog is what one open seat has been told and asked so far, in order.
type callLog struct {
	setup strategies.Setup
	calls []entry
}

// entry is one call: an outcome that was told, or a turn that was asked about,
// of which the outcome holds the match.
type entry struct {
	asked    bool
	outcome  strategies.Outcome
	standing strategies.Standing // of a turn
}

func (d *callLog) tell(o *strategies.Outcome) { d.calls = append(d.calls, entry{outcome: *o}) }

func (d *callLog) ask(t *strategies.Turn) {
	d.calls = append(d.calls, entry{asked: true, standing: t.Standing, outcome: strategies.Outcome{
		Match: t.Match, MatchID: t.MatchID, Round: t.Round, Opponent: t.Opponent, Role: t.Role,
	}})
}

func (e *entry) turn() strategies.Turn {
	o := &e.outcome
	return strategies.Turn{
		Match: o.Match, MatchID: o.MatchID, Round: o.Round, Opponent: o.Opponent, Role: o.Role, Standing: e.standing,
	}
}

// callLogs are those of all open seats of a batch.
type callLogs struct {
	of    map[strategies.SeatID]*callLog
	order []strategies.SeatID // as they were opened; some may have ended
}

func newCallLogs() callLogs { return callLogs{of: make(map[strategies.SeatID]*callLog)} }

// open begins the callLogs of the seats that a step opens.
func (d *callLogs) open(s *strategies.Step) {
	for i := range s.Open {
		d.of[s.Open[i].Seat] = &callLog{setup: s.Open[i].Setup}
		d.order = append(d.order, s.Open[i].Seat)
	}
}

// enter writes down a step that has been carried out, and ends the callLogs of
// seats that have ended.
func (d *callLogs) enter(s *strategies.Step) {
	for i := range s.Observe {
		if x := d.of[s.Observe[i].Seat]; x != nil {
			x.tell(&s.Observe[i].Outcome)
		}
	}
	for i := range s.Choose {
		if x := d.of[s.Choose[i].Seat]; x != nil {
			x.ask(&s.Choose[i].Turn)
		}
	}
	for _, f := range s.Failed {
		if strategies.EndsSeat(f.Op, strategies.FaultOf(f.Err)) {
			delete(d.of, f.Seat)
		}
	}
	for _, id := range s.Close {
		delete(d.of, id)
	}
	if len(d.order) > 2*len(d.of)+64 {
		d.order = d.seats()
	}
}

// seats returns the open seats in the order in which they were opened.
func (d *callLogs) seats() []strategies.SeatID {
	open := make([]strategies.SeatID, 0, len(d.of))
	for _, id := range d.order {
		if d.of[id] != nil {
			open = append(open, id)
		}
	}
	return open
}

// part returns what a step holds for some seats. places[i] is where the i-th
// of its turns stands in the step. Seats are not ended in it.
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
	return sub, places
}
