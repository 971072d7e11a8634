package builtin_test

import (
	"testing"

	"github.com/strategylab/strategylab/host/game"
)

// believers maps the controls to what they play after a drawn parity.
func believers() map[string]func(game.Parity) game.Parity {
	return map[string]func(game.Parity) game.Parity{
		"gambler":  game.Parity.Opposite,
		"hot-hand": func(p game.Parity) game.Parity { return p },
	}
}

func TestControlsFollowTheDrawAlone(t *testing.T) {
	for name, reply := range believers() {
		p := sit(t, find(t, name), fieldOf(4), 0, 1)
		drawn := game.NoParity
		numbers := game.NewRand(game.Key{1, 2})
		for i := range 400 {
			number := numbers.IntN(10) + 1
			opponent := game.PlayerID(1 + i%3) // not the one the draw was made for
			got := p.meet(i, opponent, throw(numbers, 0.5), number)
			if drawn != game.NoParity && got != reply(drawn) {
				t.Fatalf("%s plays %v after an %v number", name, got, drawn)
			}
			drawn = game.ParityOf(number)
		}
	}
}

// Against always-even, gambler differs exactly after even numbers and hot-hand
// exactly after odd ones; with a draw of P(even) = q that is q and 1-q.
func TestControlsDifferAsTheDrawHasIt(t *testing.T) {
	const matches = 20_000
	biased, err := game.ParseDraw("weights:1=1,2=3")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		draw game.Draw
		want float64
	}{
		{"gambler", game.FairDraw(), 0.5},
		{"hot-hand", game.FairDraw(), 0.5},
		{"gambler", biased, 0.75},
		{"hot-hand", biased, 0.25},
	} {
		what := c.name + " against always-even, draw " + c.draw.String()
		wantDifferShare(t, what, each(t, c.name, "always-even", c.draw, matches, 11), c.want)
	}
	past := each(t, "gambler", "hot-hand", game.FairDraw(), 1000, 12)
	wantDifferFrom(t, "gambler against hot-hand", past, 1) // both follow the same draws
}

// Betting on the draw gains nothing: of the matches in which the choices
// differ, each control wins half, whomever it plays.
func TestControlsDoNotPredictTheDraw(t *testing.T) {
	for name := range believers() {
		for _, against := range []string{"always-even", "random", "markov-2", "role"} {
			past := each(t, name, against, game.FairDraw(), 20_000, 13)
			wins := count(past, func(m match) bool { return m.differ() && m.own == game.ParityOf(m.number) })
			wantShare(t, name+" against "+against+": differing matches won", wins, count(past, match.differ), 0.5)
		}
	}
}
