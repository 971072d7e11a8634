package protocol_test

import (
	"errors"
	"fmt"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// Decode an answer in strict mode: the error lists every rule that it breaks.
func ExampleDecode() {
	text := `{"protocol":"league.v2","message_type":"CHOOSE_PARITY_RESPONSE","timestamp":"2026-03-14T09:10:14Z",` +
		`"match_id":"R1M1","player_id":"P01","parity_choice":"odd"}`
	message, err := rawjson.Parse([]byte(text))
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := protocol.Decode(protocol.TypeChooseParityResponse, message, protocol.Strict, nil)
	fmt.Println(answer.(*protocol.ChooseParityResponse).ParityChoice, err)

	_, err = protocol.Decode(protocol.TypeChooseParityResponse, message.Without("match_id", "timestamp"), protocol.Strict, nil)
	var refusal *protocol.Error
	if errors.As(err, &refusal) {
		fmt.Println(refusal.Code, refusal.Code.Name(), refusal.Violations)
	}
	// Output:
	// odd <nil>
	// E003 MISSING_REQUIRED_FIELD [{/match_id required} {/timestamp required}]
}

// The canonical form of an error names the rules that were broken, sorted, and
// never repeats a value of the input.
func ExampleError_Data() {
	e := protocol.Error{
		Canonical:  protocol.CanonicalInvalidToolInput,
		Violations: []protocol.Violation{{Path: "/params/tool", Rule: "type"}, {Path: "/params/input", Rule: "required"}},
	}
	data, err := e.Data(protocol.Header{})
	fmt.Println(string(data), err)
	// Output:
	// {"canonical":"INVALID_TOOL_INPUT","violations":[{"path":"/params/input","rule":"required"},{"path":"/params/tool","rule":"type"}]} <nil>
}
