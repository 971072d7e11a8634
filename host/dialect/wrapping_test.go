package dialect

import (
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// params returns JSON-RPC params put together from named parts.
func params(parts ...any) []byte {
	var doc rawjson.Object
	for i := 0; i < len(parts); i += 2 {
		var raw jsontext.Value
		switch v := parts[i+1].(type) {
		case rawjson.Object:
			raw = v.Encode()
		case string:
			raw = jsontext.Value(v)
		}
		doc = append(doc, rawjson.Member{Name: parts[i].(string), Value: raw})
	}
	return doc.Encode()
}

// TestEnvelopeRules: what the dialect with the header apart demands.
func TestEnvelopeRules(t *testing.T) {
	t.Parallel()
	body := sampleBody(t, "game_invitation")
	isHeader := func(m rawjson.Member) bool { return protocol.IsHeaderField(m.Name) }
	header := slices.DeleteFunc(slices.Clone(body), func(m rawjson.Member) bool { return !isHeader(m) })
	rest := slices.DeleteFunc(slices.Clone(body), isHeader)
	tests := []struct {
		name, method string
		params       []byte
		code         protocol.Code
		rpc          int
	}{
		{"as it should be", "league.handle", params("envelope", header, "payload", rest), "", 0},
		{"fields beside the envelope", "league.handle", params("envelope", header, "role_in_match", `"PLAYER_A"`, "opponent_id", `"P02"`), "", 0},
		{"the same value twice", "league.handle", params("envelope", header, "payload", rest.Set("round_id", jsontext.Value(`1.0`)), "match_id", `"R1M1"`), "", 0},
		{"everything in the envelope", "league.handle", params("envelope", body), "", 0},
		{"two values", "league.handle", params("envelope", header, "payload", rest.Without().Set("match_id", jsontext.Value(`"R9M9"`))), protocol.CodeContextMismatch, -32602},
		{"two values beside", "league.handle", params("envelope", header, "payload", rest, "opponent_id", `"P03"`), protocol.CodeContextMismatch, -32602},
		{"no payload object", "league.handle", params("envelope", header, "payload", `[]`), protocol.CodeInvalidFieldType, -32602},
		{"no envelope object", "league.handle", params("envelope", `"x"`, "payload", rest), protocol.CodeInvalidFieldType, -32602},
		{"no message type", "league.handle", params("envelope", header.Without("message_type"), "payload", rest), protocol.CodeMissingField, -32602},
		{"another method", "handle_game_invitation", params("envelope", header, "payload", rest), "", protocol.RPCInvalidRequest},
		{"no envelope", "league.handle", params("payload", rest), protocol.CodeMissingField, -32602},
		{"flat under its method", "league.handle", body.Encode(), protocol.CodeMissingField, -32602},
	}
	for _, tt := range tests {
		req, err := opens(NewCodec(protocol.Strict), tt.method, tt.params)
		if err == nil {
			_, err = req.Decode()
		}
		if err == nil && tt.rpc == 0 {
			continue
		}
		e := refusal(t, err)
		if e.Code != tt.code || e.Form().RPC != tt.rpc || req.Dialect != Envelope {
			t.Errorf("%s: %s %d in %s, want %s %d", tt.name, e.Code, e.Form().RPC, req.Dialect.Name, tt.code, tt.rpc)
		}
	}
	req, err := opens(NewCodec(protocol.Tolerant), "league.handle", body.Encode())
	if err != nil || req.Type != protocol.TypeGameInvitation {
		t.Errorf("tolerant mode refuses the flat form under league.handle: %v", err)
	}
}

// TestToolRules: what both forms of a tool call demand, with the canonical errors.
func TestToolRules(t *testing.T) {
	t.Parallel()
	body := sampleBody(t, "league_query")
	tests := []struct {
		name      string
		params    []byte
		dialect   *Dialect
		canonical string
	}{
		{"MCP", params("name", `"league_query"`, "arguments", body), Tool, ""},
		{"MCP with extras", params("name", `"league_query"`, "arguments", body, "_meta", `{"progressToken":1}`), Tool, ""},
		{"an alias as name", params("name", `"LEAGUE_QUERY"`, "arguments", body), Tool, ""},
		{"a name of its own", params("name", `"ask_the_manager"`, "arguments", body), Tool, ""},
		{"the other form", params("tool", `"league_query"`, "input", body), ToolIO, ""},
		{"both forms", params("name", `"league_query"`, "arguments", body, "tool", `"league_query"`, "input", body), Tool, protocol.CanonicalInvalidToolInput},
		{"half of each", params("name", `"league_query"`, "input", body), Tool, protocol.CanonicalInvalidToolInput},
		{"no name", params("arguments", body), Tool, protocol.CanonicalInvalidToolInput},
		{"no tool", params("input", body), ToolIO, protocol.CanonicalInvalidToolInput},
		{"a name that is none", params("name", `7`, "arguments", body), Tool, protocol.CanonicalInvalidToolInput},
		{"arguments that are none", params("name", `"league_query"`, "arguments", `[]`), Tool, protocol.CanonicalInvalidToolInput},
		{"input that is none", params("tool", `"league_query"`, "input", `"x"`), ToolIO, protocol.CanonicalInvalidToolInput},
		{"nothing", []byte(`{}`), Tool, protocol.CanonicalInvalidToolInput},
		{"an unknown tool", params("name", `"no_such_tool"`, "arguments", `{}`), Tool, protocol.CanonicalToolNotFound},
		{"an unknown tool of the other form", params("tool", `"no_such_tool"`, "input", `{}`), ToolIO, protocol.CanonicalToolNotFound},
	}
	for _, tt := range tests {
		req, err := opens(NewCodec(protocol.Strict), "tools/call", tt.params)
		if req.Dialect != tt.dialect && tt.name != "nothing" {
			t.Errorf("%s: dialect %s, want %s", tt.name, req.Dialect.Name, tt.dialect.Name)
		}
		if err == nil {
			_, err = req.Decode()
		}
		if err == nil && tt.canonical == "" {
			continue
		}
		e := refusal(t, err)
		if e.Canonical != tt.canonical {
			t.Errorf("%s: %v", tt.name, e)
		}
		reply := req.Refuse(protocol.NewHeader("", manager, clock("09:00:00"), ""), e)
		var data struct {
			Canonical  string               `json:"canonical"`
			Violations []protocol.Violation `json:"violations"`
		}
		if reply.Error == nil || json.Unmarshal(reply.Error.Data, &data) != nil || data.Canonical != tt.canonical || len(data.Violations) == 0 {
			t.Errorf("%s: answered with %+v", tt.name, reply)
		}
	}
	_, err := opens(NewCodec(protocol.Strict), "tools/call", params("name", `"notify_round"`, "arguments", body))
	if e := refusal(t, err); e.Form().RPC != protocol.RPCInvalidRequest {
		t.Errorf("a tool that contradicts its message: %v", e)
	}
}
