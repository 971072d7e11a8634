package host_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/jsonrpc/jsonrpctest"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// misbehaving is a player that is somebody else's program: an HTTP handler that
// acknowledges everything, joins and plays even by the book, but for what a
// test has it do instead.
type misbehaving struct {
	name string
	does func(w http.ResponseWriter, r *http.Request, m message) bool // false to go on by the book
	url  string

	mu        sync.Mutex // held while it registers
	id, token string
}

// message is what such a program reads of a request.
type message struct {
	ID     any            `json:"id"`
	Params map[string]any `json:"params"`
}

func (m message) text(name string) string { s, _ := m.Params[name].(string); return s }

func (p *misbehaving) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m message
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if p.does != nil && p.does(w, r, m) {
		return
	}
	p.answer(w, m, nil)
}

// answer answers by the book, with some fields changed.
func (p *misbehaving) answer(w io.Writer, m message, change map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	result := map[string]any{
		"protocol": protocol.Version, "sender": "player:" + p.id, "timestamp": protocol.Timestamp(time.Now()), "conversation_id": m.text("conversation_id"),
		"player_id": p.id, "match_id": m.text("match_id"), "status": "ACKNOWLEDGED", "auth_token": p.token,
	}
	switch m.text("message_type") {
	case "GAME_INVITATION":
		result["message_type"], result["accept"], result["arrival_timestamp"] = "GAME_JOIN_ACK", true, result["timestamp"]
	case "CHOOSE_PARITY_CALL":
		result["message_type"], result["parity_choice"] = "CHOOSE_PARITY_RESPONSE", "even"
	default:
		about, _ := protocol.Describe(protocol.Type(m.text("message_type")))
		result["message_type"] = string(about.Answer)
	}
	for name, v := range change {
		result[name] = v
	}
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
	if err == nil {
		_, _ = w.Write(raw)
	}
}

// register registers the program by the book.
func (p *misbehaving) register(t *testing.T, managerURL string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	client := jsonrpc.NewClient(jsonrpc.OverHTTP(), jsonrpc.ClientConfig{})
	defer client.Close()
	caller := &wire.Caller{Client: client, Codec: dialect.NewCodec(protocol.Tolerant)}
	answer, err := caller.Call(t.Context(), wire.NewPeer(managerURL, dialect.Contracts), &protocol.LeagueRegisterRequest{
		Header: protocol.NewHeader(protocol.TypeLeagueRegisterRequest, "player:"+p.name, protocol.Timestamp(time.Now()), "conv-"+p.name),
		Meta:   protocol.PlayerMeta{DisplayName: p.name, Version: "1", ProtocolVersion: "2.1.0", GameTypes: []string{protocol.GameEvenOdd}, ContactEndpoint: p.url},
	})
	if err != nil {
		t.Errorf("%s: %v", p.name, err)
		return
	}
	r := answer.(*protocol.LeagueRegisterResponse)
	p.id, p.token = r.PlayerID, r.AuthToken
}

func in(m message, types ...string) bool { return slices.Contains(types, m.text("message_type")) }

// hang keeps a request until the caller gives up.
func hang(r *http.Request) bool {
	<-r.Context().Done()
	return true
}

// cut closes the connection in the middle of an answer.
func cut(w http.ResponseWriter) bool {
	conn, rw, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return false
	}
	fmt.Fprint(rw, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{\"jsonrpc\":\"2.0\",\"resu")
	rw.Flush()
	conn.Close()
	return true
}

func misbehaviours() []*misbehaving {
	type does = func(w http.ResponseWriter, r *http.Request, m message) bool
	raw := func(text string, types ...string) does {
		return func(w http.ResponseWriter, _ *http.Request, m message) bool {
			if in(m, types...) {
				fmt.Fprint(w, text)
				return true
			}
			return false
		}
	}
	var players []*misbehaving
	add := func(name string, do does) *misbehaving {
		p := &misbehaving{name: name, does: do}
		players = append(players, p)
		return p
	}
	add("hangs at the invitation", func(_ http.ResponseWriter, r *http.Request, m message) bool {
		return in(m, "GAME_INVITATION") && hang(r)
	})
	add("hangs at the choice", func(_ http.ResponseWriter, r *http.Request, m message) bool {
		return in(m, "CHOOSE_PARITY_CALL") && hang(r)
	})
	add("hangs at everything", func(_ http.ResponseWriter, r *http.Request, _ message) bool { return hang(r) })
	add("closes in mid-body", func(w http.ResponseWriter, _ *http.Request, m message) bool {
		return in(m, "CHOOSE_PARITY_CALL", "GAME_OVER") && cut(w)
	})
	add("answers garbage", raw("<html>?</html>", "CHOOSE_PARITY_CALL"))
	add("answers nothing", raw("", "GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER"))
	add("chooses blue", raw(`{"jsonrpc":"2.0","id":1,"result":{"protocol":"league.v2","message_type":"CHOOSE_PARITY_RESPONSE","timestamp":"2026-01-01T00:00:00Z","parity_choice":"blue"}}`, "CHOOSE_PARITY_CALL"))
	wrong := add("wrong match", nil)
	wrong.does = func(w http.ResponseWriter, _ *http.Request, m message) bool {
		if in(m, "CHOOSE_PARITY_CALL") {
			wrong.answer(w, m, map[string]any{"match_id": "R99M99"})
			return true
		}
		return false
	}
	twice := add("answers twice", nil)
	twice.does = func(w http.ResponseWriter, _ *http.Request, m message) bool {
		if in(m, "CHOOSE_PARITY_CALL") {
			twice.answer(w, m, nil)
			twice.answer(w, m, map[string]any{"parity_choice": "odd"})
			return true
		}
		return false
	}
	declines := add("declines", nil)
	declines.does = func(w http.ResponseWriter, _ *http.Request, m message) bool {
		if in(m, "GAME_INVITATION") {
			declines.answer(w, m, map[string]any{"accept": false, "status": "DECLINED"})
			return true
		}
		return false
	}
	add("streams for ever", func(w http.ResponseWriter, r *http.Request, m message) bool {
		if !in(m, "CHOOSE_PARITY_CALL") {
			return false
		}
		for r.Context().Err() == nil {
			if _, err := fmt.Fprintf(w, "%01000d", 0); err != nil {
				break
			}
			w.(http.Flusher).Flush()
		}
		return true
	})
	return players
}

// crashed is a player whose process died after it had registered.
func crashed(t *testing.T) *misbehaving {
	t.Helper()
	return &misbehaving{name: "crashed", url: "http://" + jsonrpctest.Address(t) + "/mcp"}
}
