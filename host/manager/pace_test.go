package manager_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/manager"
)

// A pace puts a pause after each round but the last, and changes no result.
func TestPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ends []time.Time
		r := newRig(t, func(c *manager.Config) {
			c.Players, c.Pace = 4, 2*time.Second
			c.Events = func(e manager.Event) {
				if e.Kind == manager.RoundCompleted {
					ends = append(ends, time.Now())
				}
			}
		})
		start := time.Now()
		r.conductor("north", fair)
		r.field(4)
		r.run()
		if err := r.finished(); err != nil {
			t.Fatal(err)
		}
		for i, end := range ends {
			if got, want := end.Sub(start), time.Duration(i)*2*time.Second; got != want {
				t.Errorf("round %d ended after %v, want %v", i+1, got, want)
			}
		}
		if took := time.Since(start); len(ends) != 3 || took != 4*time.Second {
			t.Errorf("%d rounds took %v", len(ends), took)
		}
		if diff := cmp.Diff(table(t, 4, 1), rows(r.m.Standings())); diff != "" {
			t.Errorf("the table (-want +got):\n%s", diff)
		}
	})
}
