package jsonrpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/rawjson"
)

// answeredBodies are seeds besides those of the refusals: every form of
// message that the package knows, in both directions.
var answeredBodies = []string{
	``, ` `, call, fence,
	`{"jsonrpc":"2.0","method":"n","params":[1,{"a":"\u0000"}]}`,
	`{"jsonrpc":"2.0","id":1e5,"method":"m","params":{}}`,
	`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"m","data":[1]}}`,
	`{"jsonrpc":"2.0","id":1,"error":"text","result":{}}`,
	`{"jsonrpc":"2.0","id":1,"error":null,"result":"{}"}`,
	`{"jsonrpc":"2.0","id":1,"error":{"code":"17","message":1,"data":null}}`,
	`{"jsonrpc":"2.0","id":9,"method":"game_join_ack","params":{"accept":true}}`,
	`{"message_type":"GAME_INVITATION","match_id":"R1M1"}`,
	`{"\u006asonrpc":"\u0032.0","i\u0064":"\ud83c\udfb2","method":"\u006d"}`,
	`{"jsonrpc":"2.0","id":1,"method":"m","params":[[[[[[[[[["[[["]]]]]]]]]]}`,
	`{"jsonrpc":"2.0","id":1,"method":"m","params":["` + strings.Repeat(`[{"`, 200) + `",[]]}`,
	nested(128), nested(129), nested(130),
}

func addSeeds(f *testing.F) {
	f.Helper()
	for _, c := range refusedBodies {
		f.Add([]byte(c.body))
	}
	for _, body := range answeredBodies {
		f.Add([]byte(body))
	}
}

// FuzzRequest holds the server to encoding/json, which is laxer: what that
// refuses must be a parse error, and what is accepted must mean the same.
func FuzzRequest(f *testing.F) {
	addSeeds(f)
	var seen *jsonrpc.Request
	network := new(jsonrpc.Loopback)
	srv := startLoopback(f, network, "", jsonrpc.Config{Lenient: true}, jsonrpc.HandlerFunc(
		func(_ context.Context, req *jsonrpc.Request) jsonrpc.Response {
			seen = req
			return jsonrpc.Response{Result: []byte(`true`)}
		}))
	rt := network.From("fuzz")
	f.Fuzz(func(t *testing.T, body []byte) {
		seen = nil // the answer comes after it is set
		reply, err := rt.RoundTrip(context.Background(), &jsonrpc.Outgoing{URL: srv.URL(), Body: body, MaxAnswer: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		if len(reply.Body) > 0 && !json.Valid(reply.Body) {
			t.Fatalf("the answer is not JSON: %q", reply.Body)
		}
		body = bytes.TrimPrefix(body, mark)
		if !json.Valid(body) {
			if seen != nil || !bytes.Contains(reply.Body, []byte(`{"code":-32700,`)) {
				t.Fatalf("no JSON, but answered by %s", reply.Body)
			}
			return
		}
		if deep := depth(t, body) > 128; deep != bytes.Contains(reply.Body, []byte("deeper than 128")) {
			t.Fatalf("nested %d deep, answered by %s", depth(t, body), reply.Body)
		}
		if seen != nil {
			checkRequest(t, seen, body, reply)
		}
	})
}

// depth returns how deep valid JSON is nested.
func depth(t *testing.T, body []byte) (deepest int) {
	t.Helper()
	level := 0
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return deepest
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			level++
			deepest = max(deepest, level)
		case json.Delim('}'), json.Delim(']'):
			level--
		}
	}
}

func checkRequest(t *testing.T, req *jsonrpc.Request, body []byte, reply *jsonrpc.Reply) {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(body, &m); err != nil {
		t.Fatalf("accepted, but no object: %v", err)
	}
	if !utf8.Valid(body) || !bytes.Equal(req.Raw, body) {
		t.Fatalf("Raw is %q", req.Raw)
	}
	if req.Kind == jsonrpc.KindObject {
		if _, ok := m["jsonrpc"]; ok {
			t.Fatal("JSON-RPC was taken for a bare object")
		}
		return
	}
	var version, method string
	if json.Unmarshal(m["jsonrpc"], &version) != nil || version != "2.0" {
		t.Fatalf("accepted version %s", m["jsonrpc"])
	}
	if json.Unmarshal(m["method"], &method) != nil || method != req.Method {
		t.Fatalf("method %q, want %s", req.Method, m["method"])
	}
	id, hasID := m["id"]
	if !bytes.Equal(id, req.ID) || hasID != (req.Kind == jsonrpc.KindCall) {
		t.Fatalf("a %v with id %q, want %q", req.Kind, req.ID, id)
	}
	if !bytes.Equal(m["params"], req.Params) {
		t.Fatalf("params %s, want %s", req.Params, m["params"])
	}
	want := `{"jsonrpc":"2.0","id":` + string(id) + `,"result":true}`
	if !hasID {
		want = ""
	}
	if string(reply.Body) != want {
		t.Fatalf("answered by %s, want %s", reply.Body, want)
	}
}

// canned is a round tripper that always brings the same reply.
type canned struct{ reply jsonrpc.Reply }

func (c canned) RoundTrip(context.Context, *jsonrpc.Outgoing) (*jsonrpc.Reply, error) {
	return &c.reply, nil
}
func (canned) Close() error { return nil }

// mark is a byte order mark.
var mark = []byte("\xef\xbb\xbf")

// FuzzAnswer holds the client to encoding/json in the same way.
func FuzzAnswer(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		client := jsonrpc.NewClient(canned{jsonrpc.Reply{Status: 200, Body: body}}, jsonrpc.ClientConfig{})
		answer, err := client.Call(context.Background(), "http://peer/", jsonrpc.Message{Method: "m"})
		if err != nil {
			if kindOf(err) != jsonrpc.ErrMalformed || !strings.Contains(err.Error(), "http://peer/") {
				t.Fatalf("the error is %v", err)
			}
			return
		}
		body = bytes.TrimPrefix(body, mark)
		if answer.Raw == nil {
			if len(bytes.TrimSpace(body)) > 0 {
				t.Fatalf("%q was taken for nothing", body)
			}
			return
		}
		if all := rawjson.Elements(body); all != nil {
			body = all[0]
		}
		var m map[string]json.RawMessage
		if err := json.Unmarshal(body, &m); err != nil {
			t.Fatalf("accepted, but no object: %v", err)
		}
		null := m["error"] == nil || string(m["error"]) == "null"
		if answer.IsError() == null || answer.IsRequest() && m["result"] != nil || len(m) != len(answer.Members) || !bytes.Equal(answer.Raw, body) {
			t.Fatalf("%v was taken for %+v", m, answer)
		}
	})
}

// FuzzStdio feeds a server any bytes and expects lines of JSON, at most one for each line of input.
func FuzzStdio(f *testing.F) {
	for _, c := range refusedBodies {
		f.Add([]byte(c.body + "\n" + fence + "\r\n"))
	}
	f.Add([]byte(strings.Join(answeredBodies, "\n")))
	f.Fuzz(func(t *testing.T, input []byte) {
		var out bytes.Buffer
		if err := jsonrpc.ServeStdio(t.Context(), bytes.NewReader(input), &out, echo, jsonrpc.Config{MaxBody: 300}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(out.String(), "\n")
		if end := lines[len(lines)-1]; end != "" {
			t.Fatalf("the output does not end with a line end: %q", end)
		}
		if got, most := len(lines)-1, bytes.Count(input, []byte("\n"))+1; got > most {
			t.Fatalf("%d answers to %d lines", got, most)
		}
		for _, line := range lines[:len(lines)-1] {
			if !json.Valid([]byte(line)) {
				t.Fatalf("answer %q", line)
			}
		}
	})
}
