package game_test

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/strategylab/strategylab/host/game"
)

func TestPlayFaults(t *testing.T) {
	for name, tc := range map[string]struct {
		do           func(p *game.Play) error
		wantA, wantB game.Result
	}{
		"A does not come": {func(p *game.Play) error {
			return errors.Join(p.Join(game.SideB), p.Fail(game.SideA, game.FaultNoJoin))
		}, game.TechnicalLoss, game.Win},
		"neither comes": {func(p *game.Play) error {
			return errors.Join(p.Fail(game.SideA, game.FaultNoJoin), p.Fail(game.SideB, game.FaultDeclined))
		}, game.TechnicalLoss, game.TechnicalLoss},
		"B does not answer, A has": {func(p *game.Play) error {
			return errors.Join(p.Join(game.SideA), p.Join(game.SideB), p.Choose(game.SideA, game.Odd), p.Fail(game.SideB, game.FaultNoAnswer))
		}, game.Win, game.TechnicalLoss},
		"B fails, A answers all the same": {func(p *game.Play) error {
			return errors.Join(p.Join(game.SideA), p.Join(game.SideB), p.Fail(game.SideB, game.FaultInvalid), p.Choose(game.SideA, game.Odd))
		}, game.Win, game.TechnicalLoss},
	} {
		var p game.Play
		if err := tc.do(&p); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if p.Phase() != game.Finished {
			t.Errorf("%s: in %s, want FINISHED without a draw", name, p.Phase())
			continue
		}
		if v := p.Verdict(); v.ResultA != tc.wantA || v.ResultB != tc.wantB {
			t.Errorf("%s: %s and %s, want %s and %s", name, v.ResultA, v.ResultB, tc.wantA, tc.wantB)
		}
		if _, drew := p.Number(); drew {
			t.Errorf("%s: a number was drawn", name)
		}
	}
}

// Whatever comes in whatever order: a refused call changes nothing, a side's
// first word stands, and the match ends exactly when nothing is expected.
func TestPlayHoldsWhateverComes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p game.Play
		for range rapid.IntRange(1, 30).Draw(t, "calls") {
			before := p
			side := rapid.IntRange(0, 1).Draw(t, "side")
			var err error
			switch rapid.IntRange(0, 3).Draw(t, "call") {
			case 0:
				err = p.Join(side)
			case 1:
				err = p.Choose(side, rapid.SampledFrom([]game.Parity{game.NoParity, game.Even, game.Odd}).Draw(t, "choice"))
			case 2:
				err = p.Fail(side, rapid.SampledFrom([]game.Fault{game.NoFault, game.FaultNoAnswer}).Draw(t, "fault"))
			case 3:
				err = p.Draw(rapid.IntRange(1, 10).Draw(t, "number"))
			}
			if err != nil && p != before {
				t.Fatalf("%v, yet %+v became %+v", err, before, p)
			}
			if p.Phase() < before.Phase() {
				t.Fatalf("went back from %s to %s", before.Phase(), p.Phase())
			}
			a0, b0 := before.Sides()
			a1, b1 := p.Sides()
			if a0 != (game.Side{}) && a0 != a1 || b0 != (game.Side{}) && b0 != b1 {
				t.Fatalf("%v %v became %v %v: the first word did not stand", a0, b0, a1, b1)
			}
			if done := p.Phase() >= game.DrawingNumber; done != (!p.Waiting(0) && !p.Waiting(1)) {
				t.Fatalf("in %s with waiting %v and %v", p.Phase(), p.Waiting(0), p.Waiting(1))
			}
		}
		if p.Phase() == game.Finished {
			_, drew := p.Number()
			if v := p.Verdict(); drew == v.Technical() {
				t.Fatalf("drew %v in a match decided %+v", drew, v)
			}
		}
	})
}

func TestBackoff(t *testing.T) {
	for i, want := range []time.Duration{1, 2, 4} {
		if d, ok := game.LeagueBackoff().Delay(i + 1); !ok || d != want*time.Second {
			t.Errorf("retry %d: %v, %v; want %v s", i+1, d, ok, want)
		}
	}
	for _, n := range []int{0, 4} {
		if d, ok := game.LeagueBackoff().Delay(n); ok {
			t.Errorf("retry %d is allowed after %v", n, d)
		}
	}
	b := game.Backoff{Retries: 100, First: time.Second, Most: 30 * time.Second}
	if d, _ := b.Delay(100); d != 30*time.Second {
		t.Errorf("retry 100 waits %v, want the bound of 30 s", d)
	}
}
