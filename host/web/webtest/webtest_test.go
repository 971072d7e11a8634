package webtest

import (
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"testing"
)

func serve(t *testing.T, body string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// A silent console, and silence towards other servers, mean something.
func TestConsoleAndRequestsAreHeard(t *testing.T) {
	t.Parallel()
	b := Start(t)
	elsewhere := serve(t, "elsewhere")
	b.Open(serve(t, `<!DOCTYPE html><title>loud</title><body><script>console.warn("here I am"); new Image().src = "`+elsewhere+`/picture";</script></body>`))
	b.Allow("here I am")
	b.Until(`document.images.length === 0 && performance.getEntriesByType("resource").length > 0`)
	b.mu.Lock()
	defer b.mu.Unlock()
	at := slices.Index(b.loaded, elsewhere+"/picture")
	if len(b.console) != 1 || at < 0 {
		t.Fatalf("the console says %q; the page asked for %q", b.console, b.loaded)
	}
	b.loaded = slices.Delete(b.loaded, at, at+1)
}

// axe-core objects to a page with obstacles.
func TestObstaclesAreFound(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(os.Getenv("AXE_CORE"))
	if err != nil {
		t.Skip("no axe-core here: AXE_CORE is to name its axe.min.js")
	}
	b := Start(t)
	b.Open(serve(t, `<!DOCTYPE html><html lang="en"><title>obstacles</title><body><main><h1 style="color:#bbb">Pale</h1><input></main></body></html>`))
	if found := b.obstacles(t, string(source)); len(found) != 2 {
		t.Errorf("axe-core objects to %q, want a contrast and a missing label", found)
	}
}
