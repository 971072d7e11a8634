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

// variants are the dialects of real programs and traits of them, but for the one that only
// a registration shows.
var variants = append(slices.DeleteFunc(slices.Clone(known[len(OfProtocol()):]), func(d *Dialect) bool { return d == TypeMethodV2 }),
	Contracts.With(TraitTextResult), Contracts.With(TraitRequests), Contracts.With(TraitAsync))

// TestEveryDialectThereAndBack sends every request in every dialect and
// answers it: the receiver knows the dialect, both sides get what was sent.
func TestEveryDialectThereAndBack(t *testing.T) {
	t.Parallel()
	all := samples(t)
	for _, d := range append(OfProtocol(), variants...) {
		c := NewCodec(protocol.Tolerant)
		for _, s := range all {
			t.Run(d.Name+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				if s.sent == "" {
					thereInDialect(t, c, d, s)
				} else if s.message.Head().MessageType != protocol.TypeLeagueError {
					backInDialect(t, c, d, s)
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
	alike := req.Dialect.Request == d.Request && req.Dialect.nameOf(req.Type) == d.nameOf(req.Type)
	if !alike || req.Type != s.message.Head().MessageType {
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

func backInDialect(t *testing.T, c *Codec, d *Dialect, s sample) {
	req := openSample(t, d, s.sent)
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
	wire := func(d *Dialect, name string) string {
		return string(named(t, name).wire(t, d))
	}
	response := named(t, "league_register_response").message
	for _, tt := range []struct{ what, got, want string }{
		{"the type as method", wire(TypeMethod, "game_over"), `{"jsonrpc":"2.0","method":"GAME_OVER","params":{"protocol":`},
		{"the message inside", wire(HandleMessage, "game_over"), `"method":"handle_message","params":{"message":{"protocol":`},
		{"a result that is text", wire(Contracts.With(TraitTextResult), "league_status"), `"result":"{\"protocol\":`},
		{"a tool call without a header", wire(PlainTool, "game_invitation"), `"params":{"name":"handle_game_invitation","arguments":{"auth_token":`},
		{"a choice in three places", wire(PlainTool, "choose_parity_response"), `"parity_choice":"odd"},"isError":false,"protocol":`},
		{"an answer that is a request", wire(Contracts.With(TraitRequests), "game_join_ack"), `{"jsonrpc":"2.0","method":"game_join_ack","params":{"protocol":`},
		{"the other word for accepted", string(TypeMethodV2.edited(response.Head().MessageType, value(response), false)), `"status":"REGISTERED"`},
	} {
		if !strings.Contains(tt.got, tt.want) {
			t.Errorf("%s: %s\nlacks %s", tt.what, tt.got, tt.want)
		}
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
