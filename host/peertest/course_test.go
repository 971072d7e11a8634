package peertest

import (
	"fmt"
	"maps"
	"slices"
	"sync"
)

// course is one program of the course: a manager with its referee, a player, and
// a referee that takes matches from managers of other programs. Each follows the
// text in its own way, knows nothing of ours, and counts on the ports of the
// course.
type course struct {
	name string
	// league starts manager and referee, which play a league once this number of
	// players has registered.
	league func(w *world, players int)
	// player starts a player that registers as number n, from 1, at a URL.
	player func(w *world, manager string, n int)
	// referee starts a referee that registers at a URL.
	referee func(w *world, manager string)

	manager  string // URL of the manager; default http://127.0.0.1:8000/mcp
	first    bool   // the player of another program registers before its own
	endless  bool   // never says that the league is over
	lessons  int    // matches after which another program can know what it reads
	unseated bool   // its players take part in no leagues but their own
}

// at is the URL of the manager.
func (c *course) at() string {
	if c.manager != "" {
		return c.manager
	}
	return "http://127.0.0.1:8000/mcp"
}

// register adds a player or referee to a list and wakes those that wait for it.
func (w *world) register(list *[]registered, r registered) {
	w.note(func() { *list = append(*list, r) })
}

// identity is what a program learns from the answer to its registration, while
// its server answers already.
type identity struct {
	w         *world
	id, token string
}

// newIdentity is that of a program that is about to register. Leagues begin when
// all have learnt theirs.
func newIdentity(w *world) *identity {
	me := &identity{w: w}
	w.note(func() { w.learners = append(w.learners, me) })
	return me
}

// learn stores it. An answer without an id is a mistake.
func (me *identity) learn(answer object, role string) {
	me.w.Helper()
	if text(answer, role+"_id") == "" {
		me.w.Errorf("a registration of a %s was answered by %v", role, answer)
	}
	me.w.note(func() { me.id, me.token = text(answer, role+"_id"), text(answer, "auth_token") })
}

// get returns what is known so far.
func (me *identity) get() (id, token string) {
	me.w.mu.Lock()
	defer me.w.mu.Unlock()
	return me.id, me.token
}

// known waits until the registration is answered.
func (me *identity) known() (id, token string) {
	me.w.await(func() bool { return me.id != "" })
	return me.get()
}

// full waits until a list has n entries, and all programs know theirs, and
// returns them.
func (w *world) full(list *[]registered, n int) []registered {
	learnt := func() bool {
		return !slices.ContainsFunc(w.learners, func(me *identity) bool { return me.id == "" })
	}
	if !w.await(func() bool { return len(*list) >= n && learnt() }) {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]registered(nil), *list...)
}

// count is the number of entries of a list.
func (w *world) count(list *[]registered) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(*list)
}

// over says that all matches of a league have been played.
func (w *world) over() {
	w.note(func() { w.complete = true })
}

// broadcast posts a document to each agent at once and waits for the answers.
func (w *world) broadcast(to []registered, doc func(r registered) any) {
	var all sync.WaitGroup
	for _, r := range to {
		all.Go(func() { w.post(r.endpoint, doc(r)) })
	}
	all.Wait()
}

// head is the header of a message.
func head(kind, sender string) object {
	return object{"protocol": "league.v2", "message_type": kind, "sender": sender, "timestamp": stamp(), "conversation_id": "conv-" + kind}
}

// with adds members to an object.
func with(o object, more object) object {
	all := object{}
	maps.Copy(all, o)
	maps.Copy(all, more)
	return all
}

// playerURL is where the course expects player P0n.
func playerURL(n int) string { return fmt.Sprintf("http://localhost:810%d/mcp", n) }

// playerID is the course's id of player n.
func playerID(n int) string { return fmt.Sprintf("P%02d", n) }

// habit is what player n of a program always chooses.
func habit(n int) string { return []string{"even", "odd"}[n%2] }

// signup is what a player by the book says of itself, and refereeSignup a referee.
func signup(name string, n int) object {
	return object{"player_meta": object{"display_name": name, "version": "1.0.0", "game_types": []any{"even_odd"}, "contact_endpoint": playerURL(n)}}
}

func refereeSignup(name string) object {
	return object{"referee_meta": object{
		"display_name": name, "version": "1.0.0", "game_types": []any{"even_odd"}, "contact_endpoint": "http://localhost:8001/mcp", "max_concurrent_matches": 2,
	}}
}

// accepted is a registration that is accepted.
func accepted(id string) object {
	return object{"message_type": "LEAGUE_REGISTER_RESPONSE", "status": "ACCEPTED", "player_id": id, "auth_token": "tok-" + id, "league_id": "league_2025_even_odd"}
}

// contactOf is the endpoint in a registration, and name the display name.
func contactOf(params object, role string) (name, endpoint string) {
	meta := inner(params, role+"_meta")
	return text(meta, "display_name"), text(meta, "contact_endpoint")
}

// isInt reports whether a JSON value is an integer.
func isInt(v any) bool {
	f, ok := v.(float64)
	return ok && f == float64(int64(f))
}

// unprocessable is how FastAPI refuses a body in which a field is wrong.
func unprocessable(field, kind, message string) reply {
	return reply{422, object{"detail": []any{object{"type": kind, "loc": []any{"body", field}, "msg": message}}}}
}

// notFound is how FastAPI refuses a path.
func notFound() reply { return reply{404, object{"detail": "Not Found"}} }

// table is the table of the matches that have been played.
func (w *world) table(players []registered) []any {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := newTally(players)
	for _, o := range w.outcomes {
		for side, id := range o.ids {
			t.add(id, o.points(side), o.winnerID(), len(o.ids))
		}
	}
	return t.table()
}
