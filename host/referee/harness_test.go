package referee_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/credential"
	"github.com/strategylab/strategylab/host/dialect"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/wire"
)

const (
	league       = "cup"
	refereeToken = "tok-REF01-00112233445566778899aabbccddeeff00112233"
	patience     = time.Hour // of the bubble's clock; over sockets tests end long before
)

// heard is a message as a scripted agent got it.
type heard struct {
	protocol.Header
	who  string
	id   string // of JSON-RPC
	at   time.Time
	body map[string]any
}

// rig is a referee on a network inside the process, and whom it talks to.
type rig struct {
	t     testing.TB
	net   *jsonrpc.Loopback
	cfg   referee.Config
	ref   *referee.Referee
	start time.Time

	mu      sync.Mutex
	heard   []*heard
	events  []referee.Event
	changed chan struct{}

	serving sync.WaitGroup
	ctx     context.Context
	stop    context.CancelFunc
	halt    context.CancelFunc // ends the referee
	result  chan error         // of Run
}

func newRig(t testing.TB, change func(*referee.Config)) *rig {
	t.Helper()
	r := &rig{t: t, net: new(jsonrpc.Loopback), changed: make(chan struct{}), start: time.Now()}
	r.ctx, r.stop = context.WithCancel(context.Background())
	r.cfg = referee.Config{
		Config: agent.Config{
			Endpoint: "http://REF01/mcp",
			ID:       "REF01",
			Manager:  wire.NewPeer("http://manager/mcp", dialect.Contracts),
			Caller:   &wire.Caller{Client: jsonrpc.NewClient(r.net.From("REF01"), jsonrpc.ClientConfig{}), Codec: dialect.NewCodec(protocol.Tolerant)},
		},
		Draw: func(referee.Match) (int, error) { return 4, nil },
		Events: func(e referee.Event) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.events = append(r.events, e)
			r.wake()
		},
	}
	if change != nil {
		change(&r.cfg)
	}
	return r
}

// world are the scripts of other agents than the usual: nil for one that does not listen.
type world map[string]script

// bubble runs a test on the clock of a bubble: of a referee whose manager takes everything
// and whose players play by the book, but for others. The referee is ended after it.
func bubble(t *testing.T, change func(*referee.Config), others world, test func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, change)
		r.meets(others)
		r.run()
		test(t, r)
		r.end()
	})
}

// meets serves the agents around the referee.
func (r *rig) meets(others world) {
	r.t.Helper()
	all := world{"manager": keeps, "P01": plays("even"), "P02": plays("odd")}
	maps.Copy(all, others)
	for who, s := range all {
		if s != nil {
			r.agent(who, s)
		}
	}
}

func (r *rig) wake() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// agent serves a scripted agent.
func (r *rig) agent(who string, s script) {
	r.t.Helper()
	r.serve(who, jsonrpc.HandlerFunc(func(ctx context.Context, req *jsonrpc.Request) jsonrpc.Response {
		return s(ctx, r.hear(who, req))
	}))
}

func (r *rig) hear(who string, req *jsonrpc.Request) *heard {
	h := &heard{who: who, id: string(req.ID), at: time.Now()}
	in, err := dialect.NewCodec(protocol.Strict).Open(req)
	if err == nil {
		_, err = in.Decode() // what a referee sends keeps every rule
	}
	if err != nil {
		r.t.Errorf("%s is sent %s: %v", who, req.Raw, err)
	}
	h.Header = in.Header
	if err := json.Unmarshal(req.Params, &h.body); err != nil {
		r.t.Error(err)
	}
	r.mu.Lock()
	r.heard = append(r.heard, h)
	r.wake()
	r.mu.Unlock()
	return h
}

func (r *rig) serve(host string, h jsonrpc.Handler) {
	r.t.Helper()
	srv, err := r.net.Listen(host, jsonrpc.Config{})
	if err != nil {
		r.t.Fatal(err)
	}
	r.serving.Go(func() { _ = srv.Serve(r.ctx, h) })
}

// run makes the referee, serves it and runs it until it is registered.
func (r *rig) run() {
	r.t.Helper()
	r.launch()
	r.until("a registration", func() bool {
		return slices.ContainsFunc(r.events, func(e referee.Event) bool { return e.Kind == referee.Registered })
	})
}

func (r *rig) launch() {
	r.t.Helper()
	var err error
	if r.ref, err = referee.New(r.cfg); err != nil {
		r.t.Fatal(err)
	}
	r.serve("REF01", r.ref.Dispatcher())
	ctx, halt := context.WithCancel(context.Background())
	r.halt, r.result = halt, make(chan error, 1)
	go func() { r.result <- r.ref.Run(ctx) }()
}

// end stops the referee, and everybody else after it.
func (r *rig) end() {
	r.t.Helper()
	r.halt()
	if err := <-r.result; err != nil {
		r.t.Errorf("Run returned %v", err)
	}
	r.stop()
	r.serving.Wait()
}

// until waits for a condition, which is asked with the lock held.
func (r *rig) until(what string, condition func() bool) {
	r.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		r.mu.Lock()
		ok, changed := condition(), r.changed
		r.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-deadline.C:
			r.t.Fatalf("waited for %s; heard %v, events %+v", what, r.log(), r.events)
		}
	}
}

// log is who heard what, in order.
func (r *rig) log() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var lines []string
	for _, h := range r.heard {
		lines = append(lines, h.who+" "+string(h.MessageType))
	}
	return lines
}

// all returns what an agent has heard of one type.
func (r *rig) all(who string, t protocol.Type) []*heard {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.allHeld(who, t)
}

func (r *rig) allHeld(who string, t protocol.Type) []*heard {
	var found []*heard
	for _, h := range r.heard {
		if h.who == who && h.MessageType == t {
			found = append(found, h)
		}
	}
	return found
}

// reports waits for the manager to have n reports, and returns the results.
func (r *rig) reports(n int) []*heard {
	r.t.Helper()
	r.until(fmt.Sprintf("%d reports", n), func() bool { return len(r.allHeld("manager", protocol.TypeMatchResultReport)) >= n })
	return r.all("manager", protocol.TypeMatchResultReport)
}

// send sends a message to the referee and returns the answer's result, or the
// refusal.
func (r *rig) send(m obj) (obj, *jsonrpc.Error) {
	r.t.Helper()
	raw, err := json.Marshal(m)
	if err != nil {
		r.t.Fatal(err)
	}
	method := "x"
	if about, ok := protocol.Describe(protocol.Type(fmt.Sprint(m["message_type"]))); ok {
		method = about.Method
	}
	c := jsonrpc.NewClient(r.net.From("somebody"), jsonrpc.ClientConfig{Timeout: time.Minute})
	got, err := c.Call(context.Background(), "http://REF01/mcp", jsonrpc.Message{Method: method, Params: raw})
	if err != nil {
		r.t.Fatal(err)
	}
	if refused := got.Members.Get("error"); refused != nil {
		e := new(jsonrpc.Error)
		if err := json.Unmarshal(refused, e); err != nil {
			r.t.Fatal(err)
		}
		return nil, e
	}
	var result obj
	if err := json.Unmarshal(got.Members.Get("result"), &result); err != nil {
		r.t.Fatal(err)
	}
	return result, nil
}

// must is send for what is not refused.
func (r *rig) must(m obj) obj {
	r.t.Helper()
	result, refused := r.send(m)
	if refused != nil {
		r.t.Fatalf("%v is refused: %v %s", m["message_type"], refused, refused.Data)
	}
	return result
}

func tokenOf(id string) string { return "tok-" + id + "-aabbccddeeff00112233445566778899aabbccdd" }

func keysOf(player, match string) credential.KeyPair {
	return credential.NewVerifier(tokenOf(player)).MatchKeys(league, match, "REF01")
}

// obj is a JSON object.
type obj = map[string]any

// say is a result.
func say(o obj) jsonrpc.Response {
	raw, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return jsonrpc.Response{Result: raw}
}

// refuse is a JSON-RPC error with data.
func refuse(code int, data obj) jsonrpc.Response {
	raw, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	return jsonrpc.Response{Error: &jsonrpc.Error{Code: code, Message: "no", Data: raw}}
}

// header is the header of an answer of a player to a message.
func header(h *heard, t protocol.Type) obj {
	return obj{
		"protocol": "league.v2", "message_type": string(t), "sender": "player:" + h.who, "timestamp": "2026-01-01T00:00:00Z",
		"conversation_id": h.ConversationID, "match_id": h.MatchID, "player_id": h.who, "auth_token": keysOf(h.who, h.MatchID).Expect,
	}
}

func with(o obj, pairs ...any) obj {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == nil {
			delete(o, pairs[i].(string))
		} else {
			o[pairs[i].(string)] = pairs[i+1]
		}
	}
	return o
}

func joins(h *heard) jsonrpc.Response {
	return say(with(header(h, protocol.TypeGameJoinAck), "accept", true, "arrival_timestamp", "2026-01-01T00:00:00Z"))
}

func chooses(h *heard, choice string) jsonrpc.Response {
	return say(with(header(h, protocol.TypeChooseParityResponse), "parity_choice", choice))
}

// script says how an agent answers.
type script func(ctx context.Context, h *heard) jsonrpc.Response

// plays is a player by the book.
func plays(choice string) script {
	return func(_ context.Context, h *heard) jsonrpc.Response {
		switch h.MessageType {
		case protocol.TypeGameInvitation:
			return joins(h)
		case protocol.TypeChooseParityCall:
			return chooses(h, choice)
		}
		return say(header(h, h.MessageType+"_ACK"))
	}
}

// except answers one type of message otherwise.
func except(s script, t protocol.Type, odd script) script {
	return func(ctx context.Context, h *heard) jsonrpc.Response {
		if h.MessageType == t {
			return odd(ctx, h)
		}
		return s(ctx, h)
	}
}

// hangs never answers.
func hangs(ctx context.Context, _ *heard) jsonrpc.Response {
	<-ctx.Done()
	return jsonrpc.Response{}
}

// keeps is a manager that takes everything.
func keeps(_ context.Context, h *heard) jsonrpc.Response {
	a := obj{"protocol": "league.v2", "sender": "league_manager", "timestamp": "2026-01-01T00:00:00Z", "conversation_id": h.ConversationID}
	if h.MessageType == protocol.TypeRefereeRegisterRequest {
		return say(with(a, "message_type", "REFEREE_REGISTER_RESPONSE", "status", "ACCEPTED", "referee_id", "REF01",
			"auth_token", refereeToken, "league_id", league))
	}
	return say(with(a, "message_type", "MATCH_RESULT_ACK", "status", "ACCEPTED", "recorded", true, "match_id", h.MatchID, "round_id", 1))
}

// match is an announced match between two players, with its keys.
func match(id, a, b string) obj {
	return obj{
		"match_id": id, "game_type": "even_odd", "player_A_id": a, "player_B_id": b, "referee_id": "REF01",
		"referee_endpoint": "http://REF01/mcp", "player_A_endpoint": "http://" + a + "/mcp", "player_B_endpoint": "http://" + b + "/mcp",
		"player_A_keys": keysOf(a, id), "player_B_keys": keysOf(b, id),
	}
}

// fromManager is a message of the manager.
func fromManager(t protocol.Type, pairs ...any) obj {
	return with(obj{
		"protocol": "league.v2", "message_type": string(t), "sender": "league_manager", "timestamp": "2026-01-01T00:00:00Z",
		"conversation_id": "c", "league_id": league, "round_id": 1,
		"auth_token": credential.NewVerifier(refereeToken).ManagerToken(league),
	}, pairs...)
}

func round(matches ...obj) obj {
	return fromManager(protocol.TypeRoundAnnouncement, "byes", []string{}, "matches", append([]obj{}, matches...))
}

func completed() obj {
	return with(fromManager(protocol.TypeLeagueCompleted, "total_rounds", 1, "total_matches", 1,
		"champion", obj{"player_id": "P01", "display_name": "P01", "points": 3},
		"final_standings", []obj{{"rank": 1, "player_id": "P01", "display_name": "P01", "points": 3, "wins": 1, "draws": 0, "losses": 0}}), "round_id", nil)
}
