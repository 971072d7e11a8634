package jsonrpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// converse gives a server its whole input at once and returns all it writes.
func converse(t *testing.T, cfg jsonrpc.Config, h jsonrpc.Handler, input io.Reader) string {
	t.Helper()
	var out bytes.Buffer
	if err := jsonrpc.ServeStdio(t.Context(), input, &out, h, cfg); err != nil {
		t.Fatalf("ServeStdio = %v", err)
	}
	return out.String()
}

func stdioCall(id int, method string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q}`, id, method)
}

func stdioResult(id int, method string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"method":%q,"params":"absent"}}`+"\n", id, method)
}

// TestStdioLines checks where a message begins and ends.
func TestStdioLines(t *testing.T) {
	t.Parallel()
	const max = 200
	tooLong := `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request","data":{"detail":"the message is longer than 200 bytes"}}}` + "\n"
	exact := stdioCall(1, strings.Repeat("m", max-len(stdioCall(1, ""))))
	for _, c := range []struct{ name, input, want string }{
		{"nothing", "", ""},
		{"blank lines", "\n \r\n\t\n", ""},
		{"one", stdioCall(1, "a") + "\n", stdioResult(1, "a")},
		{"no end of the last line", stdioCall(1, "a"), stdioResult(1, "a")},
		{"several, blank lines between, Windows ends", stdioCall(1, "a") + "\r\n\n\r\n" + stdioCall(2, "b") + "\n", stdioResult(1, "a") + stdioResult(2, "b")},
		{"notification", `{"jsonrpc":"2.0","method":"n"}` + "\n" + stdioCall(2, "b") + "\n", stdioResult(2, "b")},
		{"as long as allowed", exact + "\r\n" + stdioCall(2, "b"), stdioResult(1, strings.Repeat("m", max-len(stdioCall(1, "")))) + stdioResult(2, "b")},
		{"a byte longer", exact + " \n" + stdioCall(2, "b") + "\n", tooLong + stdioResult(2, "b")},
		{"far longer", strings.Repeat("x", 1_000_000) + "\n" + stdioCall(2, "b") + "\n", tooLong + stdioResult(2, "b")},
		{"far longer, without end", strings.Repeat("x", 1_000_000), tooLong},
		{"blanks beyond the limit", strings.Repeat(" ", max+1) + "\n" + stdioCall(2, "b"), tooLong + stdioResult(2, "b")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := jsonrpc.Config{MaxBody: max, MaxConcurrent: 1}
			for name, input := range map[string]io.Reader{
				"at once":      strings.NewReader(c.input),
				"byte by byte": iotest.OneByteReader(strings.NewReader(c.input)),
				"data and EOF": iotest.DataErrReader(strings.NewReader(c.input)),
			} {
				if diff := cmp.Diff(c.want, converse(t, cfg, echo, input)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

// TestStdioOneLineAnswers: whatever the handler says, an answer is one line, and the memory
// behind its body stays as it is.
func TestStdioOneLineAnswers(t *testing.T) {
	t.Parallel()
	memory := []byte("{}x")
	for _, c := range []struct {
		name   string
		answer jsonrpc.Response
		want   string
	}{
		{"result of several lines", jsonrpc.Response{Result: []byte("{\r\n\t\"a\": \"x\\n\"\n}")}, `{"jsonrpc":"2.0","id":1,"result":{"a":"x\n"}}`},
		{"data of several lines", jsonrpc.Response{Error: &jsonrpc.Error{Code: 1, Message: "a\nb", Data: []byte("[\n1]")}}, `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"a\nb","data":[1]}}`},
		{"body of several lines", jsonrpc.Response{Body: []byte("{\n}")}, `{}`},
		{"body in memory that goes on", jsonrpc.Response{Body: memory[:2]}, `{}`},
		{"body that is no JSON", jsonrpc.Response{Body: []byte("Hello,\nworld")}, `{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"Internal error","data":{"detail":"the answer is not JSON"}}}`},
	} {
		h := jsonrpc.HandlerFunc(func(context.Context, *jsonrpc.Request) jsonrpc.Response { return c.answer })
		if got := converse(t, jsonrpc.Config{}, h, strings.NewReader(call)); got != c.want+"\n" {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
	if string(memory) != "{}x" {
		t.Errorf("the handler's memory is %q", memory)
	}
}

// TestStdioConcurrent: a slow request does not hold up the others, and lines do not mix.
func TestStdioConcurrent(t *testing.T) {
	t.Parallel()
	h := newHolder()
	s := startRawStdio(t, jsonrpc.Config{}, h)
	s.send(t, stdioCall(0, "hold"))
	<-h.entered
	const n = 200
	go func() {
		for i := range n {
			s.send(t, stdioCall(i+1, "m"))
		}
	}()
	seen := make(map[int]bool)
	for range n {
		var answer struct {
			ID     int  `json:"id"`
			Result bool `json:"result"`
		}
		if line := s.next(t); json.Unmarshal([]byte(line), &answer) != nil || !answer.Result {
			t.Fatalf("answer %q", line)
		}
		seen[answer.ID] = true
	}
	if seen[0] || len(seen) != n {
		t.Errorf("%d different answers, the slow one among them: %v", len(seen), seen[0])
	}
	close(h.release)
	if line := s.next(t); !strings.Contains(line, `"id":0`) {
		t.Errorf("the slow answer is %q", line)
	}
}

// TestStdioStopsReading: at the limit of requests in hand, input waits.
func TestStdioStopsReading(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHolder()
		s := startRawStdio(t, jsonrpc.Config{MaxConcurrent: 2}, h)
		go func() {
			for i := range 4 {
				s.send(t, stdioCall(i, "hold"))
			}
		}()
		synctest.Wait()
		if n := len(h.entered); n != 2 {
			t.Errorf("%d requests are in hand, want 2", n)
		}
		close(h.release)
		for range 4 {
			s.next(t)
		}
	})
}

// TestStdioEnds checks every way in which serving can end.
func TestStdioEnds(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	type session struct {
		in   *io.PipeWriter
		out  *io.PipeReader
		stop context.CancelFunc
		h    *holder
	}
	for _, c := range []struct {
		name  string
		after time.Duration // that serving takes to end
		want  string        // in the error, "" for nil
		act   func(*session)
	}{
		{"input ends", 0, "", func(s *session) { _ = s.in.Close() }},
		{"input fails", 0, "reading requests: broken", func(s *session) { _ = s.in.CloseWithError(broken) }},
		{"output fails", 0, "writing an answer: broken", func(s *session) {
			_ = s.out.CloseWithError(broken)
			_, _ = io.WriteString(s.in, stdioCall(2, "m")+"\n")
		}},
		{"output is not read", 3 * time.Second, "1 requests were cut off after 3s", func(s *session) {
			close(s.h.release)
			s.stop()
		}},
		{"context ends, request finishes", time.Second, "", func(s *session) {
			s.stop()
			<-time.After(time.Second)
			close(s.h.release)
		}},
		{"context ends, request is cut off", 3 * time.Second, "1 requests were cut off after 3s", func(s *session) { s.stop() }},
		{"input ends, then the context", 4 * time.Second, "1 requests were cut off after 3s", func(s *session) {
			_ = s.in.Close()
			<-time.After(time.Second)
			s.stop()
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				in, inW := io.Pipe()
				outR, out := io.Pipe()
				ctx, stop := context.WithCancel(context.Background())
				defer stop()
				s := &session{in: inW, out: outR, stop: stop, h: newHolder()}
				ended := make(chan error, 1)
				go func() { ended <- jsonrpc.ServeStdio(ctx, in, out, s.h, jsonrpc.Config{}) }()
				if strings.HasPrefix(c.name, "input") && c.after == 0 {
					close(s.h.release)
				}
				go func() { _, _ = io.WriteString(inW, stdioCall(1, "hold")+"\n") }()
				<-s.h.entered
				start := time.Now()
				go c.act(s)
				if !strings.HasPrefix(c.name, "output") {
					go func() { _, _ = io.Copy(io.Discard, outR) }()
				}
				err := <-ended
				if d := time.Since(start); d != c.after {
					t.Errorf("it took %v, want %v", d, c.after)
				}
				if (err == nil) != (c.want == "") || (err != nil && !strings.Contains(err.Error(), c.want)) {
					t.Errorf("ServeStdio = %v, want %q", err, c.want)
				}
				_ = out.Close()
				synctest.Wait()
			})
		})
	}
}
