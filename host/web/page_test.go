package web_test

import (
	"bufio"
	"context"
	"fmt"
	"html/template"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/web"
)

const twoParts = `{{define "page"}}<html><body data-version="{{.Version}}">{{if .Wall}}far {{end}}<p id="name">{{.Parts.name}}</p><p id="count">{{.Parts.count}}</p></body></html>{{end}}
{{define "name"}}{{.Name}}{{end}}
{{define "count"}}{{.Count}}{{end}}`

type counter struct {
	Name  string
	Count int64
}

// site is a page of two parts, of which one counts.
type site struct {
	*httptest.Server
	page  *web.Page
	count atomic.Int64
	end   context.CancelFunc // of all requests, as when a server drains
}

func newSite(t *testing.T, change func(*web.Config)) *site {
	t.Helper()
	s := new(site)
	cfg := web.Config{
		Templates: template.Must(template.New("test").Parse(twoParts)), Parts: []string{"name", "count"}, Interval: time.Millisecond,
		Data:   func() any { return counter{`<script>alert("1")</script>`, s.count.Load()} },
		Assets: map[string][]byte{"style.css": []byte("body{}")},
	}
	if change != nil {
		change(&cfg)
	}
	s.page = web.New(cfg)
	ctx, end := context.WithCancel(t.Context())
	s.end = end
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		own, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(ctx, cancel)()
		s.page.ServeHTTP(w, r.WithContext(own))
	}))
	t.Cleanup(s.Close)
	return s
}

// get returns the status and the body of a path.
func (s *site) get(t *testing.T, path string) (*http.Response, string) {
	t.Helper()
	resp, err := s.Client().Get(s.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

// listen returns the lines of the events after a version.
func (s *site) listen(t *testing.T, ctx context.Context, last string) *bufio.Scanner {
	t.Helper()
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/events", nil)
	req.Header.Set("Last-Event-ID", last)
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s, %s", resp.Status, resp.Header.Get("Content-Type"))
	}
	return bufio.NewScanner(resp.Body)
}

// until reads lines until one contains what is sought, and returns it and the id of its event.
func until(t *testing.T, lines *bufio.Scanner, sought string) (line, id string) {
	t.Helper()
	for lines.Scan() {
		if got, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			id = got
		}
		if strings.Contains(lines.Text(), sought) {
			return lines.Text(), id
		}
	}
	t.Fatalf("the events end before %q: %v", sought, lines.Err())
	return "", ""
}

var version = regexp.MustCompile(`data-version="([^"]*)"`)

// The page is complete without any script, escapes what it shows, and says that it
// runs no other code than its own.
func TestDocument(t *testing.T) {
	s := newSite(t, nil)
	resp, body := s.get(t, "/")
	if !strings.Contains(body, `<p id="name">&lt;script&gt;`) || !strings.Contains(body, `<p id="count">0</p>`) || strings.Contains(body, "far") {
		t.Errorf("the page is %s", body)
	}
	policy := resp.Header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %q", policy)
	}
	if _, body := s.get(t, "/?wall"); !strings.Contains(body, "far") {
		t.Errorf("the page from afar is %s", body)
	}
	for path, want := range map[string]string{"/assets/live.js": "EventSource", "/assets/style.css": "body{}"} {
		if _, body := s.get(t, path); !strings.Contains(body, want) {
			t.Errorf("%s is %s", path, body)
		}
	}
	if resp, _ := s.get(t, "/elsewhere"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("/elsewhere: %s", resp.Status)
	}
}

// A spectator gets the parts that change, and only those; one that comes back with the
// id of its last event gets what it has missed; the page of another process is loaded
// again. When the server ends, each gets the last state before it.
func TestEventsContinue(t *testing.T) {
	s := newSite(t, nil)
	_, body := s.get(t, "/")
	first := version.FindStringSubmatch(body)[1]
	ctx, leave := context.WithCancel(t.Context())
	lines := s.listen(t, ctx, first)
	s.count.Store(1)
	s.page.Touch()
	line, last := until(t, lines, "data: ")
	if !strings.Contains(line, `"part":"count","html":"1"`) {
		t.Fatalf("the first event is %s", line)
	}
	leave()
	for n := range int64(5) {
		s.count.Store(2 + n)
		s.page.Touch()
	}
	lines = s.listen(t, t.Context(), last)
	if line, _ = until(t, lines, "data: "); !strings.Contains(line, `"html":"6"`) {
		t.Errorf("after the pause comes %s", line)
	}
	until(t, s.listen(t, t.Context(), "OTHERONE-3"), "event: reload")
	s.count.Store(7)
	s.page.Touch()
	s.end()
	until(t, lines, `"html":"7"`)
	until(t, lines, "event: end")
}

// Whoever changes something waits for no spectator. A spectator beyond the limit is
// refused, and one that reads nothing loses its place.
func TestSpectatorThatReadsNothing(t *testing.T) {
	var big atomic.Int64
	s := newSite(t, func(c *web.Config) {
		c.Spectators, c.Patience = 1, 50*time.Millisecond
		c.Data = func() any { return counter{strings.Repeat(fmt.Sprint(big.Load()%10), 8<<20), big.Load()} }
	})
	_, body := s.get(t, "/")
	since := version.FindStringSubmatch(body)[1]
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /events?since=%s HTTP/1.1\r\nHost: here\r\n\r\n", since)
	if _, err := conn.Read(make([]byte, 1)); err != nil { // it has the only place
		t.Fatal(err)
	}
	if resp, _ := s.get(t, "/events?since="+since); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a second spectator gets %s", resp.Status)
	}
	big.Add(1)
	for range 1000 {
		s.page.Touch() // returns though nobody reads
	}
	for t.Context().Err() == nil {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/events?since=other-1", nil)
		resp, err := s.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return
		}
	}
}

// One of the spectators sees to the rendering. When it leaves, another one does: the
// others get what comes after.
func TestWhoeverLeavesTheOthersAreServed(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	_, body := s.get(t, "/")
	since := version.FindStringSubmatch(body)[1]
	const all = 4
	var spectators [all]*bufio.Scanner
	var leave [all]context.CancelFunc
	for i := range all {
		var ctx context.Context
		ctx, leave[i] = context.WithCancel(t.Context())
		defer leave[i]()
		spectators[i] = s.listen(t, ctx, since)
	}
	for gone := range all {
		s.count.Store(int64(100 + gone))
		s.page.Touch()
		for i := gone; i < all; i++ {
			for shown := ""; !strings.Contains(shown, fmt.Sprint(100+gone)); {
				shown, _ = until(t, spectators[i], `"count"`)
			}
		}
		leave[gone]()
	}
}
