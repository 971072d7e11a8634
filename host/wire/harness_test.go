package wire_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
	"github.com/strategylab/strategylab/host/wire/eventlog"
	"github.com/strategylab/strategylab/host/wire/schema"
)

// number is the schema of an object with a number.
const number = `{"type":"object","properties":{"n":{"type":"integer"},"at":{"type":"string","format":"date-time","pattern":"^[0-9T:.-]+Z$"}},"required":["n"],"additionalProperties":false}`

// agent takes two messages of the league.
func agent(mode protocol.Mode) *wire.Dispatcher {
	return &wire.Dispatcher{
		Codec:  dialect.NewCodec(mode),
		Sender: func() string { return "league_manager" },
		Now:    func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) },
		Authenticate: func(_ context.Context, in *wire.Exchange) error {
			switch in.Header.AuthToken {
			case "":
				return wire.RefuseToken(in, protocol.CodeTokenMissing, "no token")
			case "tok-right":
				return nil
			}
			return wire.RefuseToken(in, protocol.CodeTokenInvalid, "another token")
		},
		Handlers: map[protocol.Type]wire.Handler{
			protocol.TypeLeagueQuery: func(_ context.Context, in *wire.Exchange) (protocol.Message, error) {
				q, err := wire.Decode[*protocol.LeagueQuery](in)
				if err != nil {
					return nil, err
				}
				return &protocol.LeagueQueryResponse{
					Header: protocol.Header{MessageType: protocol.TypeLeagueQuery.Answer()}, QueryType: q.QueryType, Success: protocol.Some(true),
					Data: []byte(`{"league_id":"cup","status":"running","state":"RUNNING_LEAGUE","current_round":1,"total_rounds":3,"matches_completed":0,"total_matches":6}`),
				}, nil
			},
			protocol.TypeMatchResultReport: func(context.Context, *wire.Exchange) (protocol.Message, error) {
				return nil, errors.New("the disk says tok-secret")
			},
		},
	}
}

// others are tools that are no messages, beside those of the league.
func others(t testing.TB) jsonrpc.Handler {
	return jsonrpc.HandlerFunc(func(_ context.Context, req *jsonrpc.Request) jsonrpc.Response {
		var call struct {
			Tool string `json:"tool"`
		}
		if err := json.Unmarshal(req.Params, &call); err != nil {
			t.Error(err)
		}
		switch call.Tool {
		case "count":
			return jsonrpc.Response{Result: []byte(`{"tool":"count","output":{"n":1}}`)}
		case "liar":
			return jsonrpc.Response{Result: []byte(`{"tool":"liar","output":{"n":"tok-secret"}}`)}
		case "mute":
			return jsonrpc.Response{}
		case "status":
			return jsonrpc.Response{Result: []byte(`1`), Status: 99}
		case "panics":
			panic("tok-secret")
		}
		t.Errorf("%s is for the league", req.Raw)
		return jsonrpc.Response{}
	})
}

func tools(t testing.TB) *schema.Registry {
	t.Helper()
	all := schema.LeagueTools(protocol.Strict, protocol.TypeLeagueQuery, protocol.TypeMatchResultReport, protocol.TypeStartLeague)
	for _, name := range []string{"count", "liar", "mute", "status", "panics"} {
		all = append(all, schema.Tool{Name: name, Input: []byte(number), Output: []byte(number)})
	}
	all = append(all, schema.Tool{Name: "unusable", Input: []byte(`{"$ref":"https://example.com/x.json"}`), Output: []byte(`true`)})
	r, err := schema.NewRegistry(all...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// chain returns a chain, of the tools above where cfg has none.
func chain(t testing.TB, cfg wire.Config) *wire.Chain {
	t.Helper()
	if cfg.Registry == nil {
		cfg.Registry = tools(t)
	}
	return wire.New(cfg)
}

// both are the two ways to one agent, through one chain with one log.
type both struct {
	url    string
	in     *os.File
	out    *bufio.Reader
	log    *eventlog.Log
	closed func()
}

// serveBoth serves an agent on a socket and on pipes.
func serveBoth(t testing.TB, cfg wire.Config) *both {
	t.Helper()
	log, err := eventlog.Open(eventlog.Config{Data: t.TempDir(), Seed: "parity"})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Log, cfg.Deterministic, cfg.Tools = log, true, others(t)
	if cfg.Agent == nil {
		cfg.Agent = agent(protocol.Strict)
	}
	p := chain(t, cfg)
	server := jsonrpc.Config{MaxBody: 4000, Lenient: true, Refuse: p.Refuse}
	srv, err := jsonrpc.Listen(t.Context(), "127.0.0.1:0", server)
	if err != nil {
		t.Fatal(err)
	}
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := srv.Serve(ctx, p); err != nil {
			t.Error(err)
		}
	})
	wg.Go(func() {
		if err := jsonrpc.ServeStdio(ctx, inRead, outWrite, p, server); err != nil {
			t.Error(err)
		}
	})
	b := &both{url: srv.URL(), in: inWrite, out: bufio.NewReader(outRead), log: log}
	b.closed = sync.OnceFunc(func() {
		_ = inWrite.Close()
		stop()
		wg.Wait()
		_ = outRead.Close()
		log.Close()
	})
	t.Cleanup(b.closed)
	return b
}

func (b *both) http(t testing.TB, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(b.url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(answer)
}

func (b *both) stdio(t testing.TB, body string) string {
	t.Helper()
	if _, err := io.WriteString(b.in, body+"\n"); err != nil {
		t.Fatal(err)
	}
	line, err := b.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(line, "\n")
}

func readLog(t testing.TB, l *eventlog.Log) []byte {
	t.Helper()
	raw, err := os.ReadFile(l.Name())
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// golden holds a text to a file; with -update it rewrites the file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("%s (-want +got); -update rewrites it:\n%s", name, diff)
	}
}
