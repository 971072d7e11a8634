// Package wire takes a request to the agent it is for and brings back the answer, and
// sends the agent's own messages to its peers. It joins the league.v2 protocol to
// JSON-RPC and knows nothing of what an agent does with a message.
//
// A [Chain] takes a request through its stages, whichever transport it came by. What they
// find out is on one [Exchange]. The first stage that fails ends the chain, by a canonical
// error of host/protocol, whose data lists the violations, each a JSON Pointer and the rule
// that is broken, without any value from the input, or by an error of the league in the
// dialect of the peer. The page on the architecture lists the stages.
//
// A [Caller] sends a message to a [Peer] in the form that it understands, and reads the
// answer. A [Conversation] finds out which form that is.
package wire
