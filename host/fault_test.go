package host_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/strategylab/strategylab/host"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/journal"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/manager"
	"github.com/strategylab/strategylab/host/player"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/referee"
	"github.com/strategylab/strategylab/host/wire"
)

// patience is what is waited for an answer where some never come. It is tried
// three times, so that a busy machine makes nobody miss it.
const patience = 200 * time.Millisecond

var quick = game.Backoff{Retries: 2, First: time.Millisecond, Most: 4 * time.Millisecond}

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
	client := jsonrpc.NewClient(jsonrpc.OverHTTP(jsonrpc.HTTPConfig{}), jsonrpc.ClientConfig{})
	defer client.Close()
	caller := &wire.Caller{Client: client, Codec: protocol.NewCodec(protocol.Tolerant)}
	answer, err := caller.Call(t.Context(), wire.NewPeer(managerURL, protocol.Contracts), &protocol.LeagueRegisterRequest{
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
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return &misbehaving{name: "crashed", url: "http://" + l.Addr().String() + "/mcp"}
}

// leagueOf is a live league over sockets with quick times.
func leagueOf(t *testing.T, players, own int) *host.League {
	t.Helper()
	l := &host.League{
		Network: host.NewSockets(),
		Manager: manager.Config{LeagueID: "cup", Players: players, DataDir: t.TempDir(), NoSync: true, Probe: manager.ProbeOff, Timeout: patience, Backoff: quick},
		Referees: []referee.Config{
			{Concurrent: players, JoinTimeout: patience, ChoiceTimeout: patience, Timeout: patience, Backoff: quick},
		},
	}
	t.Cleanup(func() { l.Network.Close() })
	for i, f := range named(t, "random", "markov-1", "role", "frequency", "hedge", "copy-last")[:own] {
		l.Seats = append(l.Seats, host.Seat{Config: player.Config{Factory: f, Name: fmt.Sprintf("healthy %d", i), Backoff: quick, Watch: -1}})
	}
	return l
}

// replayed recomputes the table from the manager's journal.
func replayed(t *testing.T, cfg manager.Config) []manager.Standing {
	t.Helper()
	j, found, err := journal.Open(manager.JournalName(cfg.DataDir, cfg.LeagueID), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	table, err := manager.Replay(cfg.LeagueID, found.Events)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// audit holds the results of a league to its rules, to its table and to its
// journal: everybody played everybody, healthy players took no technical loss
// and got their points from every match.
func audit(t *testing.T, cfg manager.Config, played *host.Played, healthy func(id string) bool) {
	t.Helper()
	n := len(played.Standings)
	if want := n * (n - 1) / 2 * max(1, cfg.Legs); len(played.Matches) != want {
		t.Fatalf("%d results, want %d", len(played.Matches), want)
	}
	points, count := make(map[string]int), make(map[string]int)
	for _, m := range played.Matches {
		for k, id := range m.Players {
			other := m.Players[1-k]
			points[id] += m.Points[k]
			count[id]++
			switch {
			case healthy(id) && m.Results[k] == game.TechnicalLoss:
				t.Errorf("%s: %s is healthy and lost to %s on technical grounds", m.ID, id, other)
			case healthy(id) && m.Results[1-k] == game.TechnicalLoss && m.Points[k] != game.WinPoints:
				t.Errorf("%s: %s got %d points from %s, which was at fault", m.ID, id, m.Points[k], other)
			}
		}
	}
	for _, s := range played.Standings {
		if s.Points != points[s.PlayerID] || s.Played != count[s.PlayerID] || s.Played != (n-1)*max(1, cfg.Legs) {
			t.Errorf("the table says %+v, the results %d points in %d matches", s, points[s.PlayerID], count[s.PlayerID])
		}
	}
	if cfg.DataDir == "" {
		return
	}
	if table := replayed(t, cfg); !slices.Equal(table, played.Standings) {
		t.Errorf("the journal gives\n%+v, the table is\n%+v", table, played.Standings)
	}
}

// TestMisbehavingPlayers plays leagues of healthy players and of every kind of
// broken one, over sockets, to their ends.
func TestMisbehavingPlayers(t *testing.T) {
	t.Parallel()
	all := append(misbehaviours(), crashed(t))
	const leagues = 3
	for part := range leagues {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			var broken []*misbehaving
			for i := part; i < len(all); i += leagues {
				p := all[i]
				broken = append(broken, p)
				if p.url == "" {
					srv := httptest.NewServer(p)
					t.Cleanup(srv.Close)
					p.url = srv.URL + "/mcp"
				}
			}
			l := leagueOf(t, 3+len(broken), 3)
			l.Manager.Mode = protocol.Tolerant
			l.Started = func(url string) {
				for _, p := range broken {
					p.register(t, url)
				}
			}
			played, err := l.Play(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			own := []string{"P01", "P02", "P03"}
			healthy := func(id string) bool { return slices.Contains(own, id) }
			audit(t, l.Manager, played, healthy)
			names := make(map[string]string)
			for _, p := range broken {
				names[p.id] = p.name
			}
			for _, m := range played.Matches {
				for k, id := range m.Players {
					if !healthy(id) && healthy(m.Players[1-k]) && m.Results[k] != game.TechnicalLoss {
						t.Errorf("%s: %q got away with %v (%v)", m.ID, names[id], m.Results[k], m.Choices)
					}
				}
			}
		})
	}
}

// TestRefereesDie plays a league in which one referee after another dies in the
// middle of a round.
func TestRefereesDie(t *testing.T) {
	t.Parallel()
	l := leagueOf(t, 6, 6)
	l.Manager.MatchDeadline = 300 * time.Millisecond
	l.Referees = append(l.Referees, l.Referees[0], l.Referees[0])
	net := &mortal{Network: l.Network, after: map[string]int64{"REF01": 9, "REF03": 20}}
	l.Network = net
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan struct{})
	var results atomic.Int64
	l.Manager.Events = func(e manager.Event) {
		switch e.Kind {
		case manager.MatchReported:
			results.Add(1)
		case manager.LeagueCompleted:
			close(ended)
		}
	}
	var played *host.Played
	done := make(chan error, 1)
	go func() {
		var err error
		played, err = l.Play(ctx)
		done <- err
	}()
	select {
	case <-ended:
	case err := <-done:
		t.Fatal(err)
	case <-time.After(30 * time.Second):
		t.Fatal("the league does not end")
	}
	// A dead referee never hears of the end, and its process is still here.
	net.revive()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if n := results.Load(); n != 15 {
		t.Errorf("%d results, want 15", n)
	}
	if net.deaths.Load() != 2 {
		t.Errorf("%d referees died", net.deaths.Load())
	}
	audit(t, l.Manager, played, func(string) bool { return true })
}

// mortal is a network that cuts agents off after they have sent so many
// messages: nothing of theirs goes out and nothing reaches them.
type mortal struct {
	host.Network
	deaths atomic.Int64

	mu    sync.Mutex
	after map[string]int64
	dead  map[string]bool // by URL
	urls  map[string]string
}

func (n *mortal) revive() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.after)
	clear(n.dead)
}

func (n *mortal) Listen(ctx context.Context, name string, cfg jsonrpc.Config) (host.Server, error) {
	srv, err := n.Network.Listen(ctx, name, cfg)
	if err == nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.urls == nil {
			n.urls, n.dead = make(map[string]string), make(map[string]bool)
		}
		n.urls[name] = srv.URL()
	}
	return srv, err
}

func (n *mortal) From(name string) jsonrpc.RoundTripper {
	return &mortalTripper{n.Network.From(name), n, name}
}

type mortalTripper struct {
	jsonrpc.RoundTripper
	n    *mortal
	name string
}

func (c *mortalTripper) Close() error { return nil }

func (c *mortalTripper) RoundTrip(ctx context.Context, out *jsonrpc.Outgoing) (*jsonrpc.Reply, error) {
	c.n.mu.Lock()
	own := c.n.urls[c.name]
	if left, mortal := c.n.after[c.name]; mortal && !c.n.dead[own] {
		if c.n.after[c.name] = left - 1; left <= 0 {
			c.n.dead[own] = true
			c.n.deaths.Add(1)
		}
	}
	gone := c.n.dead[own] || c.n.dead[out.URL]
	c.n.mu.Unlock()
	if gone {
		return nil, &jsonrpc.CallError{Kind: jsonrpc.ErrConnect, Err: errors.New("cut off")}
	}
	return c.RoundTripper.RoundTrip(ctx, out)
}

// agents are the parts of a league that are assembled by hand, so that one can
// be started again.
type agents struct {
	t   *testing.T
	net *host.Sockets
	wg  sync.WaitGroup
}

func (a *agents) caller() *wire.Caller {
	return &wire.Caller{Client: jsonrpc.NewClient(a.net.From(""), jsonrpc.ClientConfig{}), Codec: protocol.NewCodec(protocol.Tolerant)}
}

// serve serves a handler at an address until ctx ends.
func (a *agents) serve(ctx context.Context, addr string, make func(url string) jsonrpc.Handler) string {
	a.t.Helper()
	srv, err := jsonrpc.Listen(ctx, cmp.Or(addr, "127.0.0.1:0"), jsonrpc.Config{Drain: time.Millisecond})
	if err != nil {
		a.t.Fatal(err)
	}
	h := make(srv.URL())
	a.wg.Go(func() { _ = srv.Serve(ctx, h) })
	return srv.URL()
}

// TestManagerIsRestarted kills the manager after every few results and starts it
// again on its data, while referees and players go on.
func TestManagerIsRestarted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	a := &agents{t: t, net: host.NewSockets()}
	t.Cleanup(func() {
		cancel()
		a.wg.Wait()
		a.net.Close()
	})
	cfg := manager.Config{LeagueID: "cup", Players: 4, Legs: 3, DataDir: t.TempDir(), NoSync: true, Probe: manager.ProbeOff, Timeout: time.Second, Backoff: quick, Caller: a.caller()}
	results := make(chan struct{}, 1000)
	over := make(chan struct{})
	cfg.Events = func(e manager.Event) {
		switch e.Kind {
		case manager.MatchReported:
			results <- struct{}{}
		case manager.LeagueCompleted:
			close(over)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	url := "http://" + addr + "/mcp"
	start := func() (*manager.Manager, func()) {
		life, kill := context.WithCancel(ctx)
		m, err := manager.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		var mine sync.WaitGroup
		srv, err := jsonrpc.Listen(life, addr, jsonrpc.Config{Drain: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		mine.Go(func() { _ = srv.Serve(life, m.Handler()) })
		mine.Go(func() { _ = m.Run(life) })
		return m, func() { kill(); mine.Wait() }
	}
	m, kill := start()

	manages := func() *wire.Peer { return wire.NewPeer(url, protocol.Contracts) }
	a.serve(ctx, "", func(own string) jsonrpc.Handler {
		r, err := referee.New(referee.Config{Endpoint: own, Manager: manages(), Caller: a.caller(), Backoff: quick, Timeout: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		a.wg.Go(func() { _ = r.Run(ctx) })
		return r.Handler()
	})
	var done sync.WaitGroup
	for i, f := range named(t, "random", "markov-1", "role", "frequency") {
		a.serve(ctx, "", func(own string) jsonrpc.Handler {
			p, err := player.New(player.Config{
				Factory: f, Endpoint: own, Manager: manages(), Caller: a.caller(), Name: fmt.Sprintf("player %d", i),
				Backoff: quick, Timeout: time.Second, Once: true, Data: filepath.Join(cfg.DataDir, "agents"),
			})
			if err != nil {
				t.Fatal(err)
			}
			done.Add(1)
			a.wg.Go(func() {
				defer done.Done()
				if err := p.Run(ctx); err != nil {
					t.Errorf("player %d: %v", i, err)
				}
			})
			return p.Handler()
		})
	}
	for restarts := 0; ; restarts++ {
		for range 3 {
			select {
			case <-results:
				continue
			case <-over:
			case <-time.After(30 * time.Second):
				t.Fatal("the league does not go on")
			}
			break
		}
		select {
		case <-over:
			done.Wait() // everybody has heard of the end
			kill()
			if restarts < 3 {
				t.Errorf("restarted %d times only", restarts)
			}
			audit(t, cfg, &host.Played{Matches: m.Results(), Standings: m.Standings()}, func(string) bool { return true })
			return
		default:
		}
		if restarts < 5 {
			kill()
			m, kill = start()
		}
	}
}
