// Package wire takes a request to the agent it is for and brings back the
// answer, and sends the agent's own messages to its peers. It joins the
// league.v2 protocol to JSON-RPC and knows nothing of what an agent does with a
// message.
//
// # The way in
//
// A [Pipeline] takes a request, whichever transport it came by, through one
// chain of stages:
//
//	decode -> envelope -> tool -> open -> authenticate -> fields -> handle -> respond -> log
//
// All that they find out is on one [Exchange]. The first stage that fails ends
// the way in, by one of the canonical errors of host/protocol
//
//	code                HTTP  JSON-RPC  when
//	INVALID_ENVELOPE     400    -32600  a member of the envelope is missing or wrong
//	TOOL_NOT_FOUND       404    -32001  there is no tool of that name
//	INVALID_TOOL_INPUT   422    -32602  the input breaks the tool's schema
//	INTERNAL_ERROR       500    -32603  the handler failed, or its output breaks the schema
//
// or by an error of the league in the dialect of the peer. The data of a
// canonical error lists the violations, each a JSON Pointer and the rule that
// is broken, sorted, without any value from the input.
//
// A message is checked once, against its field table; where it was called as a
// tool by params.tool and params.input, the tool's JSON Schema puts into words
// what it breaks. The other wrappings of messages keep the errors of
// host/protocol. Requests that bear headers of the MCP standard ([IsMCP]) are
// under that standard's rules.
//
// # The way out
//
// A [Caller] sends a message to a [Peer] in the dialect that it understands, and
// reads the answer.
package wire
