// Package jsonrpc speaks JSON-RPC 2.0 (https://www.jsonrpc.org/specification) over HTTP and in
// memory, as server and as client, and serves it over STDIO. It knows the frame of a message and
// nothing of what is inside: methods, authentication and retry policy belong to its users.
//
// # Serving
//
// A [Handler] answers a [Request] with a [Response]. The same handler serves all three transports,
// and every transport puts a message through the same parser, the same limits and the same
// [Config]:
//
//	srv, err := jsonrpc.Listen(ctx, "127.0.0.1:0", jsonrpc.Config{})
//	...
//	err = srv.Serve(ctx, handler) // until ctx ends, then drains
//
// [Loopback.Listen] does the same without sockets and [ServeStdio] over a pair of streams, one JSON
// document per line.
//
// Another protocol can share the path of an endpoint and its streams (see [Config]).
//
// # Calling
//
//	client := jsonrpc.NewClient(jsonrpc.OverHTTP(), jsonrpc.ClientConfig{})
//	answer, err := client.Call(ctx, url, jsonrpc.Message{Method: "ping"})
//
// The error says why no answer came ([CallError]); a refusal by the peer is an answer.
//
// # What is accepted
//
// Reading is strict, because two readers that understand one message differently are a security
// hole. A message that fails is answered as follows and never reaches the handler, and its
// connection stays open except where the body was not read:
//
//	condition                                            HTTP  code
//	a web page of another origin, or a Host that is
//	not the server's, whatever the path                   403  -32600
//	empty body, syntax error, byte order mark,
//	trailing data, duplicate name at any depth,
//	invalid UTF-8 or unpaired surrogate, nesting
//	beyond the limit, body cut short                      400  -32700
//	batch (a JSON array), or any other non-object         400  -32600
//	jsonrpc missing (but see Config.Lenient)
//	or not "2.0", method missing or not a string,
//	params neither object, array nor null, id neither
//	string, number nor null, id longer than 1024 bytes    400  -32600
//	body or line too long                                 413  -32600
//	Content-Type not application/json in UTF-8,
//	or a Content-Encoding                                 415  -32600
//	any verb but POST                                     405  -32600
//	the server is shutting down (Retry-After is set)      503  48
//	the handler panics or answers a call with nothing     500  -32603
//	the body did not arrive in time                       408  -32600
//
// Member names match exactly, case included, and unknown members are kept in Request.Raw. Numbers
// are never converted: a number too large for any Go type passes through params, and an id is
// echoed byte for byte (1, 1.0 and "1" stay what they are). The id of a refused message is echoed
// where it could be read and is null elsewhere. [Config.Refuse] replaces the error object of a
// refusal, for users with error shapes of their own.
package jsonrpc
