package assistants

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

func TestQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turn := newQueue(1, 2)
		notices := 0
		m := func(_, _ float64, message string) { notices++ }
		leave, err := turn.enter(t.Context(), m)
		if err != nil || notices != 0 {
			t.Fatalf("the first: %v, %d notices to wait", err, notices)
		}
		entered := make(chan func())
		go func() {
			leave, err := turn.enter(t.Context(), m)
			if err != nil {
				t.Error(err)
			}
			entered <- leave
		}()
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(t.Context())
		gaveUp := make(chan error)
		go func() {
			_, err := turn.enter(ctx, m)
			gaveUp <- err
		}()
		synctest.Wait()
		if _, err := turn.enter(t.Context(), m); err != errBusy {
			t.Errorf("one more than may wait: %v, want errBusy", err)
		}
		why := errors.New("called off")
		cancel(why)
		if err := <-gaveUp; err != why {
			t.Errorf("called off: %v, want why", err)
		}
		leave()
		(<-entered)()
		if leave, err := turn.enter(t.Context(), m); err != nil {
			t.Errorf("after all have left: %v", err)
		} else {
			leave()
		}
		if notices != 2 {
			t.Errorf("%d notices to wait, want the two that did", notices)
		}
	})
}
