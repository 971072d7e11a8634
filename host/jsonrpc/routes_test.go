package jsonrpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// TestRoutes sends requests to an endpoint alone, and with another handler beside it or on its
// path; what Divert sends there is in TestDivertSeesTheBody.
func TestRoutes(t *testing.T) {
	t.Parallel()
	tell := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		fmt.Fprintf(w, "other %s %s %s %v", r.Method, r.URL.Path, body, err)
	})
	alone := startHTTP(t, jsonrpc.Config{}, echo)
	beside := startHTTP(t, jsonrpc.Config{Other: tell}, echo)
	shared := startHTTP(t, jsonrpc.Config{Other: tell, Divert: func(*jsonrpc.Request) bool { return false }}, echo)

	const rpc = `{"jsonrpc":"2.0","id":1,"result":{"method":"m","params":"absent"}}`
	for _, c := range []struct {
		srv                *jsonrpc.Server
		method, path, body string
		status             int
		want               string // a part of it
	}{
		{alone, "POST", "/mcp", call, 200, rpc},
		{alone, "GET", "/mcp", "", 405, "-32600"},
		{alone, "HEAD", "/mcp", "", 405, ""},
		{alone, "OPTIONS", "/mcp", "", 405, "-32600"},
		{alone, "BREW", "/mcp", call, 405, "-32600"},
		{alone, "GET", "/", "", 404, "/mcp"},
		{alone, "POST", "/MCP", call, 404, "/mcp"},
		{beside, "POST", "/mcp", call, 200, rpc},
		{beside, "GET", "/mcp", "", 405, "-32600"},
		{beside, "POST", "/start_league", call, 200, "other POST /start_league " + call},
		{beside, "GET", "/", "", 200, "other GET /"},
		{shared, "POST", "/mcp", call, 200, rpc},
		{shared, "GET", "/mcp", "", 200, "other GET /mcp"},
		{shared, "DELETE", "/mcp", "", 200, "other DELETE /mcp"},
	} {
		res, body := request(t, c.method, "http://"+c.srv.Addr().String()+c.path, strings.NewReader(c.body))
		if res.StatusCode != c.status || !strings.Contains(body, c.want) || (res.Header.Get("Allow") == "POST") != (c.status == 405) {
			t.Errorf("%s %s: %d %s, want %d %s", c.method, c.path, res.StatusCode, body, c.status, c.want)
		}
	}
}

// TestOtherHasNoLimits: what is beside the endpoint may be slow and many.
func TestOtherHasNoLimits(t *testing.T) {
	t.Parallel()
	if !moreAndMore(func(writeTimeout time.Duration) bool { return besideStreams(t, writeTimeout) }) {
		t.Error("a call beside two streams is not answered")
	}
}

// besideStreams reports whether a call beside two streams was answered in time.
func besideStreams(t *testing.T, writeTimeout time.Duration) bool {
	t.Helper()
	entered, release := make(chan struct{}, 2), make(chan struct{})
	other := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		entered <- struct{}{}
		<-release
		_, _ = io.WriteString(w, "late")
	})
	srv := startHTTP(t, jsonrpc.Config{Other: other, WriteTimeout: writeTimeout}, echo)
	page := "http://" + srv.Addr().String() + "/"
	late := make(chan string, 2)
	for range 2 {
		go func() {
			_, body := request(t, "GET", page, nil)
			late <- body
		}()
	}
	<-entered
	<-entered
	res, _, err := try(t, "POST", srv.URL(), strings.NewReader(call))
	if err == nil && res.StatusCode != 200 {
		t.Errorf("a call beside two streams: status %d", res.StatusCode)
	}
	<-time.After(2 * writeTimeout)
	close(release)
	for range 2 {
		if got := <-late; got != "late" {
			t.Errorf("a stream past the write timeout got %q", got)
		}
	}
	return err == nil
}

// TestDivertSeesTheBody: what goes to another handler is decided by what has
// been read, and that handler finds the body as it came.
func TestDivertSeesTheBody(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	other := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		fmt.Fprintf(w, "other %d %s %v", r.ContentLength, body, err)
	})
	divert := func(r *jsonrpc.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.Method)
		return r.Method == "theirs" || r.Header.Get("X-Theirs") != ""
	}
	tap := new(recorder)
	srv := startHTTP(t, jsonrpc.Config{Other: other, Divert: divert, MaxBody: 200, Tap: tap.tap}, echo)
	for _, c := range []struct{ header, body, want string }{
		{"", `{"jsonrpc":"2.0","id":1,"method":"ours"}`, `"method":"ours"`},
		{"", `{"jsonrpc":"2.0","id":1,"method":"theirs"}`, `other 42 {"jsonrpc":"2.0","id":1,"method":"theirs"} <nil>`},
		{"x", `nonsense`, `other 8 nonsense <nil>`},
		{"x", `[{"jsonrpc":"2.0","id":1,"method":"ours"}]`, `other 42 [`},
		{"x", `{"jsonrpc":"2.0","id":1,"result":{}}`, `other 36 {`},
		{"", `nonsense`, `-32700`},
		{"x", `{"x":"` + strings.Repeat("x", 300) + `"}`, `longer than 200 bytes`},
	} {
		if _, body := request(t, "POST", srv.URL(), strings.NewReader(c.body), "X-Theirs", c.header); !strings.Contains(body, c.want) {
			t.Errorf("%.60s: %s, want %s", c.body, body, c.want)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if want := []string{"ours", "theirs", "", "", "", ""}; !slices.Equal(asked, want) {
		t.Errorf("asked about %q, want %q", asked, want)
	}
	if n := tap.count(); n != 3 {
		t.Errorf("the tap was informed of %d exchanges, want those 3 of the endpoint", n)
	}
}

// TestDivertedRequestsAreDrained: they are given the drain period, where a stream ends at once.
func TestDivertedRequestsAreDrained(t *testing.T) {
	t.Parallel()
	entered, release := make(chan string, 2), make(chan struct{})
	other := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		entered <- r.Method
		select {
		case <-r.Context().Done():
			fmt.Fprint(w, "cut off")
		case <-release:
			fmt.Fprint(w, "finished")
		}
	})
	srv, err := jsonrpc.Listen(t.Context(), "127.0.0.1:0", jsonrpc.Config{Other: other, Divert: func(*jsonrpc.Request) bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	stop := serve(t, srv, echo)
	var asking sync.WaitGroup
	answers := map[string]string{}
	var mu sync.Mutex
	for _, verb := range []string{"GET", "POST"} {
		asking.Go(func() {
			_, body := request(t, verb, srv.URL(), strings.NewReader(call))
			mu.Lock()
			defer mu.Unlock()
			answers[verb] = body
		})
		<-entered
	}
	ended := make(chan error, 1)
	go func() { ended <- stop() }()
	if !eventually(func() bool { mu.Lock(); defer mu.Unlock(); return answers["GET"] == "cut off" }) {
		t.Error("the stream goes on while the server drains")
	}
	close(release)
	asking.Wait()
	if err := <-ended; err != nil || answers["POST"] != "finished" {
		t.Errorf("%v, and the diverted request got %q", err, answers["POST"])
	}
}

// side takes messages whose method begins with "theirs", and responses.
type side struct {
	send    func([]byte) error
	taken   []string
	pending chan struct{} // closed when what was taken may be answered
	begun   func()        // called for what is being served
	ended   chan error
}

func (s *side) beside(send func([]byte) error) jsonrpc.Side {
	s.send = send
	return func(ctx context.Context, req *jsonrpc.Request, refused *jsonrpc.Refusal) func() {
		switch {
		case refused != nil && !strings.Contains(string(req.Raw), `"result"`):
			return nil
		case refused == nil && !strings.HasPrefix(req.Method, "theirs"):
			return nil
		}
		s.taken = append(s.taken, string(req.Raw))
		return func() {
			s.begun()
			select {
			case <-s.pending:
				_ = s.send([]byte(`"late"`))
			case <-ctx.Done():
				s.ended <- ctx.Err()
			}
		}
	}
}

// TestSide: a stream carries two protocols, and ends when both have answered.
func TestSide(t *testing.T) {
	t.Parallel()
	in, lines := io.Pipe()
	read, out := io.Pipe()
	s := &side{pending: make(chan struct{}), begun: func() {}}
	cfg := jsonrpc.Config{Beside: s.beside}
	served := make(chan error, 1)
	go func() {
		served <- jsonrpc.ServeStdio(t.Context(), in, out, echo, cfg)
		out.Close()
	}()
	answers := newScanner(read)
	for _, c := range []struct{ line, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"theirs/1"}`, ""},
		{`{"jsonrpc":"2.0","id":2,"method":"ours"}`, `"method":"ours"`},
		{`{"jsonrpc":"2.0","id":3,"result":{}}`, ""},
		{`nonsense`, `-32700`},
		{`{"jsonrpc":"2.0","id":4,"method":"theirs/2"}`, ""},
	} {
		if _, err := io.WriteString(lines, c.line+"\n"); err != nil {
			t.Fatal(err)
		}
		if c.want != "" && (!answers.Scan() || !strings.Contains(answers.Text(), c.want)) {
			t.Errorf("%s: %s, want %s", c.line, answers.Text(), c.want)
		}
	}
	lines.Close()
	close(s.pending)
	for range 3 {
		if !answers.Scan() || answers.Text() != `"late"` {
			t.Errorf("at the end came %q", answers.Text())
		}
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if len(s.taken) != 3 || !strings.Contains(s.taken[2], "theirs/2") {
		t.Errorf("taken: %q", s.taken)
	}
}

// TestSideIsCutOff: when the drain period is over, what is in progress there is given up.
func TestSideIsCutOff(t *testing.T) {
	t.Parallel()
	in, lines := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	s := &side{pending: make(chan struct{}), begun: cancel, ended: make(chan error, 1)}
	go func() { _, _ = io.WriteString(lines, `{"jsonrpc":"2.0","id":1,"method":"theirs"}`+"\n") }()
	err := jsonrpc.ServeStdio(ctx, in, io.Discard, echo, jsonrpc.Config{Drain: 1, Beside: s.beside})
	if err == nil || !strings.Contains(err.Error(), "cut off") || !errors.Is(<-s.ended, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestServe answers a message that came by another way as the endpoint would.
func TestServe(t *testing.T) {
	t.Parallel()
	tap := new(recorder)
	for body, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"m"}`: `"method":"m"`,
		`nonsense`:                              `-32700`,
	} {
		if status, got := jsonrpc.Serve(t.Context(), &jsonrpc.Request{Raw: []byte(body)}, echo, jsonrpc.Config{Tap: tap.tap}); !strings.Contains(string(got), want) {
			t.Errorf("%s: %d %s", body, status, got)
		}
	}
	if tap.count() != 2 {
		t.Errorf("the tap was informed of %d exchanges, want 2", tap.count())
	}
}
