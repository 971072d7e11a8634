package lab_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
)

func TestQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turn, notices := lab.NewQueue(1, 2), 0
		enter := func(ctx context.Context) (func(), error) { return turn.Enter(ctx, func() { notices++ }) }
		leave, err := enter(t.Context())
		if err != nil || notices != 0 {
			t.Fatalf("the first: %v, %d notices to wait", err, notices)
		}
		entered, gaveUp := make(chan func()), make(chan error)
		go func() {
			leave, err := enter(t.Context())
			if err != nil {
				t.Error(err)
			}
			entered <- leave
		}()
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			_, err := enter(ctx)
			gaveUp <- err
		}()
		synctest.Wait()
		if _, err := enter(t.Context()); err != lab.ErrBusy {
			t.Errorf("one more than may wait: %v, want lab.ErrBusy", err)
		}
		why := errors.New("called off")
		cancel(why)
		if err := <-gaveUp; err != why {
			t.Errorf("called off: %v, want why", err)
		}
		leave()
		(<-entered)()
		if _, err := enter(t.Context()); err != nil || notices != 2 {
			t.Errorf("after all have left: %v; %d notices to wait, want the two that did", err, notices)
		}
	})
}
