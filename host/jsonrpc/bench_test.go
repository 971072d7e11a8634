package jsonrpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// benchMethod, benchParams and benchResult are a choice call and its answer
// as a match has them.
const benchMethod = "parity_choose"

var (
	benchParams = []byte(`{"protocol":"league.v2","message_type":"CHOOSE_PARITY_CALL","sender":"referee:REF01",` +
		`"timestamp":"2025-01-15T10:30:15Z","conversation_id":"conv-r1m1-001","auth_token":"tok-9f86d081884c7d659a2feaa0c55ad015",` +
		`"match_id":"R1M1","player_id":"P01","game_type":"even_odd","context":{"opponent_id":"P02","round_id":1,` +
		`"your_standings":{"wins":2,"losses":1,"draws":0,"points":6}},"deadline":"2025-01-15T10:30:45Z"}`)
	benchResult = []byte(`{"protocol":"league.v2","message_type":"CHOOSE_PARITY_RESPONSE","sender":"player:P01",` +
		`"timestamp":"2025-01-15T10:30:15Z","conversation_id":"conv-r1m1-001","auth_token":"tok-9f86d081884c7d659a2feaa0c55ad015",` +
		`"match_id":"R1M1","player_id":"P01","parity_choice":"even"}`)
)

var benchHandler = jsonrpc.HandlerFunc(func(context.Context, *jsonrpc.Request) jsonrpc.Response {
	return jsonrpc.Response{Result: benchResult}
})

// caller is one call, there and back.
type caller func(ctx context.Context) error

func rpcCaller(b *testing.B, c *jsonrpc.Client, url string) caller {
	b.Helper()
	b.Cleanup(func() { _ = c.Close() })
	return func(ctx context.Context) error {
		_, err := c.Call(ctx, url, jsonrpc.Message{Method: benchMethod, Params: benchParams})
		return err
	}
}

func httpCaller(b *testing.B) caller {
	srv := startHTTP(b, jsonrpc.Config{}, benchHandler)
	return rpcCaller(b, jsonrpc.NewClient(jsonrpc.OverHTTP(), jsonrpc.ClientConfig{}), srv.URL())
}

// bareCaller is what one would write with nothing but net/http and
// encoding/json: the yardstick.
func bareCaller(b *testing.B) caller {
	b.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	hs := &http.Server{Handler: http.HandlerFunc(bareEcho)}
	var wg sync.WaitGroup
	wg.Go(func() { _ = hs.Serve(ln) })
	b.Cleanup(func() { _ = hs.Close(); wg.Wait() })
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}, Timeout: 10 * time.Second}
	b.Cleanup(client.CloseIdleConnections)
	url := "http://" + ln.Addr().String() + "/mcp"
	return func(context.Context) error {
		body, err := json.Marshal(bareMessage{JSONRPC: "2.0", ID: "1", Method: benchMethod, Params: benchParams})
		if err != nil {
			return err
		}
		res, err := client.Post(url, "application/json", bytes.NewReader(body))
		if err != nil {
			return err
		}
		defer res.Body.Close()
		answer, err := io.ReadAll(res.Body)
		if err != nil {
			return err
		}
		return json.Unmarshal(answer, new(bareMessage))
	}
}

type bareMessage struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      string          `json:"id"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
}

func bareEcho(w http.ResponseWriter, r *http.Request) {
	var m bareMessage
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(bareMessage{JSONRPC: "2.0", ID: m.ID, Result: benchResult})
}

// run makes n calls, with a number of them in progress at once.
func (c caller) run(tb testing.TB, n, inFlight int) time.Duration {
	tb.Helper()
	start := time.Now()
	var wg sync.WaitGroup
	for i := range inFlight {
		wg.Go(func() {
			for j := i; j < n; j += inFlight {
				if err := c(context.Background()); err != nil {
					tb.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return time.Since(start)
}

// BenchmarkHTTP measures round trips over real sockets, and the same with a
// bare net/http echo of JSON, in turns within one run; "x-bare" is the ratio.
func BenchmarkHTTP(b *testing.B) {
	for _, bench := range []struct {
		name     string
		inFlight int
	}{{"1-in-flight", 1}, {"64-in-flight", 64}} {
		b.Run(bench.name, func(b *testing.B) {
			ours, bare := httpCaller(b), bareCaller(b)
			ours.run(b, 256, bench.inFlight)
			bare.run(b, 256, bench.inFlight)
			b.ReportAllocs()
			b.ResetTimer()
			var ourTime, bareTime time.Duration
			for done := 0; done < b.N; done += 500 {
				n := min(500, b.N-done)
				ourTime += ours.run(b, n, bench.inFlight)
				b.StopTimer()
				bareTime += bare.run(b, n, bench.inFlight)
				b.StartTimer()
			}
			b.ReportMetric(float64(ourTime)/float64(bareTime), "x-bare")
		})
	}
}

// BenchmarkLoopback measures round trips in memory: where the caller could
// leave early and where it cannot.
func BenchmarkLoopback(b *testing.B) {
	for _, bench := range []struct {
		name    string
		timeout time.Duration
	}{{"deadline", 0}, {"inline", -1}} {
		b.Run(bench.name, func(b *testing.B) {
			var network jsonrpc.Loopback
			srv := startLoopback(b, &network, "P01", jsonrpc.Config{}, benchHandler)
			call := rpcCaller(b, jsonrpc.NewClient(network.From("REF01"), jsonrpc.ClientConfig{Timeout: bench.timeout}), srv.URL())
			b.ReportAllocs()
			for b.Loop() {
				if err := call(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(bench.name+"-parallel", func(b *testing.B) {
			var network jsonrpc.Loopback
			srv := startLoopback(b, &network, "P01", jsonrpc.Config{}, benchHandler)
			call := rpcCaller(b, jsonrpc.NewClient(network.From("REF01"), jsonrpc.ClientConfig{Timeout: bench.timeout}), srv.URL())
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := call(context.Background()); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}
