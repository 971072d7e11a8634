package jsonrpc_test

import (
	"context"
	"sync"
	"testing"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// benchMethod, benchParams and benchResult are a choice call and its answer as a match has them.
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

// run makes n calls, with a number of them in progress at once.
func (c caller) run(tb testing.TB, n, inFlight int) {
	tb.Helper()
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
}

// BenchmarkHTTP measures round trips over real sockets.
func BenchmarkHTTP(b *testing.B) {
	for name, inFlight := range map[string]int{"1-in-flight": 1, "64-in-flight": 64} {
		b.Run(name, func(b *testing.B) {
			srv := startHTTP(b, jsonrpc.Config{}, benchHandler)
			call := rpcCaller(b, jsonrpc.NewClient(jsonrpc.OverHTTP(), jsonrpc.ClientConfig{}), srv.URL())
			call.run(b, 256, inFlight)
			b.ReportAllocs()
			b.ResetTimer()
			call.run(b, b.N, inFlight)
		})
	}
}

// BenchmarkLoopback measures round trips in memory.
func BenchmarkLoopback(b *testing.B) {
	var network jsonrpc.Loopback
	srv := startLoopback(b, &network, "P01", jsonrpc.Config{}, benchHandler)
	call := rpcCaller(b, jsonrpc.NewClient(network.From("REF01"), jsonrpc.ClientConfig{}), srv.URL())
	b.Run("deadline", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := call(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("deadline-parallel", func(b *testing.B) {
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
