package mcptools

import (
	"encoding/json"
)

// isResponse reports whether raw is a JSON-RPC response: an object without a
// method and with a result or an error.
func isResponse(raw []byte) bool {
	var doc map[string]json.RawMessage
	if json.Unmarshal(raw, &doc) != nil || doc["method"] != nil {
		return false
	}
	return doc["id"] != nil && (doc["result"] != nil || doc["error"] != nil)
}
