package player_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

func TestNewRequires(t *testing.T) {
	t.Parallel()
	full := player.Config{
		Config: agent.Config{
			Endpoint: "http://localhost/mcp",
			Manager:  wire.NewPeer("http://m/mcp", dialect.Contracts),
			Caller:   &wire.Caller{},
		},
		Factory: new(strategy),
	}
	for name, change := range map[string]func(*player.Config){
		"factory":  func(c *player.Config) { c.Factory = nil },
		"endpoint": func(c *player.Config) { c.Endpoint = "" },
		"manager":  func(c *player.Config) { c.Manager = nil },
		"caller":   func(c *player.Config) { c.Caller = nil },
		"id":       func(c *player.Config) { c.ID = "P\x07" },
	} {
		cfg := full
		change(&cfg)
		if _, err := player.New(cfg); err == nil {
			t.Errorf("without a proper %s: no error", name)
		}
	}
	p, err := player.New(full)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// TestListensFirst has the manager call the player before it has answered the
// registration, as some do to probe it.
func TestListensFirst(t *testing.T) {
	t.Parallel()
	var probe func() error
	r := newRig(t, func(r *rig) {
		r.manager.answer = func(int, *protocol.LeagueRegisterRequest) (protocol.Message, error) {
			if err := probe(); err != nil {
				t.Errorf("the player does not listen: %v", err)
			}
			return r.manager.accept(), nil
		}
	})
	probe = func() error {
		_, err := r.calls.Client.Call(t.Context(), r.url, jsonrpc.Message{Method: "ping"})
		return err
	}
	r.run()
}

// TestSpokenToBeforeTheAnswer has a message of the league overtake the answer
// to the registration: it waits until the player knows who it is.
func TestSpokenToBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	answered := make(chan error, 1)
	var r *rig
	r = newRig(t, func(r2 *rig) {
		r2.manager.answer = func(int, *protocol.LeagueRegisterRequest) (protocol.Message, error) {
			h := protocol.NewHeader(protocol.TypeRoundAnnouncement, "league_manager", protocol.Timestamp(time.Now()), "c")
			h.LeagueID, h.RoundID = "cup", protocol.RoundNumber(1)
			h.AuthToken = credential.NewVerifier(r2.manager.token).ManagerToken("cup")
			go func() {
				_, err := r.send(&protocol.RoundAnnouncement{Header: h, Matches: []protocol.AnnouncedMatch{announced("R1M1", "P01", "P02", "REF01")}})
				answered <- err
			}()
			return r2.manager.accept(), nil
		}
	})
	r.run()
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

func TestRegistersWhenTheManagerIsUp(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	// This manager is not up yet: nobody listens under its name.
	r.cfg.Manager = wire.NewPeer("http://late/mcp", dialect.Contracts)
	r.quit()
	failed := make(chan struct{})
	r.cfg.Log = logTo(func(msg string) {
		if strings.Contains(msg, "not reachable yet") {
			select {
			case failed <- struct{}{}:
			default:
			}
		}
	})
	r.open()
	r.start()
	for n := range 6 { // more often than anything else is tried
		select {
		case <-failed:
		case <-time.After(patience):
			t.Fatalf("waited %v for failure %d to register", patience, n+1)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	r.serve(ctx, "late", r.manager.endpoint())
	r.until(player.Registered)
	if got := r.p.ID(); got != "P01" {
		t.Errorf("registered as %q", got)
	}
}

func TestRegistration(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(r *rig) { r.cfg.ID, r.manager.id = "P07", "P07" })
	r.run()
	got := r.manager.registrations()
	if len(got) != 1 {
		t.Fatalf("%d registrations", len(got))
	}
	m := got[0]
	if m.Sender != "player:P07" || m.Meta.DisplayName != "Ada" || m.Meta.ContactEndpoint != r.url || m.AuthToken != "" ||
		len(m.Meta.GameTypes) != 1 || m.Meta.GameTypes[0] != protocol.GameEvenOdd {
		t.Errorf("registered with %+v", m)
	}
}

func TestGivenIDIsHonoured(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"P42", "player_3fa9c2d1"} {
		r := newRig(t, func(r *rig) { r.cfg.ID, r.manager.id = "P07", id })
		r.run()
		if r.p.ID() != id {
			t.Errorf("is %q, want %q", r.p.ID(), id)
		}
		join := must[*protocol.GameJoinAck](r, r.invitation("R1M1"))
		if join.PlayerID != id || join.Sender != "player:"+id {
			t.Errorf("joins as %q, %q", join.PlayerID, join.Sender)
		}
	}
}

func TestTurnedAway(t *testing.T) {
	t.Parallel()
	refuse := func(code protocol.Code) func(int, *protocol.LeagueRegisterRequest) (protocol.Message, error) {
		return func(int, *protocol.LeagueRegisterRequest) (protocol.Message, error) {
			return nil, protocol.Refuse(code, protocol.TypeLeagueRegisterRequest, "because")
		}
	}
	tests := map[string]struct {
		answer func(n int, m *protocol.LeagueRegisterRequest) (protocol.Message, error)
		want   string
	}{
		"rejected": {func(int, *protocol.LeagueRegisterRequest) (protocol.Message, error) {
			return dialect.Rejected(protocol.TypeLeagueRegisterRequest, protocol.Header{}, "League already started"), nil
		}, "League already started"},
		"full":      {refuse(protocol.CodeLeagueFull), "E020"},
		"name":      {refuse(protocol.CodeDuplicateName), "E022"},
		"endpoint":  {refuse(protocol.CodeInvalidEndpoint), "E044"},
		"game type": {refuse(protocol.CodeUnsupportedGameType), "E045"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(r *rig) { r.manager.answer = test.answer })
			r.start()
			err := r.finished()
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), r.cfg.Manager.URL) {
				t.Errorf("ended with %v, want it to tell of %q and of the manager", err, test.want)
			}
			var rejected *agent.RejectedError
			if errors.As(err, &rejected) != (name == "rejected") {
				t.Errorf("%T", err)
			}
			if n := len(r.manager.registrations()); n != 1 {
				t.Errorf("tried %d times", n)
			}
		})
	}
}

// TestLostAnswer loses the answer to a registration: the repeat is to be known
// as one, by its conversation and its id.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(r *rig) {
		r.manager.answer = func(n int, m *protocol.LeagueRegisterRequest) (protocol.Message, error) {
			if n < 3 {
				return nil, protocol.Refuse(protocol.CodeTimeout, m.MessageType, "lost")
			}
			return r.manager.accept(), nil
		}
	})
	r.run()
	got := r.manager.registrations()
	if len(got) != 3 {
		t.Fatalf("%d attempts, want 3", len(got))
	}
	for i := range got {
		if got[i].ConversationID != got[0].ConversationID || r.manager.rpcIDs[i] != r.manager.rpcIDs[0] {
			t.Errorf("attempt %d: conversation %s, id %s, at first %s, %s", i+1, got[i].ConversationID, r.manager.rpcIDs[i], got[0].ConversationID, r.manager.rpcIDs[0])
		}
	}
}

func TestUnusableID(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(r *rig) { r.manager.id = "../../etc/passwd" })
	r.start()
	if err := r.finished(); err == nil {
		t.Error("took on an id that is none")
	}
}

func TestStoppedWhileItRegisters(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.cfg.Manager = wire.NewPeer("http://nobody/mcp", dialect.Contracts)
	r.quit()
	r.open()
	r.start()
	r.stop()
	if err := r.finished(); err != nil {
		t.Errorf("ended with %v", err)
	}
}

// TestRefusesBySelf holds what the server refuses to the league's shape.
func TestRefusesBySelf(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	refusal := r.p.Dispatcher().Refuse(t.Context(), &jsonrpc.Request{}, &jsonrpc.Refusal{Reason: jsonrpc.ReasonBusy, Status: http.StatusServiceUnavailable, Detail: "busy"})
	if refusal == nil || refusal.Code != jsonrpc.CodeBusy || !strings.Contains(string(refusal.Data), "E048") {
		t.Errorf("a busy player says %+v", refusal)
	}
}
