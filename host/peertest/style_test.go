package peertest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// object is a JSON object as a dynamic language holds it.
type object = map[string]any

// style is how a program speaks: all known differences between programs that
// follow the same text. The zero value is by the book.
type style struct {
	name string

	// How its requests are wrapped, and what it takes: flat, message, tool, io,
	// envelope or bare; and how methods are named: book, type, lower, receive
	// or unknown.
	frame, naming string
	picky         bool   // refuses every other wrapping and method
	headerless    bool   // sends no header fields, and fails on any that it gets
	ids           string // of its requests: uuid, int

	// How it answers: result, text, content, params or bare; nullError adds an
	// "error": null. And from where it reads answers: result, content, top
	// (of result), params or bare.
	answers, reads string
	nullError      bool

	registered  string // what it calls it to accept a registration
	noToken     bool   // gives none, nor a league
	assigns     string // ids by order, sender or hex
	wantsMeta   string // what protocol_version must begin with
	wantsSender bool   // refuses others than league_manager:LM01 and referee:REF01, and messages without a token

	choiceField, joinField string // under which it answers: choice, parity_choice; accept, accepted, status
	async                  bool   // joins by a message of its own, and takes only such joins
	lowerRoles             bool
	thinks                 time.Duration // a referee, between a join and the call
	timestamp              string        // layout
	textRounds             bool          // ROUND_1
	past                   bool          // deadlines
	bare                   bool          // leaves out what it can: league_id, context, opponent_id

	over       string            // game_over in the form book, player, flat or outside
	draw       int               // numbers are drawn up to this
	points     [3]int            // for a win, a draw, a loss
	standings  string            // after or before ROUND_COMPLETED
	quiet      bool              // announces no rounds
	endless    bool              // never announces the end of the league
	badToken   string            // how a bad token is refused
	probes     bool              // tries the endpoint at a registration
	repeats    bool              // registers twice
	winnerDraw bool              // reports "DRAW" as the winner
	reportAck  string            // the type of its acknowledgement of reports
	path       string            // where it is served instead of /mcp; what nobody guesses stands in /openapi.json
	wantsIDs   string            // the only kind of request id that it takes: int or text
	refuses    string            // how it refuses: by a JSON-RPC error, or detail, status, page, result, error, 404, 405, 415, 500
	names      map[string]string // of its methods, where they do not follow naming
	lists      bool              // answers tools/list, and takes flat arguments only
	ports      bool              // calls P0N at port 810N, whatever it registered
	tokens     string            // what a player signs with: its token, or last, placeholder, none
	plural     bool              // a player signs as players:P0N
	acks       string            // how notifications are acknowledged: by type, or echo, ok, empty
	closes     bool              // closes each connection after its answer
	latecome   bool              // its own players register after those of others
	start      string            // of the league: by itself, within the last registration, or by tool, path or rest; by a function: named, empty, missing
	single     bool              // does one thing at a time
	slow       time.Duration     // a manager, with the answer to a registration
	joins      string            // never: players only acknowledge invitations
	habit      string            // what the standards allow: mark, slash, no media, zip, notify, null id

	assignBy    string // how matches are assigned to referees
	noEndpoints bool   // assigns matches without the players' endpoints, or does not read them
	suggests    bool   // the registration names assignBy; announcements are acknowledged and ignored
}

var methodNames = map[string]string{
	"REFEREE_REGISTER_REQUEST": "register_referee", "LEAGUE_REGISTER_REQUEST": "register_player", "ROUND_ANNOUNCEMENT": "notify_round",
	"LEAGUE_STANDINGS_UPDATE": "update_standings", "ROUND_COMPLETED": "notify_round_completed", "LEAGUE_COMPLETED": "notify_league_completed",
	"GAME_INVITATION": "handle_game_invitation", "CHOOSE_PARITY_CALL": "choose_parity", "GAME_OVER": "notify_match_result",
	"GAME_ERROR": "notify_game_error", "MATCH_RESULT_REPORT": "report_match_result", "GAME_JOIN_ACK": "game_join_ack", "LEAGUE_QUERY": "league_query", "START_LEAGUE": "start_league",
}

var receiveNames = map[string]string{
	"GAME_INVITATION": "receive_game_invitation", "CHOOSE_PARITY_CALL": "receive_parity_call", "GAME_OVER": "receive_game_over",
	"LEAGUE_STANDINGS_UPDATE": "notify_standings", "ROUND_ANNOUNCEMENT": "round_announcement",
}

// method is what the program calls a message.
func (s *style) method(t string) string {
	if name := s.names[t]; name != "" {
		return name
	}
	switch s.naming {
	case "type":
		return t
	case "lower":
		return strings.ToLower(t)
	case "unknown":
		return "unknown"
	case "receive":
		if name := receiveNames[t]; name != "" {
			return name
		}
	}
	if name := methodNames[t]; name != "" {
		return name
	}
	return strings.ToLower(t)
}

var headerFields = []string{"protocol", "message_type", "sender", "timestamp", "conversation_id"}

// wrap wraps a request.
func (s *style) wrap(t string, message object, id any) any {
	if s.headerless {
		message = without(message, headerFields...)
	}
	method, params := s.method(t), message
	switch s.frame {
	case "bare":
		return message
	case "message":
		method, params = "handle_message", object{"message": message}
	case "tool":
		method, params = "tools/call", object{"name": s.method(t), "arguments": message}
	case "io":
		method, params = "tools/call", object{"tool": s.method(t), "input": message}
	case "envelope":
		header, rest := object{}, object{}
		for k, v := range message {
			if slices.Contains(append(headerFields, "auth_token", "league_id", "round_id", "match_id", "game_type"), k) {
				header[k] = v
			} else {
				rest[k] = v
			}
		}
		method, params = "league.handle", object{"envelope": header, "payload": rest}
	}
	call := object{"jsonrpc": "2.0", "method": method, "params": params, "id": id}
	if notice := slices.Contains([]string{"ROUND_ANNOUNCEMENT", "GAME_OVER", "LEAGUE_STANDINGS_UPDATE", "ROUND_COMPLETED", "LEAGUE_COMPLETED"}, t); notice && s.habit == "notify" {
		delete(call, "id")
	} else if notice && s.habit == "null id" {
		call["id"] = nil
	}
	return call
}

// open unwraps a request. The error is what the program answers to a wrapping
// that it does not know.
func (s *style) open(body object) (t string, message object, refusal object) {
	unknown := object{"code": -32601, "message": "Method not found"}
	invalid := object{"code": -32602, "message": "Invalid params"}
	method, _ := body["method"].(string)
	params, _ := body["params"].(object)
	if s.frame == "bare" {
		if t, ok := body["message_type"].(string); ok {
			return t, body, nil
		}
		return "", nil, invalid
	}
	if body["jsonrpc"] != "2.0" {
		return "", nil, object{"code": -32600, "message": "Invalid Request"}
	}
	switch s.frame {
	case "message":
		message, _ = params["message"].(object)
		if method != "handle_message" {
			return "", nil, unknown
		}
	case "tool", "io":
		if method != "tools/call" {
			return "", nil, unknown
		}
		names := map[string][2]string{"tool": {"name", "arguments"}, "io": {"tool", "input"}}[s.frame]
		method, message = text(params, names[0]), inner(params, names[1])
	case "envelope":
		if method != "league.handle" {
			return "", nil, unknown
		}
		message = with(inner(params, "envelope"), inner(params, "payload"))
	default:
		message = params
	}
	if message == nil {
		return "", nil, invalid
	}
	t, _ = message["message_type"].(string)
	if s.assignBy != "" && strings.EqualFold(method, s.assignBy) {
		return s.assignBy, message, nil
	}
	if s.headerless {
		for _, f := range headerFields {
			if _, there := message[f]; there {
				return "", nil, object{"code": -32603, "message": fmt.Sprintf("handler() got an unexpected keyword argument '%s'", f)}
			}
		}
		t = ""
	}
	if s.frame == "message" || s.frame == "envelope" || t != "" && !s.picky {
		return t, message, nil
	}
	for _, known := range []map[string]string{methodNames, receiveNames} {
		for kind := range known {
			if s.method(kind) == method {
				return kind, message, nil
			}
		}
	}
	return "", nil, unknown
}

// answer wraps an answer.
func (s *style) answer(message object, id any) any {
	out := object{"jsonrpc": "2.0", "id": id}
	switch s.answers {
	case "bare":
		return message
	case "params":
		return rpc(strings.ToLower(text(message, "message_type")), message, "own-1")
	case "text":
		out["result"] = encoded(message)
	case "content":
		out["result"] = object{"content": []any{object{"type": "text", "text": encoded(message)}}}
	case "io":
		out["result"] = object{"tool": "tool", "output": message}
	case "envelope":
		out["result"] = object{"envelope": object{}, "payload": message}
	default:
		out["result"] = message
	}
	if s.nullError {
		out["error"] = nil
	}
	return out
}

// read finds the answer in a response, where the program looks for it.
func (s *style) read(body object) object {
	result, _ := body["result"].(object)
	switch s.reads {
	case "bare":
		return body
	case "params":
		return inner(body, "params")
	case "text":
		return decoded(body["result"])
	case "content":
		parts, _ := result["content"].([]any)
		if len(parts) == 0 {
			return nil
		}
		part, _ := parts[0].(object)
		return decoded(part["text"])
	case "io":
		return inner(result, "output")
	case "envelope":
		return with(inner(result, "envelope"), inner(result, "payload"))
	}
	return result
}

func without(o object, names ...string) object {
	out := maps.Clone(o)
	maps.DeleteFunc(out, func(name string, _ any) bool { return slices.Contains(names, name) })
	return out
}

func text(o object, name string) string {
	t, _ := o[name].(string)
	return t
}

// starts reports whether a league begins by a method, and what is wrong with its
// parameters: some functions take the league's id only, nothing, or a parameter
// of their own.
func (s *style) starts(message object) (taken bool, wrong object) {
	only := map[string]string{"named": "league_id", "missing": "league"}[s.start]
	if !slices.Contains([]string{"named", "empty", "missing"}, s.start) {
		return s.start == "tool", nil
	}
	for name := range message {
		if name != only {
			return false, object{"code": -32603, "message": fmt.Sprintf("start_league() got an unexpected keyword argument '%s'", name)}
		}
	}
	if only != "" && message[only] == nil {
		return false, object{"code": -32602, "message": fmt.Sprintf("start_league() missing 1 required positional argument: '%s'", only)}
	}
	return true, nil
}

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
	case r.Method == http.MethodGet && r.URL.Path == "/openapi.json" && !slices.Contains(guessed, s.path):
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
