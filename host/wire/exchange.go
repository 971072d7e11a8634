package wire

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// An Exchange is one request on its way through the chain, with what the
// stages found out about it, and its answer. It belongs to one goroutine at a
// time.
type Exchange struct {
	// Request is the message: its type, its header, its dialect. It is nil
	// before the stage open.
	*dialect.Request
	// RPC is the JSON-RPC request that carried it: its id, its peer, its HTTP
	// header.
	RPC *jsonrpc.Request
	// From is what the agent's Authenticate found out about the sender; its
	// type is the agent's own.
	From any

	mcp   bool      // it is under the rules of the MCP standard
	call  *toolCall // of a tool by params.tool and params.input; nil for everything else
	plain bool      // it is for no message of the league: Config.Tools answers

	checked bool // the message was checked against its field table,
	message protocol.Message
	flaw    error // and this is what it breaks
	asked   bool  // the handler asked for one or the other

	unopened error            // why the stage open failed
	answer   protocol.Message // of the handler
	refusal  *protocol.Error  // what the agent refused it with

	response jsonrpc.Response
	failure  jsontext.Value // the error object for the log; nil if all is well
	status   int            // for the log
}

// Decode returns the message as the field table has read it, or what it
// breaks. The error is a *protocol.Error.
func (x *Exchange) Decode() (protocol.Message, error) {
	x.asked = true
	x.check()
	if x.flaw != nil {
		return nil, x.flaw
	}
	return x.message, nil
}

// check checks the message against its field table, once.
func (x *Exchange) check() {
	if !x.checked {
		x.checked = true
		x.message, x.flaw = x.Request.Decode()
	}
}

// Decode is [Exchange.Decode] for a handler that knows the type. T is the
// pointer type that belongs to the message type, such as
// *protocol.GameInvitation. The error is fit to be returned by a Handler.
func Decode[T protocol.Message](x *Exchange) (T, error) {
	var none T
	m, err := x.Decode()
	if err != nil {
		return none, err
	}
	t, ok := m.(T)
	if !ok {
		return none, fmt.Errorf("wire: a %s is a %T", x.Type, m)
	}
	return t, nil
}

// conversation returns the conversation of the message, empty where it is not
// known.
func (x *Exchange) conversation() string {
	if x.Request == nil {
		return ""
	}
	return x.Header.ConversationID
}

// A stage is one step of the chain. An error ends the way of the request: it
// is refused, unless the error is errAnswered.
type stage func(ctx context.Context, x *Exchange) error
