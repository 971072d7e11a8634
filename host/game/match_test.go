package game_test

import (
	"math"
	"strings"
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

func TestJudgeFaults(t *testing.T) {
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

// The numbers and names stand in files: neither may ever change. The last
// column says whether the same plan meets the fault again on another machine.
func TestFaultsArePinned(t *testing.T) {
	pinned := []struct {
		fault        game.Fault
		number       uint8
		name         string
		reproducible bool
	}{
		{game.NoFault, 0, "none", true},
		{game.FaultError, 1, "error", true},
		{game.FaultInvalid, 2, "invalid-choice", true},
		{game.FaultTimeout, 3, "timeout", false},
		{game.FaultBudget, 4, "budget", true},
		{game.FaultCrash, 5, "crash", false},
		{game.FaultForfeit, 6, "forfeit", true},
		{game.FaultQuarantined, 7, "quarantined", true},
		{game.FaultNoJoin, 16, "no-join", false},
		{game.FaultDeclined, 17, "declined", true},
		{game.FaultNoAnswer, 18, "no-answer", false},
		{game.FaultDisconnect, 19, "disconnect", false},
		{game.FaultConnect, 20, "connect", false},
	}
	named := 0
	for _, p := range pinned {
		if uint8(p.fault) != p.number || p.fault.String() != p.name {
			t.Errorf("fault %d %q, want %d %q", p.fault, p.fault, p.number, p.name)
		}
		if got := p.fault.Reproducible(); got != p.reproducible {
			t.Errorf("%v.Reproducible() = %t", p.fault, got)
		}
	}
	for n := range 256 {
		if !strings.HasPrefix(game.Fault(n).String(), "fault-") {
			named++
		}
	}
	if got := game.Fault(99).String(); got != "fault-99" {
		t.Errorf("Fault(99) is %q", got)
	}
	if named != len(pinned) {
		t.Errorf("%d faults have names, %d are pinned here", named, len(pinned))
	}
}
