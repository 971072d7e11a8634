package builtin

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// sample is a run of matches, as CTW is shown it.
type sample struct{ own, opponent []game.Parity }

// play shows a sample to a fresh tree and returns the probabilities that it
// gave to what was played.
func (s sample) play() []float64 {
	ns, t := newCTWNodes(1), ctwTree{}
	probs := make([]float64, len(s.opponent))
	for i := range probs {
		p := ns.even(&t)
		if s.opponent[i] == game.Odd {
			p = 1 - p
		}
		probs[i] = p
		ns.add(&t, s.own[i], s.opponent[i])
	}
	return probs
}

// contexts returns the context of every match: bit 0 is the opponent's last
// choice, bit 1 our own, and so on into the past; before the first, all zero.
func (s sample) contexts() []uint64 {
	past, all := uint64(0), make([]uint64, len(s.own))
	for i := range s.own {
		all[i] = past
		past = past<<2 | bit(s.own[i])<<1 | bit(s.opponent[i])
	}
	return all
}

// weighted is the definition of Willems, Shtarkov and Tjalkens: Pw(s) = Pe(s) at full depth, (Pe(s)
// + Pw(0s) Pw(1s)) / 2 above it, for the matches whose context ends in the depth bits of s.
func (s sample) weighted(contexts []uint64, suffix uint64, depth int) float64 {
	seen := [2]float64{}
	estimate := 1.0
	for i, c := range contexts {
		if c&(1<<depth-1) == suffix {
			x := bit(s.opponent[i])
			estimate *= (seen[x] + 0.5) / (seen[0] + seen[1] + 1)
			seen[x]++
		}
	}
	if depth == ctwDepth || seen[0]+seen[1] == 0 {
		return estimate
	}
	return (estimate + s.weighted(contexts, suffix, depth+1)*s.weighted(contexts, suffix|1<<depth, depth+1)) / 2
}

// The probabilities given one after another multiply to the weighted
// probability of the whole, as the definition has it.
func TestCTWMatchesTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := sample{parities().Draw(t, "own"), parities().Draw(t, "opponent")}
		n := min(len(s.own), len(s.opponent), 60)
		s.own, s.opponent = s.own[:n], s.opponent[:n]
		got := 1.0
		for _, p := range s.play() {
			got *= p
		}
		want := s.weighted(s.contexts(), 0, 0)
		if math.Abs(got/want-1) > 1e-9 {
			t.Fatalf("probability of the sample %v, want %v", got, want)
		}
	})
}

// noisy makes a sample of an opponent who plays even with a probability that
// depends on the context, and of a coin.
func noisy(n int, even func(context uint64) float64) sample {
	rnd := game.NewRand(game.Key{7, 8})
	throw := func(p float64) game.Parity {
		if rnd.Bernoulli(p) {
			return game.Even
		}
		return game.Odd
	}
	var s sample
	past := uint64(0)
	for range n {
		own, opponent := throw(0.5), throw(even(past))
		s.own, s.opponent = append(s.own, own), append(s.opponent, opponent)
		past = past<<2 | bit(own)<<1 | bit(opponent)
	}
	return s
}

// The code length is at most that of any tree source plus the redundancy bound of the paper
// (without its two bits for arithmetic coding): for a tree with L leaves, 2L-1 bits for the tree
// and L*gamma(T/L) for the leaves, with gamma(z) = z below 1 and log2(z)/2 + 1 above. It holds for
// every sequence, here with the parameters that suit each best.
func TestCTWRedundancyIsBounded(t *testing.T) {
	const matches = 4000
	trees := map[string]struct {
		leaves int
		leaf   func(context uint64) uint64 // numbers the leaves
		even   []float64                   // by leaf
	}{
		"coin":              {1, func(uint64) uint64 { return 0 }, []float64{0.5}},
		"biased":            {1, func(uint64) uint64 { return 0 }, []float64{0.9}},
		"own last choice":   {2, func(c uint64) uint64 { return c & 1 }, []float64{0.2, 0.7}},
		"reacts to us":      {4, func(c uint64) uint64 { return c & 3 }, []float64{0.1, 0.9, 0.1, 0.9}},
		"the last two, own": {8, func(c uint64) uint64 { return c & 7 }, []float64{0.9, 0.1, 0.8, 0.3, 0.2, 0.7, 0.4, 0.5}},
	}
	for what, tree := range trees {
		s := noisy(matches, func(c uint64) float64 { return tree.even[tree.leaf(c)] })
		length := 0.0
		for _, p := range s.play() {
			length -= math.Log2(p)
		}
		seen := make([][2]float64, tree.leaves)
		for i, c := range s.contexts() {
			seen[tree.leaf(c)][bit(s.opponent[i])]++
		}
		best := 0.0
		for _, n := range seen {
			for _, k := range n {
				if k > 0 {
					best -= k * math.Log2(k/(n[0]+n[1]))
				}
			}
		}
		leaves := float64(tree.leaves)
		bound := 2*leaves - 1 + leaves*(math.Log2(matches/leaves)/2+1)
		if length > best+bound {
			t.Errorf("%s: %.1f bits, want at most %.1f + %.1f", what, length, best, bound)
		}
	}
}

// Against a Markov source the chosen parity differs from the next as often as
// the source allows: sum over contexts of P(context) max(p, 1-p).
func TestCTWConverges(t *testing.T) {
	const matches, learning = 20_000, 500
	for _, c := range []struct {
		what string
		even func(context uint64) float64
		want float64
	}{
		// P(even after odd) = 0.3, P(even after even) = 0.8: even 0.6 of the time.
		{"order 1", func(c uint64) float64 { return [2]float64{0.3, 0.8}[c&1] }, 0.6*0.8 + 0.4*0.7},
		// It repeats our own last choice nine times in ten.
		{"reacts to us", func(c uint64) float64 { return [2]float64{0.1, 0.9}[c>>1&1] }, 0.9},
		// It does the opposite of what it did three matches ago, likewise.
		{"order 3", func(c uint64) float64 { return [2]float64{0.9, 0.1}[c>>4&1] }, 0.9},
		{"coin", func(uint64) float64 { return 0.5 }, 0.5},
	} {
		s := noisy(matches, c.even)
		right := 0
		for i, p := range s.play() { // the likelier parity is played against
			if i >= learning && p > 0.5 {
				right++
			}
		}
		got := float64(right) / (matches - learning)
		if math.Abs(got-c.want) > 0.02 { // five standard errors and what learning costs
			t.Errorf("%s: differs in %.4f of matches, want %.4f", c.what, got, c.want)
		}
	}
}

// However long the play, a tree has at most the nodes of its depth, and no
// probability leaves (0, 1).
func TestCTWIsBounded(t *testing.T) {
	const matches = 50_000
	ns, tree := newCTWNodes(1), ctwTree{}
	rnd := game.NewRand(game.Key{9, 9})
	for i := range matches {
		p := ns.even(&tree)
		if !(p > 0 && p < 1) {
			t.Fatalf("match %d: probability %v", i, p)
		}
		own, opponent := game.Even+game.Parity(rnd.IntN(2)), game.Even
		if i > matches/2 { // a bias so long that the ratios reach their bounds, then the opposite
			opponent = game.Odd
		}
		if i%1000 < 500 {
			opponent = game.Even + game.Parity(rnd.IntN(2))
		}
		ns.add(&tree, own, opponent)
	}
	if got, most := len(ns.at)-1, 2<<ctwDepth-1; got > most {
		t.Errorf("%d nodes, want at most %d", got, most)
	}
}

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
