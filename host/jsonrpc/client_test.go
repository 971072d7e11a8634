package jsonrpc_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

func kindOf(err error) error {
	var failed *jsonrpc.CallError
	if errors.As(err, &failed) {
		return failed.Kind
	}
	return nil
}

// scripted is a peer that reads one HTTP request from each connection and then
// does as it is told.
func scripted(t *testing.T, act func(conn net.Conn, req *http.Request)) (url string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				req, err := http.ReadRequest(bufio.NewReader(conn))
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, req.Body)
				act(conn, req)
			})
		}
	})
	t.Cleanup(func() { _ = ln.Close(); wg.Wait() })
	return "http://" + ln.Addr().String() + "/mcp"
}

// says is a peer that answers with text and hangs up.
func says(t *testing.T, text string) string {
	return scripted(t, func(conn net.Conn, _ *http.Request) { _, _ = io.WriteString(conn, text) })
}

func answers(t *testing.T, status int, body string) string {
	return says(t, fmt.Sprintf("HTTP/1.1 %d X\r\nRetry-After: 7\r\nLocation: http://elsewhere/\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body))
}

func newClient(t *testing.T, cfg jsonrpc.ClientConfig) *jsonrpc.Client {
	t.Helper()
	c := jsonrpc.NewClient(jsonrpc.OverHTTP(), cfg)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestAnswers checks the classification of everything that is an answer.
func TestAnswers(t *testing.T) {
	t.Parallel()
	v := func(s string) []byte { return []byte(s) }
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   jsonrpc.Answer // without Status and Raw
	}{
		{"result", 200, `{"jsonrpc":"2.0","id":"ID","result":{"a":1}}`, jsonrpc.Answer{Kind: jsonrpc.AnswerResult, Result: v(`{"a":1}`)}},
		{"result, id escaped otherwise", 200, `{"jsonrpc":"2.0","id":"\u0049D","result":1}`, jsonrpc.Answer{Kind: jsonrpc.AnswerResult, Result: v(`1`)}},
		{"result null", 200, `{"jsonrpc":"2.0","id":"ID","result":null}`, jsonrpc.Answer{Kind: jsonrpc.AnswerResult, Result: v(`null`)}},
		{"result string", 200, `{"jsonrpc":"2.0","id":"ID","result":"{}"}`, jsonrpc.Answer{Kind: jsonrpc.AnswerResult, Result: v(`"{}"`)}},
		{"error null beside a result", 200, `{"jsonrpc":"2.0","id":"ID","error":null,"result":1}`, jsonrpc.Answer{Kind: jsonrpc.AnswerResult, Result: v(`1`)}},
		{"members beside a result", 200, `{"jsonrpc":"2.0","id":"ID","result":1,"message_type":"X"}`, jsonrpc.Answer{Kind: jsonrpc.AnswerResult, Result: v(`1`)}},
		{"another id", 200, `{"jsonrpc":"2.0","id":1,"result":1}`, jsonrpc.Answer{Kind: jsonrpc.AnswerResult, Result: v(`1`)}},
		{"no id", 200, `{"jsonrpc":"2.0","result":1}`, jsonrpc.Answer{Kind: jsonrpc.AnswerResult, Result: v(`1`)}},
		{"error", 200, `{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no","data":{"x":1}}}`, jsonrpc.Answer{Kind: jsonrpc.AnswerError}},
		{"error with status", 401, `{"jsonrpc":"2.0","id":"ID","error":{"code":12,"message":"no"}}`, jsonrpc.Answer{Kind: jsonrpc.AnswerError}},
		{"error beside a result", 500, `{"jsonrpc":"2.0","id":"ID","result":{},"error":{"code":1.2e1}}`, jsonrpc.Answer{Kind: jsonrpc.AnswerError}},
		{"error is a string", 200, `{"jsonrpc":"2.0","id":"ID","error":"bad \u0074oken"}`, jsonrpc.Answer{Kind: jsonrpc.AnswerError}},
		{"error is a number", 200, `{"jsonrpc":"2.0","id":"ID","error":5}`, jsonrpc.Answer{Kind: jsonrpc.AnswerError}},
		{"a request", 200, `{"jsonrpc":"2.0","method":"game_join_ack","params":{"accept":true},"id":9}`, jsonrpc.Answer{Kind: jsonrpc.AnswerRequest}},
		{"bare", 200, `{"message_type":"GAME_JOIN_ACK","result":1,"error":2,"id":3}`, jsonrpc.Answer{Kind: jsonrpc.AnswerObject}},
		{"bare with status", 404, `{"detail":"Not Found"}`, jsonrpc.Answer{Kind: jsonrpc.AnswerObject}},
		{"JSON-RPC without anything", 200, `{"jsonrpc":"2.0","id":"ID"}`, jsonrpc.Answer{Kind: jsonrpc.AnswerObject}},
		{"empty", 200, ``, jsonrpc.Answer{Kind: jsonrpc.AnswerNone}},
		{"blank", 202, " \n", jsonrpc.Answer{Kind: jsonrpc.AnswerNone}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			client := newClient(t, jsonrpc.ClientConfig{NewID: func() string { return "ID" }})
			got, err := client.Call(t.Context(), answers(t, c.status, c.body), jsonrpc.Message{Method: "m"})
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != c.status {
				t.Errorf("status %d", got.Status)
			}
			if c.want.Kind != jsonrpc.AnswerNone && string(got.Raw) != c.body {
				t.Errorf("Raw = %s", got.Raw)
			}
			got.Status, got.Raw, got.Members = 0, nil, nil
			if diff := cmp.Diff(c.want, *got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestMessages checks what is sent.
func TestMessages(t *testing.T) {
	t.Parallel()
	got := make(chan *jsonrpc.Request, 1)
	h := jsonrpc.HandlerFunc(func(_ context.Context, req *jsonrpc.Request) jsonrpc.Response {
		got <- req
		return jsonrpc.Response{Body: []byte(`{"jsonrpc":"2.0","id":7,"result":1}`)}
	})
	srv := startHTTP(t, jsonrpc.Config{Lenient: true}, h)
	client := newClient(t, jsonrpc.ClientConfig{NewID: func() string { return `a"b` }})
	for _, c := range []struct {
		name string
		m    jsonrpc.Message
		want string
	}{
		{"call", jsonrpc.Message{Method: "m", Params: []byte(`{"a":1}`)}, `{"jsonrpc":"2.0","id":"a\"b","method":"m","params":{"a":1}}`},
		{"no params", jsonrpc.Message{Method: "m\n"}, `{"jsonrpc":"2.0","id":"a\"b","method":"m\n"}`},
		{"own id", jsonrpc.Message{Method: "m", ID: []byte(`7`)}, `{"jsonrpc":"2.0","id":7,"method":"m"}`},
		{"notification", jsonrpc.Message{Method: "m", Notify: true, ID: []byte(`7`)}, `{"jsonrpc":"2.0","method":"m"}`},
		{"body", jsonrpc.Message{Method: "ignored", Body: []byte(`{"message_type":"X"}`)}, `{"message_type":"X"}`},
		{"body and its id", jsonrpc.Message{Body: []byte(`{"id":7}`), ID: []byte(`7`)}, `{"id":7}`},
	} {
		c.m.Header = http.Header{"authorization": {"Bearer x"}}
		if _, err := client.Call(t.Context(), srv.URL(), c.m); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		req := <-got
		if string(req.Raw) != c.want {
			t.Errorf("%s: sent %s, want %s", c.name, req.Raw, c.want)
		}
		if req.Header.Get("Authorization") != "Bearer x" || req.Header.Get("Accept") != "application/json" {
			t.Errorf("%s: header %v", c.name, req.Header)
		}
	}
}

// TestKeepAlive: calls one after the other share a connection, also after
// refusals and errors.
func TestKeepAlive(t *testing.T) {
	t.Parallel()
	peers := make(map[string]int)
	srv := startHTTP(t, jsonrpc.Config{}, jsonrpc.HandlerFunc(func(_ context.Context, req *jsonrpc.Request) jsonrpc.Response {
		peers[req.RemoteAddr]++
		return jsonrpc.Response{Result: []byte(`"` + strings.Repeat("x", 70_000) + `"`)}
	}))
	client := newClient(t, jsonrpc.ClientConfig{})
	const rounds = 10
	for range rounds {
		for _, body := range []string{call, `[]`, `{`, `{"jsonrpc":"2.0","method":"n"}`} {
			if _, err := client.Call(t.Context(), srv.URL(), jsonrpc.Message{Body: []byte(body)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	// net/http gives a connection up if an answer overtakes the end of its request by
	// 50 ms, as on a busy machine. One that a refusal or an error ended would be another
	// in each round.
	if len(peers) >= rounds {
		t.Errorf("calls came from %d connections in %d rounds: %v", len(peers), rounds, peers)
	}
}

// TestNoProxy: the environment does not send calls to somebody else.
func TestNoProxy(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	srv := startHTTP(t, jsonrpc.Config{}, echo)
	// net/http never asks a proxy for loopback addresses, but for this one.
	url := strings.Replace(srv.URL(), "127.0.0.1", "0.0.0.0", 1)
	if _, err := newClient(t, jsonrpc.ClientConfig{}).Call(t.Context(), url, jsonrpc.Message{Method: "m"}); err != nil {
		t.Error(err)
	}
}
