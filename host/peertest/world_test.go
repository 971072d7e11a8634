package peertest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
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
	return post(ctx, w.http, url, http.Header{"Content-Type": {"application/json"}}, raw)
}

// post posts a body to another program, or to one of ours.
func post(ctx context.Context, client *http.Client, url string, header http.Header, body []byte) (answer object) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil
	}
	req.Header = header
	req.Header.Set("X-Peer", "foreign") // the traffic between foreign programs is not ours
	res, err := client.Do(req)
	if err != nil {
		return nil
	}
	defer res.Body.Close()
	_ = json.Unmarshal(received(res.Header, res.Body), &answer)
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
	o := conduct(outcome{ids: [2]string{m.sides[0].id, m.sides[1].id}, number: number}, invite, choose)
	both(func(side int) { tell(side, o) })
	w.note(func() { w.outcomes[m.id] = o })
	return o
}

// conduct plays a match until both have chosen.
func conduct(o outcome, invite func(side int) bool, choose func(side int) string) outcome {
	both(func(side int) {
		if !invite(side) {
			return
		}
		if c := choose(side); c == "even" || c == "odd" {
			o.choices[side] = c
		}
	})
	return o
}

// both does something for both sides at once.
func both(do func(side int)) {
	var all sync.WaitGroup
	for side := range 2 {
		all.Go(func() { do(side) })
	}
	all.Wait()
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

// matchup is a match of a round and its players.
type matchup struct {
	id    string
	round int
	sides [2]registered
}

// roundRobin returns the matches of each round.
func roundRobin(players []registered) [][]matchup {
	field := append([]registered(nil), players...)
	if len(field)%2 == 1 {
		field = append(field, registered{})
	}
	n := len(field)
	var rounds [][]matchup
	for r := 1; r < n; r++ {
		var round []matchup
		for i := range n / 2 {
			if a, b := field[i], field[n-1-i]; a.id != "" && b.id != "" {
				round = append(round, matchup{id: fmt.Sprintf("R%dM%d", r, len(round)+1), round: r, sides: [2]registered{a, b}})
			}
		}
		rounds = append(rounds, round)
		field = append(append([]registered{field[0]}, field[n-1]), field[1:n-1]...)
	}
	return rounds
}

// tally counts results for a table.
type tally struct{ rows []*row }

// row is a line of a table.
type row struct {
	Rank    int     `json:"rank"`
	ID      string  `json:"player_id"`
	Name    string  `json:"display_name"`
	Played  int     `json:"played"`
	Wins    int     `json:"wins"`
	Draws   int     `json:"draws"`
	Losses  int     `json:"losses"`
	Points  float64 `json:"points"`
	opening int
}

func newTally(field []registered) *tally {
	t := new(tally)
	for i, r := range field {
		t.rows = append(t.rows, &row{ID: r.id, Name: r.name, opening: i})
	}
	return t
}

// add counts a match of a player. A winner that is no player of it means a tie,
// or none if there are no points either.
func (t *tally) add(id string, points, winner any, players int) {
	for _, r := range t.rows {
		if r.ID != id || players != 2 {
			continue
		}
		r.Played++
		n, _ := json.Marshal(points)
		var p float64
		_ = json.Unmarshal(n, &p)
		r.Points += p
		switch {
		case winner == id:
			r.Wins++
		case winner != nil && winner != "DRAW" || p == 0:
			r.Losses++
		default:
			r.Draws++
		}
	}
}

// table returns the lines by points.
func (t *tally) table() []any {
	slices.SortFunc(t.rows, func(a, b *row) int {
		return cmp.Or(cmp.Compare(b.Points, a.Points), cmp.Compare(b.Wins, a.Wins), a.opening-b.opening)
	})
	var lines []any
	for i, r := range t.rows {
		r.Rank = i + 1
		lines = append(lines, r)
	}
	return lines
}

// A repeat of a request is none if it comes this much later.
const tooSoon = 100 * time.Millisecond

// mostRequests is how many requests one server may get in a league of ours.
const mostRequests = 600

// traffic observes what our programs send to the servers of a league.
type traffic struct {
	mu       sync.Mutex
	last     map[string]arrival // by content
	number   map[string]int     // by server
	repeats  []string           // the first few
	repeated int
	lines    []string // what arrived, shortened
	shared   bool     // several of our processes call the servers
	probing  bool     // what is sent tests a program, and is repeated for that
}

func newTraffic() *traffic {
	return &traffic{last: make(map[string]arrival), number: make(map[string]int)}
}

// share says that several processes of ours call the servers from now on.
func (r *traffic) share() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shared = true
}

// add takes note of a request.
func (r *traffic) add(server string, req *http.Request, raw []byte) {
	if req.Header.Get("X-Peer") != "" {
		return
	}
	lists := strings.Contains(string(raw), `"method":"tools/list"`) // which each agent asks by itself
	asks := lists || strings.Contains(string(raw), `"method":"ping"`) || req.Method == http.MethodGet
	key := server + " " + req.Method + " " + req.URL.Path + " " + content(raw)
	r.mu.Lock()
	defer r.mu.Unlock()
	if asks && r.shared {
		return // each process asks that by itself
	}
	r.number[server]++
	now := arrival{time.Now(), sent(raw)}
	if before, ok := r.last[key]; ok && !lists && now.at.Sub(before.at) < tooSoon && now.sent.Sub(before.sent) <= time.Second {
		r.repeated++
		r.repeats = append(r.repeats[:min(len(r.repeats), 5)], fmt.Sprintf("after %v: %.300s", now.at.Sub(before.at).Round(time.Millisecond), key))
	}
	r.last[key] = now
	r.lines = append(r.lines[max(0, len(r.lines)-24):], fmt.Sprintf("%s %s %s %.260s", now.at.Format("05.000"), server, req.URL.Path, raw))
}

// arrival is when a request arrived, and when it was sent: the servers of a machine that
// was busy may get together what was sent apart.
type arrival struct{ at, sent time.Time }

// sent returns the time that a message names, in whole seconds; the zero time if it has
// none.
func sent(raw []byte) time.Time {
	var body struct{ Params struct{ Timestamp string } }
	_ = json.Unmarshal(raw, &body) // another document has none
	at, _ := time.Parse(time.RFC3339, body.Params.Timestamp)
	return at.Truncate(time.Second)
}

// content is a request without what differs in a repeat: the value of its id and
// its times. The kind of the id stays, since another kind is another attempt.
func content(raw []byte) string {
	var body object
	if json.Unmarshal(raw, &body) != nil {
		return string(raw)
	}
	if id, ok := body["id"]; ok {
		body["id"] = fmt.Sprintf("%T", id)
	}
	timeless(body)
	text, _ := json.Marshal(body)
	return string(text)
}

func timeless(v any) {
	switch v := v.(type) {
	case object:
		for name, value := range v {
			if strings.Contains(name, "timestamp") || name == "deadline" || name == "next_retry_at" {
				v[name] = "" // a message without it is another one
				continue
			}
			timeless(value)
		}
	case []any:
		for _, e := range v {
			timeless(e)
		}
	}
}

// check fails the test for repeats and for servers that got too much.
func (r *traffic) check(t testing.TB) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.probing {
		return
	}
	for _, repeat := range r.repeats {
		t.Errorf("one of %d requests that were repeated at once: %s", r.repeated, repeat)
	}
	for server, n := range r.number {
		if n > mostRequests {
			t.Errorf("%s got %d requests", server, n)
		}
	}
	if t.Failed() {
		t.Logf("the last requests of ours:\n%s", strings.Join(r.lines, "\n"))
	}
}
