package host_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"testing"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
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
			plan := results.Plan{Schema: results.PlanSchema, Runs: 1, Legs: bb.legs, Seed: 1, Draw: "uniform:1-10", Transport: transport}
			var factories []strategies.Factory
			for _, name := range []string{"random", "markov-1", "role", "frequency"} {
				f, _ := builtin.Find(name)
				plan.Field = append(plan.Field, results.Entrant{Name: name})
				factories = append(factories, f)
			}
			d, err := host.NewDriver(plan, factories)
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
