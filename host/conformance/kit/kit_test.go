package kit_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// ample is more time than a test needs, also on a busy machine.
const ample = time.Minute

func listen(t *testing.T, answer func(*kit.Message) kit.Response) *kit.Endpoint {
	t.Helper()
	e, err := kit.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	e.Handle(answer)
	return e
}

func session(t *testing.T, url string, selected ...string) *kit.Session {
	t.Helper()
	return kit.NewSession(kit.Config{URL: url, Timeout: ample, Wait: ample, Say: func(string) {}, Listening: func(string) {}, Only: selected})
}

// noPeers are the peers of checks that need none.
type noPeers struct{}

func (noPeers) Name() string { return "" }
func (noPeers) Play(*kit.T)  {}
func (noPeers) Close() error { return nil }

func request() *protocol.LeagueQuery {
	h := protocol.NewHeader(protocol.TypeLeagueQuery, "player:P01", protocol.Timestamp(time.Now()), "c1")
	h.AuthToken = "secret"
	return &protocol.LeagueQuery{Header: h, QueryType: protocol.QueryStatus}
}

// TestRun runs checks that end in every way.
func TestRun(t *testing.T) {
	t.Parallel()
	e := listen(t, func(*kit.Message) kit.Response { return kit.Response{Body: []byte(`{"result":{}}`)} })
	s := session(t, e.URL, "a.chosen")
	if !s.Selected("a.chosen") || s.Selected("a.other") {
		t.Error("the wrong checks are selected")
	}
	run := func(id string, check func(t *kit.T), needs ...string) kit.Check {
		return kit.Check{ID: id, Level: kit.Must, Rule: "A rule.", Advice: "Do it.", Run: check, Needs: needs}
	}
	var outcomes []kit.Outcome
	for _, c := range []kit.Check{
		run("a.passed", func(t *kit.T) { t.Note("took %d", 1) }),
		run("a.failed", func(t *kit.T) {
			t.Post(t.Session.URL, []byte("one"))
			wait := t.Go(func(t *kit.T) {
				t.Post(t.Session.URL, []byte("two\xff"))
				t.Fail("it is wrong")
			})
			wait()
		}),
		run("a.skipped", func(t *kit.T) {
			if why, ended := t.Catch(func() { t.Fail("inner") }); why != "inner" || !ended {
				t.Fail("caught %q, %t", why, ended)
			}
			t.Skip("the league has no referee")
		}),
		run("a.needs", func(*kit.T) {}, "a.failed"),
		run("a.needs.skipped", func(*kit.T) {}, "a.passed", "a.skipped"),
	} {
		outcomes = append(outcomes, s.Run(t.Context(), noPeers{}, c, outcomes))
	}
	want := []kit.Outcome{
		{Status: kit.Passed, Detail: "took 1"},
		{Status: kit.Failed, Detail: "it is wrong", Advice: "Do it."},
		{Status: kit.Skipped, Detail: "the league has no referee"},
		{Status: kit.Skipped, Detail: "it needs a.failed, which failed"},
		{Status: kit.Skipped, Detail: "it needs a.skipped, which could not be tested"},
	}
	for i, o := range outcomes {
		if o.Status != want[i].Status || o.Detail != want[i].Detail || o.Advice != want[i].Advice || o.Rule != "A rule." {
			t.Errorf("%s: %+v, want %+v", o.ID, o, want[i])
		}
	}
	sent := outcomes[1].Evidence
	if len(sent) != 2 || sent[0].Request != "one" || sent[1].Request != `two\xff` || sent[1].Answer != `{"result":{}}` || sent[1].Status != http.StatusOK {
		t.Errorf("the evidence is %+v", sent)
	}
}

// TestEarlyMessage: a message that comes before there is a function to answer it waits for that.
func TestEarlyMessage(t *testing.T) {
	t.Parallel()
	for range 100 { // an endpoint that does not wait fails some of them only
		e, err := kit.Listen(t.Context(), "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		u, _ := url.Parse(e.URL)
		conn, err := net.Dial("tcp", u.Host)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.WriteString(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}")
		e.Handle(func(*kit.Message) kit.Response { return kit.Response{Body: []byte("early")} })
		answer, bad := io.ReadAll(conn)
		if err = errors.Join(err, bad, conn.Close(), e.Close()); err != nil || !strings.HasSuffix(string(answer), "early") {
			t.Fatalf("the answer is %q, %v", answer, err)
		}
	}
	unused, err := kit.Listen(t.Context(), "127.0.0.1:0")
	if err = errors.Join(err, unused.Close()); err != nil {
		t.Errorf("an endpoint that nobody needed: %v", err)
	}
}

// TestUnreachable loses the agent during a check.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	e, err := kit.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := session(t, e.URL)
	if err := s.AwaitAgent(t.Context()); err != nil {
		t.Error(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	check := kit.Check{ID: "a.first", Run: func(t *kit.T) { t.Accepted(t.Send(kit.Request{Message: request()}), "") }}
	if o := s.Run(t.Context(), noPeers{}, check, nil); o.Status != kit.Failed {
		t.Errorf("%+v", o)
	}
	if o := s.Run(t.Context(), noPeers{}, check, nil); o.Status != kit.Skipped || !strings.Contains(o.Detail, "since a.first") {
		t.Errorf("%+v", o)
	}
	s.Wait = 0
	if err := s.AwaitAgent(t.Context()); err == nil || !strings.Contains(err.Error(), "no agent is listening at "+e.URL) {
		t.Errorf("the error is %v", err)
	}
	if err := kit.Reach(t.Context(), "ftp://x"); err == nil {
		t.Errorf("Reach returns %v for a URL that is not an agent's", err)
	}
}

// TestClosedConnection sends to a server that says nothing about closing its
// connection after an error: the next request is answered on a new one.
func TestClosedConnection(t *testing.T) {
	t.Parallel()
	seen := sync.Map{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, again := seen.LoadOrStore(r.RemoteAddr, true); again {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(http.StatusInternalServerError)
	}))
	defer srv.Close()
	s := session(t, srv.URL+"/mcp")
	check := kit.Check{ID: "a.closed", Run: func(t *kit.T) {
		for range 3 {
			if r := t.Post(t.Session.URL, []byte(`{}`)); r.Err != nil || r.Status != http.StatusInternalServerError {
				t.Fail("%+v", r)
			}
		}
	}}
	if o := s.Run(t.Context(), noPeers{}, check, nil); o.Status != kit.Passed {
		t.Error(o.Detail)
	}
}

// TestCodesWithoutPlace: an attack for which a dialect has no place does not end the check of codes.
func TestCodesWithoutPlace(t *testing.T) {
	t.Parallel()
	e := listen(t, func(in *kit.Message) kit.Response {
		code := map[bool]int{true: -32600, false: -32700}[json.Valid(in.Raw)]
		return kit.Response{Body: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":"no"}}`, code)}
	})
	s := session(t, e.URL)
	s.Peer = wire.NewPeer(e.URL, dialect.PlainTool)
	sample := func(*kit.T) kit.Request { return kit.Request{Message: request()} }
	check := kit.Check{ID: "a.codes", Run: kit.AttackTests(kit.Attacks("notify"), sample)["hostile.codes"]}
	if o := s.Run(t.Context(), noPeers{}, check, nil); o.Status != kit.Passed {
		t.Errorf("%+v", o)
	}
}

// TestControl skips what a refusal in the same words tells nothing about.
func TestControl(t *testing.T) {
	t.Parallel()
	answer := func(text string) kit.Response {
		return kit.Response{Status: http.StatusBadRequest, Body: fmt.Appendf(nil, `{"detail":%q}`, text)}
	}
	e := listen(t, func(in *kit.Message) kit.Response {
		if in.Fields.Text("protocol") != "league.v2" {
			return answer("another protocol")
		}
		return answer("Unknown message type")
	})
	s := session(t, e.URL)
	sample := kit.AnyOf(func(*kit.T) kit.Request { return kit.Request{Message: request()} })
	for name, want := range map[string]kit.Status{"protocol": kit.Passed, "sender": kit.Skipped} {
		check := kit.Check{ID: "a." + name, Run: func(t *kit.T) {
			r := sample(t)
			r.Edit = kit.Set(name, "x")
			t.Refused(t.Send(r))
		}}
		if o := s.Run(t.Context(), noPeers{}, check, nil); o.Status != want {
			t.Errorf("%s: %+v", name, o)
		}
	}
	form := kit.Check{ID: "manager.hostile.form", Run: kit.AttackTests(nil, sample)["hostile.form"]}
	if o := s.Run(t.Context(), noPeers{}, form, nil); o.Status != kit.Failed || len(o.Evidence) != 1 {
		t.Errorf("%+v", o)
	}
}
