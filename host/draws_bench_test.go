package host_test

import (
	"slices"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/referee"
)

// BenchmarkVerifiableDraws plays leagues over HTTP in turn with plain and with verifiable
// draws, and reports the ratio of their median times: what the proof costs.
func BenchmarkVerifiableDraws(b *testing.B) {
	play := func(verifiable bool) time.Duration {
		l := &host.League{
			Network:  host.NewSockets(),
			Manager:  manager.Config{LeagueID: "cup", Players: 4, Legs: 10, Probe: manager.ProbeOff, AllowHosts: []string{"*"}},
			Referees: []referee.Config{{Concurrent: 4, Verifiable: verifiable}},
		}
		for _, f := range named(b, "random", "markov-1", "role", "frequency") {
			l.Seats = append(l.Seats, host.Seat{Config: player.Config{Config: agent.Config{Name: f.Info().Name}, Factory: f}})
		}
		begin := time.Now()
		played, err := l.Play(b.Context())
		took := time.Since(begin)
		if err != nil {
			b.Fatal(err)
		}
		want := 0
		if verifiable {
			want = len(played.Matches)
		}
		if played.Draws.Verified != want {
			b.Fatalf("%+v, want %d verified", played.Draws, want)
		}
		return took
	}
	var took [2][]time.Duration
	for b.Loop() {
		for i, verifiable := range []bool{false, true} {
			took[i] = append(took[i], play(verifiable))
		}
	}
	median := func(all []time.Duration) float64 { slices.Sort(all); return float64(all[len(all)/2]) }
	b.ReportMetric(median(took[1])/median(took[0]), "verifiable/plain")
}
