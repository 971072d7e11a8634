package kit

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/protocol"
)

// refusal finds out whether the answer is a refusal, in any form.
func (a *Answer) refusal() {
	var e struct {
		Code    json.Number
		Message string
	}
	result := a.Document.Object("result")
	switch {
	case a.Document.Has("error"):
		a.Refused = true
		_ = json.Unmarshal(a.Document["error"], &e) // an error of any form refuses
		if n, err := e.Code.Int64(); err == nil {
			a.Code = int(n)
		}
		a.Reason = cmp.Or(e.Message, a.Document.Text("error"))
	case string(result["isError"]) == "true":
		a.Refused, a.Reason = true, contentText(result["content"])
	case saysNo(a.Message):
		a.Refused = true
	}
	if a.Err == nil && a.Status >= http.StatusBadRequest && len(a.Body) > 0 && !a.readable() {
		a.Refused, a.Plain = true, true
		if a.Document == nil || !a.Message.Has("detail") {
			a.Reason = cmp.Or(a.Reason, firstBytes(a.Body))
		}
	}
	for _, name := range []string{"detail", "error_description", "reason", "error", "message"} {
		if s := cmp.Or(a.Message.Text(name), structured(a.Message[name])); a.Refused && s != "" && s != a.Reason {
			a.Reason = strings.TrimPrefix(a.Reason+": "+s, ": ")
			break
		}
	}
}

// readable reports whether a caller of JSON-RPC finds in the document why it was
// refused.
func (a *Answer) readable() bool {
	rpc := a.Document.Has("error") && (a.Document.Object("error") != nil || a.Document.Has("jsonrpc"))
	return rpc || a.Document.Has("result") || protocol.Type(a.Message.Text("message_type")) != ""
}

// The states with which answers acknowledge, and with which they refuse, in
// lower case. A state that begins with one of refusing refuses as well, as in
// unknown_message_type.
var (
	acknowledging = []string{"acknowledged", "ack", "ok", "received", "success", "accepted", "recorded", "registered"}
	refusing      = []string{"error", "rejected", "refused", "failed", "failure", "unknown", "invalid", "unsupported", "unauthorized", "not_found"}
)

// saysNo reports whether a message is a refusal by its own members.
func saysNo(m Fields) bool {
	status := strings.ToLower(m.Text("status"))
	if slices.ContainsFunc(refusing, func(word string) bool { return strings.HasPrefix(status, word) }) {
		return true
	}
	switch t := protocol.Type(m.Text("message_type")); t {
	case protocol.TypeLeagueError, protocol.TypeGameError, "ERROR":
		// The name alone may be an echo of what is acknowledged.
		return !slices.Contains(acknowledging, status)
	}
	return string(m["success"]) == "false" && !m.Has("query_type")
}

// contentText returns the text of a tool's result.
func contentText(raw json.RawMessage) string {
	var parts []struct{ Text string }
	if json.Unmarshal(raw, &parts) != nil || len(parts) == 0 {
		return ""
	}
	return parts[0].Text
}

// structured returns a member that is a list or an object, shortened: frameworks
// list there which members they miss.
func structured(raw json.RawMessage) string {
	if len(raw) == 0 || raw[0] != '[' && raw[0] != '{' {
		return ""
	}
	return firstBytes(raw)
}

// firstBytes returns the beginning of a text for a sentence.
func firstBytes(b []byte) string { return Printable(b[:min(len(b), 200)]) }

// UnknownMessage reports whether the answer refuses because the agent does not
// know the method or the type of the message.
func (a *Answer) UnknownMessage() bool {
	reason := strings.ToLower(a.Reason + " " + a.Message.Text("status"))
	if !a.Refused {
		return false
	}
	for _, words := range []string{"unknown m", "unknown_m", "unknown t", "unknown_t", "method not found", "not supported", "unsupported message"} {
		if strings.Contains(reason, words) {
			return true
		}
	}
	return a.Code == -32601 || protocol.Code(a.Message.Text("error_code")) == protocol.CodeUnknownMessageType
}

// SameRefusal reports whether two refusals have the same cause, as far as their
// own words say.
func (a *Answer) SameRefusal(b *Answer) bool {
	return a.Refused && b.Refused && a.Status == b.Status && a.Code == b.Code && a.Reason == b.Reason
}
