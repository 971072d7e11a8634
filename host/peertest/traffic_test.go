package peertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// A repeat of a request is none if it comes this much later.
const tooSoon = 100 * time.Millisecond

// mostRequests is how many requests one server may get in a league of ours.
const mostRequests = 600

// traffic observes what our programs send to the servers of a league.
type traffic struct {
	mu       sync.Mutex
	last     map[string]arrival // by content
	number   map[string]int     // by server
	repeats  []string           // the first few
	repeated int
	lines    []string // what arrived, shortened
	shared   bool     // several of our processes call the servers
	probing  bool     // what is sent tests a program, and is repeated for that
}

func newTraffic() *traffic {
	return &traffic{last: make(map[string]arrival), number: make(map[string]int)}
}

// share says that several processes of ours call the servers from now on.
func (r *traffic) share() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shared = true
}

// add takes note of a request.
func (r *traffic) add(server string, req *http.Request, raw []byte) {
	if req.Header.Get("X-Peer") != "" {
		return
	}
	asks := strings.Contains(string(raw), `"method":"ping"`) || strings.Contains(string(raw), `"method":"tools/list"`) || req.Method == http.MethodGet
	key := server + " " + req.Method + " " + req.URL.Path + " " + content(raw)
	r.mu.Lock()
	defer r.mu.Unlock()
	if asks && r.shared {
		return // each process asks that by itself
	}
	r.number[server]++
	now := arrival{time.Now(), sent(raw)}
	if before, ok := r.last[key]; ok && now.at.Sub(before.at) < tooSoon && now.sent.Sub(before.sent) <= time.Second {
		r.repeated++
		r.repeats = append(r.repeats[:min(len(r.repeats), 5)], fmt.Sprintf("after %v: %.300s", now.at.Sub(before.at).Round(time.Millisecond), key))
	}
	r.last[key] = now
	r.lines = append(r.lines[max(0, len(r.lines)-24):], fmt.Sprintf("%s %s %s %.260s", now.at.Format("05.000"), server, req.URL.Path, raw))
}

// arrival is when a request arrived, and when it was sent: the servers of a machine that
// was busy may get together what was sent apart.
type arrival struct{ at, sent time.Time }

// sent returns the time that a message names, in whole seconds; the zero time if it has
// none.
func sent(raw []byte) time.Time {
	var body struct{ Params struct{ Timestamp string } }
	_ = json.Unmarshal(raw, &body) // another document has none
	at, _ := time.Parse(time.RFC3339, body.Params.Timestamp)
	return at.Truncate(time.Second)
}

// content is a request without what differs in a repeat: the value of its id and
// its times. The kind of the id stays, since another kind is another attempt.
func content(raw []byte) string {
	var body object
	if json.Unmarshal(raw, &body) != nil {
		return string(raw)
	}
	if id, ok := body["id"]; ok {
		body["id"] = fmt.Sprintf("%T", id)
	}
	timeless(body)
	text, _ := json.Marshal(body)
	return string(text)
}

func timeless(v any) {
	switch v := v.(type) {
	case object:
		for name, value := range v {
			if strings.Contains(name, "timestamp") || name == "deadline" || name == "next_retry_at" {
				v[name] = "" // a message without it is another one
				continue
			}
			timeless(value)
		}
	case []any:
		for _, e := range v {
			timeless(e)
		}
	}
}

// check fails the test for repeats and for servers that got too much.
func (r *traffic) check(t testing.TB) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.probing {
		return
	}
	for _, repeat := range r.repeats {
		t.Errorf("one of %d requests that were repeated at once: %s", r.repeated, repeat)
	}
	for server, n := range r.number {
		if n > mostRequests {
			t.Errorf("%s got %d requests", server, n)
		}
	}
	if t.Failed() {
		t.Logf("the last requests of ours:\n%s", strings.Join(r.lines, "\n"))
	}
}
