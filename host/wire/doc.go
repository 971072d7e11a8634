// Package wire takes a request to the agent it is for and brings back the
// answer, and sends the agent's own messages to its peers. It joins the
// league.v2 protocol to JSON-RPC and knows nothing of what an agent does with a
// message.
//
// # In
//
// A [Chain] takes a request, whichever transport it came by, through its stages:
//
//	decode -> contract -> open -> authenticate -> fields -> handle -> respond -> log
//
// All that they find out is on one [Exchange]. The first stage that fails ends
// the chain, by one of the canonical errors of host/protocol
//
//	code                HTTP  JSON-RPC  when
//	INVALID_ENVELOPE     400    -32600  a member of the envelope is missing or wrong
//	TOOL_NOT_FOUND       404    -32001  there is no tool of that name
//	INVALID_TOOL_INPUT   422    -32602  the input breaks the tool's schema
//	INTERNAL_ERROR       500    -32603  the handler failed, or its output breaks the schema
//
// or by an error of the league in the dialect of the peer. The data of a
// canonical error lists the violations, each a JSON Pointer and the rule that
// is broken, sorted, without any value from the input. Requests that bear headers
// of the MCP standard ([IsMCP]) are under that standard's rules.
//
// # Out
//
// A [Caller] sends a message to a [Peer] in the form that it understands, and
// reads the answer. A [Conversation] finds out which form that is.
package wire
