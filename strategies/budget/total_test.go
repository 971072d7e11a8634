package budget_test

import (
	"errors"
	"testing"
	"time"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

// Who thinks for 10 ms about every choice stays within its share in any field, with time
// to spare; who uses what a call may use exceeds it, and is stopped before a league takes
// long.
func TestTotalIsForHonestStrategies(t *testing.T) {
	t.Parallel()
	for _, matches := range []int{1, 2, 8, 38, 190, 989} {
		total := budget.Limits{}.Total(matches)
		n := time.Duration(matches)
		if s := total.Share(n*10*time.Millisecond, 0); s.Over() || s.Share > 850 {
			t.Errorf("%d matches of 10 ms cost a share of %d", matches, s.Share)
		}
		if s := total.Share(n*100*time.Millisecond, 0); !s.Over() || s.Exact {
			t.Errorf("%d matches of 100 ms cost %+v", matches, s)
		}
		if s := total.Counted().Share(0, int64(matches)*budget.DefaultInstructions); !s.Over() || !s.Exact {
			t.Errorf("%d matches with all instructions of a call cost %+v", matches, s)
		}
		if s := total.Counted().Share(n*10*time.Millisecond, int64(matches)*1_000_000); s.Over() {
			t.Errorf("%d matches of 1,000,000 instructions cost %+v", matches, s)
		}
		most, instructions := total.Most()
		if s := total.Share(most, 0); most < 2*budget.DefaultTime || s.Share < 3900 {
			t.Errorf("%d matches may take %v in one league, a share of %d", matches, most, s.Share)
		}
		if s := total.Share(0, instructions); s.Share < 3900 || s.Share > 4100 {
			t.Errorf("%d matches may take %d instructions in one league, a share of %d", matches, instructions, s.Share)
		}
	}
	if s := (budget.Total{}).Share(time.Hour, 1<<60); s != (strategies.Spent{}) {
		t.Errorf("without a bound an hour costs %+v", s)
	}
}

// The watchdog adds up what the calls of a seat take, and interrupts the one with which
// they take too much, though none exceeds its own limit. It charges nobody else.
func TestTotalIsEnforced(t *testing.T) {
	t.Parallel()
	const most = 50 * time.Millisecond
	w := budget.NewWatchdog(budget.Limits{Time: time.Hour})
	defer w.Close()
	hit, idle := make(chan struct{}), w.Guard(func() {}, most)
	defer idle.Release()
	g := w.Guard(func() { close(hit) }, most)
	defer g.Release()
	for {
		g.Enter(t.Context())
		for n := 0; n < 1_000_000; n++ {
			if n%1000 == 0 {
				select {
				case <-hit:
					n = 1_000_000
				default:
				}
			}
		}
		err := g.Leave()
		if err == nil {
			continue
		}
		if !errors.Is(err, budget.ErrTotal) {
			t.Errorf("Leave = %v, want ErrTotal", err)
		}
		break
	}
	if g.Spent() <= most || w.Busy() < g.Spent() || idle.Spent() != 0 {
		t.Errorf("the calls took %v of %v, the idle seat %v", g.Spent(), w.Busy(), idle.Spent())
	}
}
