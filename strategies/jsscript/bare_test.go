package jsscript_test

import (
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/jsscript"
)

// A bare seat must do the same work as a seat: it is what seats are timed
// against.
func TestBareSeatChoosesAlike(t *testing.T) {
	t.Parallel()
	f, err := jsscript.Compile("learner", "learner.js", []byte(learner), jsscript.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	setup := strategies.Setup{Legs: 10, Rand: game.NewRand(game.Key{1})}
	bare, err := f.(interface {
		NewBare(strategies.Setup) (strategies.Strategy, error)
	}).NewBare(setup)
	if err != nil {
		t.Fatal(err)
	}
	seat, err := f.New(t.Context(), setup)
	if err != nil {
		t.Fatal(err)
	}
	defer seat.Close()
	fix := newFixture()
	for i := range fix.turns {
		want, err1 := seat.Choose(t.Context(), &fix.turns[i])
		got, err2 := bare.Choose(t.Context(), &fix.turns[i])
		if err1 != nil || err2 != nil || got != want {
			t.Fatalf("match %d: bare %v, %v; seat %v, %v", i, got, err2, want, err1)
		}
		if err := seat.Observe(t.Context(), &fix.outcomes[i]); err != nil {
			t.Fatal(err)
		}
		if err := bare.Observe(t.Context(), &fix.outcomes[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := bare.Close(); err != nil {
		t.Error(err)
	}
}
