package dialect_test

import (
	"fmt"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
)

// A codec recognizes the wrapping of a request and answers in it.
func ExampleCodec_Open() {
	codec := dialect.NewCodec(protocol.Tolerant)
	request, err := codec.Open("tools/call", []byte(`{"tool":"parity_choose","input":{"match_id":"R1M1","conversation_id":"c"}}`))
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

// An answer is read wherever the peer puts it.
func ExampleCodec_ReadAnswer() {
	codec := dialect.NewCodec(protocol.Tolerant)
	for _, body := range []string{
		`{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"{\"choice\":\"even\"}"}]},"id":1}`,
		`{"jsonrpc":"2.0","error":{"code":4001,"message":"Invalid auth token"},"id":1}`,
	} {
		answer, err := dialect.ParseAnswer(200, []byte(body))
		if err != nil {
			fmt.Println(err)
			return
		}
		message, err := codec.ReadAnswer(protocol.TypeChooseParityCall, answer)
		if err != nil {
			fmt.Println(dialect.CodeOf(err))
			continue
		}
		fmt.Println(message.(*protocol.ChooseParityResponse).Chosen())
	}
	// Output:
	// even
	// E012
}

// A dialect is data: a peer that wraps in a way of its own needs a description
// and no code.
func ExampleDialect_Call() {
	peer := &dialect.Dialect{
		Name:    "take-message",
		Request: dialect.Place{Method: "take_message", Message: "message"},
	}
	call, err := peer.Call(protocol.New(protocol.TypeStartLeague))
	fmt.Println(string(call.Document([]byte("1"))), err)
	// Output:
	// {"jsonrpc":"2.0","method":"take_message","params":{"message":{"protocol":"league.v2","message_type":"START_LEAGUE"}},"id":1} <nil>
}
