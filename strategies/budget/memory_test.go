package budget

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A seat whose calls go on while memory grows beyond measure is interrupted
// long before its time is up, however short its calls are. One that has hardly
// run is left alone, whatever grows; so is one that only leaves garbage.
func TestSeatThatFillsMemory(t *testing.T) {
	t.Parallel()
	const grows = 50 << 20 // at every look
	for name, tc := range map[string]struct {
		calls   int
		each    time.Duration
		garbage bool
		want    error
	}{
		"one call":      {1, time.Minute, false, ErrMemory},
		"many calls":    {30, 12 * time.Millisecond, false, ErrMemory},
		"a few calls":   {3, 4 * time.Millisecond, false, nil},
		"garbage":       {1, time.Minute, true, nil},
		"light garbage": {30, 12 * time.Millisecond, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := NewWatchdog(time.Hour, nil)
				defer w.Close()
				var size, collections uint64 = 10 << 20, 0
				w.size = func() uint64 { size += grows; return size }
				w.live = func() uint64 {
					if collections++; tc.garbage {
						size = 10 << 20
					}
					return size
				}
				hit := make(chan struct{}, 1)
				g := w.Guard(func() { hit <- struct{}{} })
				var err error
				for range tc.calls {
					g.Enter(t.Context())
					select { // on the fake clock of the bubble
					case <-hit:
					case <-time.After(tc.each):
					}
					if err = g.Leave(); err != nil {
						break
					}
				}
				if !errors.Is(err, tc.want) || (err == nil) != (tc.want == nil) {
					t.Errorf("Leave = %v, want %v", err, tc.want)
				}
				if most := uint64(time.Duration(tc.calls)*tc.each/(reprieve*5*time.Millisecond)) + 1; collections > most {
					t.Errorf("%d collections, want at most %d", collections, most)
				}
			})
		})
	}
}

func TestMemoryIsThere(t *testing.T) {
	t.Parallel()
	if n := memorySize(); n < 10_000 || n > 1<<40 {
		t.Errorf("the process takes %d bytes", n)
	}
	if n := Live(); n < 10_000 || n > 1<<40 {
		t.Errorf("%d bytes of it are alive", n)
	}
}
