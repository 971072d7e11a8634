package builtin_test

import (
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

func TestCopyLastAndOppositeLast(t *testing.T) {
	for name, want := range map[string]func(game.Parity) game.Parity{
		"copy-last":     func(p game.Parity) game.Parity { return p },
		"opposite-last": game.Parity.Opposite,
	} {
		past := versus(t, name, stationary(0.5, 9), 300, 1)
		for i := 1; i < len(past); i++ {
			if past[i].own != want(past[i-1].theirs) {
				t.Errorf("%s plays %v in match %d after %v", name, past[i].own, i, past[i-1].theirs)
			}
		}
	}
	wantDifferFrom(t, "copy-last against alternation", versus(t, "copy-last", cycle("eo"), 100, 1), 1)
	wantDifferFrom(t, "opposite-last against always even", versus(t, "opposite-last", cycle("e"), 100, 1), 1)
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
			if sit(t, find(t, name), fieldOf(2), 0, seed).choose(0, "P02", game.NoRole) == game.Even {
				even++
			}
		}
		wantShare(t, name+": first choice even", even, seeds, 0.5)
	}
}

func TestStayOrFlipStaysWhereItDiffers(t *testing.T) {
	past := versus(t, "stay-or-flip", stationary(0.5, 4), 8000, 6)
	flips, equals := 0, 0
	for i := 1; i < len(past); i++ {
		flipped := past[i].own != past[i-1].own
		switch {
		case !past[i-1].differ():
			equals++
			if flipped {
				flips++
			}
		case flipped:
			t.Errorf("flipped in match %d after differing", i)
		}
	}
	wantShare(t, "flips after equal choices", flips, equals, 0.5)
}

// Two coordinators differ first at the k-th match with probability 2^-k,
// whatever went before, and then for ever.
func TestStayOrFlipLocksIntoDiffering(t *testing.T) {
	const seeds, matches = 2000, 40
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

func TestStayOrFlipSurvivesATechnicalLoss(t *testing.T) {
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
