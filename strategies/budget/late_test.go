package budget

import (
	"testing"
	"time"
)

// A call that the watchdog finds running after it was held up pays for little: it may have just begun.
func TestLateLooksChargeLittle(t *testing.T) {
	t.Parallel()
	w := NewWatchdog(Limits{Time: time.Hour})
	defer w.Close()
	g := w.Guard(func() {}, 0)
	defer g.Release()
	looks := func() int {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.ticks
	}
	g.Enter(t.Context())
	for looks() == 0 { // its clock has begun then
		time.Sleep(time.Millisecond)
	}
	w.mu.Lock()
	for work, until := 0, ProcessorTime()+500*time.Millisecond; ProcessorTime() < until; work++ {
	}
	w.mu.Unlock()
	for n := looks(); looks() < n+3; {
		time.Sleep(time.Millisecond)
	}
	n := looks()
	if err := g.Leave(); err != nil {
		t.Fatal(err)
	}
	if most := time.Duration(n+1) * (w.tick + preemption); g.Spent() > most {
		t.Errorf("%d looks charged %v, want at most %v", n, g.Spent(), most)
	}
}
