package builtin_test

import (
	"testing"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
)

// BenchmarkDecision measures one choose and the observe that follows, as the
// arena calls them: through the interface, rekeyed, over fifteen opponents and
// ten matches with each before the seat is replaced. The opponents play at
// random, which is the dearest case for those that search.
func BenchmarkDecision(b *testing.B) {
	const players, legs = 16, 10
	for _, f := range builtin.All() {
		b.Run(f.Info().Name, func(b *testing.B) {
			field := fieldOf(players)
			rnd := game.NewRand(game.StrategyKey(1, 2, 3))
			var turn strategies.Turn
			var out strategies.Outcome
			var seat strategies.Strategy
			position := uint64(0)
			b.ReportAllocs()
			for b.Loop() {
				if position%((players-1)*legs) == 0 {
					seat = newSeat(b, f, strategies.Setup{ID: field[0], Field: field, Rand: rnd})
				}
				role := game.RoleA + game.Role(position&1)
				opponent := field[1+position%(players-1)]
				rnd.Rekey(game.ChoosePosition(position))
				turn.Match, turn.Opponent, turn.Role = position, opponent, role
				choice, err := seat.Choose(b.Context(), &turn)
				if err != nil {
					b.Fatal(err)
				}
				word := position * 0x9e3779b97f4a7c15
				out.Match, out.Opponent, out.Role = position, opponent, role
				out.Choice, out.OpponentChoice = choice.Resolve(rnd), game.Even+game.Parity(word>>63)
				out.Number, out.Drew = int(word>>32&7), true
				rnd.Rekey(game.ObservePosition(position))
				if err := seat.Observe(b.Context(), &out); err != nil {
					b.Fatal(err)
				}
				position++
			}
		})
	}
}
