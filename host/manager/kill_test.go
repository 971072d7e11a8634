package manager_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/jsonrpc/jsonrpctest"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/manager/league"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// Where these are set, the test binary is a manager over a socket.
const (
	childDir  = "MANAGER_TEST_DIR"
	childAddr = "MANAGER_TEST_ADDR"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := child(dir, os.Getenv(childAddr)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func child(dir, addr string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	srv, err := jsonrpc.Listen(ctx, addr, jsonrpc.Config{})
	if err != nil {
		return err
	}
	m, err := manager.New(manager.Config{
		LeagueID: "cup", DataDir: dir, Players: killedPlayers, Probe: manager.ProbeOff,
		Backoff: game.Backoff{Retries: 3, First: time.Millisecond, Most: 4 * time.Millisecond},
		Caller: &wire.Caller{
			Client: jsonrpc.NewClient(jsonrpc.OverHTTP(), jsonrpc.ClientConfig{}),
			Codec:  dialect.NewCodec(protocol.Tolerant),
		},
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err != nil {
		return err
	}
	fmt.Println(srv.Addr())
	served, done := make(chan error, 1), make(chan struct{})
	serving, end := context.WithCancel(ctx)
	go func() {
		served <- srv.Serve(serving, m.Dispatcher())
		close(done)
	}()
	err = m.Run(ctx)
	fmt.Println("over")
	end()
	<-done
	return errors.Join(err, <-served)
}

const killedPlayers = 6

// process is a manager in a process of its own.
type process struct {
	cmd  *exec.Cmd
	out  *bufio.Scanner
	addr string
}

func spawn(t *testing.T, dir, addr string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), childDir+"="+dir, childAddr+"="+addr)
	p.cmd.Stderr = new(strings.Builder)
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.cmd.Process.Kill(); p.cmd.Wait() })
	p.out = bufio.NewScanner(out)
	if !p.out.Scan() {
		t.Fatalf("the manager does not start: %s", p.cmd.Stderr)
	}
	p.addr = p.out.Text()
	return p
}

// persistently reports until the manager has taken the report down, however
// often it dies.
func (s *scripted) persistently(verdicts chan<- string) *scripted {
	s.on(protocol.TypeRoundAnnouncement, func(_ context.Context, in *wire.Exchange) (protocol.Message, error) {
		m, err := wire.Decode[*protocol.RoundAnnouncement](in)
		if err != nil {
			return nil, err
		}
		for _, match := range m.Matches { // there is no other referee
			s.r.serving.Go(func() {
				<-s.named
				_, err := agent.Try(s.r.t.Context(), agent.RetryPolicy{
					Timeout: patience, Backoff: game.Backoff{Retries: 10_000, First: time.Millisecond, Most: 10 * time.Millisecond},
				}, func(ctx context.Context) (protocol.Message, error) {
					return s.calls.Call(ctx, wire.NewPeer(s.r.url, s.dialct), s.reportOf(match, m.RoundID.Number(), fair(match)))
				})
				var refusal *dialect.Refusal
				switch {
				case err == nil:
					verdicts <- "accepted " + match.MatchID
				case errors.As(err, &refusal) && refusal.RPC == 5003 && strings.Contains(string(refusal.Data), `"same_result":true`):
					verdicts <- "repeated " + match.MatchID
				default:
					verdicts <- "refused " + err.Error()
				}
			})
		}
		return nil, nil
	})
	return s
}

// A manager over sockets is killed again and again while results come in. At
// the end every match has been accepted once at most, and the table is what the
// rules make of the results.
func TestAManagerThatIsKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	manager1 := spawn(t, dir, jsonrpctest.Address(t))
	r := &rig{t: t, url: "http://" + manager1.addr + "/mcp"}
	t.Cleanup(r.serving.Wait)
	const matches = killedPlayers * (killedPlayers - 1) / 2
	verdicts := make(chan string, 100*matches)
	r.agent(protocol.RoleReferee, "north").persistently(verdicts).register()
	players := r.field(killedPlayers)

	accepted, known, kills := make(map[string]int), make(map[string]bool), 0
	next := manager1
	for len(known) < matches {
		select {
		case verdict := <-verdicts:
			what, id, _ := strings.Cut(verdict, " ")
			if what == "refused" {
				t.Fatal(verdict)
			}
			if known[id] = true; what == "accepted" { // and not an answer that died with the manager
				accepted[id]++
			}
			if accepted[id] > 1 {
				t.Fatalf("%s was accepted %d times", id, accepted[id])
			}
		case <-time.After(patience):
			t.Fatalf("%d of %d results after %d kills; the manager says: %s", len(known), matches, kills, next.cmd.Stderr)
		}
		if len(known)%2 == 1 && kills < 7 && len(known) > kills {
			kills++
			next.cmd.Process.Kill()
			next.cmd.Wait()
			next = spawn(t, dir, next.addr)
		}
	}
	players[0].inbox.until(t, "the end", func(m protocol.Message) bool { return m.Head().MessageType == protocol.TypeLeagueCompleted })
	for next.out.Scan() && next.out.Text() != "over" {
	}
	if err := next.cmd.Wait(); err != nil {
		t.Fatalf("the manager ended with %v: %s", err, next.cmd.Stderr)
	}
	if kills < 5 {
		t.Errorf("it was killed only %d times", kills)
	}
	standings, err := league.Replay("cup", read(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	if want := table(t, killedPlayers, 1); fmt.Sprint(want) != fmt.Sprint(rows(standings)) {
		t.Errorf("the table is %+v, want %+v", rows(standings), want)
	}
}
