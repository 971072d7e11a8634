package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/strategylab/strategylab/host/jsonrpc/jsonrpctest"
	"github.com/strategylab/strategylab/plugins"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/wasmscript/wasmtest"
)

// misleads changes what a shard took for quarantined: misleads FILE, which is its plan.
func misleads(ts *testscript.TestScript, _ bool, args []string) {
	plan := ts.ReadFile(args[0])
	other := strings.Replace(plan, "\"quarantined\": [\n      3\n", "\"quarantined\": [\n      1\n", 1)
	if other == plan {
		ts.Fatalf("the shard did not foresee that hangs is quarantined: %s", plan)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(other), 0o600))
}

// freePort sets the variables that it names to ports that nobody listens on, for
// agents that know the ports of the others: port NAME...
func freePort(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		_, port, err := net.SplitHostPort(jsonrpctest.Address(ts))
		ts.Check(err)
		ts.Setenv(name, port)
	}
	docs, err := filepath.Abs(filepath.Join("..", "..", "docs"))
	ts.Check(err)
	ts.Setenv("DOCS", docs)
}

// sameButTime compares JSON documents in everything but how long they took.
func sameButTime(ts *testscript.TestScript, neg bool, args []string) {
	var first map[string]any
	for _, file := range args {
		var doc map[string]any
		ts.Check(json.Unmarshal([]byte(ts.ReadFile(file)), &doc))
		delete(doc, "seconds")
		delete(doc, "matches_per_second")
		delete(doc, "spenders")
		delete(doc, "processes")
		if first == nil {
			first = doc
			continue
		}
		if diff := cmp.Diff(first, doc); (diff == "") == neg {
			ts.Fatalf("%s and %s: %s", args[0], file, diff)
		}
	}
}

// verifiable runs the lines of Python in docs/draws.md on a recording in which all draws
// are verifiable, and on a copy, changed.jsonl, in which one number is another:
// verifiable FILE DRAWS. Without Python only the copy is made.
func verifiable(ts *testscript.TestScript, _ bool, args []string) {
	recording := ts.ReadFile(args[0])
	drawn := regexp.MustCompile(`"match_id":"R1M1"[^\n]*?"drawn_number":(\d+)`).FindStringSubmatch(recording)
	n, err := strconv.Atoi(drawn[1])
	ts.Check(err)
	changed := regexp.MustCompile(`("match_id":"R1M1"[^\n]*?"drawn_number":)\d+`).ReplaceAllString(recording, "${1}"+strconv.Itoa((n+1)%10+1))
	ts.Check(os.WriteFile(ts.MkAbs("changed.jsonl"), []byte(changed), 0o600))
	python, err := python()
	if err != nil {
		ts.Logf("no python3: the lines in docs/draws.md are not tried")
		return
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "draws.md"))
	ts.Check(err)
	_, code, _ := strings.Cut(string(page), "```python\n")
	code, _, _ = strings.Cut(code, "```\n")
	all, err := strconv.Atoi(args[1])
	ts.Check(err)
	for file, verified := range map[string]int{args[0]: all, "changed.jsonl": all - 1} {
		output, err := exec.Command(python, "-c", code, ts.MkAbs(file)).CombinedOutput()
		ts.Check(err)
		if want := strconv.Itoa(verified) + " of " + args[1] + " draws verified\n"; string(output) != want {
			ts.Fatalf("%s: python says %q, want %q", file, output, want)
		}
	}
}

// writeModule writes a strategy in WebAssembly: module FILE.
func writeModule(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: module FILE")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), wasmtest.Frequency().Bytes(), 0o644))
}

// foreign starts a server that is no league manager, and sets URL and ADDR.
func foreign(ts *testscript.TestScript, _ bool, _ []string) {
	srv := httptest.NewServer(answering(func(asked) (int, any) { return 200, "<html>a home page</html>" }, func(string) {}))
	ts.Defer(srv.Close)
	setURL(ts, srv.URL+"/mcp")
}

func setURL(ts *testscript.TestScript, text string) {
	u, err := url.Parse(text)
	ts.Check(err)
	ts.Setenv("URL", text)
	ts.Setenv("ADDR", strings.ToLower(u.Host))
}

// wildPlayer starts a player that sends nothing but what a message cannot do
// without, until the end of the script: wildplayer NAME URL FILE [header]. It
// registers, and writes the answer to a file.
// With "header" its registration is by the book, and its answers are not.
func wildPlayer(ts *testscript.TestScript, _ bool, args []string) {
	srv := httptest.NewServer(answering(answerWildly, func(string) {}))
	ts.Defer(srv.Close)
	meta := map[string]any{"display_name": args[0], "contact_endpoint": srv.URL + "/mcp"}
	message := map[string]any{"message_type": "LEAGUE_REGISTER_REQUEST", "player_meta": meta}
	if len(args) > 3 {
		meta["version"], meta["game_types"] = "1.0.0", []string{"even_odd"}
		message["protocol"], message["sender"] = "league.v2", "player:"+args[0]
		message["timestamp"], message["conversation_id"] = "2026-01-01T12:00:00Z", "conv-"+args[0]
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "register_player", "params": message})
	ts.Check(err)
	_, answer, err := fetch(context.Background(), http.MethodPost, args[1], string(body), "Content-Type", "application/json")
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(answer), 0o600))
}

func answerWildly(a asked) (int, any) {
	switch a.text("message_type") {
	case "GAME_INVITATION":
		return 200, a.result(reply{"accept": true})
	case "CHOOSE_PARITY_CALL":
		return 200, a.result(reply{"choice": "even"})
	}
	return 200, a.result(reply{"status": "ok"})
}

// posting posts a text and writes status and answer to a file: posting FILE URL
// BODY [HEADER=VALUE...]. The Content-Type is JSON unless that is said
// otherwise.
func posting(ts *testscript.TestScript, _ bool, args []string) {
	header := []string{"Content-Type", "application/json"}
	for _, h := range args[3:] {
		name, value, _ := strings.Cut(h, "=")
		header = append(header, name, value)
	}
	status, answer, err := fetch(context.Background(), http.MethodPost, args[1], args[2], header...)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), fmt.Appendf(nil, "HTTP %d\n%s\n", status, answer), 0o600))
}

// exiting is a strategy whose process ends when it is first asked for a choice.
type exiting struct{}

// serveExiting is the whole of such a plugin's main.
func serveExiting() { plugins.Serve(exiting{}) }

func (exiting) Info() strategies.Info {
	return strategies.Info{Name: "exiting", Fingerprint: "1"}
}

func (e exiting) New(context.Context, strategies.Setup) (strategies.Strategy, error) { return e, nil }

func (exiting) Choose(context.Context, *strategies.Turn) (strategies.Choice, error) {
	os.Exit(3)
	return 0, nil
}

func (exiting) Observe(context.Context, *strategies.Outcome) error { return nil }

func (exiting) Close() error { return nil }
