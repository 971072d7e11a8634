package jsonrpc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// server is what Server and LoopbackServer have in common.
type server interface {
	URL() string
	Serve(ctx context.Context, h jsonrpc.Handler) error
	Close() error
}

var (
	_ server = (*jsonrpc.Server)(nil)
	_ server = (*jsonrpc.LoopbackServer)(nil)
)

// serve runs a server until the test ends, or until stop is called, which
// returns what Serve returned.
func serve(tb testing.TB, srv server, h jsonrpc.Handler) (stop func() error) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ctx, h) }()
	var err error
	stopped := false
	stop = func() error {
		if !stopped {
			stopped = true
			cancel()
			err = <-ended
		}
		return err
	}
	tb.Cleanup(func() {
		if stopped {
			return
		}
		if err := stop(); err != nil {
			tb.Errorf("Serve = %v, want nil", err)
		}
	})
	return stop
}

func startHTTP(tb testing.TB, cfg jsonrpc.Config, h jsonrpc.Handler) *jsonrpc.Server {
	tb.Helper()
	srv, err := jsonrpc.Listen(context.Background(), "127.0.0.1:0", cfg)
	if err != nil {
		tb.Fatal(err)
	}
	serve(tb, srv, h)
	return srv
}

func startLoopback(tb testing.TB, network *jsonrpc.Loopback, host string, cfg jsonrpc.Config, h jsonrpc.Handler) *jsonrpc.LoopbackServer {
	tb.Helper()
	srv, err := network.Listen(host, cfg)
	if err != nil {
		tb.Fatal(err)
	}
	serve(tb, srv, h)
	return srv
}

// TestMain fails if goroutines are left when all tests have cleaned up. The
// fuzzing engine leaves one of its own.
func TestMain(m *testing.M) {
	before := runtime.NumGoroutine()
	code := m.Run()
	http.DefaultClient.CloseIdleConnections()
	fuzzing := flag.Lookup("test.fuzz").Value.String() != ""
	if code == 0 && !fuzzing && !eventually(func() bool { return runtime.NumGoroutine() <= before }) {
		stacks := make([]byte, 1<<20)
		fmt.Fprintf(os.Stderr, "goroutines are left:\n%s\n", stacks[:runtime.Stack(stacks, true)])
		code = 1
	}
	os.Exit(code)
}

// most is what a test waits for at most, on a machine however slow.
const most = time.Minute

// moreAndMore calls try with a longer and longer limit, up to most, until it is true: a limit that
// must run out in one place is short, and a busy machine may need more in all others.
func moreAndMore(try func(limit time.Duration) bool) bool {
	for limit := 20 * time.Millisecond; limit < most; limit *= 5 {
		if try(limit) {
			return true
		}
	}
	return try(most)
}

// eventually reports whether a condition comes true within most.
func eventually(condition func() bool) bool {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(most); time.Now().Before(end); {
		if condition() {
			return true
		}
		<-tick.C
	}
	return false
}

// wire sends raw bytes over one transport.
type wire struct {
	transport jsonrpc.Transport
	// exchange returns the answer to a body: status 0 where the transport has
	// none, and an empty answer for none.
	exchange func(t *testing.T, body string) (status int, answer string)
}

// wires serves h over every transport. STDIO answers in order, so that silence can be seen.
func wires(t *testing.T, cfg jsonrpc.Config, h jsonrpc.Handler) []wire {
	t.Helper()
	srv := startHTTP(t, cfg, h)
	network := new(jsonrpc.Loopback)
	loop := startLoopback(t, network, "peer", cfg, h)
	over := jsonrpc.OverHTTP()
	t.Cleanup(func() { _ = over.Close() })
	return []wire{
		{jsonrpc.TransportHTTP, rawExchange(over, srv.URL())},
		{jsonrpc.TransportLoopback, rawExchange(network.From("me"), loop.URL())},
		{jsonrpc.TransportSTDIO, stdioExchange(t, cfg, h)},
	}
}

func rawExchange(rt jsonrpc.RoundTripper, url string) func(*testing.T, string) (int, string) {
	return func(t *testing.T, body string) (int, string) {
		t.Helper()
		reply, err := rt.RoundTrip(t.Context(), &jsonrpc.Outgoing{URL: url, Body: []byte(body), MaxAnswer: 8 << 20})
		if err != nil {
			t.Fatalf("sending %.60q: %v", body, err)
		}
		return reply.Status, string(reply.Body)
	}
}

// fence is a request whose answer shows that there was none to the line before.
const fence = `{"jsonrpc":"2.0","id":"fence","method":"fence"}`

func stdioExchange(t *testing.T, cfg jsonrpc.Config, h jsonrpc.Handler) func(*testing.T, string) (int, string) {
	t.Helper()
	cfg.MaxConcurrent = 1
	lines := startRawStdio(t, cfg, h)
	return func(t *testing.T, body string) (int, string) {
		t.Helper()
		lines.send(t, body)
		lines.send(t, fence)
		answer := lines.next(t)
		if strings.Contains(answer, `"fence"`) {
			return 0, ""
		}
		if end := lines.next(t); !strings.Contains(end, `"fence"`) {
			t.Fatalf("a second answer to %.60q: %s", body, end)
		}
		return 0, answer
	}
}

// rawStdio is the far end of a STDIO server.
type rawStdio struct {
	w     *io.PipeWriter
	lines chan string
}

func startRawStdio(t *testing.T, cfg jsonrpc.Config, h jsonrpc.Handler) *rawStdio {
	t.Helper()
	requests, w := io.Pipe()
	r, answers := io.Pipe()
	s := &rawStdio{w: w, lines: make(chan string, 64)}
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := jsonrpc.ServeStdio(context.Background(), requests, answers, h, cfg); err != nil {
			t.Errorf("ServeStdio = %v, want nil", err)
		}
		_ = answers.Close()
	})
	wg.Go(func() {
		defer close(s.lines)
		for scan := newScanner(r); scan.Scan(); {
			s.lines <- scan.Text()
		}
	})
	t.Cleanup(func() { _ = w.Close(); wg.Wait() })
	return s
}

func (s *rawStdio) send(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(s.w, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

func (s *rawStdio) next(t *testing.T) string {
	t.Helper()
	select {
	case line, ok := <-s.lines:
		if !ok {
			t.Fatal("the server ended")
		}
		return line
	case <-t.Context().Done():
		t.Fatal("no answer")
	}
	return ""
}

// echo answers a call with what it saw of it, a notification or object with nothing.
var echo = jsonrpc.HandlerFunc(func(_ context.Context, req *jsonrpc.Request) jsonrpc.Response {
	if req.Kind != jsonrpc.KindCall {
		return jsonrpc.Response{}
	}
	params := req.Params
	if params == nil {
		params = []byte(`"absent"`)
	}
	method, err := json.Marshal(req.Method)
	if err != nil {
		panic(err)
	}
	return jsonrpc.Response{Result: fmt.Appendf(nil, `{"method":%s,"params":%s}`, method, params)}
})

// logBuffer keeps a log as text.
type logBuffer struct {
	mu  sync.Mutex
	buf strings.Builder
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *logBuffer) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func newScanner(r io.Reader) *bufio.Scanner {
	scan := bufio.NewScanner(r)
	scan.Buffer(nil, 8<<20)
	return scan
}
