package trace_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

var update = flag.Bool("update", false, "write the golden files")

// conversation pairs the requests among the documented examples with their
// answers.
var conversation = [][2]string{
	{"referee_register_request", "referee_register_response"},
	{"league_register_request", "league_register_response"},
	{"league_register_request", "league_register_response_rejected"},
	{"start_league", "league_status"},
	{"round_announcement", "round_announcement_ack"},
	{"game_invitation", "game_join_ack"},
	{"game_join_ack_posted", "game_join_ack_ack"},
	{"choose_parity_call", "choose_parity_response"},
	{"game_error", "game_error_ack"},
	{"game_over", "game_over_ack"},
	{"game_over_draw", "game_over_ack"},
	{"game_over_technical_loss", "game_over_ack"},
	{"match_result_report", "match_result_ack"},
	{"match_result_report_draw", "match_result_ack"},
	{"league_standings_update", "standings_update_ack"},
	{"round_completed", "round_completed_ack"},
	{"league_completed", "league_completed_ack"},
	{"league_query", "league_query_response"},
}

// Every message of the protocol is shown with what is worth knowing of it, in
// every dialect of the documented examples.
func TestShowEveryMessage(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, dialect := range []string{"contracts", "envelope", "tool", "bare"} {
		var exchanges []*trace.Exchange
		for _, pair := range conversation {
			request, err := os.ReadFile(filepath.Join("../../docs/protocol/examples", dialect, pair[0]+".json"))
			if os.IsNotExist(err) && dialect != "contracts" {
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			x := trace.ReadRequest(request)
			x.Agent, x.Sent, x.Peer, x.At = "REF01", true, "10.0.0.9", time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)
			if answer, err := os.ReadFile(filepath.Join("../../docs/protocol/examples", dialect, pair[1]+".json")); err == nil {
				x = x.WithAnswer(200, answer)
			}
			exchanges = append(exchanges, x)
		}
		if len(exchanges) < 10 {
			t.Errorf("the documentation has only %d requests in dialect %s", len(exchanges), dialect)
		}
		if err := trace.Show(&got, exchanges, trace.Format{}); err != nil {
			t.Fatal(err)
		}
	}
	golden := filepath.Join("testdata", "conversation.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("the conversation is shown differently; run go test -update if that is right (-want +got):\n%s", diff)
	}
}

// How an exchange ended is said for every way in which it can end. A copy with another answer
// leaves the original and forgets its failure.
func TestOutcome(t *testing.T) {
	t.Parallel()
	x := trace.ReadRequest([]byte(invitation))
	x.Failure, x.Latency = "timed out", time.Second
	for _, c := range []struct {
		name   string
		status int
		answer string
		want   string
	}{
		{"an answer", 200, joined, "GAME_JOIN_ACK: joins"},
		{"another answer than asked for", 200, strings.Replace(joined, "GAME_JOIN_ACK", "GAME_OVER_ACK", 1), "GAME_JOIN_ACK: joins  (breaks the rules: "},
		{"no JSON", 502, "<html>", "HTTP 502, an answer that breaks the rules: "},
		{"nothing", 204, "", "HTTP 204, an empty answer"},
		{"no answer", 0, "", "no answer"},
		{"a refusal with a code", 200, `{"jsonrpc":"2.0","id":7,"error":{"code":-32001,"message":"no","data":{"error_code":"E012","error_name":"AUTH_TOKEN_INVALID"}}}`, "refused: E012 AUTH_TOKEN_INVALID (JSON-RPC -32001)"},
		{"a refusal with a detail", 200, `{"jsonrpc":"2.0","id":7,"error":{"code":-32001,"message":"no","data":{"error_code":"E012","detail":"that is another's"}}}`, "that is another's"},
	} {
		if got := x.Outcome(); got != "the recording ends before the answer" {
			t.Errorf("an open exchange has outcome %q", got)
		}
		if y := x.WithAnswer(c.status, []byte(c.answer)); !strings.Contains(y.Outcome(), c.want) || y.Latency != 0 {
			t.Errorf("%s: outcome %q, want %q in it", c.name, y.Outcome(), c.want)
		}
	}
}

// Requests that nobody understands are read as far as they go.
func TestReadRequestNeverFails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body, method string
		valid        bool
	}{
		{"", "", false},
		{"nonsense", "", false},
		{"[]", "", false},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "tools/list", false},
		{`{"jsonrpc":"2.0","id":1,"method":7}`, "", false},
		{`{"message_type":"GAME_OVER"}`, "", false},
		{invitation, "handle_game_invitation", true},
		{`{"jsonrpc":"2.0","id":1,"method":"handle_message","params":{"message":{"protocol":"league.v2",
			"message_type":"GAME_INVITATION","sender":"referee:REF01","timestamp":"2026-03-01T12:00:00Z","conversation_id":"c1","match_id":"R1M1"}}}`, "handle_message", true},
	} {
		x := trace.ReadRequest([]byte(c.body))
		if x.Method != c.method || (x.Invalid == nil) != c.valid || (x.Request != nil) != c.valid || string(x.Raw) != c.body {
			t.Errorf("%q is read as method %q, valid %t, request %v: %v", c.body, x.Method, x.Invalid == nil, x.Request, x.Invalid)
		}
	}
}

const hostile = "x\x1b[2J\x07\r\nfake line\u202e\xff"

// hostileExchanges has what a foreign peer may put into every place that is shown.
func hostileExchanges() []*trace.Exchange {
	quoted := strings.NewReplacer("\x1b", `\u001b`, "\x07", `\u0007`, "\r", `\r`, "\n", `\n`, "\xff", "").Replace(hostile)
	header := func(typ string, more string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"m` + quoted + `","params":{"protocol":"league.v2","message_type":"` + typ + `","sender":"player:` + quoted +
			`","timestamp":"2026-03-01T12:00:00Z","conversation_id":"c","match_id":"` + quoted + `"` + more + `}}`
	}
	var all []*trace.Exchange
	for _, body := range []string{
		header("GAME_INVITATION", `,"opponent_id":"`+quoted+`","role_in_match":"`+quoted+`"`),
		header("GAME_OVER", `,"result":"`+quoted+`"`),
		header("GAME_ERROR", `,"error_code":"E001","error_name":"`+quoted+`","affected_player":"`+quoted+`"`),
		header("LEAGUE_STANDINGS_UPDATE", `,"standings":[{"rank":1,"player_id":"`+quoted+`","points":3}]`),
		header("LEAGUE_QUERY", `,"query_type":"`+quoted+`"`),
		header("ROUND_ANNOUNCEMENT", `,"round_id":1,"matches":[{"match_id":"`+quoted+`","player_A_id":"`+quoted+`","player_B_id":"b"}]`),
		header(quoted, ""),
		`{"jsonrpc":"2.0","id":1,"method":"` + quoted + `"}`,
		hostile,
	} {
		x := trace.ReadRequest([]byte(body))
		x.Agent, x.Sent, x.Peer, x.At = "a"+hostile, false, "peer"+hostile, clock()
		refused := `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"` + quoted + `","data":{"error_code":"E012","detail":"` + quoted + `"}}}`
		failed := x.WithAnswer(0, nil)
		failed.Failure = hostile
		all = append(all, x, x.WithAnswer(200, []byte(refused)), x.WithAnswer(500, []byte(hostile)), failed)
	}
	return all
}

// Nothing that a peer sent reaches the terminal as a control sequence or makes a line
// of its own, in any layout.
func TestShowIsHarmless(t *testing.T) {
	t.Parallel()
	for _, f := range []trace.Format{{}, {Bodies: true}, {Remarks: []trace.Remark{
		{At: clock().Add(-time.Second), Agent: hostile, Match: hostile, Text: hostile}, {At: clock().Add(time.Hour), Text: hostile},
	}}} {
		exchanges := hostileExchanges()
		var b bytes.Buffer
		if err := trace.Show(&b, exchanges, f); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		for _, c := range text {
			if c != '\n' && !unicode.IsPrint(c) {
				t.Errorf("%+v: %q is shown", f, c)
				break
			}
		}
		if !utf8.ValidString(text) {
			t.Errorf("%+v: no UTF-8 is shown", f)
		}
		want := 2*len(exchanges) + len(f.Remarks)
		if n := strings.Count(text, "\n"); !f.Bodies && n != want {
			t.Errorf("%+v: %d lines, want %d", f, n, want)
		}
	}
}

// What MCP defines beside calls of tools is no message of the league's; whatever else
// cannot be read is.
func TestAside(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		``: true,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`:           true,
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`:                             true,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`:               true,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{}}`:       true,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`:                       true,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`: false,
		`{"jsonrpc":"2.0","id":1,"method":"notifications"}`:                    false, // a method of that name
		`{"jsonrpc":"2.0","id":1,"method":"notify_round"}`:                     false,
		`nonsense`: false,
		invitation: false,
	} {
		if got := trace.ReadRequest([]byte(body)).Aside(); got != want {
			t.Errorf("%s is aside: %t, want %t", body, got, want)
		}
	}
}

// A long list is cut, and what is cut is counted.
func TestLongListsAreCut(t *testing.T) {
	t.Parallel()
	over := func(n int) string {
		m := &protocol.RoundAnnouncement{}
		for range n {
			m.Matches = append(m.Matches, protocol.AnnouncedMatch{MatchID: "M", PlayerAID: "A", PlayerBID: "B"})
		}
		var b bytes.Buffer
		if err := trace.Show(&b, []*trace.Exchange{{Type: protocol.TypeRoundAnnouncement, Request: m, At: clock()}}, trace.Format{}); err != nil {
			t.Fatal(err)
		}
		line, _, _ := strings.Cut(b.String(), "\n")
		_, list, _ := strings.Cut(line, "ROUND_ANNOUNCEMENT")
		return list
	}
	six := ": M A-B, M A-B, M A-B, M A-B, M A-B, M A-B"
	for n, want := range map[int]string{0: "", 1: ": M A-B", 6: six, 7: six + " and 1 more", 100: six + " and 94 more"} {
		if got := over(n); got != want {
			t.Errorf("%d matches: %q, want %q", n, got, want)
		}
	}
}
