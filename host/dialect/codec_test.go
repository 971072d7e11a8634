package dialect

import (
	"slices"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

func TestDispatch(t *testing.T) {
	t.Parallel()
	invitation := sampleBody(t, "game_invitation")
	untyped := invitation.Without("message_type")
	typed := func(name string) rawjson.Object { return invitation.Without().Set("message_type", rawjson.Quote(name)) }
	tests := []struct {
		name, method string
		body         rawjson.Object
		want         protocol.Type
		rpc          int
	}{
		{"by the book", "handle_game_invitation", invitation, protocol.TypeGameInvitation, 0},
		{"the type as method", "GAME_INVITATION", invitation, protocol.TypeGameInvitation, 0},
		{"the type in lower case", "game_invitation", invitation, protocol.TypeGameInvitation, 0},
		{"an unknown method", "receive_game_invitation", invitation, protocol.TypeGameInvitation, 0},
		{"no method to speak of", "unknown", invitation, protocol.TypeGameInvitation, 0},
		{"an alias", "choose_parity", sampleBody(t, "choose_parity_call"), protocol.TypeChooseParityCall, 0},
		{"an asynchronous join", "game_join_ack", sampleBody(t, "game_join_ack"), protocol.TypeGameJoinAck, 0},
		{"a method that contradicts", "notify_round", invitation, "", protocol.RPCInvalidRequest},
		{"an alias that contradicts", "choose_parity", invitation, "", protocol.RPCInvalidRequest},
		{"a type that contradicts", "GAME_OVER", invitation, "", protocol.RPCInvalidRequest},
		{"a known method, an unknown type", "notify_round", typed("NO_SUCH_TYPE"), "", protocol.RPCInvalidRequest},
		{"neither known", "no_such_method", typed("NO_SUCH_TYPE"), "", protocol.RPCMethodNotFound},
		{"no type, unknown method", "no_such_method", untyped, "", protocol.RPCMethodNotFound},
		{"keys match exactly", "no_such_method", append(untyped.Without(), rawjson.Member{Name: "Message_Type", Value: rawjson.Quote("GAME_INVITATION")}), "", protocol.RPCMethodNotFound},
		{"an answer as a request", "game_over_ack", sampleBody(t, "game_over_ack"), protocol.TypeGameOver.Answer(), protocol.RPCMethodNotFound},
	}
	for _, mode := range []protocol.Mode{protocol.Strict, protocol.Tolerant} {
		for _, tt := range tests {
			req, err := opens(NewCodec(mode), tt.method, tt.body.Encode())
			if req == nil || req.Dialect.Request != Contracts.Request {
				t.Fatalf("%v: %s: the request is %+v", mode, tt.name, req)
			}
			if tt.rpc == 0 {
				if err != nil || req.Type != tt.want {
					t.Errorf("%v: %s: type %q, %v", mode, tt.name, req.Type, err)
				}
				continue
			}
			if e := refusal(t, err); e.Form().RPC != tt.rpc {
				t.Errorf("%v: %s: %d (%v), want %d", mode, tt.name, e.Form().RPC, e, tt.rpc)
			}
		}
	}
}

// TestBadJSON: what is no JSON as this protocol takes it, wherever it stands.
func TestBadJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"a":1`, `{"a":1}}`, `{"a":1} x`, `{"a":1,"a":2}`, `{"a":{"b":1,"b":1}}`, `{"a":[{"b":1,"\u0062":2}]}`,
		`{'a':1}`, `{"a":01}`, `{"a":NaN}`, "{\"a\":\"\x01\"}", "{\"a\":\"\xff\"}", `{"a":"\ud800"}`, `{"a":1,}`, "\ufeff{}",
		`{"x":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`,
	} {
		_, err := ParseAnswer(200, []byte(text))
		if e := refusal(t, err); e.Form().RPC != protocol.RPCParseError {
			t.Errorf("%q is refused with %v", text, e)
		}
	}
	for _, text := range []string{`[]`, `1`, `"text"`, `true`} {
		_, err := opens(NewCodec(protocol.Tolerant), "notify_round", []byte(text))
		if e := refusal(t, err); e.Form().RPC != protocol.RPCInvalidRequest {
			t.Errorf("params %s are refused with %v", text, e)
		}
	}
}

// TestEmptyParams: a request may have no params at all where nothing is demanded.
func TestEmptyParams(t *testing.T) {
	t.Parallel()
	for _, params := range []string{"", "null", "{}", " {} "} {
		if m, err := opened(t, protocol.Tolerant, "start_league", params); err != nil || m.Head().MessageType != protocol.TypeStartLeague {
			t.Errorf("params %q: %v, %v", params, m, err)
		}
		if _, err := opened(t, protocol.Strict, "start_league", params); CodeOf(err) != protocol.CodeMissingField {
			t.Errorf("strict, params %q: %v", params, err)
		}
	}
}

// TestHeaderBeforeFields: the sender can be authenticated although the rest of
// the message is wrong.
func TestHeaderBeforeFields(t *testing.T) {
	t.Parallel()
	body := `{"message_type":"MATCH_RESULT_REPORT","sender":"referee:REF01","auth_token":"t","league_id":7,"round_id":"ROUND_2","conversation_id":"c","result":[]}`
	req, err := opens(NewCodec(protocol.Strict), "report_match_result", []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	h := req.Header
	if h.Sender != "referee:REF01" || h.AuthToken != "t" || h.LeagueID != "" || h.RoundID.String() != "ROUND_2" || h.ConversationID != "c" {
		t.Errorf("header %+v", h)
	}
	_, err = req.Decode()
	e := refusal(t, err)
	want := []protocol.Violation{
		{Path: "/game_type", Rule: "required"}, {Path: "/league_id", Rule: "type"}, {Path: "/match_id", Rule: "required"}, {Path: "/protocol", Rule: "required"},
		{Path: "/result", Rule: "type"}, {Path: "/round_id", Rule: "type"}, {Path: "/timestamp", Rule: "required"},
	}
	if e.Code != protocol.CodeMissingField || !slices.Equal(e.Violations, want) {
		t.Errorf("%s %v", e.Code, e.Violations)
	}
	if !strings.Contains(e.Detail, "is missing") || !strings.Contains(e.Detail, "one of 7 things") {
		t.Errorf("the detail %q does not say what to do", e.Detail)
	}
}
