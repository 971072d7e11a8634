package wire_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// TestAPlayerMayServeAnotherWrappingThanItRegistersIn: the invitation finds the
// wrapping, and what follows uses it at once.
func TestAPlayerMayServeAnotherWrappingThanItRegistersIn(t *testing.T) {
	t.Parallel()
	requests := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var doc struct {
			ID     json.RawMessage
			Method string
			Params struct{ Message map[string]any }
		}
		_ = json.NewDecoder(r.Body).Decode(&doc)
		requests++
		if doc.Method != "handle_message" {
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, doc.ID)
			return
		}
		result := `{"message_type":"GAME_JOIN_ACK","accept":true}`
		if doc.Params.Message["message_type"] == "CHOOSE_PARITY_CALL" {
			result = `{"message_type":"CHOOSE_PARITY_RESPONSE","parity_choice":"even"}`
		}
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, doc.ID, result)
	}))
	defer srv.Close()
	c := &wire.Caller{Client: jsonrpc.NewClient(jsonrpc.OverHTTP(), jsonrpc.ClientConfig{}), Codec: dialect.NewCodec(protocol.Tolerant)}
	defer c.Client.Close()
	p := wire.NewPeer(srv.URL+"/mcp", dialect.Contracts.With(dialect.TraitNumericIDs))
	head := func(kind protocol.Type) protocol.Header {
		h := protocol.NewHeader(kind, "referee:REF01", "2026-01-01T12:00:00Z", "conv-1")
		h.MatchID = "R1M1"
		return h
	}
	if _, err := c.Call(t.Context(), p, &protocol.GameInvitation{Header: head(protocol.TypeGameInvitation), OpponentID: "P02"}); err != nil {
		t.Fatal(err)
	}
	before := requests
	answer, err := c.Call(t.Context(), p, &protocol.ChooseParityCall{Header: head(protocol.TypeChooseParityCall), PlayerID: "P01"})
	if err != nil || answer.(*protocol.ChooseParityResponse).Chosen() != protocol.Even {
		t.Errorf("%+v, %v", answer, err)
	}
	if requests != before+1 {
		t.Errorf("the call takes %d requests", requests-before)
	}
}
