package agent_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// register registers Ada, a tolerant player, with a manager.
func register(ctx context.Context, c *wire.Caller, p *wire.Peer, change func(*agent.Config)) (granted dialect.Acceptance, err error) {
	cfg := agent.Config{Name: "Ada", Endpoint: "http://ada/mcp", Mode: protocol.Tolerant, Caller: c, Manager: p}
	if change != nil {
		change(&cfg)
	}
	m, err := agent.NewMember(protocol.RolePlayer, cfg)
	if err == nil {
		err = m.Register(ctx, application(func(r dialect.Acceptance) error { granted = r; return nil }))
	}
	return granted, err
}

// TestADoubtfulAttemptIsRepeated: an answer that did not come may have been a
// yes. The manager is asked, and where it does not tell, the same request is
// sent again under the same id, and none in other words.
func TestADoubtfulAttemptIsRepeated(t *testing.T) {
	t.Parallel()
	for _, tells := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) { repeatDoubtful(t, tells) })
	}
}

func repeatDoubtful(t *testing.T, tells bool) {
	var mu sync.Mutex // the handler of the first attempt may still be at it
	var heard []string
	silent := true
	c, p := caller(t, dialect.Contracts, func(req *jsonrpc.Request) jsonrpc.Response {
		mu.Lock()
		heard = append(heard, req.Method+" "+string(req.ID))
		first := silent && strings.HasPrefix(req.Method, "register")
		silent = silent && !first
		mu.Unlock()
		switch {
		case req.Method == "league_query" && tells:
			return jsonrpc.Response{Result: []byte(`{"data":{"players":[{"player_id":"P07","display_name":"Ada","contact_endpoint":"http://ada/mcp"}]}}`)}
		case req.Method == "league_query":
			return unknown()
		case first:
			time.Sleep(300 * time.Millisecond) // longer than the agent waits
		}
		return jsonrpc.Response{Result: []byte(`{"player_id":"P07","status":"ACCEPTED"}`)}
	})
	answer, err := register(t.Context(), c, p, func(cfg *agent.Config) { cfg.Timeout = 200 * time.Millisecond })
	if err != nil || answer.ID != "P07" {
		t.Fatalf("granted %+v, %v", answer, err)
	}
	mu.Lock()
	defer mu.Unlock()
	registrations := 0
	for _, h := range heard {
		if strings.HasPrefix(h, "register_player") {
			registrations++
			if h != heard[0] {
				t.Errorf("registered by %s, and at first by %s", h, heard[0])
			}
		} else if !strings.HasPrefix(h, "league_query") && !strings.Contains(strings.ToLower(h), "query") {
			t.Errorf("tried %s", h)
		}
	}
	if want := map[bool]int{true: 1, false: 2}[tells]; registrations != want {
		t.Errorf("told %v: %d registrations, want %d: %q", tells, registrations, want, heard)
	}
}
