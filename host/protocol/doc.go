// Package protocol is the league.v2 protocol: its messages as Go types, the
// rules that a message must keep, the error codes, the ways a message may be
// wrapped (dialects), the tokens and keys that prove who sent it, and the JSON
// Schemas of all of it. It does no I/O and reads no clock; everything here is
// a pure function of its arguments, and every exported value is safe for
// concurrent use unless its comment says otherwise.
//
// # Reading a request
//
// A [Codec] takes what a JSON-RPC server has (method and params) or a bare
// body, in two steps, so that a receiver can check who speaks before it says
// what is wrong with the message:
//
//	req, err := codec.Open(method, params) // wrapping, message type, header
//	...check req.Header.AuthToken and req.Header.Sender...
//	msg, err := req.Decode()               // every field rule, then the Go type
//	reply, err := req.Reply(answer)        // in the wrapping it came in
//	reply := req.Refuse(header, err)       // likewise for a refusal
//
// # Sending one
//
//	call, err := dialect.Call(msg)               // method and params
//	msg, err := codec.ReadAnswer(sent, answer)   // wherever the answer sits
//
// # Where the rules stand
//
// Each message has one table of field rules beside its Go type. The validator
// walks it, the JSON Schemas in schemas/ are written from it, and tests hold
// validator, schemas and Go types to each other. Which message travels under
// which method, and from whom, stands in the catalogue ([Types], [Describe]).
package protocol
