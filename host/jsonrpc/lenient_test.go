package jsonrpc_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// TestLenient: what the standards allow a peer to send is served by a lenient server,
// and refused by name by any other.
func TestLenient(t *testing.T) {
	t.Parallel()
	const call = `{"jsonrpc":"2.0","id":1,"method":"m","params":{}}`
	zipped := new(bytes.Buffer)
	z := gzip.NewWriter(zipped)
	if _, err := io.WriteString(z, call); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		path, media, encoding, body string
		strict                      int // the status without Lenient
	}{
		"a byte order mark":     {"/mcp", "application/json", "", "\xef\xbb\xbf" + call, 400},
		"no media type":         {"/mcp", "", "", call, 415},
		"JSON by its suffix":    {"/mcp", "application/vnd.league+json; charset=UTF-8", "", call, 415},
		"a compressed body":     {"/mcp", "application/json", "gzip", zipped.String(), 415},
		"a slash after":         {"/mcp/", "application/json", "", call, 404},
		"as the protocol wants": {"/mcp", "application/json", "", call, 200},
	} {
		for _, lenient := range []bool{true, false} {
			srv := startHTTP(t, jsonrpc.Config{Lenient: lenient}, echo)
			req, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+srv.Addr().String()+tt.path, bytes.NewReader([]byte(tt.body)))
			if err != nil {
				t.Fatal(err)
			}
			for header, value := range map[string]string{"Content-Type": tt.media, "Content-Encoding": tt.encoding} {
				if value != "" {
					req.Header.Set(header, value)
				}
			}
			res, err := http.DefaultTransport.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(res.Body)
			res.Body.Close()
			want := 200
			if !lenient {
				want = tt.strict
			}
			if err != nil || res.StatusCode != want {
				t.Errorf("%s, lenient %v: %d %s %v, want %d", name, lenient, res.StatusCode, answer, err, want)
			}
		}
	}
	srv := startHTTP(t, jsonrpc.Config{Lenient: true, MaxBody: 1000}, echo)
	bomb := new(bytes.Buffer)
	z = gzip.NewWriter(bomb)
	if _, err := z.Write(make([]byte, 100_000)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), "POST", srv.URL(), bomb)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Content-Encoding", "gzip")
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a body that is too long once it is unpacked: %d", res.StatusCode)
	}
}

// TestAnswersInAnyForm: an answer is read with a byte order mark, compressed though that
// was not asked for, and as a stream of events in any case of its name.
func TestAnswersInAnyForm(t *testing.T) {
	t.Parallel()
	const answer = `{"jsonrpc":"2.0","id":1,"result":{"ok":true}}`
	for name, write := range map[string]func(http.ResponseWriter){
		"a byte order mark": func(w http.ResponseWriter) { _, _ = io.WriteString(w, "\xef\xbb\xbf"+answer) },
		"compressed": func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, answer)
			_ = z.Close()
		},
		"events": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "Text/Event-Stream")
			_, _ = io.WriteString(w, "data: "+answer+"\n\n")
		},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { write(w) }))
		got, err := newClient(t, jsonrpc.ClientConfig{}).Call(t.Context(), srv.URL+"/mcp", jsonrpc.Message{Method: "m", ID: []byte("1")})
		if err != nil || string(got.Result) != `{"ok":true}` {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		srv.Close()
	}
}
