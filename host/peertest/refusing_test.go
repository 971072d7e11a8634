package peertest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// write sends the reply.
func (r reply) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	if r.status != 0 {
		w.WriteHeader(r.status)
	}
	if page, is := r.body.(string); is {
		_, _ = io.WriteString(w, page)
		return
	}
	_ = json.NewEncoder(w).Encode(r.body)
}

// guessed are the paths that a caller may find by itself.
var guessed = []string{"", "/mcp", "/MCP", "/"}

// astray answers requests for another path than the program's.
func (s *style) astray(r *http.Request) (reply, bool) {
	own := s.path
	if own == "" {
		own = "/mcp"
	}
	switch {
	case r.Method == http.MethodGet && r.URL.Path == "/openapi.json" && !contains(guessed, s.path):
		return reply{body: object{"openapi": "3.1.0", "paths": object{own: object{"post": object{}}, "/health": object{"get": object{}}}}}, true
	case strings.TrimRight(r.URL.Path, "/") != strings.TrimRight(own, "/"):
		return notFound(), true
	case r.Method != http.MethodPost:
		return reply{405, object{"detail": "Method Not Allowed"}}, true
	}
	return reply{}, false
}

// wrongID refuses request ids of a kind that the program does not take; its body
// is nil otherwise.
func (s *style) wrongID(body object) reply {
	_, isText := body["id"].(string)
	if s.frame == "bare" || s.wantsIDs == "" || s.wantsIDs == "int" && isInt(body["id"]) || s.wantsIDs == "text" && isText {
		return reply{}
	}
	if s.refuses == "detail" {
		return unprocessable("id", s.wantsIDs+"_type", "Input should be a valid "+s.wantsIDs)
	}
	return s.refuse(body, object{"code": -32600, "message": "Invalid Request: id must be " + s.wantsIDs})
}

// refuse says no in the program's way.
func (s *style) refuse(body, refusal object) reply {
	message := text(refusal, "message")
	switch s.refuses {
	case "detail":
		return reply{422, object{"detail": []any{object{"loc": []any{"body", "method"}, "msg": message, "type": "value_error"}}}}
	case "status":
		return reply{400, object{"status": "error", "message": message}}
	case "page":
		return reply{500, "<html><body>Internal Server Error</body></html>"}
	case "result":
		return done(body, object{"message_type": "ERROR", "error_code": "UNKNOWN_MESSAGE_TYPE", "error_description": message})
	case "error":
		return reply{body: object{"error": message}}
	case "internal":
		return failed(body, -32603, "Unknown tool: "+text(body, "method"))
	case "404":
		return reply{404, object{"detail": "Not Found"}}
	case "405":
		return reply{405, object{"detail": "Method Not Allowed"}}
	case "415":
		return reply{415, object{"detail": "Unsupported Media Type"}}
	case "500":
		return reply{500, object{"detail": "Internal Server Error"}}
	}
	return reply{body: object{"jsonrpc": "2.0", "error": refusal, "id": body["id"]}}
}

// toolsList answers what an MCP client asks before it calls a tool.
func (s *style) toolsList(body object) (reply, bool) {
	if !s.lists {
		return reply{}, false
	}
	switch body["method"] {
	case "initialize":
		return done(body, object{"protocolVersion": "2024-11-05", "capabilities": object{"tools": object{}}, "serverInfo": object{"name": "league", "version": "1"}}), true
	case "notifications/initialized":
		return reply{202, ""}, true
	case "tools/list":
		var declared []any
		for _, known := range []map[string]string{methodNames, receiveNames} {
			for kind := range known {
				properties := object{"match_id": object{"type": "string"}, "query_type": object{"type": "string"}, "round_id": object{"type": "integer"}, "standings": object{"type": "array"}, "final_standings": object{"type": "array"}}
				if strings.HasSuffix(kind, "REGISTER_REQUEST") {
					properties = object{}
					for _, f := range flatFields {
						properties[f] = object{"type": "string"}
					}
				}
				declared = append(declared, object{"name": s.method(kind), "description": kind, "inputSchema": object{"type": "object", "properties": properties}})
			}
		}
		return done(body, object{"tools": declared}), true
	}
	return reply{}, false
}

// flatFields are what a tool declares that registers an agent.
var flatFields = []string{"display_name", "contact_endpoint", "version", "protocol_version", "game_types"}
