package wire

import (
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
	"github.com/strategylab/strategylab/host/wire/schema"
)

// A Refusal is one of the canonical errors. As an error, and in its payload, it
// never holds a value from the input.
type Refusal struct {
	// Code is the canonical code, and Form what stands for it over HTTP and
	// JSON-RPC.
	Code string
	protocol.Form
	// Violations are what the request breaks, sorted.
	Violations []protocol.Violation
	// Err is the cause of an INTERNAL_ERROR, for the program's own log; nil
	// otherwise.
	Err error

	extra []byte // further members of data, with a comma before each
}

// refuse returns a refusal. An unknown code becomes an INTERNAL_ERROR whose
// cause says so, never a refusal without a status.
func refuse(code string, violations ...protocol.Violation) *Refusal {
	form, err := protocol.Canonical(code)
	if err != nil {
		r := refuse(protocol.CanonicalInternalError)
		r.Err = err
		return r
	}
	return &Refusal{Code: code, Form: form, Violations: schema.Tidy(violations)}
}

// internal returns the INTERNAL_ERROR with a cause.
func internal(err error, violations ...protocol.Violation) *Refusal {
	r := refuse(protocol.CanonicalInternalError, violations...)
	r.Err = err
	return r
}

// Error names the code, the first violation, and the cause.
func (r *Refusal) Error() string {
	s := "wire: " + r.Code + ": " + r.Message
	if len(r.Violations) > 0 {
		s += ": " + r.Violations[0].Path + " breaks " + r.Violations[0].Rule
	}
	if r.Err != nil {
		s += ": " + r.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.Err }

// data returns the canonical part of the data, without extra.
func (r *Refusal) data() jsontext.Value {
	e := protocol.Error{Canonical: r.Code, Violations: r.Violations}
	data, err := e.Data(protocol.Header{})
	if err != nil { // a path that is no UTF-8, which the parser lets nobody write
		e.Violations = nil
		data, _ = e.Data(protocol.Header{})
	}
	return data
}

// rpc returns the error object for an answer.
func (r *Refusal) rpc() *jsonrpc.Error {
	data := r.data()
	if len(r.extra) > 0 {
		data = append(append(data[:len(data)-1:len(data)-1], r.extra...), '}')
	}
	return &jsonrpc.Error{Code: r.RPC, Message: r.Message, Data: data}
}

// Response returns the answer to the request that is refused.
func (r *Refusal) Response() jsonrpc.Response {
	return jsonrpc.Response{Status: r.status(), Error: r.rpc()}
}

// refuse answers the request by a refusal.
func (x *Exchange) refuse(r *Refusal) {
	x.note(r)
	x.response = r.Response()
}

// note records a refusal for the log.
func (x *Exchange) note(r *Refusal) {
	x.status = r.status()
	x.failure = marshal(dialect.RPCError{Code: r.RPC, Message: r.Message, Data: r.data()})
}

// kept are the members of an error's data that the canonical form keeps:
// sentences and codes, no values from the input.
var kept = []string{"detail", "error_code", "error_name", "original_message_type"}

// keep copies the kept members from another form of the error.
func (r *Refusal) keep(data jsontext.Value) {
	members, err := rawjson.Parse(data)
	if err != nil {
		return
	}
	for _, name := range kept {
		if value := members.Get(name); value.Kind() == '"' {
			r.extra = append(append(r.extra, `,"`+name+`":`...), value...)
		}
	}
}

// say adds a sentence for people.
func (r *Refusal) say(detail string) {
	quoted, err := jsontext.AppendQuote([]byte(`,"detail":`), detail)
	if err == nil && detail != "" {
		r.extra = append(r.extra, quoted...)
	}
}

func (r *Refusal) status() int {
	if r.HTTP == 0 {
		return http.StatusInternalServerError
	}
	return r.HTTP
}
