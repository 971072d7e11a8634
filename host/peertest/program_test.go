package peertest

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// program is a server and a client in one style. Its handler answers messages
// by type.
type program struct {
	t      testing.TB
	style  *style
	sender string
	url    string
	world  *world // nil: the machine's own network
	http   http.Client
	handle func(t string, message object) object

	one sync.Mutex // held by a program that does one thing at a time

	mu    sync.Mutex
	paths map[string]func() reply // taken besides its own
	seen  []string                // what came, by type, for failures
	ids   int
}

// launchIn starts a program on a port of loopback, in the network of a league if
// there is one.
func launchIn(t testing.TB, w *world, port int, s *style, sender string, handle func(p *program, t string, message object) object) *program {
	t.Helper()
	p := &program{t: t, world: w, style: s, sender: sender, http: http.Client{Timeout: time.Minute}}
	p.handle = func(kind string, message object) object { return handle(p, kind, message) }
	addr, listen := fmt.Sprintf("127.0.0.1:%d", port), func(addr string) (net.Listener, error) { return net.Listen("tcp", addr) }
	if w != nil {
		listen, p.http = w.listen, *w.http
	}
	ln, err := listen(addr)
	if err != nil {
		t.Fatal(err)
	}
	p.url = fmt.Sprintf("http://%s%s", ln.Addr(), cmp.Or(s.path, "/mcp"))
	server := &http.Server{Handler: http.HandlerFunc(p.serve)}
	server.SetKeepAlivesEnabled(!s.closes)
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(ln) })
	t.Cleanup(func() {
		_ = server.Close()
		serving.Wait()
		p.http.CloseIdleConnections()
	})
	return p
}

func (p *program) serve(w http.ResponseWriter, r *http.Request) {
	raw := received(r.Header, r.Body)
	if p.world != nil {
		p.world.record.add(p.url, r, raw)
	}
	if p.style.single {
		p.one.Lock()
		defer p.one.Unlock()
	}
	var body object
	p.mu.Lock()
	take := p.paths[r.URL.Path]
	p.mu.Unlock()
	if take != nil && r.Method == http.MethodPost {
		take().write(w)
		return
	}
	if got, elsewhere := p.style.astray(r); elsewhere {
		got.write(w)
		return
	}
	if json.Unmarshal(raw, &body) != nil {
		http.Error(w, "bad JSON", http.StatusBadRequest)
		return
	}
	if got, is := p.style.toolsList(body); is {
		got.write(w)
		return
	}
	var reply any
	t, message, refusal := p.style.open(body)
	if wrong := p.style.wrongID(body); wrong.body != nil {
		wrong.write(w)
		return
	}
	switch {
	case refusal != nil:
		p.style.refuse(body, refusal).write(w)
		return
	case p.style.wantsSender && t != "LEAGUE_REGISTER_REQUEST" && t != "START_LEAGUE" && t != "REFEREE_REGISTER_REQUEST" &&
		(text(message, "sender") != "league_manager:LM01" && text(message, "sender") != "referee:REF01" || text(message, "auth_token") == ""):
		reply = object{"jsonrpc": "2.0", "error": object{"code": -32000, "message": "unknown sender " + text(message, "sender")}, "id": body["id"]}
	default:
		p.mu.Lock()
		p.seen = append(p.seen, t)
		p.mu.Unlock()
		answer := p.handle(t, message)
		if status, ok := answer["_status"].(int); ok {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(answer["_body"])
			return
		}
		if e, ok := answer["_error"]; ok {
			reply = object{"jsonrpc": "2.0", "error": e, "id": body["id"]}
			break
		}
		for _, name := range []string{"conversation_id"} {
			if v, there := message[name]; there && answer[name] == nil {
				answer[name] = v
			}
		}
		reply = p.style.answer(answer, body["id"])
	}
	w.Header().Set("Content-Type", "application/json")
	sent, _ := json.Marshal(reply)
	_, _ = w.Write(p.style.dressed(w.Header(), sent))
}

// dressed returns a body as the program sends it, with what belongs into the header.
func (s *style) dressed(h http.Header, body []byte) []byte {
	switch s.habit {
	case "mark":
		return append([]byte("\xef\xbb\xbf"), body...)
	case "no media":
		h.Del("Content-Type")
	case "zip":
		h.Set("Content-Encoding", "gzip")
		var zipped bytes.Buffer
		z := gzip.NewWriter(&zipped)
		_, _ = z.Write(body)
		_ = z.Close()
		return zipped.Bytes()
	}
	return body
}

// received reads a body that a program has sent.
func received(h http.Header, r io.Reader) []byte {
	if h.Get("Content-Encoding") == "gzip" {
		if z, err := gzip.NewReader(r); err == nil {
			r = z
		}
	}
	body, _ := io.ReadAll(r)
	return bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
}

// take answers a path besides the program's own. Requests may have come before.
func (p *program) take(path string, answer func() reply) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.paths = map[string]func() reply{path: answer}
}

// signAs changes the sender of the program's messages.
func (p *program) signAs(sender string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sender = sender
}

// header is what the program puts into all its messages.
func (p *program) header(t string) object {
	layout := p.style.timestamp
	if layout == "" {
		layout = "2006-01-02T15:04:05Z"
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return object{
		"protocol": "league.v2", "message_type": t, "sender": p.sender,
		"timestamp": time.Now().UTC().Format(layout),
	}
}

// call sends a message and returns the answer as the program reads it; nil if
// it cannot.
func (p *program) call(ctx context.Context, url, t string, fields object) object {
	message := p.header(t)
	for k, v := range fields {
		message[k] = v
	}
	p.mu.Lock()
	p.ids++
	var id any = fmt.Sprintf("0b0e3f64-0000-4000-8000-%012d", p.ids)
	if p.style.ids == "int" {
		id = p.ids
	}
	p.mu.Unlock()
	return p.style.read(p.post(ctx, url, p.style.wrap(t, message, id)))
}

// post posts JSON and returns the JSON object that comes back.
func (p *program) post(ctx context.Context, url string, body any) object {
	raw, err := json.Marshal(body)
	if err != nil {
		p.t.Error(err)
		return nil
	}
	if p.style.habit == "slash" && !strings.HasSuffix(url, "/") {
		url += "/"
	}
	header := http.Header{"Content-Type": {"application/json"}}
	return post(ctx, &p.http, url, header, p.style.dressed(header, raw))
}

// reaches reports whether anything answers at a URL.
func (p *program) reaches(url string) bool {
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(`{"jsonrpc": "2.0", "method": "ping", "id": 1}`))
	if err != nil {
		return false
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Peer", "foreign")
	res, err := p.http.Do(req)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return true
}
