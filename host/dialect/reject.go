package dialect

import (
	"github.com/strategylab/strategylab/host/protocol"
	"strings"
)

// refuseJSON is the Error for a text that is not JSON as this protocol takes
// it: malformed, with duplicate keys, trailing data, or nested too deeply.
func refuseJSON(err error) *protocol.Error {
	return &protocol.Error{RPC: protocol.RPCParseError, Detail: "The message is not valid JSON: " + strings.TrimPrefix(err.Error(), "jsontext: ")}
}

// refuseShape is the Error for JSON that is not a JSON-RPC request or whose
// method contradicts its message.
func refuseShape(t protocol.Type, detail string) *protocol.Error {
	return &protocol.Error{RPC: protocol.RPCInvalidRequest, Original: t, Detail: detail}
}

// refuseTool is the Error for tool input that cannot be read as such.
func refuseTool(code, detail string, violations ...protocol.Violation) *protocol.Error {
	return &protocol.Error{Canonical: code, Detail: detail, Violations: violations}
}
