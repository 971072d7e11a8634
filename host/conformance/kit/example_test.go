package kit_test

import (
	"fmt"

	"github.com/strategylab/strategylab/host/conformance/kit"
)

func ExampleReadAnswer() {
	a := kit.ReadAnswer(kit.Reply{Status: 200, Body: []byte(`{"jsonrpc":"2.0","id":1,"result":{"message_type":"GAME_JOIN_ACK","accept":true}}`)})
	fmt.Println(a, a.Wrapping, a.Message.Shown("accept"))

	a = kit.ReadAnswer(kit.Reply{Status: 200, Body: []byte(`{"jsonrpc":"2.0","id":1,"error":{"code":4001,"message":"AUTH_TOKEN_INVALID"}}`)})
	fmt.Println(a, a.Code)
	// Output:
	// a GAME_JOIN_ACK contracts true
	// a refusal: 4001 AUTH_TOKEN_INVALID 4001
}

func ExampleHeaderRule() {
	message := kit.Object([]byte(`{"protocol":"league.v2","message_type":"GAME_OVER","timestamp":"2026-03-14T11:10:13+02:00"}`))
	fmt.Println(kit.RequestHeader.Breach(message))
	fmt.Println(kit.UTC.Breach(message) != "")
	// Output:
	// sender is missing
	// true
}
