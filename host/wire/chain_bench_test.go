package wire_test

import (
	"context"
	"testing"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/host/wire/schema"
)

// BenchmarkChain is what the chain adds to a request: of a message of the league, which is judged
// by host/protocol, and of a call of a tool, whose input and output are held to schemas.
func BenchmarkChain(b *testing.B) {
	const id = `"7d9c1f0e-2f0b-4a57-9a55-0d4cf1f4f3a1"`
	query := `{"protocol":"league.v2","message_type":"LEAGUE_QUERY","sender":"player:P01","timestamp":"2026-01-01T00:00:00Z","conversation_id":"c",` +
		`"auth_token":"tok-P01-0123456789abcdef","league_id":"cup","query_type":"GET_NEXT_MATCH","query_params":{"player_id":"P01"}}`
	answer := `{"protocol":"league.v2","message_type":"LEAGUE_QUERY_RESPONSE","timestamp":"2026-01-01T00:00:00Z","query_type":"GET_NEXT_MATCH","success":true,"data":{"next_match":null}}`
	for _, bb := range []struct{ name, method, params, result string }{
		{"message", "league_query", query, answer},
		{"tool", "tools/call", `{"tool":"league_query","input":` + query + `}`, `{"tool":"league_query","output":` + answer + `}`},
	} {
		b.Run(bb.name, func(b *testing.B) {
			messages, err := schema.LeagueTools(protocol.Strict, protocol.TypeLeagueQuery)
			if err != nil {
				b.Fatal(err)
			}
			messages[0].Message = false // the handler below checks no fields
			registry, err := schema.NewRegistry(messages...)
			if err != nil {
				b.Fatal(err)
			}
			p := chain(b, wire.Config{
				Registry: registry, Strict: true,
				Tools: jsonrpc.HandlerFunc(func(context.Context, *jsonrpc.Request) jsonrpc.Response {
					return jsonrpc.Response{Result: []byte(bb.result)}
				}),
			})
			req := &jsonrpc.Request{
				Method: bb.method, ID: []byte(id), Params: []byte(bb.params), Transport: jsonrpc.TransportHTTP, Route: "/mcp",
				Raw: []byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + bb.method + `","params":` + bb.params + `}`),
			}
			b.ReportAllocs()
			for b.Loop() {
				if res := p.Handle(b.Context(), req); res.Error != nil {
					b.Fatalf("%s %s", res.Error, res.Error.Data)
				}
			}
		})
	}
}
