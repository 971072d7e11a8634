package jsonrpc_test

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

const call = `{"jsonrpc":"2.0","id":1,"method":"m"}`

// request sends any HTTP request on a connection of its own: of JSON, but for what the
// pairs of names and values say of the header. An empty value leaves a name out.
func request(t *testing.T, method, url string, body io.Reader, header ...string) (*http.Response, string) {
	t.Helper()
	res, answer, err := try(t, method, url, body, header...)
	if err != nil {
		t.Fatal(err)
	}
	return res, answer
}

// try is request for what may be cut off.
func try(t *testing.T, method, url string, body io.Reader, header ...string) (*http.Response, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	if req.Host = cmp.Or(req.Header.Get("Host"), req.Host); !slices.Contains(header, "Content-Type") {
		req.Header.Set("Content-Type", "application/json")
	}
	maps.DeleteFunc(req.Header, func(_ string, values []string) bool { return values[0] == "" })
	tr := &http.Transport{DisableKeepAlives: true}
	res, err := tr.RoundTrip(req)
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res, string(b), err
}

// TestForms: what the standards allow a peer to send is served by a lenient server, and
// refused by name by any other.
func TestForms(t *testing.T) {
	t.Parallel()
	const media = "application/json"
	strict := startHTTP(t, jsonrpc.Config{MaxBody: 1000}, echo)
	lenient := startHTTP(t, jsonrpc.Config{MaxBody: 1000, Lenient: true}, echo)
	for _, c := range []struct {
		path, media, encoding, body string
		strict, lenient             int // status
	}{
		{"/mcp", media, "", call, 200, 200},
		{"/mcp", media + "; charset=utf-8", "", call, 200, 200},
		{"/mcp", "Application/JSON;charset=\"UTF-8\"", "", call, 200, 200},
		{"/mcp", media + "; x=1", "", call, 200, 200},
		{"/mcp", media + "; charset=latin1", "", call, 415, 415},
		{"/mcp", media + "x", "", call, 415, 415},
		{"/mcp", media + ";;;=", "", call, 415, 415},
		{"/mcp", "text/plain", "", call, 415, 415},
		{"/mcp", "application/x-www-form-urlencoded", "", call, 415, 415},
		{"/mcp", media, "identity", call, 200, 200},
		{"/mcp", media, "br", call, 415, 415},
		{"/mcp", "", "", call, 415, 200},
		{"/mcp", "application/vnd.league+json; charset=UTF-8", "", call, 415, 200},
		{"/mcp/invite", "application/json-rpc", "", call, 404, 200},
		{"/mcp", media, "", string(mark) + call, 400, 200},
		{"/mcp", media, "gzip", zipped(t, call), 415, 200},
		{"/mcp", media, "GZIP", call, 415, 400},
		{"/mcp", media, "gzip", zipped(t, strings.Repeat(" ", 100_000)), 415, 413}, // too long once it is unpacked
		{"/mcp/", media, "", call, 404, 200},
	} {
		for srv, want := range map[*jsonrpc.Server]int{strict: c.strict, lenient: c.lenient} {
			res, body := request(t, "POST", "http://"+srv.Addr().String()+c.path, strings.NewReader(c.body), "Content-Type", c.media, "Content-Encoding", c.encoding)
			if res.StatusCode != want {
				t.Errorf("%s as %q, %q: status %d, want %d (lenient: %v)", c.path, c.media, c.encoding, res.StatusCode, want, srv == lenient)
			}
			if want >= 400 && want != 404 {
				readRefusal(t, want, body)
			}
		}
	}
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	out := new(bytes.Buffer)
	z := gzip.NewWriter(out)
	if _, err := io.WriteString(z, text); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestAnswerHeader(t *testing.T) {
	t.Parallel()
	long := bytes.Repeat([]byte("x"), 100_000) // beyond what net/http counts by itself
	srv := startHTTP(t, jsonrpc.Config{}, jsonrpc.HandlerFunc(func(context.Context, *jsonrpc.Request) jsonrpc.Response {
		return jsonrpc.Response{Result: fmt.Appendf(nil, "%q", long)}
	}))
	res, body := request(t, "POST", srv.URL(), strings.NewReader(call))
	if res.Header.Get("Content-Type") != "application/json" || res.ContentLength != int64(len(body)) || len(body) < len(long) {
		t.Errorf("header %v, length %d of a body of %d", res.Header, res.ContentLength, len(body))
	}
}

// rawHTTP sends bytes over a connection and reads one response, without the
// help of a well-behaved client.
func rawHTTP(t *testing.T, srv *jsonrpc.Server, text string) (*http.Response, string) {
	t.Helper()
	res, body, err := tryRaw(t, srv, text)
	if err != nil {
		t.Fatalf("after %.60q: %v", text, err)
	}
	return res, body
}

// tryRaw is rawHTTP for what may be cut off.
func tryRaw(t *testing.T, srv *jsonrpc.Server, text string) (*http.Response, string, error) {
	t.Helper()
	conn := dial(t, srv)
	if _, err := io.WriteString(conn, text); err != nil {
		return nil, "", err
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res, string(body), err
}

func dial(t *testing.T, srv interface{ Addr() net.Addr }) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", srv.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

const head = "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "

// TestSlowHandlers: the time for reading a request ends the context neither of its handler
// nor of what serves it beside the endpoint.
func TestSlowHandlers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		verb   string
		beside bool
	}{{"POST", false}, {"POST", true}, {"GET", true}} {
		if !moreAndMore(func(limit time.Duration) bool {
			var read atomic.Bool
			wait := func(ctx context.Context) string {
				read.Store(true)
				select {
				case <-ctx.Done():
					return `"cut off"`
				case <-time.After(3 * limit):
					return `"late"`
				}
			}
			cfg := jsonrpc.Config{ReadTimeout: limit}
			if c.beside {
				cfg.Other = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, wait(r.Context())) })
				cfg.Divert = func(*jsonrpc.Request) bool { return true }
			}
			srv := startHTTP(t, cfg, jsonrpc.HandlerFunc(func(ctx context.Context, _ *jsonrpc.Request) jsonrpc.Response {
				return jsonrpc.Response{Result: []byte(wait(ctx))}
			}))
			if _, body, err := try(t, c.verb, srv.URL(), strings.NewReader(call)); read.Load() && !strings.Contains(body, `"late"`) {
				t.Errorf("%+v: %q %v, want late", c, body, err)
			}
			return read.Load()
		}) {
			t.Errorf("%+v: no request is read in time", c)
		}
	}
}

func TestPeerGoesAway(t *testing.T) {
	t.Parallel()
	entered, left := make(chan struct{}), make(chan struct{})
	srv := startHTTP(t, jsonrpc.Config{}, jsonrpc.HandlerFunc(
		func(ctx context.Context, _ *jsonrpc.Request) jsonrpc.Response {
			close(entered)
			<-ctx.Done()
			close(left)
			return jsonrpc.Response{}
		}))
	conn := dial(t, srv)
	if _, err := fmt.Fprintf(conn, "%s%d\r\n\r\n%s", head, len(call), call); err != nil {
		t.Fatal(err)
	}
	<-entered
	_ = conn.Close()
	<-left
}

func TestURL(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"127.0.0.1:0", "localhost:0", ":0", "0.0.0.0:0"} {
		srv, err := jsonrpc.Listen(t.Context(), addr, jsonrpc.Config{Path: "/x"})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := srv.URL(), fmt.Sprintf("http://127.0.0.1:%d/x", srv.Addr().(*net.TCPAddr).Port); got != want {
			t.Errorf("listening on %s: URL %s, want %s", addr, got, want)
		}
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
		if err := srv.Serve(t.Context(), echo); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Serve after Close = %v, want net.ErrClosed", err)
		}
	}
}

// TestListenRefuses: what a server cannot do is an error before it begins.
func TestListenRefuses(t *testing.T) {
	t.Parallel()
	certFile, keyFile, _ := certificate(t)
	taken := startHTTP(t, jsonrpc.Config{}, echo).Addr().String()
	for _, c := range []struct {
		addr, want string
		cfg        jsonrpc.Config
	}{
		{taken, taken, jsonrpc.Config{}},
		{"127.0.0.1:0", "TLS", jsonrpc.Config{TLSCert: certFile}},
		{"127.0.0.1:0", "TLS", jsonrpc.Config{TLSKey: keyFile}},
		{"127.0.0.1:0", "TLS", jsonrpc.Config{TLSCert: certFile, TLSKey: certFile}},
		{"127.0.0.1:0", "TLS", jsonrpc.Config{TLSCert: "no such file", TLSKey: keyFile}},
		{"127.0.0.1:0", "origin", jsonrpc.Config{Callers: jsonrpc.Callers{Origins: []string{"example.org"}}}},
		{"127.0.0.1:0", "origin", jsonrpc.Config{Callers: jsonrpc.Callers{Origins: []string{"https://a.example/path"}}}},
		{"127.0.0.1:0", "host", jsonrpc.Config{Callers: jsonrpc.Callers{Hosts: []string{"[a"}}}},
	} {
		srv, err := jsonrpc.Listen(t.Context(), c.addr, c.cfg)
		if err == nil {
			_ = srv.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %+v: %v, want %q", c.addr, c.cfg, err, c.want)
		}
	}
}

// TestConnectBeforeServe: who comes between Listen and Serve waits.
func TestConnectBeforeServe(t *testing.T) {
	t.Parallel()
	for srv, c := range listeners(t, jsonrpc.Config{}) {
		answered := make(chan error, 1)
		go func() {
			_, err := c.Call(t.Context(), srv.URL(), jsonrpc.Message{Method: "early"})
			answered <- err
		}()
		serve(t, srv, echo)
		if err := <-answered; err != nil {
			t.Error(err)
		}
	}
}

// TestServeEnded: a server that is asked to end before it begins ends.
func TestServeEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for srv := range listeners(t, jsonrpc.Config{}) {
		if err := srv.Serve(ctx, echo); err != nil {
			t.Errorf("Serve = %v, want nil", err)
		}
	}
}

// certificate writes a certificate for 127.0.0.1 and returns the paths and a pool that trusts it.
func certificate(t *testing.T) (certFile, keyFile string, trust *x509.CertPool) {
	t.Helper()
	srv := httptest.NewTLSServer(nil)
	defer srv.Close()
	key, err := x509.MarshalPKCS8PrivateKey(srv.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	trust = x509.NewCertPool()
	trust.AddCert(srv.Certificate())
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", srv.Certificate().Raw), write("key.pem", "PRIVATE KEY", key), trust
}

func TestTLS(t *testing.T) {
	t.Parallel()
	certFile, keyFile, trust := certificate(t)
	var log logBuffer
	srv := startHTTP(t, jsonrpc.Config{TLSCert: certFile, TLSKey: keyFile, Logger: log.logger()}, echo)
	if !strings.HasPrefix(srv.URL(), "https://127.0.0.1:") {
		t.Errorf("URL = %s", srv.URL())
	}
	friend := jsonrpc.NewClient(jsonrpc.OverTLS(&tls.Config{RootCAs: trust}), jsonrpc.ClientConfig{})
	defer friend.Close()
	for range 3 {
		if _, err := friend.Call(t.Context(), srv.URL(), jsonrpc.Message{Method: "m"}); err != nil {
			t.Fatal(err)
		}
	}
	stranger := newClient(t, jsonrpc.ClientConfig{})
	_, err := stranger.Call(t.Context(), srv.URL(), jsonrpc.Message{Method: "m"})
	if kindOf(err) != jsonrpc.ErrConnect || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("without trust: %v, want ErrConnect that names the certificate", err)
	}
	if !eventually(func() bool { return strings.Contains(log.String(), "TLS handshake error") }) {
		t.Errorf("the log does not tell of the failed handshake: %s", log.String())
	}
}
