package strategies

import "context"

// Batcher is an optional extension of Factory for strategies that are expensive to call one at a
// time, such as those in another process. The host then plays a block of leagues in lockstep and
// sends together all calls that they are ready for.
//
// A batch gives every seat exactly what New, Choose and Observe would: the same seed makes the same
// choices either way.
type Batcher interface {
	Factory
	// NewBatch opens a group of seats, used by one goroutine at a time.
	NewBatch(ctx context.Context) (Batch, error)
}

// Batch is a group of seats of one strategy, in one or several leagues.
type Batch interface {
	// Step carries out one step: it makes the seats in Open, passes on the outcomes in Observe,
	// asks for the choices in Choose, and ends the seats in Close, in this order. Entries within a
	// list are independent, except that entries of the same seat keep their order.
	//
	// Step fails only if the whole group is lost: the process died, or ctx is done. Failures of
	// single seats are in Step.Failed.
	Step(ctx context.Context, s *Step) error
	// Close ends all open seats and the group.
	Close() error
}

// SeatID identifies a seat within a batch. The host assigns it.
type SeatID uint32

// Step is one exchange with a Batch. The host owns it and reuses it; the batch
// fills Choices, Failed and Spent.
type Step struct {
	Open    []OpenSeat
	Observe []SeatOutcome
	Choose  []SeatTurn
	Close   []SeatID

	Choices []Choice // Choices[i] answers Choose[i]; as long as Choose
	Failed  []SeatError
	Spent   []SeatSpent // of seats that have ended and cost more than their share
}

// OpenSeat asks for a new seat.
type OpenSeat struct {
	Seat  SeatID
	Setup Setup
}

// SeatOutcome passes an outcome to a seat.
type SeatOutcome struct {
	Seat    SeatID
	Outcome Outcome
}

// SeatTurn asks a seat for a choice.
type SeatTurn struct {
	Seat SeatID
	Turn Turn
}

// SeatError is the failure of one operation of one seat. After a failure that
// ends the seat (see EndsSeat) the batch ignores the rest of the step for that
// seat, and the host does not use the seat again.
type SeatError struct {
	Seat  SeatID
	Op    Op
	Index int // in Step.Choose, for a failed choose
	Err   error
}

// SeatSpent is what a seat has cost.
type SeatSpent struct {
	Seat SeatID
	Spent
}

// Reset empties the step and keeps its memory.
func (s *Step) Reset() {
	s.Open, s.Observe, s.Choose, s.Close = s.Open[:0], s.Observe[:0], s.Choose[:0], s.Close[:0]
	s.Choices, s.Failed = s.Choices[:0], s.Failed[:0]
	s.Spent = s.Spent[:0]
}
