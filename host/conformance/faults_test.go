package conformance_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// What mutants are made of: how they read what passes between an agent and others, and
// how they change it.

const (
	application         = "LEAGUE_REGISTER_REQUEST"
	refereeRegistration = "REFEREE_REGISTER_REQUEST"
	announcement        = "ROUND_ANNOUNCEMENT"
	invitation          = "GAME_INVITATION"
	call                = "CHOOSE_PARITY_CALL"
	choice              = "CHOOSE_PARITY_RESPONSE"
	over                = "GAME_OVER"
	gameError           = "GAME_ERROR"
	report              = "MATCH_RESULT_REPORT"
	standings           = "LEAGUE_STANDINGS_UPDATE"
	roundEnd            = "ROUND_COMPLETED"
	completed           = "LEAGUE_COMPLETED"
	query               = "LEAGUE_QUERY"
	starting            = "START_LEAGUE"
)

type object = map[string]any

func walk(tree any, visit func(object)) {
	each(tree, func(o object) bool {
		if o["message_type"] != nil {
			visit(o)
		}
		return o["message_type"] == nil
	})
}

// each calls visit for every object of a document; within one only if that returns true.
func each(tree any, visit func(object) bool) {
	switch v := tree.(type) {
	case object:
		if visit(v) {
			for _, inner := range v {
				each(inner, visit)
			}
		}
	case []any:
		for _, inner := range v {
			each(inner, visit)
		}
	}
}

func parse(body []byte) object {
	var doc object
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if dec.Decode(&doc) != nil {
		return object{}
	}
	return doc
}

func write(doc any) []byte {
	out, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return out
}

func within(o object, names ...string) object {
	for _, name := range names {
		o, _ = o[name].(object)
	}
	return o
}

// rows returns the objects of a list.
func rows(o object, name string) (all []object) {
	list, _ := o[name].([]any)
	for _, r := range list {
		all = append(all, r.(object))
	}
	return all
}

func whole(v any) int64 {
	n, _ := v.(json.Number)
	i, _ := n.Int64()
	return i
}

type request struct {
	body    []byte
	header  http.Header
	doc     object // the body, once it was asked for
	message object // of the doc
}

func (in *request) read() object {
	if in.doc == nil {
		in.doc, in.message = parse(in.body), object{}
		walk(in.doc, func(o object) { in.message = o })
		for k, v := range within(in.doc, "params", "payload") { // the envelope dialect has the rest beside
			in.message[k] = v
		}
	}
	return in.message
}

func (in *request) text(name string) string {
	s, _ := in.read()[name].(string)
	return s
}

func (in *request) match() string { return in.text("match_id") }

// key is the match and who plays in it.
func (in *request) key() string {
	return in.match() + in.text("role_in_match") + in.text("player_id")
}

func (in *request) of(t string) bool { return in.text("message_type") == t }

func (in *request) written() *request { return &request{body: write(in.doc), header: in.header} }

func (in *request) changed(edit func(object)) *request {
	doc := parse(in.body)
	walk(doc, edit)
	return &request{body: write(doc), header: in.header}
}

type reply struct {
	status int
	media  string      // of the answer of a mutant
	header http.Header // of an answer to it
	body   []byte
	err    error // none came
}

func answered(body []byte) *reply {
	return &reply{status: http.StatusOK, media: "application/json", body: body}
}

// refused reports whether an answer is a refusal, or none.
func (r *reply) refused() bool {
	return r.err != nil || r.status >= 400 || parse(r.body)["error"] != nil
}

func (r *reply) edit(edit func(object)) *reply {
	return r.framed(func(doc object) { walk(doc, edit) })
}

func (r *reply) framed(edit func(doc object)) *reply {
	if len(r.body) > 0 {
		doc := parse(r.body)
		edit(doc)
		r.body = write(doc)
	}
	return r
}

func refusal(in *request, code int) *reply {
	in.read()
	return answered(write(object{"jsonrpc": "2.0", "id": in.doc["id"], "error": object{"code": code, "message": "no"}}))
}

func refusing(in *request) *reply { return refusal(in, -32000) }

func unavailable(in *request) *reply {
	r := refusal(in, 48)
	r.status = http.StatusServiceUnavailable
	return r
}

func said(t string, more object) func(in *request) *reply {
	return func(in *request) *reply {
		m := object{"protocol": "league.v2", "message_type": t, "timestamp": "2026-03-14T09:10:13Z"}
		if id := in.match(); id != "" {
			m["match_id"] = id
		}
		for k, v := range more {
			m[k] = v
		}
		in.read()
		return answered(write(object{"jsonrpc": "2.0", "id": in.doc["id"], "result": m}))
	}
}

var (
	accepting      = said("GAME_JOIN_ACK", object{"accept": true})
	declining      = said("GAME_JOIN_ACK", object{"accept": false})
	evenly         = said(choice, object{"parity_choice": "even"})
	recorded       = said("MATCH_RESULT_ACK", object{"status": "ACCEPTED", "recorded": true})
	acceptsPlayer  = said("LEAGUE_REGISTER_RESPONSE", object{"status": "ACCEPTED", "player_id": "P01"})
	acceptsReferee = said("REFEREE_REGISTER_RESPONSE", object{"status": "ACCEPTED", "referee_id": "REF01", "auth_token": "tok-REF01-elsewhere", "league_id": "conformance"})
)

func acked(in *request) *reply {
	return said(in.text("message_type")+"_ACK", object{"status": "ACKNOWLEDGED"})(in)
}

// taken answers a request as if it were valid.
func taken(in *request) *reply {
	if in.of(completed) || in.of(over) {
		return acked(in)
	}
	return accepting(in)
}

func nothing(*request) *reply {
	return &reply{status: http.StatusInternalServerError, media: "text/plain"}
}

type onward = func(*request) *reply

// A fault changes requests to an agent, or of it, and their answers.
type fault func(m *memory, in *request, next onward) *reply

// pass passes a request on; no fault changes nothing.
func (f fault) pass(m *memory, in *request, next onward) *reply {
	if f == nil {
		return next(in)
	}
	return f(m, in, next)
}

// A when is a condition of a request. It holds the memory.
type when = func(m *memory, in *request) bool

func isType(t string) when { return func(_ *memory, in *request) bool { return in.of(t) } }
func bodyHas(text string) when {
	return func(_ *memory, in *request) bool { return bytes.Contains(in.body, []byte(text)) }
}

// says is the condition that a member is a text.
func says(name, value string) when {
	return func(_ *memory, in *request) bool { return in.text(name) == value }
}

func lacks(name string) when {
	return func(_ *memory, in *request) bool { return in.read()[name] == nil }
}

func methodIs(name string) when {
	return func(_ *memory, in *request) bool { in.read(); return in.doc["method"] == name }
}

// forged is the condition that a token was never issued.
func forged(_ *memory, in *request) bool { return strings.HasSuffix(in.text("auth_token"), "-forged") }

func signedBy(role string) when {
	return func(_ *memory, in *request) bool { return strings.HasPrefix(in.text("sender"), role+":") }
}

// again is the condition that a type was sent before in a match.
func again(t string) when {
	return func(m *memory, in *request) bool { return in.of(t) && m.count(t+in.match()) > 1 }
}

// after is the condition that one type comes after another in a match.
func after(earlier, t string) when {
	return func(m *memory, in *request) bool {
		if in.of(earlier) {
			m.count(earlier + in.match())
		}
		return in.of(t) && m.seen[earlier+in.match()] > 0
	}
}

func all(conditions ...when) when {
	return func(m *memory, in *request) bool {
		return !slices.ContainsFunc(conditions, func(holds when) bool { return !holds(m, in) })
	}
}

func (m *memory) holds(condition when, in *request) bool {
	m.Lock()
	defer m.Unlock()
	return condition(m, in)
}

// then has what one leaves changed by another.
func then(first, second fault) fault {
	return func(m *memory, in *request, next onward) *reply {
		return first(m, in, func(in *request) *reply { return second(m, in, next) })
	}
}

func only(t string, do fault) fault { return where(isType(t), do) }

func where(condition when, do fault) fault {
	return func(m *memory, in *request, next onward) *reply {
		if m.holds(condition, in) {
			return do(m, in, next)
		}
		return next(in)
	}
}

// replaces answers in the place of who was asked, if a condition holds.
func replaces(condition when, with func(*request) *reply) fault {
	return where(condition, func(_ *memory, in *request, _ onward) *reply { return with(in) })
}

func accepts(conditions ...when) fault { return replaces(all(conditions...), taken) }
func breaks(conditions ...when) fault  { return replaces(all(conditions...), nothing) }
func sends(t string, edit func(m *memory, in *request)) fault {
	return only(t, func(m *memory, in *request, next onward) *reply {
		m.Lock()
		in.read()
		edit(m, in)
		m.Unlock()
		return next(in.written())
	})
}

// emits is sends for what needs no memory.
func emits(t string, edit func(object)) fault {
	return sends(t, func(_ *memory, in *request) { edit(in.message) })
}

// answering changes the answers, under the mutant's lock.
func answering(change func(m *memory, in *request, r *reply) *reply) fault {
	return func(m *memory, in *request, next onward) *reply {
		r := next(in)
		m.Lock()
		defer m.Unlock()
		return change(m, in, r)
	}
}

// receives changes the answers to messages of a type, where they are no refusals.
func receives(t string, edit func(m *memory, in *request, answer object)) fault {
	return answering(func(m *memory, in *request, r *reply) *reply {
		if !in.of(t) || r.refused() {
			return r
		}
		return r.edit(func(o object) { edit(m, in, o) })
	})
}

// answers is receives for what needs neither memory nor request.
func answers(t string, edit func(object)) fault {
	return receives(t, func(_ *memory, _ *request, o object) { edit(o) })
}

// refuses refuses a valid request, if conditions hold.
func refuses(conditions ...when) fault {
	return answering(func(m *memory, in *request, r *reply) *reply {
		if r.refused() || !all(conditions...)(m, in) {
			return r
		}
		return refusing(in)
	})
}

// acceptsRefused accepts a refused request, if a condition holds of it and of the refusal.
// Others are not asked about.
func acceptsRefused(condition func(m *memory, in *request, r *reply) bool) fault {
	return answering(func(m *memory, in *request, r *reply) *reply {
		if r.refused() && condition(m, in, r) {
			return taken(in)
		}
		return r
	})
}

func instead(t string, holds func(r *reply) bool, with func(in *request) *reply) fault {
	return answering(func(_ *memory, in *request, r *reply) *reply {
		if in.of(t) && holds(r) {
			return with(in)
		}
		return r
	})
}

func isBusy(r *reply) bool    { return r.status == http.StatusServiceUnavailable }
func brokenOff(r *reply) bool { return r.err != nil }

func holding(text string) func(r *reply) bool {
	return func(r *reply) bool { return bytes.Contains(r.body, []byte(text)) }
}

// framed changes the JSON-RPC frame of answers that are no refusals.
func framed(edit func(request, answer object)) fault {
	return answering(func(_ *memory, in *request, r *reply) *reply {
		if r.refused() {
			return r
		}
		in.read()
		return r.framed(func(doc object) { edit(in.doc, doc) })
	})
}

// frames changes the JSON-RPC frame of messages of a type.
func frames(t string, edit func(doc object)) fault {
	return only(t, func(_ *memory, in *request, next onward) *reply {
		in.read()
		id := in.doc["id"]
		edit(in.doc)
		return next(in.written()).framed(set("id", id))
	})
}

// unframes answers what is bare, and for which a condition holds, by JSON-RPC.
func unframes(condition when) fault {
	return answering(func(m *memory, in *request, r *reply) *reply {
		if in.read(); in.doc["jsonrpc"] != nil || !condition(m, in) {
			return r
		}
		r.body = write(object{"jsonrpc": "2.0", "id": nil, "result": parse(r.body)})
		return r
	})
}

// twice sends messages of a type twice that were taken.
func twice(t string, also when) fault {
	return only(t, func(m *memory, in *request, next onward) *reply {
		r := next(in)
		if r.err == nil && r.status == http.StatusOK && m.holds(also, in) {
			return next(in)
		}
		return r
	})
}

func set(name string, value any) func(object) { return func(o object) { o[name] = value } }

func drop(names ...string) func(object) {
	return func(o object) {
		for _, name := range names {
			delete(o, name)
		}
	}
}

func inside(edit func(object), names ...string) func(object) {
	return func(o object) { edit(within(o, names...)) }
}

// believes changes a request so that the agent accepts it, if a condition holds.
func believes(condition when, edit func(m *memory, in *request, o object)) fault {
	return func(m *memory, in *request, next onward) *reply {
		m.Lock()
		if in.of(invitation) {
			m.tokens[in.match()] = in.text("auth_token")
		}
		if in.of(standings) && m.tokens["manager"] == "" {
			m.tokens["manager"] = in.text("auth_token")
		}
		if condition(m, in) {
			in = in.changed(func(o object) { edit(m, in, o) })
		}
		m.Unlock()
		return next(in)
	}
}

// as has an agent believe that a member is another.
func as(t, name, was, is string) fault {
	return believes(all(isType(t), says(name, was)), func(_ *memory, _ *request, o object) { o[name] = is })
}

func rightToken(m *memory, in *request, o object)  { o["auth_token"] = m.tokens[in.match()] }
func managerToken(m *memory, _ *request, o object) { o["auth_token"] = m.tokens["manager"] }

type memory struct {
	sync.Mutex
	seen   map[string]int
	tokens map[string]string
	scale  scale
	check  string // that is running, if the test reports it
	last   string
	done   chan struct{}
}

func (m *memory) begin(check string) {
	m.Lock()
	defer m.Unlock()
	m.check = check
}

func (m *memory) count(what string) int {
	m.seen[what]++
	return m.seen[what]
}

var errGone = errors.New("gone")
