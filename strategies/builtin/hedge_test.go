package builtin

import (
	"math"
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// adversaries choose what to play knowing the probability of even they face.
func adversaries() map[string]func(t int, p strategies.Choice, own game.Parity) game.Parity {
	rnd := game.NewRand(game.Key{3, 4})
	return map[string]func(int, strategies.Choice, game.Parity) game.Parity{
		"plays what is likelier": func(_ int, p strategies.Choice, _ game.Parity) game.Parity {
			if p >= 0.5 {
				return game.Even
			}
			return game.Odd
		},
		"always even": func(int, strategies.Choice, game.Parity) game.Parity { return game.Even },
		"alternates":  func(t int, _ strategies.Choice, _ game.Parity) game.Parity { return game.Even + game.Parity(t&1) },
		"period five": func(t int, _ strategies.Choice, _ game.Parity) game.Parity {
			return game.Even + game.Parity("aabab"[t%5]-'a')
		},
		"coin":            func(int, strategies.Choice, game.Parity) game.Parity { return game.Even + game.Parity(rnd.IntN(2)) },
		"biased coin":     func(int, strategies.Choice, game.Parity) game.Parity { return game.Even + game.Parity(rnd.IntN(10)/7) },
		"copies":          func(_ int, _ strategies.Choice, own game.Parity) game.Parity { return max(own, game.Even) },
		"changes for bad": func(t int, _ strategies.Choice, _ game.Parity) game.Parity { return game.Even + game.Parity(t/700&1) },
	}
}

// The bound, sqrt(T ln N), holds for the expected loss in every match, against
// every opponent: no chance enters and no tolerance is needed.
func TestHedgeRegretIsBounded(t *testing.T) {
	for what, next := range adversaries() {
		var p panel
		coin := game.NewRand(game.Key{1, 2})
		own, loss := game.NoParity, 0.0
		for i := range 3000 {
			role := game.RoleA + game.Role(i&1)
			even := p.mix(role)
			if !even.Valid() {
				t.Fatalf("%s: mix = %v", what, even)
			}
			theirs := next(i, even, own)
			if theirs == game.Even {
				loss += float64(even)
			} else {
				loss += 1 - float64(even)
			}
			coin.Rekey(uint64(i))
			own = even.Resolve(coin)
			p.add(role, own, theirs)

			best := math.Inf(1)
			for _, l := range p.losses {
				best = min(best, float64(l)/2)
			}
			if regret, bound := loss-best, math.Sqrt(float64(i+1)*math.Log(experts)); regret > bound {
				t.Fatalf("%s: regret %.2f after %d matches, want at most %.2f", what, regret, i+1, bound)
			}
		}
	}
}

// Hand-computed losses of the experts after even, odd, odd with own odd, odd,
// even, as player A throughout.
func TestHedgeCountsLosses(t *testing.T) {
	var p panel
	for _, m := range [][2]game.Parity{{game.Odd, game.Even}, {game.Odd, game.Odd}, {game.Even, game.Odd}} {
		p.add(game.RoleA, m[0], m[1])
	}
	want := [experts]int32{
		2, 4, // always-even lost to the first, always-odd to the other two
		1 + 2 + 2, 1 + 0 + 0, // stay played -, o, o; change -, e, e
		1 + 0 + 2, 1 + 2 + 0, // copy played -, e, o; opposite -, o, e
		2,                                          // player A plays even
		1 + 2 + 1,                                  // frequency played -, o, -
		1 + 2 + 1, 1 + 2 + 1, 1 + 2 + 1, 1 + 2 + 1, // no context has come back, so all fall back on it
	}
	if p.losses != want {
		t.Errorf("losses %v\nwant   %v", p.losses, want)
	}
}

func TestHedgeArithmetic(t *testing.T) {
	for x := 0.0; x <= 2; x += 1.0 / 512 {
		if got, want := expNegative(x), math.Exp(-x); math.Abs(got/want-1) > 1e-12 {
			t.Errorf("expNegative(%v) = %v, want %v", x, got, want)
		}
	}
	for _, b := range []float64{0.2, 0.5, 0.99, 1} {
		for n := range int32(40) {
			if got, want := power(b, n), math.Pow(b, float64(n)); math.Abs(got/want-1) > 1e-13 {
				t.Errorf("power(%v, %d) = %v, want %v", b, n, got, want)
			}
		}
	}
	if got := power(0.5, math.MaxInt32); got != 0 {
		t.Errorf("power(0.5, MaxInt32) = %v", got)
	}
	if math.Abs(logExperts-math.Log(experts)) > 1e-15 {
		t.Errorf("logExperts = %v, want %v", logExperts, math.Log(experts))
	}
}
