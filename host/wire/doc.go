// Package wire joins the league.v2 protocol to JSON-RPC for the agents that
// speak it: an Endpoint receives messages and answers each in the wrapping it
// came in, a Caller sends messages to peers in the wrapping they understand.
// Neither knows what an agent does with a message.
package wire
