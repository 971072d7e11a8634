package trace_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

func clock() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

const (
	invitation = `{"jsonrpc":"2.0","id":7,"method":"handle_game_invitation","params":{"protocol":"league.v2",
		"message_type":"GAME_INVITATION","sender":"referee:REF01","timestamp":"2026-03-01T12:00:00Z","conversation_id":"c1",
		"auth_token":"the-match-key","match_id":"R1M1","role_in_match":"PLAYER_A","opponent_id":"P02"}}`
	joined = `{"jsonrpc":"2.0","id":7,"result":{"protocol":"league.v2","message_type":"GAME_JOIN_ACK","sender":"player:P01",
		"timestamp":"2026-03-01T12:00:00Z","conversation_id":"c1","match_id":"R1M1","player_id":"P01","accept":true}}`
)

// say passes one exchange by a tap, as a server does.
func say(tap jsonrpc.Tap, request, answer string, status int, err error) {
	e := jsonrpc.Event{Direction: jsonrpc.In, Peer: "127.0.0.1:99", Body: []byte(request)}
	closing := tap(e)
	e.Direction, e.Body, e.Status, e.Err, e.Latency = jsonrpc.Out, []byte(answer), status, err, 1500*time.Microsecond
	closing(e)
}

func record(t *testing.T, path string, during func(*trace.Recorder)) {
	t.Helper()
	r, err := trace.Create(path, trace.Head{Command: "player"}, clock)
	if err != nil {
		t.Fatal(err)
	}
	during(r)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) *trace.Recording {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := trace.Read(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func TestWhatIsRecordedIsRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "t.jsonl")
	record(t, path, func(r *trace.Recorder) {
		say(r.Tap("player"), invitation, joined, 200, nil)
		say(r.Tap("player"), "GET me out\xff", "", 400, nil)
		say(r.Tap("player"), "", "", 0, errors.New("timed out"))
	})
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v; want it to be its owner's only", info.Mode(), err)
	}
	rec := read(t, path)
	if len(rec.Heads) != 1 || rec.Heads[0].Command != "player" || !rec.Heads[0].Began.Equal(clock()) || rec.Torn {
		t.Errorf("heads %+v, torn %t", rec.Heads, rec.Torn)
	}
	if len(rec.Exchanges) != 3 {
		t.Fatalf("%d exchanges, want 3", len(rec.Exchanges))
	}
	x := rec.Exchanges[0]
	if x.Type != protocol.TypeGameInvitation || x.Match != "R1M1" || x.Sender != "referee:REF01" || x.Dialect != "contracts" ||
		x.Status != 200 || x.Latency != 1500*time.Microsecond || !x.Answered || x.Invalid != nil {
		t.Errorf("the invitation is read as %+v", x)
	}
	if m, ok := x.Request.(*protocol.GameInvitation); !ok || m.OpponentID != "P02" || m.AuthToken != "masked-1" {
		t.Errorf("the request is %+v", x.Request)
	}
	if a, ok := x.Answer.(*protocol.GameJoinAck); !ok || a.PlayerID != "P01" {
		t.Errorf("the answer is %+v, %v", x.Answer, x.Refused)
	}
	if x := rec.Exchanges[1]; x.Invalid == nil || string(x.Raw) != "GET me out\uFFFD" || x.Status != 400 {
		t.Errorf("what is no JSON is read as %+v", x)
	}
	if x := rec.Exchanges[2]; x.Failure != "timed out" || !x.Answered || x.Answer != nil {
		t.Errorf("what got no answer is read as %+v", x)
	}
}

// A second run continues in the same file, also after a kill in mid-line.
func TestSecondRunAfterAKill(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "t.jsonl")
	one := func(r *trace.Recorder) { say(r.Tap("player"), invitation, joined, 200, nil) }
	record(t, path, one)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, whole[:len(whole)-40], 0o600); err != nil {
		t.Fatal(err)
	}
	if rec := read(t, path); !rec.Torn || len(rec.Exchanges) != 1 || rec.Exchanges[0].Answered {
		t.Errorf("the torn recording is %+v", rec)
	}
	record(t, path, one)
	rec := read(t, path)
	if !rec.Torn || len(rec.Heads) != 2 || len(rec.Exchanges) != 2 || !rec.Exchanges[1].Answered || rec.Exchanges[1].Run != 1 {
		t.Errorf("the recording of two runs is %+v", rec)
	}
}

func TestBadRecordings(t *testing.T) {
	t.Parallel()
	head := `{"trace":"strategylab/trace/v1","command":"player","began":"2026-03-01T12:00:00Z"}` + "\n"
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "no recording"},
		{"something else", "name,points\n", "line 1"},
		{"another version", strings.Replace(head, "v1", "v9", 1), `schema "strategylab/trace/v9"`},
		{"a broken line", head + "{oops}\n" + `{"exchange":1,"part":"request"}` + "\n", "line 2"},
		{"an answer without a request", head + `{"exchange":1,"part":"answer"}` + "\n", "exchange 1 is out of place"},
		{"two answers", head + `{"exchange":1,"part":"request"}` + "\n" + `{"exchange":1,"part":"answer"}` + "\n" + `{"exchange":1,"part":"answer"}` + "\n", "line 4"},
	} {
		if _, err := trace.Read(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q in it", c.name, err, c.want)
		}
	}
}

func TestCreateKeepsOtherFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(path, []byte("dear diary"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := trace.Create(path, trace.Head{}, clock); err == nil || !strings.Contains(err.Error(), "is not a recording") {
		t.Errorf("error %v", err)
	}
	if b, _ := os.ReadFile(path); string(b) != "dear diary" {
		t.Errorf("the file is now %q", b)
	}
}

// A disk that is full stops the recording and no agent.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no /dev/full")
	}
	r, err := trace.Create("/dev/full", trace.Head{}, clock)
	if err != nil {
		t.Fatal(err)
	}
	say(r.Tap("player"), invitation, joined, 200, nil)
	if err := r.Close(); err == nil || !strings.Contains(err.Error(), "/dev/full") {
		t.Errorf("error %v, want one that names the file", err)
	}
	say(r.Tap("player"), invitation, joined, 200, nil) // after the end: passed over
	if err := r.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
}

func TestSelectAndShow(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "t.jsonl")
	record(t, path, func(r *trace.Recorder) {
		say(r.Tap("P01"), invitation, joined, 200, nil)
		out := r.Tap("REF01")
		e := jsonrpc.Event{Direction: jsonrpc.Out, Peer: "http://127.0.0.1:8101/mcp", Body: []byte(invitation)}
		closing := out(e)
		e.Direction, e.Body, e.Status = jsonrpc.In, []byte(joined), 200
		closing(e)
		say(r.Tap("P01"), `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"what?"}}`, 200, nil)
	})
	rec := read(t, path)
	for _, c := range []struct {
		filter trace.Filter
		want   int
	}{
		{trace.Filter{}, 3}, {trace.Filter{Once: true}, 2}, {trace.Filter{Match: "R1M1"}, 2}, {trace.Filter{Match: "R2M1"}, 0},
		{trace.Filter{Agent: "P01"}, 3}, {trace.Filter{Agent: "8101"}, 1}, {trace.Filter{Agent: "P0"}, 0},
		{trace.Filter{Type: protocol.TypeGameOver}, 0}, {trace.Filter{Type: protocol.TypeGameInvitation}, 2},
	} {
		if got := len(rec.Select(c.filter)); got != c.want {
			t.Errorf("%+v chooses %d exchanges, want %d", c.filter, got, c.want)
		}
	}
	var b bytes.Buffer
	if err := trace.Show(&b, rec.Select(trace.Filter{Once: true}), trace.Format{}); err != nil {
		t.Fatal(err)
	}
	want := "" +
		"12:00:00.000  REF01 -> player:P01  GAME_INVITATION R1M1: PLAYER_A against P02  [contracts]\n" +
		"                                   = GAME_JOIN_ACK: joins, 0s\n" +
		"12:00:00.000  127.0.0.1:99 -> P01  ping  [contracts]  (not a league.v2 message)\n" +
		"                                   = refused: E047 UNKNOWN_MESSAGE_TYPE (JSON-RPC -32601): what?, 1.5ms\n"
	if b.String() != want {
		t.Errorf("shown as\n%swant\n%s", b.String(), want)
	}
	b.Reset()
	if err := trace.Show(&b, rec.Exchanges[:1], trace.Format{Bodies: true}); err != nil || !strings.Contains(b.String(), `"auth_token":"masked-1"`) {
		t.Errorf("with bodies, %v:\n%s", err, b.String())
	}
}

func FuzzRead(f *testing.F) {
	head := `{"trace":"strategylab/trace/v1","command":"player","began":"2026-03-01T12:00:00Z"}` + "\n"
	f.Add([]byte(head + `{"time":"2026-03-01T12:00:00Z","exchange":1,"part":"request","agent":"P01","direction":"in","peer":"x","body":{"message_type":"GAME_OVER"}}` + "\n" +
		`{"exchange":1,"part":"answer","status":200,"text":"oops"}`))
	f.Add([]byte(head + "{"))
	f.Fuzz(func(t *testing.T, text []byte) {
		rec, err := trace.Read(bytes.NewReader(text))
		if err != nil {
			return
		}
		if err := trace.Show(&bytes.Buffer{}, rec.Select(trace.Filter{Once: true}), trace.Format{Bodies: true}); err != nil {
			t.Error(err)
		}
	})
}
