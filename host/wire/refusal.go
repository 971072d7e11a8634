package wire

import (
	"errors"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

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
	form, data := e.Form(), canonicalData(e)
	members, _ := rawjson.Parse(said) // of what is no object nothing is kept
	for _, name := range kept {
		if value := members.Get(name); value.Kind() == '"' {
			data = slices.Concat(data[:len(data)-1], []byte(`,"`+name+`":`), value, []byte("}"))
		}
	}
	return &jsonrpc.Error{Code: form.RPC, Message: form.Message, Data: data}
}

// canonicalData returns the data of a canonical error. A path that is no UTF-8 is left
// out, which the parser lets nobody write.
func canonicalData(e *protocol.Error) jsontext.Value {
	data, err := e.Data(protocol.Header{})
	if err != nil {
		data, _ = refuse(e.Canonical).Data(protocol.Header{})
	}
	return data
}

// refuse answers the request by a canonical error.
func (x *Exchange) refuse(e *protocol.Error, said jsontext.Value) {
	x.note(e)
	x.response = jsonrpc.Response{Status: x.status, Error: rpcError(e, said)}
}

// note records a refusal for the log.
func (x *Exchange) note(e *protocol.Error) {
	form := e.Form()
	x.status, x.failure = form.HTTP, failure(form.RPC, form.Message, e)
}
