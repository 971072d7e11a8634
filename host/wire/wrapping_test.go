package wire_test

import (
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// TestAPlayerMayServeAnotherWrappingThanItRegistersIn: the invitation finds the
// wrapping, and what follows uses it at once.
func TestAPlayerMayServeAnotherWrappingThanItRegistersIn(t *testing.T) {
	t.Parallel()
	requests := 0
	c, p := Caller(t, dialect.Contracts.With(dialect.TraitNumericIDs), func(req *jsonrpc.Request) jsonrpc.Response {
		switch requests++; {
		case req.Method != "handle_message":
			return Unknown()
		case strings.Contains(string(req.Params), `"CHOOSE_PARITY_CALL"`):
			return jsonrpc.Response{Result: []byte(chosen)}
		}
		return jsonrpc.Response{Result: []byte(`{"message_type":"GAME_JOIN_ACK","accept":true}`)}
	})
	invitation := &protocol.GameInvitation{Header: call().Header, OpponentID: "P02"}
	invitation.MessageType = protocol.TypeGameInvitation
	if _, err := c.Call(t.Context(), p, invitation); err != nil {
		t.Fatal(err)
	}
	before := requests
	answer, err := c.Call(t.Context(), p, call())
	if err != nil || answer.(*protocol.ChooseParityResponse).Chosen() != protocol.Odd || requests != before+1 {
		t.Errorf("%+v, %v after %d requests", answer, err, requests-before)
	}
}
