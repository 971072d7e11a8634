package manager_test

import (
	"bytes"
	"context"
	"os"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/protocol"
)

// raw sends a registration under a JSON-RPC id, as a client does that repeats itself.
func (r *rig) raw(from, id string, m protocol.Message) (protocol.Message, error) {
	r.t.Helper()
	call, err := dialect.Contracts.Call(m)
	if err != nil {
		r.t.Fatal(err)
	}
	client := r.caller(from).Client
	got, err := client.Call(context.Background(), r.url, jsonrpc.Message{Method: call.Method, Params: call.Params, ID: jsontext.Value(`"` + id + `"`)})
	if err != nil {
		r.t.Fatal(err)
	}
	answer, err := dialect.ParseAnswer(got.Status, got.Raw)
	if err != nil {
		r.t.Fatal(err)
	}
	return dialect.NewCodec(protocol.Strict).ReadAnswer(m.Head().MessageType, answer)
}

func TestARepeatIsFoldedOnlyWhenItsAnswerWasLost(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	application := func(version, conversation string) protocol.Message {
		m := r.silent(protocol.RolePlayer, "ada").application().(*protocol.LeagueRegisterRequest)
		m.ConversationID, m.Meta.Version, m.Meta.ContactEndpoint = conversation, version, "http://ada/mcp"
		return m
	}
	first, err := r.raw("desk-1:5001", "id-1", application("1", "c1"))
	if err != nil {
		t.Fatal(err)
	}
	a := first.(*protocol.LeagueRegisterResponse)

	again, err := r.raw("desk-1:5002", "id-1", application("1", "c1")) // a new connection
	if err != nil {
		t.Fatal(err)
	}
	b := again.(*protocol.LeagueRegisterResponse)
	if b.PlayerID != a.PlayerID || b.AuthToken == a.AuthToken || b.AuthToken == "" {
		t.Errorf("the repeat got %s with token %s; the first was %s with %s", b.PlayerID, b.AuthToken, a.PlayerID, a.AuthToken)
	}
	stale := r.silent(protocol.RolePlayer, "ada")
	stale.id, stale.token = a.PlayerID, a.AuthToken
	refuses(t, 6001, protocol.CodeTokenInvalid)(stale.call(stale.query(protocol.QueryStatus)))
	stale.token = b.AuthToken
	if _, err := stale.call(stale.query(protocol.QueryStatus)); err != nil {
		t.Errorf("the fresh token is refused: %v", err)
	}

	for what, repeat := range map[string]func() (protocol.Message, error){
		"another JSON-RPC id":  func() (protocol.Message, error) { return r.raw("desk-1:5003", "id-2", application("1", "c1")) },
		"another conversation": func() (protocol.Message, error) { return r.raw("desk-1:5003", "id-1", application("1", "c2")) },
		"another address":      func() (protocol.Message, error) { return r.raw("desk-2:5001", "id-1", application("1", "c1")) },
		"another meta":         func() (protocol.Message, error) { return r.raw("desk-1:5003", "id-1", application("2", "c1")) },
	} {
		answer, err := repeat()
		t.Run(what, func(t *testing.T) { refuses(t, 2002, protocol.CodeDuplicateName)(answer, err) })
	}
	if n := len(r.m.Standings()); n != 1 {
		t.Errorf("%d players are registered, want 1", n)
	}
}

func TestRegisteringAgainCostsTheJournalNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := newRig(t, func(c *manager.Config) { c.DataDir = dir })
	ada := r.player("ada")
	for range 10 {
		m := ada.application()
		m.Head().AuthToken = ada.token
		if _, err := ada.call(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.m.Close(); err != nil {
		t.Fatal(err)
	}
	if log, err := os.ReadFile(manager.JournalName(dir, "cup")); err != nil || bytes.Count(log, []byte("\n")) != 1 {
		t.Errorf("the journal is %s, %v; want 1 event", log, err)
	}
}
