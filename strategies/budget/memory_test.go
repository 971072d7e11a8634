package budget

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A call that goes on while the heap grows beyond measure is interrupted long
// before its time is up; one that is short is left alone, whatever grows.
func TestCallThatFillsMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := NewWatchdog(time.Hour, nil)
		defer w.Close()
		var size uint64 = 10 << 20
		w.heap = func() uint64 { size += 100 << 20; return size } // at every look
		hit := make(chan struct{})
		g := w.Guard(func() { close(hit) })
		for range 20 {
			g.Enter(t.Context())
			time.Sleep(10 * time.Millisecond) // the fake clock of the bubble
			if err := g.Leave(); err != nil {
				t.Fatalf("a short call got %v", err)
			}
		}
		g.Enter(t.Context())
		start := time.Now()
		<-hit
		if err := g.Leave(); !errors.Is(err, ErrMemory) {
			t.Errorf("Leave = %v, want ErrMemory", err)
		}
		if d := time.Since(start); d > 100*time.Millisecond {
			t.Errorf("interrupted after %v", d)
		}
	})
}

func TestHeapSizeIsThere(t *testing.T) {
	t.Parallel()
	if n := heapSize(); n < 1000 || n > 1<<40 {
		t.Errorf("the heap has %d bytes", n)
	}
}
