package strategies

import "context"

// Batcher is an optional extension of Factory for strategies that are dear to
// call one at a time, such as those in another process. The host then plays a
// block of leagues in lockstep and takes all of the strategy's calls of one
// round together.
//
// A batch must give every seat exactly what New, Choose and Observe would have
// given it: the same seed makes the same moves either way.
type Batcher interface {
	Factory
	// NewBatch opens a group of seats, used by one goroutine at a time.
	NewBatch(ctx context.Context) (Batch, error)
}

// Batch is a group of seats of one strategy, in one or several leagues.
type Batch interface {
	// Step carries out one step: first the seats in Open are made, then
	// Observe is told, then Choose is asked, then the seats in Close are
	// ended. Within each list, entries are independent of one another except
	// that entries of the same seat keep their order.
	//
	// Step fails only if the group as a whole is lost (the process died, ctx
	// ended); what goes wrong with one seat is told in Step.Failed.
	Step(ctx context.Context, s *Step) error
	// Close ends all seats that are still open, and the group.
	Close() error
}

// SeatID names a seat within a batch. The host assigns it.
type SeatID uint32

// Step is one exchange with a Batch. The host owns it and reuses it; the batch
// fills Choices and Failed.
type Step struct {
	Open    []OpenSeat
	Observe []SeatOutcome
	Choose  []SeatTurn
	Close   []SeatID

	Choices []Choice // Choices[i] answers Choose[i]; as long as Choose
	Failed  []SeatError
}

// OpenSeat asks for a new seat.
type OpenSeat struct {
	Seat  SeatID
	Setup Setup
}

// SeatOutcome tells a seat how a match ended.
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
// ends the seat (see EndsSeat) the batch ignores what the same step still
// holds for it; the host does not mention it again. For a failed choose, Index
// is its position in Step.Choose.
type SeatError struct {
	Seat  SeatID
	Op    Op
	Index int
	Err   error
}

// Reset empties a step and keeps its memory.
func (s *Step) Reset() {
	s.Open, s.Observe, s.Choose, s.Close = s.Open[:0], s.Observe[:0], s.Choose[:0], s.Close[:0]
	s.Choices, s.Failed = s.Choices[:0], s.Failed[:0]
}
