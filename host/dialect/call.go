package dialect

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// A Call is a request on its way out: Method and Params for JSON-RPC, or a
// Body without it.
type Call struct {
	Method string
	Params jsontext.Value
	Body   jsontext.Value
}

// Call wraps a request for a peer of the dialect. The error is that of
// [Encode], or says that the type is no request.
func (d *Dialect) Call(m protocol.Message) (Call, error) {
	return d.CallAs(d.nameOf(m.Head().MessageType), m)
}

// CallAs is [Dialect.Call] under a name from [Dialect.MethodsOf]: the method
// or, where all requests share one, what stands in the place for it.
func (d *Dialect) CallAs(name string, m protocol.Message) (Call, error) {
	t := m.Head().MessageType
	if about, known := protocol.Describe(t); known && about.Method == "" {
		return Call{}, fmt.Errorf("protocol: %s is an answer and cannot be a request", t)
	}
	raw, err := protocol.Encode(m)
	if err != nil {
		return Call{}, err
	}
	if raw, err = d.edited(t, raw, true); err != nil {
		return Call{}, fmt.Errorf("protocol: edit %s for dialect %s: %w", t, d.Name, err)
	}
	if d.Request.Bare {
		return Call{Body: raw}, nil
	}
	params, err := d.Request.put(raw, name, false)
	if err != nil {
		return Call{}, fmt.Errorf("protocol: wrap %s for dialect %s: %w", t, d.Name, err)
	}
	if d.Request.Method != "" {
		name = d.Request.Method
	}
	return Call{Method: name, Params: params}, nil
}

// Document returns the whole JSON document of the call; the id is JSON.
func (c Call) Document(id jsontext.Value) jsontext.Value {
	if c.Body != nil {
		return c.Body
	}
	return rawjson.Object{
		{Name: "jsonrpc", Value: rawjson.Quote("2.0")}, {Name: "method", Value: rawjson.Quote(c.Method)}, {Name: "params", Value: c.Params}, identity(id),
	}.Encode()
}
