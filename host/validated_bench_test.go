package host_test

import (
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/wire/eventlog"
)

// BenchmarkValidationLog plays leagues of four players and ten legs in which
// every agent writes the log of validation, and in turns with them leagues in
// which none does. The ratio is the median of those of neighbours, so that what
// else the machine does concerns both.
func BenchmarkValidationLog(b *testing.B) {
	percent := debug.SetGCPercent(400) // as the commands have it
	b.Cleanup(func() { debug.SetGCPercent(percent) })
	for transport, network := range map[string]func() host.Network{
		"loopback": func() host.Network { return host.NewMemory() },
		"http":     func() host.Network { return host.NewSockets() },
	} {
		b.Run(transport, func(b *testing.B) {
			n := network()
			defer n.Close()
			log, err := eventlog.Open(eventlog.Config{Data: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			play := func(v host.Validation) time.Duration {
				began := time.Now()
				if _, err := measured(b, n, v).Play(b.Context()); err != nil {
					b.Fatal(err)
				}
				return time.Since(began)
			}
			var ratios []float64
			for b.Loop() {
				// The second finds filled caches, so they alternate.
				var with, without time.Duration
				if len(ratios)%2 == 0 {
					without, with = play(host.Validation{}), play(host.Validation{Log: log})
				} else {
					with, without = play(host.Validation{Log: log}), play(host.Validation{})
				}
				ratios = append(ratios, float64(with)/float64(without))
			}
			log.Close()
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "with/without")
			b.ReportMetric(float64(log.Dropped()), "dropped")
		})
	}
}

// measured is the league that is played.
func measured(b *testing.B, n host.Network, v host.Validation) *host.League {
	l := &host.League{
		Network: n, Validation: v, Server: jsonrpc.Config{MaxPerPeer: -1},
		Manager: manager.Config{Players: 4, Legs: 10, Probe: manager.ProbeOff, AllowHosts: []string{"*"}},
		Referees: []referee.Config{
			{Concurrent: 2, Draw: func(m referee.Match) (int, error) {
				return game.FairDraw().Pick(game.LiveWord(7, m.League, m.ID)), nil
			}},
		},
	}
	for i, f := range named(b, "random", "markov-1", "role", "frequency") {
		l.Seats = append(l.Seats, host.Seat{Config: player.Config{
			Config:  agent.Config{Mode: protocol.Strict},
			Factory: f,
			Key:     game.StrategyKey(7, 0, i),
			Coin:    game.CoinKey(7, 0, i),
			Watch:   -1,
		}})
	}
	return l
}
