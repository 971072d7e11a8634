package lab

import (
	"context"
	"errors"
	"sync/atomic"
)

// Queue limits the calls that work in parallel and the calls that wait. It is safe
// for concurrent use.
type Queue struct {
	slots   chan struct{}
	waiting atomic.Int32
	most    int32
}

// NewQueue returns a queue for a number of calls that work and a number that wait.
func NewQueue(slots, waiting int) *Queue {
	return &Queue{slots: make(chan struct{}, slots), most: int32(waiting)}
}

// ErrBusy is the refusal of a call because too many wait.
var ErrBusy = errors.New("the lab is busy: too many experiments are running or waiting; call again when one has ended")

// Enter waits for a turn and returns what ends it. Before it waits it calls waits. It
// fails with ErrBusy if too many calls wait, or with the cause of ctx if that ends first.
func (q *Queue) Enter(ctx context.Context, waits func()) (leave func(), err error) {
	leave = func() { <-q.slots }
	select {
	case q.slots <- struct{}{}:
		return leave, nil
	default:
	}
	if q.waiting.Add(1) > q.most {
		q.waiting.Add(-1)
		return nil, ErrBusy
	}
	defer q.waiting.Add(-1)
	waits()
	select {
	case q.slots <- struct{}{}:
		return leave, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
