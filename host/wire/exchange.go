package wire

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// An Exchange is one request on its way through the chain, with the findings of
// each stage and the answer. It is not safe for concurrent use.
type Exchange struct {
	// Request is the message with its type, header and dialect. It is nil before the stage open.
	*dialect.Request
	RPC  *jsonrpc.Request // with its id, its peer and its HTTP header
	From any              // what the agent's Authenticate stores about the sender

	call  *toolCall // of a tool by params.tool and params.input; nil for everything else
	mcp   bool      // the rules of the MCP standard apply
	plain bool      // it is not a message of the league: Config.Tools answers

	asked   bool // the handler has called Decode
	message protocol.Message
	flaw    error // what the message breaks; without either it has not been checked against its field table

	unopened error            // of the stage open
	answer   protocol.Message // of the handler
	refusal  *protocol.Error  // of the agent, or of the chain
	response jsonrpc.Response
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
	if x.message == nil && x.flaw == nil {
		x.message, x.flaw = x.Request.Decode()
	}
}

// Decode is [Exchange.Decode] for a handler that knows the type. T is the
// pointer type that belongs to the message type, such as
// *protocol.GameInvitation. The error is fit to be returned by a Handler.
func Decode[T protocol.Message](x *Exchange) (T, error) {
	m, err := x.Decode()
	t, _ := m.(T)
	return t, err
}

// RefuseToken returns the refusal of a message whose sender is not who it should be.
func RefuseToken(in *Exchange, code protocol.Code, format string, args ...any) error {
	return protocol.Refuse(code, in.Type, fmt.Sprintf(format, args...)).With("provided_token", in.Header.AuthToken)
}

// refuse returns a canonical error. Its payload never holds a value from the input.
func refuse(code string, violations ...protocol.Violation) *protocol.Error {
	return &protocol.Error{Canonical: code, Violations: protocol.Tidy(violations)}
}

// internal returns the INTERNAL_ERROR with a cause, which is not sent.
func internal(err error, violations ...protocol.Violation) *protocol.Error {
	r := refuse(protocol.CanonicalInternalError, violations...)
	r.Detail = err.Error()
	return r
}

// Canonical returns the canonical error in err, nil where there is none.
func Canonical(err error) *protocol.Error {
	if e, ok := errors.AsType[*protocol.Error](err); ok && e.Canonical != "" {
		return e
	}
	return nil
}

// Response returns the answer to a request that is refused by a canonical error.
func Response(e *protocol.Error) jsonrpc.Response {
	return jsonrpc.Response{Status: e.Form().HTTP, Error: rpcError(e, nil)}
}

// kept are the members of an error's data that the canonical form keeps:
// sentences and codes, no values from the input.
var kept = []string{"detail", "error_code", "error_name", "original_message_type"}

// rpcError returns the error object for a canonical error that was said otherwise before.
func rpcError(e *protocol.Error, said jsontext.Value) *jsonrpc.Error {
	form := e.Form()
	data, _ := e.Data(protocol.Header{}) // its paths are of text that has been validated
	members, _ := rawjson.Parse(said)    // of what is no object nothing is kept
	for _, name := range kept {
		if value := members.Get(name); value.Kind() == '"' {
			data = slices.Concat(data[:len(data)-1], []byte(`,"`+name+`":`), value, []byte("}"))
		}
	}
	return &jsonrpc.Error{Code: form.RPC, Message: form.Message, Data: data}
}

// refuse answers the request by a canonical error.
func (x *Exchange) refuse(e *protocol.Error, said jsontext.Value) {
	x.refusal, x.response = e, jsonrpc.Response{Status: e.Form().HTTP, Error: rpcError(e, said)}
}
