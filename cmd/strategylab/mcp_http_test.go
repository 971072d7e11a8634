package main

import (
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/assistants"
)

// startWeb starts a server over HTTP and returns its URL.
func startWeb(t *testing.T, dir string, args ...string) (p *process, url string) {
	t.Helper()
	cmd := own(t, dir, append([]string{"mcp", "--http", "127.0.0.1:0"}, args...)...)
	cmd.Env = append(os.Environ(), "STRATEGYLAB_MCP_TOKEN="+webToken)
	p = begin(t, cmd)
	return p, p.err.until(`the lab listens at (\S+)\n`)[1]
}

const webToken = "0123456789abcdef"

// The same over HTTPS, behind a token.
func TestAssistantOverHTTPS(t *testing.T) {
	t.Parallel()
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
	p, url := startWeb(t, dir, "--tls-cert", "cert.pem", "--tls-key", "key.pem")
	if !strings.HasPrefix(url, "https://") {
		t.Fatalf("the server is at %s", url)
	}
	for _, shown := range []string{"", "Bearer wrong", "Basic " + webToken} {
		client := http.Client{Transport: bearer{shown, trusted.Client().Transport}}
		res, err := client.Post(url, "application/json", strings.NewReader(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusUnauthorized {
			t.Errorf("Authorization %q: status %d, want 401", shown, res.StatusCode)
		}
	}
	a := &assistant{t: t, program: p.Path, stderr: &p.err.lockedBuffer}
	a.connect(&mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer{"Bearer " + webToken, trusted.Client().Transport}}})
	if list := answer[assistants.ListOutput](a, "list_strategies", map[string]any{"kind": "builtin"}); len(list.Strategies) < 10 || list.Strategies[0].Title == "" {
		t.Errorf("strategies: %+v", list)
	}
	if run := answer[assistants.RunOutput](a, "run_experiment", map[string]any{"players": []any{knownPlayer("random", 3)}, "runs": 20}); run.Outcome.Leagues != 20 {
		t.Errorf("experiment: %+v", run)
	}
	p.interrupt(exitOK)
	vanishes(t, p.Path)
}

// bearer shows an authorization with every request.
type bearer struct {
	shown string
	next  http.RoundTripper
}

func (b bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", b.shown)
	return b.next.RoundTrip(req)
}
