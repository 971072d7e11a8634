package wire

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// An Exchange is one request on its way through the chain, with the findings of
// each stage and the answer. It is not safe for concurrent use.
type Exchange struct {
	// Request is the message with its type, header and dialect. It is nil before the stage open.
	*dialect.Request
	// RPC is the JSON-RPC request with its id, its peer and its HTTP header.
	RPC *jsonrpc.Request
	// From is what the agent's Authenticate stores about the sender.
	From any

	call  *toolCall // of a tool by params.tool and params.input; nil for everything else
	mcp   bool      // the rules of the MCP standard apply
	plain bool      // it is not a message of the league: Config.Tools answers

	checked bool // the message has been checked against its field table
	asked   bool // the handler has called Decode
	message protocol.Message
	flaw    error // what the message breaks

	unopened error            // of the stage open
	answer   protocol.Message // of the handler
	refusal  *protocol.Error  // of the agent

	response jsonrpc.Response
	failure  jsontext.Value // the error object for the log; nil if all is well
	status   int            // for the log
}

// Decode returns the message, or the field rules that it breaks. The error is a *protocol.Error.
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

// RefuseToken returns the refusal of a message whose sender is not who it should be.
func RefuseToken(in *Exchange, code protocol.Code, format string, args ...any) error {
	return protocol.Refuse(code, in.Type, fmt.Sprintf(format, args...)).With("provided_token", in.Header.AuthToken)
}
