package dialect

import (
	"errors"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// TestAnswersAnywhereInTheResponse: every place in which programs put an answer.
func TestAnswersAnywhereInTheResponse(t *testing.T) {
	t.Parallel()
	const choice = `{"protocol":"league.v2","message_type":"CHOOSE_PARITY_RESPONSE","timestamp":"2026-03-14T09:10:14Z","match_id":"R1M1","player_id":"P01","parity_choice":"odd"}`
	const short = `{"parity_choice":"odd"}`
	quote := func(s string) string { return string(rawjson.Quote(s)) }
	for what, body := range map[string]string{
		"by the book":                      `{"jsonrpc":"2.0","result":` + choice + `,"id":1}`,
		"a null error beside it":           `{"jsonrpc":"2.0","result":` + choice + `,"error":null,"id":1}`,
		"a text of JSON":                   `{"jsonrpc":"2.0","result":` + quote(choice) + `,"id":1}`,
		"envelope and payload":             `{"jsonrpc":"2.0","result":{"envelope":{"message_type":"CHOOSE_PARITY_RESPONSE"},"payload":` + short + `},"id":1}`,
		"structured content":               `{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"chosen"}],"structuredContent":` + choice + `},"id":1}`,
		"text content":                     `{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":` + quote(short) + `}]},"id":1}`,
		"text content after an image":      `{"jsonrpc":"2.0","result":{"content":[{"type":"image"},{"type":"text","text":` + quote(short) + `}]},"id":1}`,
		"content and the top level":        `{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"chosen"}],"parity_choice":"odd"},"id":1}`,
		"tool output":                      `{"jsonrpc":"2.0","result":{"tool":"parity_choose","output":` + short + `},"id":1}`,
		"inside a message":                 `{"jsonrpc":"2.0","result":{"message":` + choice + `},"id":1}`,
		"inside another result":            `{"jsonrpc":"2.0","result":{"result":` + short + `},"id":1}`,
		"an answer that is a request":      `{"jsonrpc":"2.0","method":"choose_parity_response","params":` + choice + `,"id":"theirs"}`,
		"a wrapped request":                `{"jsonrpc":"2.0","method":"handle_message","params":{"message":` + choice + `},"id":"theirs"}`,
		"without JSON-RPC":                 choice,
		"without JSON-RPC and header":      short,
		"under the other name":             `{"jsonrpc":"2.0","result":{"choice":"odd"},"id":1}`,
		"of a type nobody knows":           `{"jsonrpc":"2.0","result":{"message_type":"PARITY_CHOICE","choice":"odd"},"id":1}`,
		"with a status that is no error":   `{"jsonrpc":"2.0","result":{"status":"ok","parity_choice":"odd"},"id":1}`,
		"with null for what it leaves out": `{"jsonrpc":"2.0","result":{"parity_choice":"odd","error_code":null,"match_id":null},"id":1}`,
	} {
		a, err := ParseAnswer(200, []byte(body))
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		m, err := NewCodec(protocol.Tolerant).ReadAnswer(protocol.TypeChooseParityCall, a)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if c := m.(*protocol.ChooseParityResponse).Chosen(); c != protocol.Odd {
			t.Errorf("%s: chosen %q", what, c)
		}
	}
}

// TestAnswersThatAreNone: what cannot be read as the answer says so.
func TestAnswersThatAreNone(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		result string
		mode   protocol.Mode
		code   protocol.Code
	}{
		{`7`, protocol.Tolerant, protocol.CodeMissingField},
		{`[]`, protocol.Tolerant, protocol.CodeMissingField},
		{`"chosen"`, protocol.Tolerant, protocol.CodeMissingField},
		{`"\""`, protocol.Tolerant, protocol.CodeMissingField},
		{`{}`, protocol.Tolerant, protocol.CodeMissingField},
		{`{"status":"ok"}`, protocol.Tolerant, protocol.CodeMissingField},
		{`{"parity_choice":"maybe"}`, protocol.Tolerant, protocol.CodeInvalidParityChoice},
		{`{"parity_choice":"EVEN"}`, protocol.Strict, protocol.CodeMissingField},
		{`{"message_type":"GAME_JOIN_ACK","accept":true}`, protocol.Tolerant, protocol.CodeContextMismatch},
		{`{"mine":"even","theirs":"odd"}`, protocol.Tolerant, protocol.CodeMissingField},
		{`{"message_type":"PARITY_CHOICE","parity_choice":"even"}`, protocol.Strict, protocol.CodeContextMismatch},
		{`{"parity_choice":"even"}`, protocol.Strict, protocol.CodeMissingField},
	} {
		_, err := NewCodec(tt.mode).ReadAnswer(protocol.TypeChooseParityCall, Answer{Raw: jsontext.Value(tt.result)})
		if e := refusal(t, err); e.Code != tt.code {
			t.Errorf("%v: %s: %v, want %s", tt.mode, tt.result, err, tt.code)
		}
	}
	if _, err := NewCodec(protocol.Tolerant).ReadAnswer(protocol.TypeGameOver, Answer{}); CodeOf(err) != protocol.CodeMissingField {
		t.Errorf("an empty answer: %v", err)
	}
}

// TestAcknowledgements: any document that refuses nothing confirms a notification, but
// not with an HTTP status of failure.
func TestAcknowledgements(t *testing.T) {
	t.Parallel()
	for sent, results := range map[protocol.Type][]string{
		protocol.TypeMatchResultReport: {`{"message_type":"MATCH_RESULT_REPORT_ACK","status":"ok"}`, `{"status":"recorded"}`, `{}`},
		protocol.TypeLeagueStandingsUpdate: {
			`{"message_type":"LEAGUE_STANDINGS_UPDATE_ACK"}`, `{"status":"RECEIVED"}`, `{"ok":true}`, `{"ok":1}`, `[]`, `"fine"`, `7`,
			`{"status":"acknowledged","message_type":"LEAGUE_STANDINGS_UPDATE"}`, `{"message_type":"GAME_OVER","player_id":7}`,
		},
	} {
		for _, result := range results {
			a := Answer{Status: 200, Raw: jsontext.Value(result)}
			m, err := NewCodec(protocol.Tolerant).ReadAnswer(sent, a)
			if err != nil || reflect.TypeOf(m) != reflect.TypeOf(protocol.New(sent.Answer())) {
				t.Errorf("%s answered with %s: %v, %v", sent, result, m, err)
			}
			a.Status = 500
			if _, err := NewCodec(protocol.Tolerant).ReadAnswer(sent, a); err == nil && result[0] != '{' {
				t.Errorf("%s with status 500 is an acknowledgement", result)
			}
		}
	}
}

// TestRefusalsOfPeers: the ways in which programs say no.
func TestRefusalsOfPeers(t *testing.T) {
	t.Parallel()
	ours := func(e *protocol.Error) string {
		m, err := e.Message(protocol.NewHeader("", manager, clock("09:00:00"), "c"))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := protocol.Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	late := ours(protocol.Refuse(protocol.CodeDuplicateReport, protocol.TypeMatchResultReport, "Reported before."))
	final := strings.Replace(ours(protocol.Refuse(protocol.CodeTimeout, protocol.TypeGameError, "Too late.")), `"retryable":true`, `"retryable":false`, 1)
	for _, tt := range []struct {
		what   string
		status int
		body   string
		code   protocol.Code
		again  bool
	}{
		{"ours", 200, `{"jsonrpc":"2.0","error":{"code":5003,"message":"Duplicate report","data":` + late + `},"id":1}`, protocol.CodeDuplicateReport, false},
		{"ours in an envelope", 200, `{"jsonrpc":"2.0","error":{"code":12,"message":"x","data":{"envelope":{"message_type":"LEAGUE_ERROR"},"payload":{"error_code":"E012"}}},"id":1}`, protocol.CodeTokenInvalid, false},
		{"a result", 200, `{"jsonrpc":"2.0","result":{"message_type":"LEAGUE_ERROR","error_code":"E012","error_description":"AUTH_TOKEN_INVALID"},"id":1}`, protocol.CodeTokenInvalid, false},
		{"a tool result", 200, `{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":` + string(rawjson.Quote(late)) + `}],"isError":true},"id":1}`, protocol.CodeDuplicateReport, false},
		{"bare", 200, late, protocol.CodeDuplicateReport, false},
		{"a number alone", 200, `{"jsonrpc":"2.0","error":{"code":4001,"message":"Invalid auth token"},"id":1}`, protocol.CodeTokenInvalid, false},
		{"a number as text", 200, `{"jsonrpc":"2.0","error":{"code":"E005","message":"?"},"id":1}`, "", false},
		{"a timeout told by the side that answers", 200, `{"jsonrpc":"2.0","error":{"code":-1,"message":"Timeout","data":{"retry_count":1}},"id":1}`, protocol.CodeTimeout, true},
		{"a busy manager", 503, `{"jsonrpc":"2.0","error":{"code":48,"message":"RATE_LIMITED"},"id":null}`, protocol.CodeRateLimited, true},
		{"HTTP 401", 401, `{"jsonrpc":"2.0","error":{"code":-32001,"message":"no"},"id":1}`, protocol.CodeTokenInvalid, false},
		{"HTTP 500", 500, `{"jsonrpc":"2.0","error":{"code":-32603,"message":"no"},"id":1}`, protocol.CodeInternalError, false},
		{"HTTP 502 and nonsense", 502, `[]`, "", true},
		{"a type of its own", 200, `{"jsonrpc":"2.0","result":{"message_type":"ERROR","error_code":"AUTH_FAILED"},"id":1}`, protocol.CodeTokenInvalid, false},
		{"a plain status", 200, `{"jsonrpc":"2.0","result":{"status":"error","message":"go away"},"id":1}`, "", false},
		{"a plain status that may change", 200, `{"status":"error","retryable":true}`, "", true},
		{"an error that is text", 200, `{"jsonrpc":"2.0","error":"go away","id":1}`, "", false},
		{"an error by its name", 200, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"LEAGUE_FULL"},"id":1}`, protocol.CodeLeagueFull, false},
		{"an older number", 200, `{"jsonrpc":"2.0","error":{"code":-32602,"message":"x","data":{"error_code":"E001","error_description":"INVALID_PROTOCOL_VERSION"}},"id":1}`, protocol.CodeVersionMismatch, false},
		{"a validator that quotes the request", 422, `{"detail":"bad field","input":{"message_type":"MATCH_RESULT_REPORT","match_id":"R1M1"}}`, "", false},
		{"the last of a series", 200, final, protocol.CodeTimeout, false},
		{"a canonical error", 404, `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Unknown tool","data":{"canonical":"TOOL_NOT_FOUND","violations":[]}},"id":1}`, protocol.CodeUnknownMessageType, false},
	} {
		a, err := ParseAnswer(tt.status, []byte(tt.body))
		if err != nil {
			a = Answer{Status: tt.status}
		}
		_, err = NewCodec(protocol.Strict).ReadAnswer(protocol.TypeMatchResultReport, a)
		var r *Refusal
		if !errors.As(err, &r) {
			t.Errorf("%s: read as %v", tt.what, err)
			continue
		}
		if r.Code != tt.code || r.Retryable != tt.again {
			t.Errorf("%s: %q, again %v (%v), want %q, %v", tt.what, r.Code, r.Retryable, r, tt.code, tt.again)
		}
		if r.Message == "" && tt.what != "a plain status that may change" {
			t.Errorf("%s: says nothing", tt.what)
		}
	}
	for status, again := range map[int]bool{429: true, 502: true, 503: true, 504: true, 400: false, 404: false, 500: false} {
		_, err := NewCodec(protocol.Strict).ReadAnswer(protocol.TypeGameOver, Answer{Status: status})
		var r *Refusal
		if !errors.As(err, &r) || r.Retryable != again || !strings.Contains(r.Error(), strconv.Itoa(status)) {
			t.Errorf("HTTP %d alone: %v", status, err)
		}
	}
}

// TestRefuseInKind: a refusal is told as the dialect tells it, and its reader
// finds the same code in it.
func TestRefuseInKind(t *testing.T) {
	t.Parallel()
	e := protocol.Refuse(protocol.CodeTokenInvalid, "", "The token belongs to another agent.")
	h := protocol.NewHeader("", manager, clock("09:00:00"), "c")
	for _, d := range append(OfProtocol(), variants...) {
		req := openSample(t, d, protocol.TypeMatchResultReport)
		reply := req.Refuse(h, e)
		_, err := NewCodec(protocol.Tolerant).ReadAnswer(protocol.TypeMatchResultReport, answerOf(reply))
		var r *Refusal
		if !errors.As(err, &r) || r.Code != protocol.CodeTokenInvalid || reply.Status != 200 {
			t.Errorf("%s: HTTP %d, %v", d.Name, reply.Status, err)
		}
		if reply.Error != nil && (reply.Error.Code != 5001 || reply.Error.Message != "Invalid auth token") {
			t.Errorf("%s: %+v", d.Name, reply.Error)
		}
		if (d.Request != Tool.Request && !d.Request.Bare && !d.Answer.Request) != (reply.Error != nil) {
			t.Errorf("%s: refused in another style: %+v", d.Name, reply)
		}
		if e.Original != "" {
			t.Fatal("Refuse changes the error it is given")
		}
	}
}

// TestRefuseNeverFails: a context that cannot be written is left out.
func TestRefuseNeverFails(t *testing.T) {
	t.Parallel()
	req := openSample(t, Contracts, protocol.TypeGameOver)
	reply := req.Refuse(protocol.NewHeader("", manager, "", ""), protocol.Refuse(protocol.CodeInternalError, "", "x").With("why", func() {}))
	if reply.Error == nil || reply.Error.Code != -32603 || reply.Error.Data != nil {
		t.Errorf("%+v", reply)
	}
}

// TestBareRejection: a registration without JSON-RPC is always refused
// with status REJECTED, and nothing else than a registration is.
func TestBareRejection(t *testing.T) {
	t.Parallel()
	h := header("", manager, "09:00:00", "c")
	h.AuthToken = "never sent"
	for _, typ := range []protocol.Type{protocol.TypeLeagueRegisterRequest, protocol.TypeRefereeRegisterRequest} {
		reply := openSample(t, Bare, typ).Refuse(h, protocol.Refuse(protocol.CodeLeagueFull, "", "No seat is left."))
		m, err := NewCodec(protocol.Strict).ReadAnswer(typ, answerOf(reply))
		if err != nil {
			t.Fatal(err)
		}
		doc := parsed(t, reply.Body)
		if doc.Text("status") != protocol.StatusRejected || doc.Text("reason") != "No seat is left." || doc.Get("league_id") != nil || doc.Get("auth_token") != nil {
			t.Errorf("%s is answered with %s", typ, reply.Body)
		}
		if r, ok := m.(*protocol.RegisterResponse); ok && protocol.Means(protocol.Enrolling, r.Status) {
			t.Error("a rejection reads as an acceptance")
		}
	}
	if m := Rejected(protocol.TypeGameOver, h, "no"); m != nil {
		t.Errorf("a GAME_OVER is rejected with %v", m)
	}
}

// TestRefusalText: what a peer's refusal says in a log, and which code it carries.
func TestRefusalText(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"protocol: the peer refuses: E005 PLAYER_NOT_REGISTERED (JSON-RPC 3002): Who are you?": &Refusal{Code: protocol.CodePlayerNotRegistered, RPC: 3002, Message: "Who are you?"},
		"protocol: the peer refuses: HTTP status 502":                                          Answer{Status: 502}.refusal(nil),
	} {
		if err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}

// TestDialectsOnThePage holds the table of wrappings on the reference page to
// the dialects of the protocol itself.
func TestDialectsOnThePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/protocol/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n| dialect |")
	table, _, _ = strings.Cut(table, "\n\n")
	var got, want []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(table, -1) {
		got = append(got, row[1])
	}
	for _, d := range OfProtocol() {
		want = append(want, d.Name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the page has the dialects %q, want %q", got, want)
	}
}
