package assistants

import (
	"context"
	"errors"
	"sync/atomic"
)

// queue lets a few calls work at a time, and a few more wait. It is safe for
// concurrent use.
type queue struct {
	slots   chan struct{}
	waiting atomic.Int32
	most    int32
}

func newQueue(slots, waiting int) *queue {
	return &queue{slots: make(chan struct{}, slots), most: int32(waiting)}
}

var errBusy = errors.New("the lab is busy: as many experiments as may are under way, and others wait; call again when one has ended")

// enter waits for a turn and returns what ends it. It fails if ctx ends first or
// too many wait already.
func (t *queue) enter(ctx context.Context, m meter) (leave func(), err error) {
	leave = func() { <-t.slots }
	select {
	case t.slots <- struct{}{}:
		return leave, nil
	default:
	}
	if t.waiting.Add(1) > t.most {
		t.waiting.Add(-1)
		return nil, errBusy
	}
	defer t.waiting.Add(-1)
	m(0, 0, "waiting until another experiment has ended")
	select {
	case t.slots <- struct{}{}:
		return leave, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
