package kit

import (
	"fmt"
	"mime"
	"strings"

	"github.com/strategylab/strategylab/host/protocol"
)

// HeaderRule is a rule about the header of messages of every role.
type HeaderRule struct {
	Rule   string
	Advice string
	// Breach says how a message breaks the rule; "" if it does not. The rule
	// Frame is about the whole JSON-RPC document, all others are about the
	// message in it.
	Breach func(m Fields) string
}

// The rules about headers. Only RequestHeader and AnswerHeader find missing
// members; for the other rules, a missing member is no breach.
var (
	Frame = HeaderRule{
		`A request is JSON-RPC 2.0: jsonrpc is "2.0", and it has a method and an id that is a string or a number (league.v2, transport).`,
		`Send {"jsonrpc": "2.0", "method": "...", "params": {...}, "id": "1"}.`, frameBreach,
	}
	RequestHeader = HeaderRule{
		`A request has protocol "league.v2", message_type, sender, timestamp and conversation_id (league.v2, header fields).`,
		"Put all five header fields into every message, as strings.", missing("protocol", "message_type", "sender", "timestamp", "conversation_id"),
	}
	AnswerHeader = HeaderRule{
		`An answer has protocol "league.v2", its message_type and a timestamp (league.v2, header fields).`,
		"Put protocol, message_type and timestamp into every result.", missing("protocol", "message_type", "timestamp"),
	}
	UTC = HeaderRule{
		"A timestamp is ISO 8601 in UTC and ends in Z or +00:00 (league.v2, header fields).",
		`Write the time in UTC, for example "2026-03-14T09:10:13Z"; in Python: datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ").`, utcBreach,
	}
	WholeSeconds = HeaderRule{
		"A timestamp has whole seconds and ends in Z: every receiver reads that spelling (observed in real leagues).",
		"Leave the fraction out, and write Z instead of +00:00.", secondsBreach,
	}
)

// Sender is the rule about the sender of a role's messages. A name stands for
// the part after the colon.
func Sender(role protocol.Role, rule, advice string) HeaderRule {
	return HeaderRule{rule, advice, func(m Fields) string {
		sender := m.Text("sender")
		if given, _, err := protocol.ParseSender(sender); sender != "" && (err != nil || given != role) {
			return fmt.Sprintf("sender is %q, want a %s", sender, role)
		}
		return ""
	}}
}

func frameBreach(doc Fields) string {
	switch {
	case doc.Text("jsonrpc") != "2.0":
		return fmt.Sprintf(`jsonrpc is %s, want "2.0"`, doc.Shown("jsonrpc"))
	case doc.Text("method") == "":
		return fmt.Sprintf("method is %s, want a string", doc.Shown("method"))
	case !doc.HasID():
		return fmt.Sprintf("id is %s, want a string or a number", doc.Shown("id"))
	}
	return ""
}

func missing(names ...string) func(Fields) string {
	return func(m Fields) string {
		for _, name := range names {
			if m.Text(name) == "" {
				return fmt.Sprintf("%s is %s", name, m.Shown(name))
			}
		}
		if v := m.Text("protocol"); v != protocol.Version {
			return fmt.Sprintf("protocol is %q, want %q", v, protocol.Version)
		}
		return ""
	}
}

func utcBreach(m Fields) string {
	if m.Has("timestamp") {
		if _, err := protocol.ParseTimestamp(m.Text("timestamp")); err != nil {
			return fmt.Sprintf("timestamp: %v", err)
		}
	}
	return ""
}

func secondsBreach(m Fields) string {
	stamp := m.Text("timestamp")
	if _, err := protocol.ParseTimestamp(stamp); err == nil && (strings.Contains(stamp, ".") || !strings.HasSuffix(stamp, "Z")) {
		return fmt.Sprintf("timestamp is %q", stamp)
	}
	return ""
}

// Check returns a check of the rule.
func (r HeaderRule) Check(id string, level Level, needs []string, run func(t *T)) Check {
	return Check{ID: id, Level: level, Needs: needs, Rule: r.Rule, Advice: r.Advice, Run: run}
}

// Test ends the check if a message breaks the rule. Show, if set, then adds the
// message to the evidence; what names the message.
func (r HeaderRule) Test(t *T, what string, m Fields, show func()) {
	breach := r.Breach(m)
	if breach == "" {
		return
	}
	if show != nil {
		show()
	}
	if what != "" {
		breach = what + ": " + breach
	}
	t.Fail("%s", breach)
}

// IsJSON reports whether a Content-Type declares JSON in UTF-8.
func IsJSON(contentType string) bool {
	media, params, err := mime.ParseMediaType(contentType)
	charset, named := params["charset"]
	return err == nil && media == "application/json" && (!named || strings.EqualFold(charset, "utf-8"))
}
