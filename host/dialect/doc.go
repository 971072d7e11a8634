// Package dialect is how peers wrap and name the messages of league.v2: the
// dialects of the protocol itself and those of programs that were met in real
// leagues. It recognizes the dialect of a request, answers in it, and reads an
// answer in whatever form it comes. It does no I/O; everything exported is safe
// for concurrent use unless its comment says otherwise.
//
// # Reading a request
//
// A [Codec] takes what a JSON-RPC server has (method and params) or a bare
// body, in two steps, so that a receiver can authenticate the sender before it
// validates the message:
//
//	req, err := codec.Open(method, params) // wrapping, message type, header
//	...check req.Header.AuthToken and req.Header.Sender...
//	msg, err := req.Decode()               // every field rule, then the Go type
//	reply, err := req.Reply(answer)        // in the wrapping it came in
//	reply := req.Refuse(header, err)       // likewise for a refusal
//
// # Sending one
//
//	call, err := dialect.Contracts.Call(msg)     // method and params
//	msg, err := codec.ReadAnswer(sent, answer)   // wherever the answer sits
package dialect
