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
		turn := lab.NewQueue(1, 2)
		notices := 0
		waits := func() { notices++ }
		leave, err := turn.Enter(t.Context(), waits)
		if err != nil || notices != 0 {
			t.Fatalf("the first: %v, %d notices to wait", err, notices)
		}
		entered := make(chan func())
		go func() {
			leave, err := turn.Enter(t.Context(), waits)
			if err != nil {
				t.Error(err)
			}
			entered <- leave
		}()
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(t.Context())
		gaveUp := make(chan error)
		go func() {
			_, err := turn.Enter(ctx, waits)
			gaveUp <- err
		}()
		synctest.Wait()
		if _, err := turn.Enter(t.Context(), waits); err != lab.ErrBusy {
			t.Errorf("one more than may wait: %v, want lab.ErrBusy", err)
		}
		why := errors.New("called off")
		cancel(why)
		if err := <-gaveUp; err != why {
			t.Errorf("called off: %v, want why", err)
		}
		leave()
		(<-entered)()
		if leave, err := turn.Enter(t.Context(), waits); err != nil {
			t.Errorf("after all have left: %v", err)
		} else {
			leave()
		}
		if notices != 2 {
			t.Errorf("%d notices to wait, want the two that did", notices)
		}
	})
}
