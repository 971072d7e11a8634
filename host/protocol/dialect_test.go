package protocol

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// sameMessage compares messages by what they encode to.
func sameMessage(t *testing.T, got, want Message) {
	t.Helper()
	a, err := Encode(got)
	if err != nil {
		t.Error(err)
		return
	}
	b, err := Encode(want)
	if err != nil {
		t.Error(err)
		return
	}
	if diff := cmp.Diff(string(b), string(a)); diff != "" {
		t.Errorf("the message has changed on its way: %s", diff)
	}
}

// answerOf reads a reply as the side that waits for it would.
func answerOf(r Reply) Answer {
	a := Answer{Status: r.Status, Result: r.Result, Params: r.Params, Body: r.Body}
	if r.Error != nil {
		a.Error = value(r.Error)
	}
	return a
}

// variants are descriptions of programs that wrap in ways of their own. They
// show that a dialect is data: none of them needs a line of code.
var variants = []*Dialect{
	{Name: "by-type", Naming: ByType, NumericIDs: true},
	{Name: "own-names", Methods: map[Type]string{
		TypeGameInvitation: "receive_game_invitation", TypeChooseParityCall: "receive_parity_call", TypeGameOver: "receive_game_over",
	}},
	{Name: "handle-message", Request: Place{Method: "handle_message", Message: "message"}},
	{Name: "text", Request: Place{Method: "handle_text", Message: "text", Text: true}, Answer: Place{Text: true}},
	{Name: "plain-tool",
		Request: Place{Method: "tools/call", Name: "name", Message: "arguments"}, Answer: Place{Content: true, Flat: true},
		Omit:    []string{"protocol", "message_type", "sender", "timestamp", "conversation_id"},
		Refusal: RefuseByToolError},
	{Name: "request-answer", Answer: Place{Request: true}, Refusal: RefuseByMessage},
	{Name: "asynchronous", Async: []Type{TypeGameJoinAck, TypeChooseParityResponse}},
	{Name: "union", Edits: []Edit{
		{Types: []Type{TypeChooseParityResponse}, Path: []string{"choice"}, From: "parity_choice"},
		{Types: []Type{TypeGameJoinAck}, Path: []string{"accepted"}, From: "accept"},
		{Types: []Type{TypeGameJoinAck}, Path: []string{"status"}, Value: jsontext.Value(`"ACCEPTED"`), When: IfMissing},
		{Types: []Type{TypeMatchResultAck}, Path: []string{"status"}, Value: jsontext.Value(`"recorded"`)},
		{Types: []Type{TypeGameOver}, Path: []string{"game_result", "drawn_number"}, Value: jsontext.Value(`1`), When: IfNull},
		{Types: []Type{TypeGameOver}, Path: []string{"no", "such", "place"}, Value: jsontext.Value(`1`)},
		{Types: []Type{TypeGameOver}, Path: []string{"game_result", "player_choices"}, From: "choices"},
	}},
}

// TestEveryDialectThereAndBack sends every request in every dialect and
// answers it: the receiver knows the dialect, both sides get what was sent.
func TestEveryDialectThereAndBack(t *testing.T) {
	t.Parallel()
	all := samples(t)
	for _, d := range append(Dialects(), variants...) {
		c := NewCodec(Tolerant, append([]*Dialect{d}, Dialects()...)...)
		for _, s := range all {
			t.Run(d.Name+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				if s.sent == "" {
					thereInDialect(t, c, d, s)
				} else if s.message.Head().MessageType != TypeLeagueError {
					backInDialect(t, c, d, s, all)
				}
			})
		}
	}
}

func thereInDialect(t *testing.T, c *Codec, d *Dialect, s sample) {
	call, err := d.Call(s.message)
	if err != nil {
		t.Fatal(err)
	}
	req, err := openCall(c, call)
	if err != nil {
		t.Fatal(err)
	}
	if req.Dialect != d || req.Type != s.message.Head().MessageType {
		t.Errorf("opened as %s in dialect %s", req.Type, req.Dialect.Name)
	}
	m, err := req.Decode()
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Omit)+len(d.Edits) == 0 {
		sameMessage(t, m, s.message)
	}
}

func backInDialect(t *testing.T, c *Codec, d *Dialect, s sample, all []sample) {
	req := openSample(t, d, s.sent, all)
	reply, err := req.Reply(s.message)
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.ReadAnswer(s.sent, answerOf(reply))
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Omit)+len(d.Edits) == 0 {
		sameMessage(t, m, s.message)
	}
	// The same by way of the whole document, as an HTTP client sees it.
	doc, err := reply.Document(jsontext.Value(`1`), jsontext.Value(`"own"`))
	if err != nil {
		t.Fatal(err)
	}
	a, err := ParseAnswer(200, doc)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := c.ReadAnswer(s.sent, a); err != nil {
		t.Error(err)
	} else {
		sameMessage(t, again, m)
	}
}

// TestWhatVariantsLookLike pins the bytes that odd peers want to see.
func TestWhatVariantsLookLike(t *testing.T) {
	t.Parallel()
	all := samples(t)
	call := func(d *Dialect, name string) string {
		for _, s := range all {
			if s.name == name {
				c, err := d.Call(s.message)
				if err != nil {
					t.Fatal(err)
				}
				return string(c.Document(jsontext.Value(`7`)))
			}
		}
		t.Fatal(name)
		return ""
	}
	back := func(d *Dialect, name string) string {
		for _, s := range all {
			if s.name == name {
				return string(s.wire(t, d, all))
			}
		}
		t.Fatal(name)
		return ""
	}
	dialect := func(name string) *Dialect {
		return variants[slices.IndexFunc(variants, func(d *Dialect) bool { return d.Name == name })]
	}
	for _, tt := range []struct{ what, got, want string }{
		{"the type as method", call(dialect("by-type"), "game_over"), `{"jsonrpc":"2.0","method":"GAME_OVER","params":{"protocol":`},
		{"a name of its own", call(dialect("own-names"), "choose_parity_call"), `"method":"receive_parity_call"`},
		{"the book's name besides", call(dialect("own-names"), "game_error"), `"method":"notify_game_error"`},
		{"the message inside", call(dialect("handle-message"), "game_over"), `"method":"handle_message","params":{"message":{"protocol":`},
		{"the message as text", call(dialect("text"), "start_league"), `"params":{"text":"{\"protocol\":`},
		{"a result that is text", back(dialect("text"), "league_status"), `"result":"{\"protocol\":`},
		{"a tool call without a header", call(dialect("plain-tool"), "game_invitation"), `"params":{"name":"handle_game_invitation","arguments":{"auth_token":`},
		{"a choice in two places", back(dialect("plain-tool"), "choose_parity_response"), `\"parity_choice\":\"odd\"}"}],"isError":false,"auth_token":`},
		{"an answer that is a request", back(dialect("request-answer"), "game_join_ack"), `{"jsonrpc":"2.0","method":"game_join_ack","params":{"protocol":`},
		{"both names of the choice", back(dialect("union"), "choose_parity_response"), `"parity_choice":"odd","choice":"odd"`},
		{"all names of the join", back(dialect("union"), "game_join_ack"), `"accept":true,"accepted":true,"status":"ACCEPTED"`},
		{"the other word for accepted", back(dialect("union"), "match_result_ack"), `"status":"recorded"`},
		{"a placeholder for the number", call(dialect("union"), "game_over_technical_loss"), `"drawn_number":1,`},
		{"no placeholder where there is a number", call(dialect("union"), "game_over"), `"drawn_number":7,`},
		{"a copy further down", call(dialect("union"), "game_over"), `"player_choices":{"P01":"odd","P02":"even"}`},
	} {
		if !strings.Contains(tt.got, tt.want) {
			t.Errorf("%s: %s\nlacks %s", tt.what, tt.got, tt.want)
		}
	}
	if d := dialect("asynchronous"); !d.IsAsync(TypeGameJoinAck) || d.IsAsync(TypeGameOverAck) || Contracts.IsAsync(TypeGameJoinAck) {
		t.Error("which answers are posted is not read from the description")
	}
}

// TestMethodsOf: the names to try when a peer does not know one.
func TestMethodsOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		d    *Dialect
		t    Type
		want []string
	}{
		{Contracts, TypeChooseParityCall, []string{"parity_choose", "choose_parity", "CHOOSE_PARITY_CALL", "choose_parity_call"}},
		{variants[0], TypeGameOver, []string{"GAME_OVER", "notify_match_result", "game_over"}},
		{variants[1], TypeGameOver, []string{"receive_game_over", "notify_match_result", "GAME_OVER", "game_over"}},
		{Tool, TypeGameOver, []string{"notify_match_result", "GAME_OVER", "game_over"}},
	} {
		got := tt.d.MethodsOf(tt.t)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s, %s: %v, want %v", tt.d.Name, tt.t, got, tt.want)
		}
		for _, name := range got {
			h := New(tt.t)
			c, err := tt.d.CallAs(name, h)
			if err != nil {
				t.Fatal(err)
			}
			if tt.d.Request.Method == "" && c.Method != name {
				t.Errorf("called as %s under the method %s", name, c.Method)
			}
		}
	}
	if m := Envelope.MethodOf(TypeGameOver); m != "league.handle" {
		t.Errorf("method %s", m)
	}
	if _, err := Contracts.Call(New(TypeGameOverAck)); err == nil {
		t.Error("an answer is sent as a request")
	}
}

// TestOwnNameShared: a name that a peer uses for everything is no witness.
func TestOwnNameShared(t *testing.T) {
	t.Parallel()
	d := &Dialect{Name: "unknown", Methods: map[Type]string{TypeGameOver: "unknown", TypeGameInvitation: "unknown", TypeLeagueCompleted: "notify_round"}}
	c := NewCodec(Tolerant, d)
	for method, body := range map[string]document{
		"unknown":      sampleBody(t, "game_over"),
		"notify_round": sampleBody(t, "league_completed"), // the peer's own use of another's name
	} {
		if req, err := c.Open(method, body.encode()); err != nil || string(req.Type) != body.text("message_type") {
			t.Errorf("%s: %s, %v", method, req.Type, err)
		}
	}
	if _, err := c.Open("unknown", sampleBody(t, "game_over").without("message_type").encode()); err == nil {
		t.Error("a shared name decides the type")
	}
}

func TestDialectNamed(t *testing.T) {
	t.Parallel()
	for _, d := range Dialects() {
		if got, err := DialectNamed(d.Name); err != nil || got != d {
			t.Errorf("%s: %v, %v", d.Name, got, err)
		}
	}
	if _, err := DialectNamed("esperanto"); err == nil || !strings.Contains(err.Error(), "contracts, envelope") {
		t.Errorf("the error %v does not list what there is", err)
	}
}

// params returns JSON-RPC params put together from named parts.
func params(parts ...any) []byte {
	var doc document
	for i := 0; i < len(parts); i += 2 {
		var raw jsontext.Value
		switch v := parts[i+1].(type) {
		case document:
			raw = v.encode()
		case string:
			raw = jsontext.Value(v)
		}
		doc = append(doc, member{parts[i].(string), raw})
	}
	return doc.encode()
}

// TestEnvelopeRules: what the dialect with the header apart demands.
func TestEnvelopeRules(t *testing.T) {
	t.Parallel()
	body := sampleBody(t, "game_invitation")
	isHeader := func(m member) bool { return slices.Contains(headerNames, m.name) }
	header := slices.DeleteFunc(slices.Clone(body), func(m member) bool { return !isHeader(m) })
	rest := slices.DeleteFunc(slices.Clone(body), isHeader)
	tests := []struct {
		name, method string
		params       []byte
		code         Code
		rpc          int
	}{
		{"as it should be", "league.handle", params("envelope", header, "payload", rest), "", 0},
		{"fields beside the envelope", "league.handle", params("envelope", header, "role_in_match", `"PLAYER_A"`, "opponent_id", `"P02"`), "", 0},
		{"the same value twice", "league.handle", params("envelope", header, "payload", rest.set("round_id", jsontext.Value(`1.0`)), "match_id", `"R1M1"`), "", 0},
		{"everything in the envelope", "league.handle", params("envelope", body), "", 0},
		{"two values", "league.handle", params("envelope", header, "payload", rest.without().set("match_id", jsontext.Value(`"R9M9"`))), CodeContextMismatch, RPCInvalidParams},
		{"two values beside", "league.handle", params("envelope", header, "payload", rest, "opponent_id", `"P03"`), CodeContextMismatch, RPCInvalidParams},
		{"no payload object", "league.handle", params("envelope", header, "payload", `[]`), CodeInvalidFieldType, RPCInvalidParams},
		{"no envelope object", "league.handle", params("envelope", `"x"`, "payload", rest), CodeInvalidFieldType, RPCInvalidParams},
		{"no message type", "league.handle", params("envelope", header.without("message_type"), "payload", rest), CodeMissingField, RPCInvalidParams},
		{"another method", "handle_game_invitation", params("envelope", header, "payload", rest), "", RPCInvalidRequest},
		{"no envelope", "league.handle", params("payload", rest), CodeMissingField, RPCInvalidParams},
		{"flat under its method", "league.handle", body.encode(), CodeMissingField, RPCInvalidParams},
	}
	for _, tt := range tests {
		req, err := NewCodec(Strict).Open(tt.method, tt.params)
		if tt.rpc == 0 {
			if err == nil {
				_, err = req.Decode()
			}
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		e := refusal(t, err)
		if e.Code != tt.code || e.RPCCode() != tt.rpc || req.Dialect != Envelope {
			t.Errorf("%s: %s %d in %s, want %s %d", tt.name, e.Code, e.RPCCode(), req.Dialect.Name, tt.code, tt.rpc)
		}
	}
	req, err := NewCodec(Tolerant).Open("league.handle", body.encode())
	if err != nil || req.Type != TypeGameInvitation {
		t.Errorf("tolerant mode refuses the flat form under league.handle: %v", err)
	}
}

// TestToolRules: what both forms of a tool call demand, with the canonical
// errors.
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
		{"both forms", params("name", `"league_query"`, "arguments", body, "tool", `"league_query"`, "input", body), Tool, CanonicalInvalidToolInput},
		{"half of each", params("name", `"league_query"`, "input", body), Tool, CanonicalInvalidToolInput},
		{"no name", params("arguments", body), Tool, CanonicalInvalidToolInput},
		{"no tool", params("input", body), ToolIO, CanonicalInvalidToolInput},
		{"a name that is none", params("name", `7`, "arguments", body), Tool, CanonicalInvalidToolInput},
		{"arguments that are none", params("name", `"league_query"`, "arguments", `[]`), Tool, CanonicalInvalidToolInput},
		{"input that is none", params("tool", `"league_query"`, "input", `"x"`), ToolIO, CanonicalInvalidToolInput},
		{"nothing", []byte(`{}`), Tool, CanonicalInvalidToolInput},
		{"an unknown tool", params("name", `"no_such_tool"`, "arguments", `{}`), Tool, CanonicalToolNotFound},
		{"an unknown tool of the other form", params("tool", `"no_such_tool"`, "input", `{}`), ToolIO, CanonicalToolNotFound},
	}
	for _, tt := range tests {
		req, err := NewCodec(Strict).Open("tools/call", tt.params)
		if req.Dialect != tt.dialect && tt.name != "nothing" {
			t.Errorf("%s: dialect %s, want %s", tt.name, req.Dialect.Name, tt.dialect.Name)
		}
		if tt.canonical == "" {
			if err == nil {
				_, err = req.Decode()
			}
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		e := refusal(t, err)
		if e.Canonical != tt.canonical {
			t.Errorf("%s: %v", tt.name, e)
		}
		reply := req.Refuse(NewHeader("", manager, clock("09:00:00"), ""), e)
		var data struct {
			Canonical  string      `json:"canonical"`
			Violations []Violation `json:"violations"`
		}
		if reply.Error == nil || json.Unmarshal(reply.Error.Data, &data) != nil || data.Canonical != tt.canonical || len(data.Violations) == 0 {
			t.Errorf("%s: answered with %+v", tt.name, reply)
		}
	}
	_, err := NewCodec(Strict).Open("tools/call", params("name", `"notify_round"`, "arguments", body))
	if e := refusal(t, err); e.RPCCode() != RPCInvalidRequest {
		t.Errorf("a tool that contradicts its message: %v", e)
	}
}

// TestBareIsTolerated: a body without JSON-RPC is for tolerant mode only.
func TestBareIsTolerated(t *testing.T) {
	t.Parallel()
	body := sampleBody(t, "league_register_request")
	if _, err := NewCodec(Strict).OpenBare(body.encode()); refusal(t, err).RPCCode() != RPCInvalidRequest {
		t.Errorf("strict mode: %v", err)
	}
	c := NewCodec(Tolerant, Contracts)
	req, err := c.OpenBare(body.encode())
	if err != nil || req.Dialect != Bare {
		t.Fatalf("%+v, %v", req, err)
	}
	if _, err := c.OpenBare(body.without("message_type").encode()); CodeOf(err) != CodeMissingField {
		t.Errorf("without a type: %v", err)
	}
}

// TestManyMembers: reading is linear in the number of members, so a hostile
// message of a megabyte takes no longer than an honest one.
func TestManyMembers(t *testing.T) {
	t.Parallel()
	var header, rest document
	for i := range 40000 {
		header = append(header, member{"a" + strconv.Itoa(i), jsontext.Value("1")})
		rest = append(rest, member{"b" + strconv.Itoa(i), jsontext.Value("null")})
	}
	header = append(header, member{"message_type", quoted("GAME_OVER")}, member{"match_id", quoted("R1M1")}, member{"sender", jsontext.Value("null")})
	req, err := NewCodec(Tolerant).Open("league.handle", params("envelope", header, "payload", rest))
	if err != nil {
		t.Fatal(err)
	}
	m, err := req.Decode()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := Encode(m)
	if err != nil || comparable(raw) != comparable(req.Raw) {
		t.Errorf("80,000 members do not survive: %v", err)
	}
}
