package budget

import (
	"testing"
	"time"
)

// A call that a late look finds running may have just begun, and pays for little: once. One that ran at
// the look before pays for all.
func TestLateLooks(t *testing.T) {
	t.Parallel()
	const late = time.Second
	w := NewWatchdog(Limits{Time: time.Hour})
	g := &Guard{dog: w}
	charged := func() time.Duration {
		before := g.Spent()
		g.check(w.ticks(time.Hour), w.grace, late)
		return g.Spent() - before
	}
	if d := charged(); d != 0 {
		t.Errorf("without a call, %v are charged", d)
	}
	for _, want := range []time.Duration{w.tick + preemption, late} {
		g.Enter(t.Context())
		first, next := charged(), charged()
		if err := g.Leave(); err != nil || first != want || next != late {
			t.Errorf("looks after %v charge %v and %v, error %v", late, first, next, err)
		}
	}
	if w.Busy() != g.Spent() {
		t.Errorf("all calls together took %v, those of the seat %v", w.Busy(), g.Spent())
	}
}
