package game_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/strategylab/strategylab/host/game"
)

var _ rand.Source = (*game.Rand)(nil)

// Golden values. Records and digests rest on them, so they never change. The
// keys were checked against SHA-256 of Python's hashlib; the words are those of
// ChaCha8 and PCG-DXSM in Go 1.26's math/rand/v2.
func TestStreamsAreGolden(t *testing.T) {
	if got, want := game.StrategyKey(1, 2, 3), (game.Key{0xccfcde246454f22c, 0x791cdd01ed936f6c}); got != want {
		t.Errorf("StrategyKey = %#x, want %#x", got, want)
	}
	if got, want := game.CoinKey(1, 2, 3), (game.Key{0x486147ac36798c5e, 0xd8275f309f393db2}); got != want {
		t.Errorf("CoinKey = %#x, want %#x", got, want)
	}
	for _, c := range []struct {
		seed   uint64
		league int
		want   [3]uint64
	}{
		{1, 0, [3]uint64{0x40f9ebc77e0f0289, 0x87e796c945bdfe70, 0x12ccba6b75691560}},
		{1 << 63, 12345, [3]uint64{0x9d384fa365911971, 0x255d8ab04a5944f8, 0x14138acc82c88292}},
	} {
		s := game.NewDrawStream(c.seed, c.league)
		if got := [3]uint64{s.Next(), s.Next(), s.Next()}; got != c.want {
			t.Errorf("draws of league %d of seed %d: %#x, want %#x", c.league, c.seed, got, c.want)
		}
	}
	for league, want := range [][]int{{8, 1, 0, 3, 5, 6, 2, 9, 4, 7}, {3, 4, 1, 0, 7, 6, 8, 5, 9, 2}} {
		if got := game.Seats(1, league, 10); !slices.Equal(got, want) {
			t.Errorf("seats of league %d: %v, want %v", league, got, want)
		}
	}
	r := game.NewRand(game.Key{1, 2})
	for position, want := range map[uint64][2]uint64{
		0:       {0x8c80176b3f63633f, 0x0d756d428d104c9f},
		1:       {0x8f080caa818314b9, 0x82f1ca7a90402e40},
		2:       {0x7443ac85a5c67ddc, 0xeba47ed95717352f},
		1 << 40: {0xd237722c06274ebd, 0x721ca6088ebabefe},
	} {
		r.Rekey(position)
		if got := [2]uint64{r.Uint64(), r.Uint64()}; got != want {
			t.Errorf("stream at %d: %#x, want %#x", position, got, want)
		}
	}
}

// No two uses of randomness share a key: not by purpose, nor by seed, league or
// player, nor with these in another order.
func TestStreamsAreSeparate(t *testing.T) {
	owner := map[[2]uint64]string{}
	claim := func(words [2]uint64, who string) {
		t.Helper()
		if other, taken := owner[words]; taken {
			t.Errorf("%s and %s are the same stream", who, other)
		}
		owner[words] = who
	}
	numbers := []int{0, 1, 2, 3, 255, 256, 1 << 20}
	for _, seed := range numbers {
		for _, league := range numbers {
			s := game.NewDrawStream(uint64(seed), league)
			claim([2]uint64{s.Next(), s.Next()}, "draw")
			for _, field := range numbers {
				claim(game.StrategyKey(uint64(seed), league, field), "strategy")
				claim(game.CoinKey(uint64(seed), league, field), "coin")
			}
		}
	}
	if want := 49 + 2*343; len(owner) != want {
		t.Errorf("%d streams, want %d", len(owner), want)
	}
}

func TestSeatsAreAShuffle(t *testing.T) {
	for n := range 65 {
		for league := range 3 {
			seats := game.Seats(5, league, n)
			sorted := slices.Sorted(slices.Values(seats))
			for i, field := range sorted {
				if len(seats) != n || field != i {
					t.Fatalf("%d seats: %v", n, seats)
				}
			}
		}
	}
	if slices.Equal(game.Seats(1, 0, 30), game.Seats(1, 1, 30)) || slices.Equal(game.Seats(1, 0, 30), game.Seats(2, 0, 30)) {
		t.Error("leagues or seeds share their seats")
	}
}

// All 24 orders of four players come up alike: Pearson's test with the
// 1 - 1e-6 quantile for 23 degrees of freedom, from gonum's distuv.ChiSquared.
func TestSeatsAreUniform(t *testing.T) {
	const leagues = 24_000
	index := map[[4]int]int{}
	seen := make([]int, 24)
	for league := range leagues {
		order := [4]int(game.Seats(77, league, 4))
		if _, ok := index[order]; !ok {
			index[order] = len(index)
		}
		seen[index[order]]++
	}
	if x := chiSquare(seen, uniformly(24, leagues/24)); x > 70.55 {
		t.Errorf("chi-square %.1f, want at most 70.55: %v", x, seen)
	}
}

// What is drawn at a position depends on nothing that was drawn elsewhere.
func TestRandPositionsAreIndependent(t *testing.T) {
	key := game.StrategyKey(3, 4, 5)
	tidy, untidy := game.NewRand(key), game.NewRand(key)
	for position := range uint64(300) {
		untidy.Rekey(position*31 + 7)
		for range position % 9 {
			untidy.Uint64()
		}
		untidy.Rekey(position)
		tidy.Rekey(position)
		for i := range 5 {
			if got, want := untidy.Uint64(), tidy.Uint64(); got != want {
				t.Fatalf("position %d, word %d: %#x after other use, want %#x", position, i, got, want)
			}
		}
	}
	positions := map[uint64]bool{game.StartPosition: true}
	for match := range uint64(1000) {
		positions[game.ChoosePosition(match)], positions[game.ObservePosition(match)] = true, true
	}
	if len(positions) != 2001 {
		t.Errorf("%d positions for 1000 matches, want 2001", len(positions))
	}
	fresh := game.NewRand(key)
	tidy.Rekey(0)
	if got, want := fresh.Uint64(), tidy.Uint64(); got != want {
		t.Errorf("a new stream starts with %#x, position 0 with %#x", got, want)
	}
}

// Strategies mostly take one number at a position, so the first words of consecutive positions, and
// of a player's two streams at one, must be as good as independent: pairs of their two top bits
// fill a 4 by 4 table evenly. The critical value is the 1 - 1e-6 quantile for 15 degrees of
// freedom, from gonum's distuv.ChiSquared.
func TestFirstWordsAreIndependent(t *testing.T) {
	const leagues, matches = 200, 400
	inTurn, across, players := make([]int, 16), make([]int, 16), make([]int, 16)
	for league := range leagues {
		mine, coin := game.NewRand(game.StrategyKey(1, league, 0)), game.NewRand(game.CoinKey(1, league, 0))
		other := game.NewRand(game.StrategyKey(1, league, 1))
		at := func(r *game.Rand, position uint64) uint64 { r.Rekey(position); return r.Uint64() >> 62 }
		for match := range uint64(matches) {
			here := at(mine, game.ChoosePosition(match))
			inTurn[here<<2|at(mine, game.ChoosePosition(match+1))]++
			across[here<<2|at(coin, game.ChoosePosition(match))]++
			players[here<<2|at(other, game.ChoosePosition(match))]++
		}
	}
	for what, seen := range map[string][]int{"in turn": inTurn, "choice and coin": across, "two players": players} {
		if x := chiSquare(seen, uniformly(16, leagues*matches/16)); x > 56.49 {
			t.Errorf("%s: chi-square %.1f, want at most 56.49: %v", what, x, seen)
		}
	}
}

func TestRandRanges(t *testing.T) {
	r := game.NewRand(game.Key{8, 9})
	seen := make([]int, 7)
	sum, heads := 0.0, 0
	const n = 70_000
	for range n {
		x := r.Float64()
		if x < 0 || x >= 1 {
			t.Fatalf("Float64 = %v", x)
		}
		sum += x
		seen[r.IntN(7)]++
		if r.Bernoulli(0.3) {
			heads++
		}
		if r.Bernoulli(0) || !r.Bernoulli(1) || r.Bernoulli(math.NaN()) || r.IntN(1) != 0 {
			t.Fatal("chance where there is certainty")
		}
	}
	// Five standard errors: sqrt(1/12/n) and sqrt(0.3*0.7/n).
	if mean := sum / n; math.Abs(mean-0.5) > 5*math.Sqrt(1.0/12/n) {
		t.Errorf("Float64 has mean %v", mean)
	}
	if p := float64(heads) / n; math.Abs(p-0.3) > 5*math.Sqrt(0.21/n) {
		t.Errorf("Bernoulli(0.3) is true in %v", p)
	}
	if x := chiSquare(seen, uniformly(7, n/7)); x > 38.26 { // 6 degrees of freedom
		t.Errorf("IntN(7): chi-square %.1f: %v", x, seen)
	}
}

func TestIntNPanicsBelowOne(t *testing.T) {
	for _, n := range []int{0, -1, math.MinInt} {
		func() {
			defer func() { _ = recover() }()
			game.NewRand(game.Key{}).IntN(n)
			t.Errorf("IntN(%d) does not panic", n)
		}()
	}
}

func TestStreamsDoNotAllocate(t *testing.T) {
	var s game.DrawStream
	r := game.NewRand(game.Key{1, 2})
	league := 0
	if n := testing.AllocsPerRun(100, func() {
		league++
		s.Reset(1, league)
		s.Next()
		r.Rekey(uint64(league))
		r.Float64()
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
