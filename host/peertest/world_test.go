package peertest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"
)

// world is one league: its network, what the programs in it share as observers,
// and what came out.
type world struct {
	testing.TB
	*network
	ctx    context.Context
	cancel context.CancelFunc
	http   *http.Client
	record *traffic
	native bool // the league is of one program, manager and all but one player

	board
	outcomes map[string]outcome // of matches, as the referee saw them
	complete bool               // all matches have been played
	ready    bool               // all players are there
	learners []*identity        // of programs that register
	left     bool               // our program has ended
	running  sync.WaitGroup
}

// mostTime is how long a league may last.
const mostTime = 2 * time.Minute

// newWorld returns an empty league on a network of its own.
func newWorld(t testing.TB) *world {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), mostTime)
	w := &world{
		cancel: cancel, TB: t, network: joinNetwork(t), ctx: ctx, record: newTraffic(),
		outcomes: make(map[string]outcome),
	}
	w.http = w.client()
	t.Cleanup(func() {
		cancel()
		w.running.Wait()
		w.http.CloseIdleConnections()
		w.record.check(t)
	})
	return w
}

// limit ends the league after a time.
func (w *world) limit(d time.Duration) {
	timer := time.AfterFunc(d, w.cancel)
	w.Cleanup(func() { timer.Stop() })
}

// reply is what a program answers over HTTP. The zero status is 200.
type reply struct {
	status int
	body   any
}

// serve starts a server of a program on a port of 127.0.0.1 and returns its
// address, "http://127.0.0.1:PORT". Bodies that are not JSON objects get 400.
func (w *world) serve(port int, handle func(path string, in object) reply) string {
	w.Helper()
	addr := fmt.Sprintf("127.0.0.1:%d", port)
	ln, err := w.listen(addr)
	if err != nil {
		w.Fatal(err)
	}
	addr = ln.Addr().String()
	server := &http.Server{Handler: http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		w.record.add(addr, r, raw)
		var in object
		got := reply{http.StatusBadRequest, object{"detail": "There was an error parsing the body"}}
		if r.Method == http.MethodGet || json.Unmarshal(raw, &in) == nil {
			path := r.URL.Path
			if r.Method == http.MethodGet {
				path = "GET " + path
			}
			got = handle(path, in)
		}
		got.write(out)
	})}
	w.running.Go(func() { _ = server.Serve(ln) })
	w.Cleanup(func() { _ = server.Close() })
	return "http://" + addr
}

// post posts a document and returns the object that comes back; nil for anything
// else.
func (w *world) post(url string, doc any) object {
	raw, err := json.Marshal(doc)
	if err != nil {
		w.Error(err)
		return nil
	}
	ctx, cancel := context.WithTimeout(w.ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(raw))
	if err != nil {
		return nil
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Peer", "foreign") // the traffic between foreign programs is not ours
	res, err := w.http.Do(req)
	if err != nil {
		return nil
	}
	defer res.Body.Close()
	var answer object
	if json.NewDecoder(res.Body).Decode(&answer) != nil {
		return nil
	}
	return answer
}

// spawn runs a part of a program that the end of the league waits for.
func (w *world) spawn(f func()) { w.running.Go(f) }

// board is what several goroutines know and wait for.
type board struct {
	mu      sync.Mutex
	changed chan struct{} // closed by the next change; nil before anybody waits
}

// note changes what is known, and wakes those that wait for it.
func (b *board) note(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}

// awaitUntil waits until the condition, asked with the lock held, is true; false when
// the end comes before.
func (b *board) awaitUntil(end <-chan struct{}, condition func() bool) bool {
	for {
		b.mu.Lock()
		ok := condition()
		if b.changed == nil {
			b.changed = make(chan struct{})
		}
		changed := b.changed
		b.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-changed:
		case <-end:
			return false
		}
	}
}

// await waits for a condition until the league is over.
func (w *world) await(condition func() bool) bool { return w.awaitUntil(w.ctx.Done(), condition) }

// outcome is what a referee saw in a match. A side without a choice has lost by
// technical loss.
type outcome struct {
	ids     [2]string
	choices [2]string
	number  int
	pays    [3]int // for a win, a draw, a loss; else 3, 1 and 0
}

// parity is that of the drawn number.
func (o outcome) parity() string { return []string{"even", "odd"}[o.number%2] }

// drawn is the number, or nil where a technical loss decided the match.
func (o outcome) drawn() any {
	if o.status() == "TECHNICAL_LOSS" {
		return nil
	}
	return o.number
}

// winner is the side that has won, -1 for none.
func (o outcome) winner() int {
	for side := range 2 {
		mine, other := o.choices[side], o.choices[1-side]
		if mine != "" && other == "" || mine == o.parity() && other != "" && other != o.parity() {
			return side
		}
	}
	return -1
}

// word says how a match ended for a side.
func (o outcome) word(side int) string {
	switch o.winner() {
	case side:
		return "WIN"
	case 1 - side:
		return "LOSS"
	}
	return "DRAW"
}

// status says how the match ended for everybody.
func (o outcome) status() string {
	switch {
	case len(o.chosen()) < 2:
		return "TECHNICAL_LOSS"
	case o.winner() < 0:
		return "DRAW"
	}
	return "WIN"
}

// points are those of a side.
func (o outcome) points(side int) int {
	pays := o.pays
	if pays == [3]int{} {
		pays = [3]int{3, 1, 0}
	}
	switch {
	case len(o.chosen()) == 0 || o.choices[side] == "":
		return 0
	case o.word(side) == "WIN":
		return pays[0]
	case o.word(side) == "DRAW":
		return pays[1]
	}
	return pays[2]
}

// absent are the players that have not chosen, nil if there are none.
func (o outcome) absent() (ids []any) {
	for side, id := range o.ids {
		if o.choices[side] == "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// chosen are the choices by player.
func (o outcome) chosen() object {
	all := object{}
	for side, id := range o.ids {
		if o.choices[side] != "" {
			all[id] = o.choices[side]
		}
	}
	return all
}

// winnerID is the id of the winner, or nil.
func (o outcome) winnerID() any {
	if side := o.winner(); side >= 0 {
		return o.ids[side]
	}
	return nil
}

// score are the points by player.
func (o outcome) score() object {
	return object{o.ids[0]: o.points(0), o.ids[1]: o.points(1)}
}

// conduct plays a match: the program says how it invites, calls and tells. A
// player that has not joined is not called.
func (w *world) conduct(m matchup, number int, invite func(side int) bool, choose func(side int) string, tell func(side int, o outcome)) outcome {
	o := outcome{ids: [2]string{m.sides[0].id, m.sides[1].id}, number: number}
	both := func(f func(side int)) {
		var all sync.WaitGroup
		for side := range 2 {
			all.Go(func() { f(side) })
		}
		all.Wait()
	}
	both(func(side int) {
		if !invite(side) {
			return
		}
		if c := choose(side); c == "even" || c == "odd" {
			o.choices[side] = c
		}
	})
	both(func(side int) { tell(side, o) })
	w.note(func() { w.outcomes[m.id] = o })
	return o
}

// byTheBook is GAME_OVER as the text has it, and reported a report.
func (o outcome) byTheBook() object {
	return object{"game_result": object{"status": o.status(), "winner_player_id": o.winnerID(), "drawn_number": o.drawn(), "number_parity": o.parity(), "choices": o.chosen()}}
}

func (o outcome) reported() object {
	return object{"result": object{"winner": o.winnerID(), "score": o.score(), "details": object{"drawn_number": o.drawn(), "choices": o.chosen()}}}
}

// schedule calls play for each match of a league of these players, round by round.
func schedule(players []registered, play func(m matchup)) {
	for _, round := range roundRobin(players) {
		var all sync.WaitGroup
		for _, m := range round {
			all.Go(func() { play(m) })
		}
		all.Wait()
	}
}

// rpc is a JSON-RPC request.
func rpc(method string, params any, id any) object {
	return object{"jsonrpc": "2.0", "method": method, "params": params, "id": id}
}

// done is a JSON-RPC answer.
func done(in object, result any) reply {
	return reply{body: object{"jsonrpc": "2.0", "result": result, "id": in["id"]}}
}

// failed is a JSON-RPC refusal.
func failed(in object, code int, message string) reply {
	return reply{body: object{"jsonrpc": "2.0", "error": object{"code": code, "message": message}, "id": in["id"]}}
}

// inner is the object in a member, nil if there is none.
func inner(o object, name string) object {
	v, _ := o[name].(object)
	return v
}

func stamp() string { return time.Now().UTC().Format("2006-01-02T15:04:05Z") }

// encoded is an object as a text of JSON, and decoded reads either form.
func encoded(o object) string {
	raw, _ := json.Marshal(o)
	return string(raw)
}

func decoded(v any) object {
	o, _ := v.(object)
	if raw, is := v.(string); is {
		_ = json.Unmarshal([]byte(raw), &o)
	}
	return o
}

// played is the number of matches that have been played.
func (w *world) played() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.outcomes)
}
