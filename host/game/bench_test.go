package game_test

import (
	"testing"

	"github.com/strategylab/strategylab/host/game"
)

// BenchmarkMatch is what the rules cost a match: a word, a number, a verdict,
// two rows.
func BenchmarkMatch(b *testing.B) {
	draw, stream, tab := game.FairDraw(), game.NewDrawStream(1, 0), game.NewTable(16)
	matches := schedule(b, 16, 10).Matches()
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		m := &matches[i%len(matches)]
		n := draw.Pick(stream.Next())
		tab.Add(m.A, m.B, game.Judge(game.Side{Choice: game.Even}, game.Side{Choice: game.Even + game.Parity(i&1)}, n))
		i++
	}
}

func BenchmarkPick(b *testing.B) {
	for _, text := range []string{"uniform:1-10", "weights:1=3,2=1", "weights:1=1,2=2,3=3,4=4,5=5,6=6,7=7,8=8,9=9,10=10"} {
		d, stream := parseDraw(b, text), game.NewDrawStream(1, 0)
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				d.Pick(stream.Next())
			}
		})
	}
}

func BenchmarkRand(b *testing.B) {
	r := game.NewRand(game.Key{1, 2})
	position := uint64(0)
	b.Run("rekey only", func(b *testing.B) {
		for b.Loop() {
			r.Rekey(position)
			position++
		}
	})
	b.Run("rekey and one word", func(b *testing.B) {
		for b.Loop() {
			r.Rekey(position)
			r.Uint64()
			position++
		}
	})
	b.Run("word", func(b *testing.B) {
		for b.Loop() {
			r.Uint64()
		}
	})
}

// BenchmarkLeague is what a league costs once, of 16 players and 10 legs.
func BenchmarkLeague(b *testing.B) {
	b.Run("schedule", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			schedule(b, 16, 10)
		}
	})
	b.Run("seats", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			game.Seats(1, i, 16)
		}
	})
	b.Run("keys", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			game.StrategyKey(1, i, 1)
		}
	})
	b.Run("ranking", func(b *testing.B) {
		tab := game.NewTable(16)
		for i, m := range schedule(b, 16, 10).Matches() {
			tab.Add(m.A, m.B, game.Judge(game.Side{Choice: game.Even}, game.Side{Choice: game.Odd}, i*7/3))
		}
		b.ReportAllocs()
		for b.Loop() {
			tab.Ranking()
		}
	})
}
