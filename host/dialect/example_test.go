package dialect_test

import (
	"fmt"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// A codec recognizes the wrapping of a request and answers in it.
func ExampleCodec_Open() {
	codec := dialect.NewCodec(protocol.Tolerant)
	request, err := codec.Open(&jsonrpc.Request{
		Method: "tools/call", Params: []byte(`{"tool":"parity_choose","input":{"match_id":"R1M1","conversation_id":"c"}}`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(request.Type, "in", request.Dialect.Name)

	header := request.Header.Answer(request.Type.Answer(), "player:P01", "2026-03-14T09:10:14Z")
	reply, err := request.Reply(&protocol.ChooseParityResponse{Header: header, PlayerID: "P01", ParityChoice: protocol.Odd})
	fmt.Println(string(reply.Result), err)
	// Output:
	// CHOOSE_PARITY_CALL in tool-io
	// {"tool":"parity_choose","output":{"protocol":"league.v2","message_type":"CHOOSE_PARITY_RESPONSE","sender":"player:P01","timestamp":"2026-03-14T09:10:14Z","conversation_id":"c","match_id":"R1M1","player_id":"P01","parity_choice":"odd"}} <nil>
}
