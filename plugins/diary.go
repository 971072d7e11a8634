package plugins

import (
	"slices"

	"github.com/strategylab/strategylab/strategies"
)

// diary is what one open seat has been told and asked so far, in order.
type diary struct {
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

func (d *diary) tell(o *strategies.Outcome) { d.calls = append(d.calls, entry{outcome: *o}) }

func (d *diary) ask(t *strategies.Turn) {
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

// diaries are those of all open seats of a batch.
type diaries struct {
	of    map[strategies.SeatID]*diary
	order []strategies.SeatID // as they were opened; some may have ended
}

func newDiaries() diaries { return diaries{of: make(map[strategies.SeatID]*diary)} }

// open begins the diaries of the seats that a step opens.
func (d *diaries) open(s *strategies.Step) {
	for i := range s.Open {
		d.of[s.Open[i].Seat] = &diary{setup: s.Open[i].Setup}
		d.order = append(d.order, s.Open[i].Seat)
	}
}

// enter writes down a step that has been carried out, and ends the diaries of
// seats that have ended.
func (d *diaries) enter(s *strategies.Step) {
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
func (d *diaries) seats() []strategies.SeatID {
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
