package host_test

import (
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/referee"
)

// TestLargeLeague plays one live league over sockets, with as many players as
// STRATEGYLAB_LARGE says, and tells what it took:
//
//	STRATEGYLAB_LARGE=200 go test ./host -run LargeLeague -v -timeout 1h
//
// Without that it plays a league of 20. STRATEGYLAB_LARGE_SYNC=1 has the journals synced.
func TestLargeLeague(t *testing.T) {
	n := 20
	if s := os.Getenv("STRATEGYLAB_LARGE"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	l := &host.League{
		Network: host.NewSockets(),
		Manager: manager.Config{LeagueID: "large", Players: n, DataDir: t.TempDir(), NoSync: os.Getenv("STRATEGYLAB_LARGE_SYNC") == "", Probe: manager.ProbeOff},
	}
	l.Server.MaxPerPeer = -1
	defer l.Network.Close()
	for range 4 {
		l.Referees = append(l.Referees, referee.Config{Concurrent: 16})
	}
	all := named(t, "random", "markov-1", "role", "frequency", "hedge", "copy-last")
	for i := range n {
		l.Seats = append(l.Seats, host.Seat{Config: player.Config{Config: agent.Config{Name: "player " + strconv.Itoa(i+1)}, Factory: all[i%len(all)]}})
	}
	var most uint64
	l.Manager.Events = func(e manager.Event) {
		if e.Kind == manager.RoundCompleted {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
	}
	begun := time.Now()
	played, err := l.Play(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(begun)
	audit(t, l.Manager, played, func(string) bool { return true })
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("%d players, %d matches in %v (%.0f matches/s); at most %d MiB of heap at the end of a round, %d MiB from the system",
		n, len(played.Matches), took.Round(time.Millisecond), float64(len(played.Matches))/took.Seconds(), most>>20, m.Sys>>20)
}
