// Package validation holds what arrives at an agent to the contract of
// envelopes and tool calls, the same over HTTP, over STDIO and for callers that
// have no JSON-RPC request at all, and has every decision written to a log.
//
// A [Registry] knows the tools: for each the JSON Schemas (draft 2020-12) of
// what goes in and what comes out. A [Pipeline] takes a request through the
// steps
//
//	envelope -> tool -> input -> handler -> output -> log
//
// and refuses it at the first that fails with one of the canonical errors of
// host/protocol:
//
//	code                HTTP  JSON-RPC  when
//	INVALID_ENVELOPE     400    -32600  a member of the envelope is missing or wrong
//	TOOL_NOT_FOUND       404    -32001  there is no tool of that name
//	INVALID_TOOL_INPUT   422    -32602  the input breaks the tool's schema
//	INTERNAL_ERROR       500    -32603  the handler failed, or its output breaks the schema
//
// The data of such an error lists the violations, each a JSON Pointer and the
// keyword that is broken, sorted, without any value from the input.
//
// # What is left alone
//
// Requests that bear headers of the MCP standard ([IsMCP]) are under that
// standard's rules. The wrappings of league messages other than params.tool
// with params.input keep the rules and errors of host/protocol: their fields
// have been judged by it, and are not judged again here.
package validation
