package trace_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/strategylab/strategylab/host/judge"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

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

// A terminal that has gone away ends the showing, in every part of it.
func TestShowReportsItsWriter(t *testing.T) {
	t.Parallel()
	x := hostileExchanges()[:1]
	before, after := trace.Remark{At: clock().Add(-time.Second)}, trace.Remark{At: clock().Add(time.Second)}
	for n, f := range []trace.Format{{}, {Remarks: []trace.Remark{before}}, {Remarks: []trace.Remark{after}}} {
		if err := trace.Show(&limited{n / 2}, x, f); !errors.Is(err, errGone) {
			t.Errorf("%+v: error %v", f, err)
		}
	}
}

var errGone = errors.New("gone")

// limited takes a number of writes.
type limited struct{ left int }

func (l *limited) Write(b []byte) (int, error) {
	if l.left--; l.left < 0 {
		return 0, errGone
	}
	return len(b), nil
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
		if err := trace.Show(&b, []*trace.Exchange{{Exchange: judge.Exchange{Type: protocol.TypeRoundAnnouncement, Request: m, At: clock()}}}, trace.Format{}); err != nil {
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
