package game_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/strategylab/strategylab/host/game"
)

// The truth table of even_odd, from the rules of league.v2: the one right
// choice wins 3 to 0, two right or two wrong ones draw at 1 each.
func TestJudge(t *testing.T) {
	t.Parallel()
	won := game.Verdict{ResultA: game.Win, ResultB: game.Loss, PointsA: 3}
	lost := game.Verdict{ResultA: game.Loss, ResultB: game.Win, PointsB: 3}
	drawn := game.Verdict{ResultA: game.Drawn, ResultB: game.Drawn, PointsA: 1, PointsB: 1}
	for _, c := range []struct {
		a, b   game.Parity
		number int
		want   game.Verdict
	}{
		{game.Even, game.Even, 2, drawn},
		{game.Even, game.Even, 7, drawn},
		{game.Odd, game.Odd, 4, drawn},
		{game.Odd, game.Odd, 9, drawn},
		{game.Even, game.Odd, 10, won},
		{game.Even, game.Odd, 1, lost},
		{game.Odd, game.Even, 3, won},
		{game.Odd, game.Even, 6, lost},
		{game.Even, game.Odd, 0, won},
	} {
		if got := game.Judge(game.Side{Choice: c.a}, game.Side{Choice: c.b}, c.number); got != c.want || got.Technical() {
			t.Errorf("%v against %v on %d: %+v, want %+v", c.a, c.b, c.number, got, c.want)
		}
	}
}

func TestJudgeFaults(t *testing.T) {
	t.Parallel()
	for n := 1; n < 256; n++ {
		fault := game.Fault(n)
		for _, choice := range []game.Parity{game.NoParity, game.Even, game.Odd} { // a choice does not save it
			bad, good := game.Side{Choice: choice, Fault: fault}, game.Side{Choice: game.Even}
			for number := range 2 { // nor does the number matter
				if got, want := game.Judge(bad, good, number), (game.Verdict{
					ResultA: game.TechnicalLoss, ResultB: game.Win, PointsB: 3,
				}); got != want || !got.Technical() {
					t.Errorf("%v of A: %+v", fault, got)
				}
				if got, want := game.Judge(good, bad, number), (game.Verdict{
					ResultA: game.Win, ResultB: game.TechnicalLoss, PointsA: 3,
				}); got != want || !got.Technical() {
					t.Errorf("%v of B: %+v", fault, got)
				}
				if got, want := game.Judge(bad, bad, number), (game.Verdict{
					ResultA: game.TechnicalLoss, ResultB: game.TechnicalLoss,
				}); got != want || !got.Technical() {
					t.Errorf("%v of both: %+v", fault, got)
				}
			}
		}
	}
}

func sides() *rapid.Generator[game.Side] {
	return rapid.Custom(func(t *rapid.T) game.Side {
		s := game.Side{Choice: rapid.SampledFrom([]game.Parity{game.Even, game.Odd}).Draw(t, "choice")}
		if rapid.IntRange(0, 4).Draw(t, "faulty") == 0 {
			s.Fault = rapid.SampledFrom([]game.Fault{game.FaultError, game.FaultTimeout, game.FaultForfeit}).Draw(t, "fault")
		}
		return s
	})
}

// The rules favour neither seat: changing places changes the results' places.
func TestJudgeIsSymmetric(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := sides().Draw(t, "a"), sides().Draw(t, "b")
		number := rapid.IntRange(0, game.MaxDrawNumber).Draw(t, "number")
		v, w := game.Judge(a, b, number), game.Judge(b, a, number)
		if v != (game.Verdict{ResultA: w.ResultB, ResultB: w.ResultA, PointsA: w.PointsB, PointsB: w.PointsA}) {
			t.Fatalf("%+v one way, %+v the other", v, w)
		}
		if v.Technical() != (a.Fault != game.NoFault || b.Fault != game.NoFault) {
			t.Fatalf("%+v: technical %t", v, v.Technical())
		}
	})
}
