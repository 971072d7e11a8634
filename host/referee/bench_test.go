package referee_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/wire"
)

// BenchmarkMatch plays matches between two players that answer by rote, over
// loopback: 7 exchanges a match and one for the announcement.
func BenchmarkMatch(b *testing.B) {
	var net jsonrpc.Loopback
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	serve := func(name string, h jsonrpc.HandlerFunc) {
		srv, err := net.Listen(name, jsonrpc.Config{MaxPerPeer: -1})
		if err != nil {
			b.Fatal(err)
		}
		go func() { _ = srv.Serve(ctx, h) }()
	}
	reported := make(chan struct{}, 1)
	serve("manager", func(ctx context.Context, req *jsonrpc.Request) jsonrpc.Response {
		if req.Method == "report_match_result" {
			reported <- struct{}{}
			return jsonrpc.Response{Result: []byte(`{"message_type":"MATCH_RESULT_ACK","status":"ACCEPTED","recorded":true}`)}
		}
		return keeps(ctx, &heard{Header: protocol.Header{MessageType: protocol.TypeRefereeRegisterRequest}})
	})
	for _, who := range []string{"P01", "P02"} {
		serve(who, func(_ context.Context, req *jsonrpc.Request) jsonrpc.Response {
			var m struct {
				Match string `json:"match_id"`
			}
			if err := json.Unmarshal(req.Params, &m); err != nil {
				b.Error(err)
			}
			answer := func(kind, rest string) jsonrpc.Response {
				return jsonrpc.Response{Result: []byte(`{"protocol":"league.v2","message_type":"` + kind + `","match_id":"` + m.Match +
					`","player_id":"` + who + `","auth_token":"` + keysOf(who, m.Match).Expect + `"` + rest + `}`)}
			}
			switch req.Method {
			case "handle_game_invitation":
				return answer("GAME_JOIN_ACK", `,"accept":true`)
			case "parity_choose":
				return answer("CHOOSE_PARITY_RESPONSE", `,"parity_choice":"even"`)
			}
			return answer("GAME_OVER_ACK", "")
		})
	}
	registered := make(chan struct{})
	r, err := referee.New(referee.Config{
		Config: agent.Config{
			Endpoint: "http://REF01/mcp",
			ID:       "REF01",
			Mode:     protocol.Tolerant,
			Manager:  wire.NewPeer("http://manager/mcp", dialect.Contracts),
			Caller:   &wire.Caller{Client: jsonrpc.NewClient(net.From("REF01"), jsonrpc.ClientConfig{}), Codec: dialect.NewCodec(protocol.Tolerant)},
		},
		Events: func(e referee.Event) {
			if e.Kind == referee.Registered {
				close(registered)
			}
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	serve("REF01", r.Dispatcher().Handle)
	result := make(chan error, 1)
	go func() { result <- r.Run(ctx) }()
	<-registered
	c := jsonrpc.NewClient(net.From("manager"), jsonrpc.ClientConfig{})
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		raw, err := json.Marshal(round(match(fmt.Sprintf("R1M%d", n), "P01", "P02")))
		if err != nil {
			b.Fatal(err)
		}
		if got, err := c.Call(ctx, "http://REF01/mcp", jsonrpc.Message{Method: "notify_round", Params: raw}); err != nil || got.IsError() {
			b.Fatal(got, err)
		}
		<-reported
	}
	stop()
	if err := <-result; err != nil {
		b.Error(err)
	}
}
