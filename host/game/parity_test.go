package game_test

import (
	"math"
	"testing"

	"github.com/strategylab/strategylab/host/game"
)

func TestParseParityTakesTheWireFormAlone(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
	for n, want := range map[int]game.Parity{
		0: game.Even, 1: game.Odd, 2: game.Even, 9: game.Odd, 10: game.Even, game.MaxDrawNumber: game.Even,
		-1: game.Odd, -2: game.Even, math.MaxInt: game.Odd, math.MinInt: game.Even,
	} {
		if got := game.ParityOf(n); got != want {
			t.Errorf("ParityOf(%d) = %v, want %v", n, got, want)
		}
	}
}

func TestOpposite(t *testing.T) {
	t.Parallel()
	for p, want := range map[game.Parity]game.Parity{
		game.Even: game.Odd, game.Odd: game.Even, game.NoParity: game.NoParity,
	} {
		if got := p.Opposite(); got != want {
			t.Errorf("%q.Opposite() = %q, want %q", p, got, want)
		}
	}
}

// The words stand in messages and reports; what is unknown is empty.
func TestNames(t *testing.T) {
	t.Parallel()
	type stringer interface{ String() string }
	for v, want := range map[stringer]string{
		game.NoParity: "", game.Even: "even", game.Odd: "odd", game.Parity(9): "",
		game.NoRole: "", game.RoleA: "PLAYER_A", game.RoleB: "PLAYER_B", game.Role(9): "",
		game.NoResult: "", game.Win: "win", game.Drawn: "draw", game.Loss: "loss",
		game.TechnicalLoss: "technical_loss", game.Result(9): "",
	} {
		if got := v.String(); got != want {
			t.Errorf("%T(%d) is %q, want %q", v, v, got, want)
		}
	}
}
