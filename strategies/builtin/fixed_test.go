package builtin_test

import (
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
)

func TestRandomDiffersFromAnybodyInHalf(t *testing.T) {
	const matches = 20_000
	for what, o := range map[string]opponent{
		"always even": cycle("e"), "alternating": cycle("eo"), "biased": stationary(0.8, 1),
		"predictor": func(past []match) game.Parity { // copies the last choice
			if len(past) == 0 {
				return game.Odd
			}
			return past[len(past)-1].own
		},
	} {
		wantDifferShare(t, "random against "+what, versus(t, "random", o, matches, 7), 0.5)
	}
}

// Every strategy differs from a fair coin in half of the matches.
func TestHalfDifferFromACoin(t *testing.T) {
	for _, name := range names() {
		wantDifferShare(t, name+" against a coin", versus(t, name, stationary(0.5, 3), 4000, 8), 0.5)
	}
}

func TestBiasedAnswersWithAProbability(t *testing.T) {
	p := sit(t, find(t, "biased"), fieldOf(2), 0, 1)
	for i := range 10 {
		if p.meet(i, "P02", game.Even, 1); p.answer != 0.7 {
			t.Fatalf("answer %v, want 0.7", p.answer)
		}
	}
	wantDifferShare(t, "biased against always-odd", each(t, "biased", "always-odd", game.FairDraw(), 20_000, 2), 0.7)
	// Two independent coins of 0.7 differ with probability 2 * 0.7 * 0.3.
	wantDifferShare(t, "biased against itself", each(t, "biased", "biased", game.FairDraw(), 20_000, 3), 0.42)
}

func TestAlternateKeepsTurnsPerOpponent(t *testing.T) {
	p := sit(t, find(t, "alternate"), fieldOf(4), 0, 1)
	turns := map[string]int{}
	for i, id := range []string{"P02", "P02", "P03", "P02", "P04", "P04", "P03", "P02", "P04", "P02"} {
		want := game.Even + game.Parity(turns[id]%2)
		if got := p.meet(i, id, game.Odd, 1); got != want {
			t.Errorf("choice %d against %s is %v, want %v", turns[id], id, got, want)
		}
		turns[id]++
	}
}

func TestRole(t *testing.T) {
	p := sit(t, find(t, "role"), fieldOf(2), 0, 1)
	for i := range 20 {
		if got := p.choose(i, "P02", game.RoleA); got != game.Even {
			t.Errorf("player A plays %v, want even", got)
		}
		if got := p.choose(i, "P02", game.RoleB); got != game.Odd {
			t.Errorf("player B plays %v, want odd", got)
		}
	}
	wantDifferFrom(t, "role against itself", each(t, "role", "role", game.FairDraw(), 200, 1), 0)

	const unknown = 4000
	even := 0
	for i := range unknown {
		if p.choose(i, "P02", game.NoRole) == game.Even {
			even++
		}
	}
	wantShare(t, "without a role, even", even, unknown, 0.5)
}

// The certain strategies answer with certainty, so that no coin is thrown.
func TestOnlyMixersAnswerWithProbabilities(t *testing.T) {
	for _, name := range names() {
		if name == "biased" || name == "hedge" {
			continue
		}
		p := sit(t, find(t, name), fieldOf(2), 0, 5)
		for i := range 200 {
			p.meet(i, "P02", letter("eoeeo"[i%5]), i%10+1)
			if p.answer != strategies.Even && p.answer != strategies.Odd {
				t.Errorf("%s answers %v in match %d", name, p.answer, i)
				break
			}
		}
	}
}

func names() []string {
	var all []string
	for _, f := range builtin.All() {
		all = append(all, f.Info().Name)
	}
	return all
}
