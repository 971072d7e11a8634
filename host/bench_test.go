package host_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/mcptools"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/host/wire/eventlog"
)

// BenchmarkLeague plays one league of four players, from registration to
// completion, and beside it as many bare round trips as a league of one leg has
// messages: once to a server that is open already, and once to six servers that
// are opened and closed each time, as the six agents of a league are.
//
// Both are collected as rarely as the commands have it.
func BenchmarkLeague(b *testing.B) {
	percent := debug.SetGCPercent(400)
	b.Cleanup(func() { debug.SetGCPercent(percent) })
	for _, bb := range []struct {
		transport string
		legs      int
	}{{"loopback", 1}, {"loopback", 10}, {"loopback", 1000}, {"http", 1}, {"http", 10}} {
		transport := bb.transport
		b.Run(fmt.Sprintf("%s/legs=%d", transport, bb.legs), func(b *testing.B) {
			field := named(b, "random", "markov-1", "role", "frequency")
			d, err := host.NewDriver(planOf(transport, bb.legs, "uniform:1-10", field), field)
			if err != nil {
				b.Fatal(err)
			}
			w, err := d.NewWorker(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			defer w.Close()
			out := make([]results.League, 1)
			for b.Loop() {
				if err := w.Play(b.Context(), 0, out, make([]bool, 4)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(d.Messages())/float64(b.N), "messages/op")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(d.Messages()), "ns/message")
		})
	}
	b.Run("bare-echo/open", func(b *testing.B) {
		srv := httptest.NewServer(http.HandlerFunc(echo))
		defer srv.Close()
		for b.Loop() {
			for range leagueMessages {
				postEcho(b, http.DefaultClient, srv.URL)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/leagueMessages, "ns/message")
	})
	b.Run("bare-echo/opening-6", func(b *testing.B) {
		for b.Loop() {
			client := &http.Client{Transport: new(http.Transport)}
			var servers [6]*httptest.Server
			for i := range servers {
				servers[i] = httptest.NewServer(http.HandlerFunc(echo))
			}
			for i := range leagueMessages {
				postEcho(b, client, servers[i%len(servers)].URL)
			}
			client.CloseIdleConnections()
			for _, srv := range servers {
				srv.Close()
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/leagueMessages, "ns/message")
	})
}

// leagueMessages is how many messages a league of four players and one leg has.
const leagueMessages = 97

// echo reads a JSON object with encoding/json and writes it back: the least that
// any agent over HTTP could do.
func echo(w http.ResponseWriter, r *http.Request) {
	var v map[string]any
	if json.NewDecoder(r.Body).Decode(&v) == nil {
		_ = json.NewEncoder(w).Encode(v)
	}
}

// postEcho makes one round trip with an object of the usual size.
func postEcho(b *testing.B, client *http.Client, url string) {
	body := []byte(`{"jsonrpc":"2.0","id":"7d9c1f0e-2f0b-4a57-9a55-0d4cf1f4f3a1","method":"parity_choose","params":{"protocol":"league.v2",` +
		`"message_type":"CHOOSE_PARITY_CALL","sender":"referee:REF01","timestamp":"2026-01-01T12:00:00Z","conversation_id":"conv-R1M1-1",` +
		`"auth_token":"0123456789abcdef0123456789abcdef","league_id":"league_2025_even_odd","round_id":1,"match_id":"R1M1","game_type":"even_odd",` +
		`"player_id":"P01","context":{"opponent_id":"P02","round_id":1,"your_standings":{"wins":0,"losses":0,"draws":0,"points":0}},` +
		`"deadline":"2026-01-01T12:00:30Z"}}`)
	resp, err := client.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	var v map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&v); err != nil {
		b.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
}

// alternated plays leagues of two kinds in turns, and returns the median ratio of the time of
// the second kind to that of its neighbour: what else the machine does concerns both. The later of
// two finds filled caches, so they take turns in that, too.
func alternated(b *testing.B, play func(second bool)) float64 {
	percent := debug.SetGCPercent(400) // as the commands have it
	b.Cleanup(func() { debug.SetGCPercent(percent) })
	timed := func(second bool) float64 {
		begun := time.Now()
		play(second)
		return time.Since(begun).Seconds()
	}
	timed(false) // opens connections
	var ratios []float64
	for b.Loop() {
		if len(ratios)%2 == 0 {
			first := timed(false)
			ratios = append(ratios, timed(true)/first)
		} else {
			second := timed(true)
			ratios = append(ratios, second/timed(false))
		}
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

func mustPlay(b *testing.B, l *host.League) *host.Played {
	b.Helper()
	played, err := l.Play(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return played
}

// BenchmarkVerifiableDraws says what verifiable draws cost.
func BenchmarkVerifiableDraws(b *testing.B) {
	sockets := host.NewSockets()
	b.Cleanup(func() { _ = sockets.Close() })
	b.ReportMetric(alternated(b, func(verifiable bool) {
		l := openLeague(b, sockets, 10, nil)
		l.Referees[0].Verifiable = verifiable
		played, want := mustPlay(b, l), 0
		if verifiable {
			want = len(played.Matches)
		}
		if played.Draws.Verified != want {
			b.Fatalf("%+v, want %d verified", played.Draws, want)
		}
	}), "verifiable/plain")
}

// BenchmarkLeagueBesideMCP says by how much it slows a league down that its messages are offered
// as tools: nobody uses them, but every message is looked at to see whose it is.
func BenchmarkLeagueBesideMCP(b *testing.B) {
	sockets := host.NewSockets()
	b.Cleanup(func() { _ = sockets.Close() })
	b.ReportMetric(alternated(b, func(shared bool) {
		var offer *mcptools.Config
		if shared {
			offer = new(mcptools.Config)
		}
		mustPlay(b, openLeague(b, sockets, 50, offer))
	}), "ratio-median")
}

// BenchmarkValidationLog says what it costs that every agent writes the log of validation.
func BenchmarkValidationLog(b *testing.B) {
	for transport, network := range map[string]host.Network{"loopback": new(host.Memory), "http": host.NewSockets()} {
		b.Run(transport, func(b *testing.B) {
			b.Cleanup(func() { _ = network.Close() })
			log, err := eventlog.Open(eventlog.Config{Data: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(alternated(b, func(validated bool) {
				l := openLeague(b, network, 10, nil)
				if validated {
					l.Validation.Log = log
				}
				mustPlay(b, l)
			}), "with/without")
			log.Close()
			b.ReportMetric(float64(log.Dropped()), "dropped")
		})
	}
}

// TestLargeLeague plays one live league over sockets, with as many players as
// STRATEGYLAB_LARGE says, and tells what it took:
//
//	STRATEGYLAB_LARGE=200 go test ./host -run LargeLeague -v -timeout 1h
//
// Without that it plays a league of 8. STRATEGYLAB_LARGE_SYNC=1 has the journals synced.
func TestLargeLeague(t *testing.T) {
	n := 8
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
	defer l.Network.Close()
	for range 4 {
		l.Referees = append(l.Referees, referee.Config{Concurrent: 16})
	}
	all := named(t, "random", "markov-1", "role", "frequency", "hedge", "copy-last")
	for i := range n {
		l.Seats = append(l.Seats, player.Config{Config: agent.Config{Name: "player " + strconv.Itoa(i+1)}, Factory: all[i%len(all)]})
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
