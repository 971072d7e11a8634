package served_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/arena"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/builtin"
	"github.com/strategylab/strategylab/strategies/served"
)

// TestMain is also the program of the agents that tests start: agent HABIT PORT [MANAGER].
func TestMain(m *testing.M) {
	if len(os.Args) >= 4 && os.Args[1] == "agent" {
		fmt.Println("listening at", os.Args[3])
		server := http.Server{Addr: "127.0.0.1:" + os.Args[3], Handler: habit(os.Args[2])}
		if len(os.Args) > 4 { // it knows its manager
			server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
				return context.WithValue(ctx, requests{}, new(atomic.Int64))
			}
			server.Handler = onceAConnection(server.Handler)
			go register(os.Args[4], server.Addr)
		}
		err := server.ListenAndServe()
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

type object = map[string]any

// habit returns an agent that answers by the book, but for its habit. A habit shows in the
// third match.
func habit(name string) http.Handler {
	var calls atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var call struct {
			ID     any
			Params object
		}
		_ = json.NewDecoder(r.Body).Decode(&call)
		kind, _ := call.Params["message_type"].(string)
		id := "P01"
		if name == "obstinate" {
			id = "P07"
		}
		answer := object{"protocol": "league.v2", "sender": "player:" + id, "timestamp": "2026-01-01T00:00:00Z", "match_id": call.Params["match_id"]}
		switch kind {
		case "GAME_INVITATION":
			answer["message_type"], answer["accept"], answer["player_id"] = "GAME_JOIN_ACK", true, id
		case "CHOOSE_PARITY_CALL":
			answer["message_type"], answer["parity_choice"], answer["player_id"] = "CHOOSE_PARITY_RESPONSE", "even", id
			if calls.Add(1) == 3 || name == "random" {
				misbehave(name, w, r, answer)
			}
		default:
			answer["message_type"], answer["status"] = strings.ReplaceAll(kind, "LEAGUE_STANDINGS", "STANDINGS")+"_ACK", "ACKNOWLEDGED"
		}
		if name == "honest" && kind == "GAME_INVITATION" { // it does not say that it joins
			answer = object{"status": "ok"}
		}
		_ = json.NewEncoder(w).Encode(object{"jsonrpc": "2.0", "id": call.ID, "result": answer})
	})
}

func misbehave(name string, w http.ResponseWriter, r *http.Request, answer object) {
	switch name {
	case "random":
		answer["parity_choice"] = []string{"even", "odd"}[time.Now().UnixNano()/1000%2]
	case "hangs":
		<-r.Context().Done()
	case "dies":
		fmt.Println("out of cheese")
		os.Exit(3)
	case "floods":
		for range 64 {
			_, _ = w.Write(make([]byte, 1<<16))
		}
	case "lies":
		answer["player_id"] = "P07"
	case "mixes":
		answer["match_id"] = "R9M9"
	case "dithers":
		answer["parity_choice"] = "maybe"
	}
}

// register names the agent as it does whatever it is answered.
func register(manager, at string) {
	body := `{"jsonrpc":"2.0","id":1,"method":"register_player","params":{"protocol":"league.v2","message_type":"LEAGUE_REGISTER_REQUEST",
		"sender":"player:P07","timestamp":"2026-01-01T00:00:00Z","conversation_id":"c","player_meta":{"display_name":"Seven","version":"1.0.0",
		"protocol_version":"2.1.0","game_types":["even_odd"],"contact_endpoint":"http://` + at + `/mcp"}}}`
	answer, err := http.Post(manager, "application/json", strings.NewReader(body))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_ = answer.Body.Close()
}

type requests struct{} // of a connection

// onceAConnection ends the process at the second request of a connection, where a server
// without threads would answer nobody else.
func onceAConnection(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Context().Value(requests{}).(*atomic.Int64).Add(1) > 1 {
			fmt.Println("a connection is kept")
			os.Exit(1)
		}
		next.ServeHTTP(w, r)
	})
}

func open(t *testing.T, name string, c served.Config, args ...string) *served.Factory {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	f, err := served.Open(served.Spec{Name: "agent", Command: append([]string{exe, "agent", name, "{port}"}, args...)}, c)
	must(t, err)
	t.Cleanup(func() { must(t, f.Close()) })
	return f
}

type sink func(*results.League) error

func (s sink) Append(l *results.League) error { return s(l) }

// play plays leagues of an agent with two built-in strategies.
func play(t *testing.T, f strategies.Factory, leagues, workers int) (digest string, faults map[game.Fault]int, notes []string) {
	t.Helper()
	plan := results.Plan{Schema: results.PlanSchema, Runs: leagues, Legs: 4, Seed: 5, Draw: game.FairDraw().String(), Transport: "direct"}
	factories := []strategies.Factory{f}
	plan.Field = []results.Entrant{{Name: "agent", Kind: string(strategies.Agent)}}
	for _, name := range []string{"random", "markov-2"} {
		own, _ := builtin.Find(name)
		plan.Field, factories = append(plan.Field, results.Entrant{Name: name, Kind: "builtin"}), append(factories, own)
	}
	a, err := arena.New(plan, factories, arena.Config{Block: 4})
	must(t, err)
	faults = make(map[game.Fault]int)
	out, err := experiments.Run(t.Context(), plan, a, sink(func(l *results.League) error {
		for _, m := range l.Matches {
			for _, s := range [2]game.Side{m.A, m.B} {
				if s.Fault != game.NoFault {
					faults[s.Fault]++
				}
			}
		}
		for _, n := range l.Notes {
			if n.Field != 0 {
				t.Errorf("an honest player failed: %s", n.Text)
			}
			notes = append(notes, n.Text)
		}
		return nil
	}), experiments.Config{Workers: workers})
	must(t, err)
	return out.Digest, faults, notes
}

func TestFailuresAreTheAgentsOwn(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		fault game.Fault
		says  string
	}{
		"hangs":   {game.FaultTimeout, "did not answer CHOOSE_PARITY_CALL within 1s"},
		"dies":    {game.FaultCrash, "its process ended: exit status 3: out of cheese"},
		"floods":  {game.FaultError, "answer to CHOOSE_PARITY_CALL is unusable"},
		"lies":    {game.FaultError, "it signed as P07, but it is P01"},
		"mixes":   {game.FaultError, "it answered for match R9M9 when it was asked about"},
		"dithers": {game.FaultInvalid, `want "even" or "odd"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			deadline := 20 * time.Second
			if name == "hangs" {
				deadline = time.Second
			}
			f := open(t, name, served.Config{Deadline: deadline, Start: time.Minute})
			_, faults, notes := play(t, f, 1, 1)
			once := name != "dies" && name != "hangs" // each process dies, and a busy machine may be late
			if n := faults[want.fault]; n == 0 || once && n != 1 {
				t.Errorf("faults are %v, want one %v", faults, want.fault)
			}
			if text := strings.Join(notes, "\n"); !strings.Contains(text, want.says) {
				t.Errorf("notes are %q, want one that contains %q", text, want.says)
			}
			if u := f.Usage(); len(u.Faults) != 1 || !strings.Contains(u.Faults[0].Cause, want.says) || len(u.Log) == 0 {
				t.Errorf("usage is %+v", u)
			}
		})
	}
}

func TestCassetteHasTheSameDigest(t *testing.T) {
	t.Parallel()
	const leagues = 6
	folder := t.TempDir()
	record := func(c served.Config, workers int) (string, served.Usage) {
		c.Cassette, c.Start, c.Deadline = folder, time.Minute, 20*time.Second
		f := open(t, "random", c)
		digest, _, _ := play(t, f, leagues, workers)
		must(t, f.Close())
		return digest, f.Usage()
	}
	first, u := record(served.Config{}, 2)
	if u.Asked != leagues*8 || u.Replayed != 0 || u.Messages < 4*u.Asked || u.Median <= 0 {
		t.Errorf("usage of the recorded run is %+v", u)
	}
	for _, workers := range []int{1, 3} {
		again, u := record(served.Config{Offline: true}, workers)
		if again != first || u.Asked != 0 || u.Missing != 0 || u.Replayed != leagues*8 {
			t.Errorf("%d workers: digest %s, want %s; usage %+v", workers, again, first, u)
		}
	}
	if again, u := record(served.Config{}, 2); again != first || u.Starts != 0 {
		t.Errorf("with the agent at hand: digest %s, want %s; usage %+v", again, first, u)
	}
}

func TestEachLeagueHasItsProcess(t *testing.T) {
	t.Parallel()
	f := open(t, "honest", served.Config{EachLeague: true, Start: time.Minute, Deadline: 20 * time.Second})
	if _, faults, _ := play(t, f, 3, 1); len(faults) != 0 || f.Usage().Starts != 3 {
		t.Errorf("faults %v, usage %+v", faults, f.Usage())
	}
}

func TestAgentsOfOneConnectionThatKeepTheirID(t *testing.T) {
	t.Parallel()
	f := open(t, "obstinate", served.Config{Start: time.Minute, Deadline: 20 * time.Second}, "{manager}")
	if _, faults, notes := play(t, f, 4, 1); len(faults) != 0 {
		t.Errorf("faults %v: %q; usage %+v", faults, notes, f.Usage())
	}
}

func TestReadySaysWhyAnAgentCannotPlay(t *testing.T) {
	t.Parallel()
	exe, _ := os.Executable()
	for want, s := range map[string]served.Spec{
		"no agent is listening at http://127.0.0.1:1/mcp": served.AtURL("http://127.0.0.1:1/mcp"),
		"its process ended: exit status 1: listen tcp":    {Name: "x", Command: []string{exe, "agent", "honest", "99999{port}"}},
	} {
		f, err := served.Open(s, served.Config{Start: time.Minute})
		must(t, err)
		if err := f.Ready(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want one that contains %q", err, want)
		}
		must(t, f.Close())
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	s, err := served.Parse(`mine=python3 'my agent.py' --port {port} "" x="a b"`)
	if want := []string{"python3", "my agent.py", "--port", "{port}", "", "x=a b"}; err != nil || fmt.Sprintf("%q", s.Command) != fmt.Sprintf("%q", want) {
		t.Errorf("command is %q, want %q; error %v", s.Command, want, err)
	}
	for _, bad := range []string{"mine", "=x {port}", "mine=python3 x.py", `mine=a 'b {port}`, "my agent=x {port}"} {
		if _, err := served.Parse(bad); err == nil {
			t.Errorf("%q is an agent", bad)
		}
	}
	if s := served.AtURL("http://localhost:8101/mcp"); s.Name != "agent-8101" {
		t.Errorf("name is %q", s.Name)
	}
}

// example opens an example of the documentation, started by an interpreter that may be missing.
func example(t *testing.T, c served.Config, interpreter, file string, args ...string) *served.Factory {
	t.Helper()
	program, err := exec.LookPath(interpreter)
	if err != nil {
		t.Skip("needs " + interpreter)
	}
	path, err := filepath.Abs(filepath.Join("../../docs/examples", file))
	must(t, err)
	c.Start, c.Deadline = time.Minute, time.Minute
	f, err := served.Open(served.Spec{Name: "agent", Command: append([]string{program, path}, args...)}, c)
	must(t, err)
	t.Cleanup(func() { must(t, f.Close()) })
	return f
}

func TestExamplesPlay(t *testing.T) {
	t.Parallel()
	for _, e := range [][2]string{{"player.py", "python3"}, {"player.mjs", "node"}} {
		file, interpreter := e[0], e[1]
		if interpreter == "node" && os.Getenv("WHOLE_TESTS") == "" {
			continue // it starts slowly, and in Python the example is the same
		}
		f := example(t, served.Config{}, interpreter, file, "{manager}", "{port}")
		if _, faults, notes := play(t, f, 3, 2); len(faults) != 0 {
			t.Errorf("%s: faults %v: %q; usage %+v", file, faults, notes, f.Usage())
		}
	}
}

// Not parallel, since it sets the environment of its agent.
func TestAgentThatAsksAModel(t *testing.T) {
	var asked atomic.Int64
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer secret" {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		fmt.Fprintf(w, `{"choices":[{"message":{"content":"%s"}}],"usage":{"total_tokens":10}}`, []string{"Even.", "odd"}[asked.Add(1)%2])
	}))
	defer endpoint.Close()
	t.Setenv("OPENAI_BASE_URL", endpoint.URL+"/v1")
	t.Setenv("OPENAI_API_KEY", "secret")
	folder := t.TempDir()
	f := example(t, served.Config{Cassette: folder}, "python3", "llm_player.py", "{port}", "9", "1000")
	digest, faults, notes := play(t, f, 3, 1)
	if len(faults) != 0 || asked.Load() != 9 {
		t.Errorf("the model was asked %d times, want 9, its budget; faults %v: %q", asked.Load(), faults, notes)
	}
	must(t, f.Close())
	f = example(t, served.Config{Cassette: folder}, "python3", "llm_player.py", "{port}", "9", "1000")
	if again, _, _ := play(t, f, 3, 2); again != digest || asked.Load() != 9 || f.Usage().Asked != 0 {
		t.Errorf("again: digest %s, want %s; the model was asked %d times; usage %+v", again, digest, asked.Load(), f.Usage())
	}
}

// must ends a test at the first of some errors.
func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
