package dialect

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// answerOf reads a reply as the side that waits for it would.
func answerOf(r jsonrpc.Response) Answer {
	a, err := ParseAnswer(r.Status, r.Encode(&jsonrpc.Request{ID: jsontext.Value(`1`)}))
	if err != nil {
		panic(err)
	}
	return a
}

// variants are descriptions of programs that wrap in ways of their own. They
// show that a dialect is data: none of them needs a line of code.
var variants = []*Dialect{
	{Name: "by-type", Naming: ByType, NumericIDs: true},
	{Name: "handle-message", Request: Place{Method: "handle_message", Message: "message"}},
	{Name: "text", Request: Place{Method: "handle_text", Message: "text", Text: true}, Answer: Place{Text: true}},
	{Name: "plain-tool",
		Request: Place{Method: "tools/call", Name: "name", Message: "arguments"}, Answer: Place{Content: true, Flat: true},
		Omit:    []string{"protocol", "message_type", "sender", "timestamp", "conversation_id"},
		Refusal: RefuseByToolError},
	{Name: "request-answer", Answer: Place{Request: true}, Refusal: RefuseByMessage},
	{Name: "asynchronous", Async: []protocol.Type{protocol.TypeGameJoinAck, protocol.TypeChooseParityResponse}},
	{Name: "other-words", Edits: []Edit{
		{Types: []protocol.Type{protocol.TypeMatchResultReport.Answer()}, Member: "status", Was: jsontext.Value(`"ACCEPTED"`), Value: jsontext.Value(`"recorded"`)},
		{Types: []protocol.Type{protocol.TypeGameJoinAck}, Member: "status", Was: jsontext.Value(`"ACK"`), Value: jsontext.Value(`"READY"`)},
	}},
}

// TestEveryDialectThereAndBack sends every request in every dialect and
// answers it: the receiver knows the dialect, both sides get what was sent.
func TestEveryDialectThereAndBack(t *testing.T) {
	t.Parallel()
	all := samples(t)
	for _, d := range append(OfProtocol(), variants...) {
		c := NewCodec(protocol.Tolerant, append([]*Dialect{d}, OfProtocol()...)...)
		for _, s := range all {
			t.Run(d.Name+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				if s.sent == "" {
					thereInDialect(t, c, d, s)
				} else if s.message.Head().MessageType != protocol.TypeLeagueError {
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
}

// TestWhatVariantsLookLike pins the bytes that odd peers want to see.
func TestWhatVariantsLookLike(t *testing.T) {
	t.Parallel()
	all := samples(t)
	wire := func(d *Dialect, name string) string {
		return string(all[slices.IndexFunc(all, func(s sample) bool { return s.name == name })].wire(t, d, all))
	}
	dialect := func(name string) *Dialect {
		return variants[slices.IndexFunc(variants, func(d *Dialect) bool { return d.Name == name })]
	}
	for _, tt := range []struct{ what, got, want string }{
		{"the type as method", wire(dialect("by-type"), "game_over"), `{"jsonrpc":"2.0","method":"GAME_OVER","params":{"protocol":`},
		{"the message inside", wire(dialect("handle-message"), "game_over"), `"method":"handle_message","params":{"message":{"protocol":`},
		{"the message as text", wire(dialect("text"), "start_league"), `"params":{"text":"{\"protocol\":`},
		{"a result that is text", wire(dialect("text"), "league_status"), `"result":"{\"protocol\":`},
		{"a tool call without a header", wire(dialect("plain-tool"), "game_invitation"), `"params":{"name":"handle_game_invitation","arguments":{"auth_token":`},
		{"a choice in two places", wire(dialect("plain-tool"), "choose_parity_response"), `\"parity_choice\":\"odd\"}"}],"isError":false,"protocol":`},
		{"an answer that is a request", wire(dialect("request-answer"), "game_join_ack"), `{"jsonrpc":"2.0","method":"game_join_ack","params":{"protocol":`},
		{"the other word for accepted", wire(dialect("other-words"), "match_result_ack"), `"status":"recorded"`},
	} {
		if !strings.Contains(tt.got, tt.want) {
			t.Errorf("%s: %s\nlacks %s", tt.what, tt.got, tt.want)
		}
	}
	if d := dialect("asynchronous"); !d.IsAsync(protocol.TypeGameJoinAck) || d.IsAsync(protocol.TypeGameOver.Answer()) || Contracts.IsAsync(protocol.TypeGameJoinAck) {
		t.Error("which answers are posted is not read from the description")
	}
}

// TestMethodsOf: the names to try when a peer does not know one.
func TestMethodsOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		d    *Dialect
		t    protocol.Type
		want []string
	}{
		{Contracts, protocol.TypeChooseParityCall, []string{"parity_choose", "choose_parity", "receive_parity_call", "CHOOSE_PARITY_CALL", "choose_parity_call"}},
		{variants[0], protocol.TypeGameOver, []string{"GAME_OVER", "notify_match_result", "receive_game_over", "game_over"}},
		{Tool, protocol.TypeGameOver, []string{"notify_match_result", "receive_game_over", "GAME_OVER", "game_over"}},
	} {
		got := tt.d.MethodsOf(tt.t)
		if !slices.Equal(got[:min(len(got), len(tt.want))], tt.want) || !slices.Contains(got, "receive_"+strings.ToLower(string(tt.t))) {
			t.Errorf("%s, %s: %v, want %v first", tt.d.Name, tt.t, got, tt.want)
		}
	}
	if _, err := Contracts.Call(protocol.New(protocol.TypeGameOver.Answer())); err == nil {
		t.Error("an answer is sent as a request")
	}
}
