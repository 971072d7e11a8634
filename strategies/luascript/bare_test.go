package luascript_test

import (
	"testing"

	"github.com/strategylab/strategylab/strategies"
)

// A bare seat must do the same work as a seat: it is what seats are timed
// against.
func TestBareSeatChoosesAlike(t *testing.T) {
	t.Parallel()
	f := mustCompile(t, benchScript)
	bare, err := f.(interface {
		NewBare(strategies.Setup) (strategies.Strategy, error)
	}).NewBare(strategies.Setup{Legs: 10})
	if err != nil {
		t.Fatal(err)
	}
	seat := mustSit(t, f)
	turns, outcomes := benchLeague()
	for i := range turns {
		want, err1 := seat.Choose(t.Context(), &turns[i])
		got, err2 := bare.Choose(t.Context(), &turns[i])
		if err1 != nil || err2 != nil || got != want {
			t.Fatalf("match %d: bare %v, %v; seat %v, %v", i, got, err2, want, err1)
		}
		if err := seat.Observe(t.Context(), &outcomes[i]); err != nil {
			t.Fatal(err)
		}
		if err := bare.Observe(t.Context(), &outcomes[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := bare.Close(); err != nil {
		t.Error(err)
	}
}
