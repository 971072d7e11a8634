package wire

import (
	"bytes"
	"context"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire/schema"
)

// envelope refuses a request that lacks the required form.
func (p *Pipeline) envelope(_ context.Context, x *Exchange) error {
	if x.mcp || keeps(p.form, x.RPC) {
		return nil
	}
	return p.badEnvelope(p.form, x.RPC.Raw, protocol.Violation{Path: "", Rule: "type"})
}

// keeps reports whether a request that host/jsonrpc has read keeps the rules
// of a form. It must agree with the form's schema; a test holds the two to each
// other.
func keeps(f schema.Form, rpc *jsonrpc.Request) bool {
	switch {
	case f == schema.LeagueForm:
		return true // the agent checks the rest
	case rpc.Kind == jsonrpc.KindObject:
		return false // there is no "jsonrpc"
	case rpc.ID.Kind() != '"', rpc.Method == "", rpc.Params.Kind() != '{':
		return false
	}
	return f != schema.DeterministicForm || isUUID(rpc.ID)
}

// isUUID reports whether a JSON string is a UUID of any version.
func isUUID(id jsontext.Value) bool {
	if bytes.IndexByte(id, '\\') >= 0 {
		quoted, err := jsontext.AppendUnquote([]byte{'"'}, id)
		if err != nil {
			return false
		}
		id = append(quoted, '"')
	}
	if len(id) != len(`"00000000-0000-0000-0000-000000000000"`) {
		return false
	}
	for i, c := range id[1 : len(id)-1] {
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F') {
				return false
			}
		}
	}
	return true
}

// badEnvelope returns the refusal for an envelope, worded by its schema. If the
// schema finds nothing, the violation is other.
func (p *Pipeline) badEnvelope(f schema.Form, raw jsontext.Value, other protocol.Violation) *Refusal {
	found, err := schema.CheckEnvelope(f, raw)
	if err != nil {
		return internal(err)
	}
	if found == nil {
		found = []protocol.Violation{other}
	}
	return refuse(protocol.CanonicalInvalidEnvelope, found...)
}

// IsMCP reports whether the rules of the MCP standard apply to a request, by
// its headers: it names a session or a version of that standard, or wants its
// answer as an event stream. The rules of this package apply to every other
// request. The header may be nil, as it is over STDIO.
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
