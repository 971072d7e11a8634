package builtin_test

import (
	"fmt"
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// reactions are opponents who react to the last match only.
func reactions() map[string]opponent {
	react := func(f func(m match) game.Parity) opponent {
		return func(past []match) game.Parity {
			if len(past) == 0 {
				return game.Even
			}
			return f(past[len(past)-1])
		}
	}
	return map[string]opponent{
		"copies":   react(func(m match) game.Parity { return m.own }),
		"opposes":  react(func(m match) game.Parity { return m.own.Opposite() }),
		"stays":    react(func(m match) game.Parity { return m.theirs }),
		"changes":  react(func(m match) game.Parity { return m.theirs.Opposite() }),
		"contrary": react(func(m match) game.Parity { return [2]game.Parity{m.theirs, m.own}[b2i(m.differ())] }),
		"perverse": react(func(m match) game.Parity { // gives up what differs and keeps what does not
			if m.differ() {
				return m.theirs.Opposite()
			}
			return m.theirs
		}),
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Who has learnt an opponent differs from it in every match from some one on.
func TestLearners(t *testing.T) {
	learns := func(name, what string, o opponent, matches, from int) {
		t.Helper()
		wantDifferFrom(t, name+" against "+what, versus(t, name, o, matches, 1), from)
	}
	learns("copy-last", "alternation", cycle("eo"), 100, 1)
	// Where a context is unknown, a shorter one decides.
	for _, name := range []string{"opposite-last", "markov-1", "markov-2", "markov-3", "joint-markov-2", "frequency", "ctw", "longest-match"} {
		learns(name, "always even", cycle("e"), 50, 1)
		learns(name, "always odd", cycle("o"), 50, 1)
	}
	// In a pattern of period p <= k+1 the last k choices tell the next, and all of them have been
	// seen by match k+p; a longer one may hold a context that is followed by both.
	for order, tooLong := range []string{1: "eeoo", 2: "eeeooo", 3: "eeeeoooo"} {
		name := fmt.Sprintf("markov-%d", order)
		for period := 1; order > 0 && period <= order+1; period++ {
			for _, pattern := range patterns(period) {
				learns(name, pattern, cycle(pattern), 60, order+period)
			}
		}
		if order > 0 && count(versus(t, name, cycle(tooLong), 400, 1)[200:], match.differ) == 200 {
			t.Errorf("%s learns %s", name, tooLong)
		}
	}
	for what, o := range reactions() {
		learns("longest-match", "one who "+what, o, 300, 200)
	}
	for period := 1; period <= 6; period++ {
		for _, pattern := range patterns(period) {
			learns("longest-match", pattern, cycle(pattern), 250, 200)
		}
	}
	rnd := game.NewRand(game.Key{5, 6})
	for range 50 {
		pattern := make([]byte, 7+rnd.IntN(14))
		for i := range pattern {
			pattern[i] = "eo"[rnd.IntN(2)]
		}
		learns("longest-match", string(pattern), cycle(string(pattern)), 250, 200)
	}
}

// An opponent that changes its behaviour is learnt again: old scores fade.
func TestLongestMatchForgets(t *testing.T) {
	turncoat := func(past []match) game.Parity {
		return cycle([]string{"eeo", "oooe", "e", "eo"}[len(past)/250%4])(past)
	}
	past := versus(t, "longest-match", turncoat, 1000, 1)
	for phase := range 4 {
		wantDifferFrom(t, "longest-match late in a phase", past[phase*250+150:(phase+1)*250], 0)
	}
}

// An opponent that reacts to the last two matches alone is deterministic given the joint context,
// so each of the 16 contexts misleads at most once, and besides the first two matches nothing else
// does. Each of Shannon's eight situations misleads at most twice before its habit is known.
func TestWhatMisleadsMachines(t *testing.T) {
	atMost := func(most int, name, what string, o opponent, matches int, seed uint64) {
		t.Helper()
		past := versus(t, name, o, matches, seed)
		if n := len(past) - count(past, match.differ); n > most {
			t.Errorf("%s against %s: %d equal choices, want at most %d", name, what, n, most)
		}
	}
	opponents := reactions()
	for period := 1; period <= 3; period++ {
		for _, pattern := range patterns(period) {
			opponents[pattern] = cycle(pattern)
		}
	}
	for what, o := range opponents {
		for seed := range uint64(10) {
			atMost(16+2, "joint-markov-2", what, o, 100, seed)
		}
	}
	for rule := range 256 {
		atMost(2*8+2, "mind-reader", fmt.Sprintf("rule %08b", rule), creature(rule), 100, uint64(rule))
	}
}

// creature is an opponent who stays or changes by Shannon's eight situations:
// the bits of its rule say in which it changes.
func creature(rule int) opponent {
	return func(past []match) game.Parity {
		n := len(past)
		if n < 2 {
			return game.Even
		}
		before, last := past[n-2], past[n-1]
		situation := b2i(before.differ())<<2 | b2i(before.theirs != last.theirs)<<1 | b2i(last.differ())
		if rule>>situation&1 == 1 {
			return last.theirs.Opposite()
		}
		return last.theirs
	}
}

func TestRole(t *testing.T) {
	p := sit(t, find(t, "role"), fieldOf(2), 0, 1)
	const matches = 4000
	even := 0
	for i := range matches {
		a, b := p.choose(i, "P02", game.RoleA), p.choose(i, "P02", game.RoleB)
		if a != game.Even || b != game.Odd {
			t.Fatalf("player A plays %v, player B %v", a, b)
		}
		even += b2i(p.choose(i, "P02", game.NoRole) == game.Even)
	}
	wantShare(t, "without a role, even", even, matches, 0.5)
	wantDifferFrom(t, "role against itself", each(t, "role", "role", game.FairDraw(), 200, 1), 0)
}

// Where nothing is known of the opponent a first choice is a fair coin.
func TestFirstChoicesAreRandom(t *testing.T) {
	const seeds = 500
	for _, name := range []string{
		"copy-last", "opposite-last", "stay-or-flip", "frequency", "markov-1", "markov-2", "markov-3", "joint-markov-2",
		"mind-reader", "longest-match", "ctw", "gambler", "hot-hand", "hedge",
	} {
		even := 0
		for seed := range uint64(seeds) {
			even += b2i(sit(t, find(t, name), fieldOf(2), 0, seed).choose(0, "P02", game.NoRole) == game.Even)
		}
		wantShare(t, name+": first choice even", even, seeds, 0.5)
	}
}

// stay-or-flip keeps a choice that differs, and tosses after an equal one.
func TestStayOrFlipStaysWhereItDiffers(t *testing.T) {
	past := versus(t, "stay-or-flip", stationary(0.5, 4), 8000, 6)
	flips, equals := 0, 0
	for i := 1; i < len(past); i++ {
		flipped := past[i].own != past[i-1].own
		if past[i-1].differ() && flipped {
			t.Errorf("flipped in match %d after differing", i)
		}
		equals += b2i(!past[i-1].differ())
		flips += b2i(flipped)
	}
	wantShare(t, "flips after equal choices", flips, equals, 0.5)

	p := sit(t, find(t, "stay-or-flip"), fieldOf(2), 0, 1)
	own := p.choose(0, "P02", game.RoleA)
	p.observe(outcome(0, "P02", game.RoleA, own, own.Opposite(), 1))
	for i := 1; i < 40; i++ {
		p.observe(strategies.Outcome{
			Match: uint64(i), Opponent: "P02", Choice: own.Opposite(), Result: game.Win, Points: game.WinPoints,
		})
		if got := p.choose(i, "P02", game.RoleA); got != own {
			t.Fatalf("gave up a choice that differed, after %d technical wins", i)
		}
	}
}

// Two coordinators differ first at the k-th match with probability 2^-k,
// whatever went before, and then for ever.
func TestStayOrFlipLocksIntoDiffering(t *testing.T) {
	const seeds, matches = 1000, 40
	first := map[int]int{}
	for seed := range uint64(seeds) {
		past := each(t, "stay-or-flip", "stay-or-flip", game.FairDraw(), matches, seed)
		k := 0
		for k < matches && !past[k].differ() {
			k++
		}
		first[k]++
		wantDifferFrom(t, "stay-or-flip against itself", past, k)
	}
	for k, chance := 0, 0.5; k < 5; k, chance = k+1, chance/2 {
		wantShare(t, "first differing", first[k], seeds, chance)
	}
	if first[matches] > 0 {
		t.Errorf("%d pairs did not find each other in %d matches", first[matches], matches)
	}
}

// Copies of one predictor that start alike mirror each other; the coin that
// longest-match falls back on parts them.
func TestLongestMatchFindsItsCopy(t *testing.T) {
	const seeds = 100
	settled := 0
	for seed := range uint64(seeds) {
		past := each(t, "longest-match", "longest-match", game.FairDraw(), 200, seed)
		settled += b2i(count(past[150:], match.differ) == 50)
	}
	if settled < 95 {
		t.Errorf("%d of %d pairs settled into differing, want at least 95", settled, seeds)
	}
}

// How often strategies without memory of the opponent differ from others. Random differs from
// anybody in half of the matches, and everybody from a coin; two independent coins of 0.7
// differ with probability 2 * 0.7 * 0.3. Against always-even, gambler differs exactly after
// even numbers and hot-hand exactly after odd ones; both follow the same draws.
func TestSharesOfDifferentChoices(t *testing.T) {
	for what, o := range map[string]opponent{
		"always even": cycle("e"), "alternating": cycle("eo"), "biased": stationary(0.8, 1), "a predictor": reactions()["copies"],
	} {
		wantDifferShare(t, "random against "+what, versus(t, "random", o, 20_000, 7), 0.5)
	}
	for _, name := range names() {
		wantDifferShare(t, name+" against a coin", versus(t, name, stationary(0.5, 3), 4000, 8), 0.5)
	}
	oddly, err := game.ParseDraw("weights:1=1,2=3")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		a, b string
		draw game.Draw
		seed uint64
		want float64
	}{
		{"biased", "always-odd", game.FairDraw(), 2, 0.7},
		{"biased", "biased", game.FairDraw(), 3, 0.42},
		{"gambler", "always-even", game.FairDraw(), 11, 0.5},
		{"hot-hand", "always-even", game.FairDraw(), 11, 0.5},
		{"gambler", "always-even", oddly, 11, 0.75},
		{"hot-hand", "always-even", oddly, 11, 0.25},
		{"gambler", "hot-hand", game.FairDraw(), 12, 1}, // but for the first match
	} {
		past := each(t, c.a, c.b, c.draw, 10_001, c.seed)[1:]
		wantDifferShare(t, fmt.Sprintf("%s against %s, draw %s", c.a, c.b, c.draw.String()), past, c.want)
	}
}

// believers maps the controls to what they play after a drawn parity.
func believers() map[string]func(game.Parity) game.Parity {
	return map[string]func(game.Parity) game.Parity{
		"gambler":  game.Parity.Opposite,
		"hot-hand": func(p game.Parity) game.Parity { return p },
	}
}

// The controls follow nothing but the last number drawn, whomever it was drawn for, and gain
// nothing by it: of the matches in which the choices differ, each wins half.
func TestControls(t *testing.T) {
	for name, reply := range believers() {
		p := sit(t, find(t, name), fieldOf(4), 0, 1)
		drawn := game.NoParity
		numbers := game.NewRand(game.Key{1, 2})
		for i := range 400 {
			number := numbers.IntN(10) + 1
			got := p.meet(i, game.PlayerID(1+i%3), throw(numbers, 0.5), number)
			if drawn != game.NoParity && got != reply(drawn) {
				t.Fatalf("%s plays %v after an %v number", name, got, drawn)
			}
			drawn = game.ParityOf(number)
		}
		for _, against := range []string{"always-even", "random", "markov-2", "role"} {
			past := each(t, name, against, game.FairDraw(), 10_000, 13)
			wins := count(past, func(m match) bool { return m.differ() && m.own == game.ParityOf(m.number) })
			wantShare(t, name+" against "+against+": differing matches won", wins, count(past, match.differ), 0.5)
		}
	}
}
