package validation

import (
	"net/http"
	"strings"
)

// IsMCP reports whether a request is under the rules of the MCP standard, by
// its headers: it names a session or a version of that standard, or wants its
// answer as an event stream. Everything else is under the rules of this
// package. The header may be nil, as it is over STDIO.
func IsMCP(h http.Header) bool {
	if len(h) == 0 {
		return false
	}
	if len(h["Mcp-Session-Id"]) > 0 || len(h["Mcp-Protocol-Version"]) > 0 {
		return true
	}
	for _, list := range h["Accept"] {
		for media := range strings.SplitSeq(list, ",") {
			media, _, _ = strings.Cut(media, ";")
			if strings.EqualFold(strings.TrimSpace(media), "text/event-stream") {
				return true
			}
		}
	}
	return false
}
