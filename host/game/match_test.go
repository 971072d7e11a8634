package game_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/strategylab/strategylab/host/game"
)

func TestParseParityTakesTheWireFormAlone(t *testing.T) {
	for _, p := range []game.Parity{game.Even, game.Odd} {
		if got, err := game.ParseParity(p.String()); err != nil || got != p {
			t.Errorf("ParseParity(%q) = %v, %v", p.String(), got, err)
		}
	}
	for _, s := range []string{"", "Even", "EVEN", "odd ", " odd", "eve", "evenly", "0", "1", "true", "even\n", "нечет"} {
		if got, err := game.ParseParity(s); err == nil || got != game.NoParity {
			t.Errorf("ParseParity(%q) = %v, %v, want an error", s, got, err)
		}
	}
}

func TestParityOf(t *testing.T) {
	for n, want := range map[int]game.Parity{
		0: game.Even, 1: game.Odd, 2: game.Even, 9: game.Odd, 10: game.Even, game.MaxDrawNumber: game.Even,
		-1: game.Odd, -2: game.Even, math.MaxInt: game.Odd, math.MinInt: game.Even,
	} {
		if got := game.ParityOf(n); got != want {
			t.Errorf("ParityOf(%d) = %v, want %v", n, got, want)
		}
	}
}

// The words stand in messages and reports; what is unknown is empty.
func TestNames(t *testing.T) {
	type stringer interface{ String() string }
	for v, want := range map[stringer]string{
		game.NoParity: "", game.Even: "even", game.Odd: "odd", game.Parity(9): "",
		game.NoRole: "", game.RoleA: "PLAYER_A", game.RoleB: "PLAYER_B", game.Role(9): "",
		game.NoResult: "", game.Win: "win", game.Tie: "draw", game.Loss: "loss",
		game.TechnicalLoss: "technical_loss", game.Result(9): "",
	} {
		if got := v.String(); got != want {
			t.Errorf("%T(%d) is %q, want %q", v, v, got, want)
		}
	}
}

// The truth table of even_odd, from the rules of league.v2: the one right
// choice wins 3 to 0, two right or two wrong ones draw at 1 each.
func TestJudge(t *testing.T) {
	won := game.Verdict{ResultA: game.Win, ResultB: game.Loss, PointsA: 3}
	lost := game.Verdict{ResultA: game.Loss, ResultB: game.Win, PointsB: 3}
	drawn := game.Verdict{ResultA: game.Tie, ResultB: game.Tie, PointsA: 1, PointsB: 1}
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

// Neither a choice beside it nor the number saves a side with a fault.
func TestJudgeFaults(t *testing.T) {
	good := game.Side{Choice: game.Even}
	aFails := game.Verdict{ResultA: game.TechnicalLoss, ResultB: game.Win, PointsB: 3}
	bFails := game.Verdict{ResultA: game.Win, ResultB: game.TechnicalLoss, PointsA: 3}
	for n := 1; n < 256; n++ {
		for _, choice := range []game.Parity{game.NoParity, game.Even, game.Odd} {
			bad := game.Side{Choice: choice, Fault: game.Fault(n)}
			for number := range 2 {
				a, b, both := game.Judge(bad, good, number), game.Judge(good, bad, number), game.Judge(bad, bad, number)
				if a != aFails || b != bFails || both != bothFail || !a.Technical() || !b.Technical() || !both.Technical() {
					t.Errorf("%v of A, of B, of both: %+v, %+v, %+v", bad.Fault, a, b, both)
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

// The numbers and names stand in files: neither may ever change. Whether the same plan meets a
// fault again on another machine is pinned, too.
func TestFaultsArePinned(t *testing.T) {
	pinned := map[game.Fault]string{
		game.NoFault: "0 none true", game.FaultError: "1 error true", game.FaultInvalid: "2 invalid-choice true",
		game.FaultTimeout: "3 timeout false", game.FaultBudget: "4 budget true", game.FaultCrash: "5 crash false",
		game.FaultForfeit: "6 forfeit true", game.FaultQuarantined: "7 quarantined true", game.FaultNoJoin: "16 no-join false",
		game.FaultDeclined: "17 declined true", game.FaultNoAnswer: "18 no-answer false", game.FaultDisconnect: "19 disconnect false",
		game.FaultConnect: "20 connect false",
	}
	for n := range 256 {
		f := game.Fault(n)
		want, known := pinned[f]
		if !known {
			want = fmt.Sprintf("%d fault-%d %t", n, n, f.Reproducible())
		}
		if got := fmt.Sprintf("%d %v %t", n, f, f.Reproducible()); got != want {
			t.Errorf("fault %s, want %s", got, want)
		}
	}
}
