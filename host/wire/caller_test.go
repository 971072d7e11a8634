package wire_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/jsonrpc/jsonrpctest"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// Caller returns a caller to a handler on loopback, and the peer to call.
func Caller(t *testing.T, d *dialect.Dialect, f func(req *jsonrpc.Request) jsonrpc.Response) (*wire.Caller, *wire.Peer) {
	client, url := jsonrpctest.Serve(t, f)
	return &wire.Caller{Client: client, Codec: dialect.NewCodec(protocol.Tolerant)}, wire.NewPeer(url, d)
}

func call() *protocol.ChooseParityCall {
	m := &protocol.ChooseParityCall{Header: protocol.NewHeader(protocol.TypeChooseParityCall, "referee:REF01", "2026-01-01T00:00:00Z", "c")}
	m.MatchID = "R1M1"
	return m
}

const chosen = `{"message_type":"CHOOSE_PARITY_RESPONSE","match_id":"R1M1","player_id":"P01","parity_choice":"odd"}`

func Unknown() jsonrpc.Response {
	return jsonrpc.Response{Error: &jsonrpc.Error{Code: -32601, Message: "Method not found"}}
}

// The names of a method are tried within one call, and what works is kept
// until it does not work any more. When no name is left, other wrappings are tried.
func TestOtherNamesOfAMethod(t *testing.T) {
	t.Parallel()
	known := "choose_parity"
	var heard []string
	c, p := Caller(t, dialect.Contracts, func(req *jsonrpc.Request) jsonrpc.Response {
		heard = append(heard, req.Method)
		if req.Method != known {
			return Unknown()
		}
		return jsonrpc.Response{Result: []byte(chosen)}
	})
	for _, tt := range []struct {
		known string
		want  []string
		fails bool
	}{
		{"choose_parity", []string{"parity_choose", "choose_parity"}, false},
		{"choose_parity", []string{"choose_parity"}, false},
		{"CHOOSE_PARITY_CALL", []string{"choose_parity", "parity_choose", "receive_parity_call", "CHOOSE_PARITY_CALL"}, false},
		{"none", []string{
			"CHOOSE_PARITY_CALL", "parity_choose", "choose_parity", "receive_parity_call", "choose_parity_call", "CHOOSE_PARITY_REQUEST", "choose_parity_request",
			"parity_call", "make_choice", "handle_choose_parity_call", "receive_choose_parity_call",
		}, true},
	} {
		known, heard = tt.known, nil
		_, err := c.Call(t.Context(), p, call())
		names, wrappings := heard[:min(len(heard), len(tt.want))], heard[min(len(heard), len(tt.want)):]
		if (err != nil) != tt.fails || wire.Retryable(err) || !slices.Equal(names, tt.want) || slices.Contains(wrappings, "handle_message") != tt.fails {
			t.Errorf("%s: heard %q: %v, retryable %v", tt.known, heard, err, wire.Retryable(err))
		}
	}
}

func TestIDsAreWhatThePeerTakes(t *testing.T) {
	t.Parallel()
	var ids []string
	numeric := &dialect.Dialect{Name: "numeric", NumericIDs: true}
	for _, d := range []*dialect.Dialect{numeric, dialect.Contracts} {
		c, p := Caller(t, d, func(req *jsonrpc.Request) jsonrpc.Response {
			ids = append(ids, string(req.ID))
			return jsonrpc.Response{Result: []byte(chosen)}
		})
		for range 2 {
			if _, err := c.Call(t.Context(), p, call()); err != nil {
				t.Error(err)
			}
		}
		conversation := wire.Conversation{Caller: c, Peer: p, Wrappings: []*dialect.Dialect{d}}
		if _, err := conversation.Send(t.Context(), call(), `mine"`, nil); err != nil {
			t.Error(err)
		}
	}
	if len(ids) != 6 || ids[0] != "1" || ids[1] != "2" || ids[2] != "1670414334" || len(ids[3]) != 38 || ids[3] == ids[4] || ids[5] != `"mine\""` {
		t.Errorf("ids %v", ids)
	}
}

func TestOutcomesOfACall(t *testing.T) {
	t.Parallel()
	result := func(s string) jsonrpc.Response { return jsonrpc.Response{Result: []byte(s)} }
	refused := func(code int, data string) jsonrpc.Response {
		return jsonrpc.Response{Error: &jsonrpc.Error{Code: code, Message: "m", Data: []byte(data)}}
	}
	status := func(s int) jsonrpc.Response { return jsonrpc.Response{Status: s, Body: []byte("x")} }
	for _, tt := range []struct {
		name   string
		answer jsonrpc.Response
		code   protocol.Code
		again  bool
		no     bool // definitely refused
	}{
		{"a choice", result(chosen), "", false, false},
		{"-1", refused(-1, `{"error_code":"E007","retryable":false}`), "E001", true, false},
		{"E002", refused(2, `{"error_code":"E002"}`), "E002", true, false},
		{"E002, for good", refused(2, `{"error_code":"E002","retryable":false}`), "E002", false, true},
		{"E007", refused(7, `{"error_code":"E007"}`), "E007", false, true},
		{"E048", refused(48, `{"error_code":"E048"}`), "E048", true, false},
		{"E049", refused(-32603, `{"error_code":"E049"}`), "E049", false, false},
		{"E012 as a result", result(`{"message_type":"LEAGUE_ERROR","error_code":"E012"}`), "E012", false, true},
		{"-32601", Unknown(), "E047", false, true},
		{"429", status(429), "E048", true, false},
		{"502", status(502), "E009", true, false},
		{"503", status(503), "E048", true, false},
		{"504", status(504), "E001", true, false},
		{"500", status(500), "", false, false},
		{"404", status(404), "", false, false},
		{"a redirect", status(307), "", false, false},
		{"garbage", jsonrpc.Response{Body: []byte("x")}, "E002", true, false},
		{"both", result(strings.Replace(chosen, "odd", "both", 1)), "E004", false, false},
		{"a choice left out", result(`{"message_type":"CHOOSE_PARITY_RESPONSE","match_id":"R1M1"}`), "E002", true, false},
		{"a receipt", result(`{"status":"ACKNOWLEDGED"}`), "E002", true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, p := Caller(t, dialect.Contracts, func(*jsonrpc.Request) jsonrpc.Response { return tt.answer })
			_, err := c.Call(t.Context(), p, call())
			if wire.CodeOf(err) != tt.code || wire.Retryable(err) != tt.again || wire.Refused(err) != tt.no {
				t.Errorf("%v: code %q, retryable %v, refused %v", err, wire.CodeOf(err), wire.Retryable(err), wire.Refused(err))
			}
			if errors.Is(err, wire.ErrReceived) != (tt.name == "a receipt") {
				t.Errorf("%v", err)
			}
		})
	}
	c, _ := Caller(t, dialect.Contracts, func(*jsonrpc.Request) jsonrpc.Response { return jsonrpc.Response{Status: 202, Body: []byte{}} })
	nowhere := wire.NewPeer("http://nowhere/mcp", dialect.Contracts)
	if _, err := c.Call(t.Context(), nowhere, call()); wire.CodeOf(err) != "E009" || !wire.Retryable(err) {
		t.Errorf("nobody listens: %v", err)
	}
}

func notice() *protocol.LeagueStandingsUpdate {
	m := &protocol.LeagueStandingsUpdate{Header: protocol.NewHeader(protocol.TypeLeagueStandingsUpdate, "league_manager", "2026-01-01T00:00:00Z", "c")}
	m.RoundID = protocol.RoundNumber(1)
	return m
}

// TestToolsAreAskedFor: a peer that speaks tools is asked once which it has, in
// whatever words it says that it does not know one.
func TestToolsAreAskedFor(t *testing.T) {
	t.Parallel()
	var heard []string
	c, p := Caller(t, dialect.Tool, func(req *jsonrpc.Request) jsonrpc.Response {
		heard = append(heard, req.Method)
		switch {
		case req.Method == "tools/list":
			return jsonrpc.Response{Result: []byte(`{"tools":[{"name":"hello"},{"name":"make_parity_choice","inputSchema":{"properties":{"match":{"type":"string"}},"required":["match"]}}]}`)}
		case strings.Contains(string(req.Params), `{"name":"make_parity_choice","arguments":{"match":"R1M1"}}`):
			return jsonrpc.Response{Result: []byte(chosen)}
		}
		return jsonrpc.Response{Error: &jsonrpc.Error{Code: -32603, Message: "Unknown tool: parity_choose"}}
	})
	for range 2 {
		if _, err := c.Call(t.Context(), p, call()); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"tools/call", "tools/list", "tools/call", "tools/call"}; !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
}

// TestUnknownNamesInAnyWords: other names are tried at once, and a notification
// that is known by none is not sent again.
func TestUnknownNamesInAnyWords(t *testing.T) {
	t.Parallel()
	for _, refusal := range []jsonrpc.Response{
		Unknown(),
		{Status: 404, Body: []byte("not found")},
		{Status: 404, Body: []byte(`{"detail":"Not Found"}`)},
		{Body: []byte(`{"error":"Unknown message type"}`)},
		{Result: []byte(`{"status":"error","message":"Unsupported method"}`)},
		{Error: &jsonrpc.Error{Code: -32000, Message: "no handler for this message"}},
		{Result: []byte(`{"isError":true,"content":[{"type":"text","text":"no such tool"}]}`)},
	} {
		calls := 0
		c, p := Caller(t, dialect.Contracts, func(*jsonrpc.Request) jsonrpc.Response {
			calls++
			return refusal
		})
		_, err := c.Call(t.Context(), p, notice())
		first := calls
		if !wire.UnknownMethod(err) || wire.Retryable(err) || first < 5 || first > 20 {
			t.Errorf("%v after %d calls", err, calls)
		}
		if _, err = c.Call(t.Context(), p, notice()); !wire.UnknownMethod(err) || calls != first {
			t.Errorf("%v after %d more calls", err, calls-first)
		}
	}
}

// A message goes without the members that the peer forbids and with what it misses by a name of
// its own, however it says so, and does so from the first time on.
func TestMembersAreLeftOutAndAdded(t *testing.T) {
	t.Parallel()
	failed := func(code int, message string) jsonrpc.Response {
		return jsonrpc.Response{Error: &jsonrpc.Error{Code: code, Message: message}}
	}
	finding := func(kind, member, message string) string {
		return fmt.Sprintf(`{"type":%q,"loc":["body","params",%q],"msg":%q}`, kind, member, message)
	}
	detail := func(findings ...string) jsonrpc.Response {
		return jsonrpc.Response{Status: 422, Body: []byte(`{"detail":[` + strings.Join(findings, ",") + `]}`)}
	}
	for _, tt := range []struct {
		name   string
		most   int // requests until it is understood
		refuse func(forbidden []string) jsonrpc.Response
	}{
		{"pydantic", 4, func(members []string) jsonrpc.Response {
			var findings []string
			for _, m := range members {
				findings = append(findings, finding("extra_forbidden", m, "Extra inputs are not permitted"))
			}
			return detail(findings...)
		}},
		{"keyword arguments", 4, func(members []string) jsonrpc.Response {
			return failed(-32602, "choose() got an unexpected keyword argument '"+members[0]+"'")
		}},
		{"JSON Schema", 4, func(members []string) jsonrpc.Response {
			return failed(-32602, "Additional properties are not allowed ('"+strings.Join(members, "', '")+"' were unexpected)")
		}},
		{"missed by a function", 2, func([]string) jsonrpc.Response {
			return failed(-32603, "choose() missing 1 required positional argument: 'match'")
		}},
		{"missed by a dictionary", 2, func([]string) jsonrpc.Response { return failed(-32603, "'match'") }},
		{"missed by pydantic", 2, func([]string) jsonrpc.Response { return detail(finding("missing", "match", "Field required")) }},
		{"missed by pydantic, text", 2, func([]string) jsonrpc.Response {
			return failed(-32602, "1 validation error for Call\nmatch\n  Field required [type=missing]")
		}},
		{"missed by JSON Schema", 2, func([]string) jsonrpc.Response { return failed(-32602, "'match' is a required property") }},
		{"missed in a list", 2, func([]string) jsonrpc.Response { return failed(-32602, "Missing required fields: match") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			heard := 0
			c, p := Caller(t, dialect.Contracts, func(req *jsonrpc.Request) jsonrpc.Response {
				heard++
				forbidden := slices.DeleteFunc([]string{"sender", "timestamp", "conversation_id"}, func(m string) bool {
					return tt.most == 2 || !strings.Contains(string(req.Params), `"`+m+`"`)
				})
				if len(forbidden) > 0 || tt.most == 2 && !strings.Contains(string(req.Params), `"match":"R1M1"`) {
					return tt.refuse(forbidden)
				}
				return jsonrpc.Response{Result: []byte(chosen)}
			})
			for _, most := range []int{tt.most, 1} {
				heard = 0
				if _, err := c.Call(t.Context(), p, call()); err != nil || heard > most {
					t.Errorf("%v after %d requests, want at most %d", err, heard, most)
				}
			}
		})
	}
}

// TestAPlayerMayServeAnotherWrappingThanItRegistersIn: the invitation finds the
// wrapping, and what follows uses it at once.
func TestAPlayerMayServeAnotherWrappingThanItRegistersIn(t *testing.T) {
	t.Parallel()
	requests := 0
	c, p := Caller(t, dialect.Contracts.With(dialect.TraitNumericIDs), func(req *jsonrpc.Request) jsonrpc.Response {
		switch requests++; {
		case req.Method != "handle_message":
			return Unknown()
		case strings.Contains(string(req.Params), `"CHOOSE_PARITY_CALL"`):
			return jsonrpc.Response{Result: []byte(chosen)}
		}
		return jsonrpc.Response{Result: []byte(`{"message_type":"GAME_JOIN_ACK","accept":true}`)}
	})
	invitation := &protocol.GameInvitation{Header: call().Header, OpponentID: "P02"}
	invitation.MessageType = protocol.TypeGameInvitation
	if _, err := c.Call(t.Context(), p, invitation); err != nil {
		t.Fatal(err)
	}
	before := requests
	answer, err := c.Call(t.Context(), p, call())
	if err != nil || answer.(*protocol.ChooseParityResponse).Chosen() != protocol.Odd || requests != before+1 {
		t.Errorf("%+v, %v after %d requests", answer, err, requests-before)
	}
}
