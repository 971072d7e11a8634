package main

import (
	"crypto/x509"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/assistants"
)

// The same over HTTP, behind a token.
func TestAssistantOverHTTP(t *testing.T) {
	t.Parallel()
	const token = "0123456789abcdef"
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), program(t, dir), "mcp", "--http", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), assistants.TokenVariable+"="+token)
	cmd.Dir = dir
	url := startWeb(t, cmd)
	for _, shown := range []string{"", "Bearer wrong", "Basic " + token} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", shown)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusUnauthorized {
			t.Errorf("Authorization %q: status %d, want 401", shown, res.StatusCode)
		}
	}
	a := &assistant{t: t, program: cmd.Path, stderr: new(lockedBuffer)}
	a.connect(&mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer{token, http.DefaultTransport}}})
	list := answer[assistants.ListOutput](a, "list_strategies", map[string]any{"kind": "builtin"})
	if len(list.Strategies) < 10 || list.Strategies[0].Title == "" {
		t.Errorf("strategies: %+v", list)
	}
	run := answer[assistants.RunOutput](a, "run_experiment", map[string]any{"players": []any{knownPlayer("random", 3)}, "runs": 20})
	if run.Outcome.Leagues != 20 {
		t.Errorf("experiment: %+v", run)
	}
	stops(t, cmd)
	until(t, "the end of all processes of the server", func() bool { return !isRunning(filepath.Join(dir, "strategylab")) })
}

// bearer shows a token with every request.
type bearer struct {
	token string
	next  http.RoundTripper
}

func (b bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(req)
}

// Over HTTPS nobody on the way reads the token.
func TestAssistantOverHTTPS(t *testing.T) {
	t.Parallel()
	const token = "0123456789abcdef"
	trusted := httptest.NewTLSServer(nil) // for its certificate
	defer trusted.Close()
	pair := trusted.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, "cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})))
	write(t, dir, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})))
	cmd := commandLine(t.Context(), dir, "mcp", "--http", "127.0.0.1:0", "--tls-cert", "cert.pem", "--tls-key", "key.pem", "--token", token)
	url := startWeb(t, cmd)
	if !strings.HasPrefix(url, "https://") {
		t.Fatalf("the server is at %s", url)
	}
	a := &assistant{t: t, stderr: new(lockedBuffer)}
	a.connect(&mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer{token, trusted.Client().Transport}}})
	if list := answer[assistants.ListOutput](a, "list_strategies", nil); len(list.Strategies) == 0 {
		t.Error("nothing is listed")
	}
	stops(t, cmd)
}

// A web page cannot call the lab, an agent or what starts a league, nor can one that
// has made a name of its own lead here.
func TestWebPagesAreKeptOut(t *testing.T) {
	t.Parallel()
	allow := []string{"--allow-origin", "http://localhost:6274"}
	lab := commandLine(t.Context(), t.TempDir(), append([]string{"mcp", "--http", "127.0.0.1:0"}, allow...)...)
	knockAs(t, startWeb(t, lab))
	stops(t, lab)
	host := start(t, t.TempDir(), append([]string{"host", "--listen", "127.0.0.1:0"}, allow...)...)
	url := host.until("listening")["manager"].(string)
	knockAs(t, url)
	knockAs(t, strings.TrimSuffix(url, "/mcp")+"/start_league")
	host.signal(syscall.SIGINT)
	host.ended()
}

// knockAs sends a request as pages and other programs would.
func knockAs(t *testing.T, url string) {
	t.Helper()
	for _, from := range []struct {
		origin, host string
		foreign      bool
	}{
		{"", "", false}, {"http://localhost:6274", "", false},
		{"https://evil.example", "", true}, {"http://evil.example", "evil.example", true}, {"", "evil.example", true},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if from.origin != "" {
			req.Header.Set("Origin", from.origin)
		}
		req.Host = from.host
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if kept := res.StatusCode == http.StatusForbidden && strings.Contains(string(body), "--allow-"); err != nil || kept != from.foreign {
			t.Errorf("%s, origin %q, host %q: %d %s", url, from.origin, from.host, res.StatusCode, body)
		}
	}
}
