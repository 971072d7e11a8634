package playback_test

import (
	"context"
	"fmt"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/trace"
	"github.com/strategylab/strategylab/host/trace/playback"
)

// An agent that calls its peer through a playback gets the recorded answer.
func Example() {
	request := []byte(`{"jsonrpc":"2.0","id":1,"method":"league_query","params":{"protocol":"league.v2","message_type":"LEAGUE_QUERY","sender":"player:P01","timestamp":"2026-03-01T12:00:00Z","query_type":"GET_STANDINGS"}}`)
	x := trace.ReadRequest(request)
	x.Sent, x.Peer = true, "http://manager/mcp"
	recorded := x.WithAnswer(200, []byte(`{"jsonrpc":"2.0","id":1,"result":{"success":true}}`))

	p := playback.New([]*trace.Exchange{recorded})
	reply, err := p.From("player").RoundTrip(context.Background(), &jsonrpc.Outgoing{URL: "http://manager/mcp", Body: request})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reply.Status, string(reply.Body))
	// Output:
	// 200 {"jsonrpc":"2.0","id":1,"result":{"success":true}}
}
