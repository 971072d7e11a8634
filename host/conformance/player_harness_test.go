package conformance_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// The parts of mutants: how they read a request, and how they change its
// answer.

type object = map[string]any

// walk calls visit for every object of a document that is a message.
func walk(tree any, visit func(object)) {
	switch v := tree.(type) {
	case object:
		if v["message_type"] != nil {
			visit(v)
			return
		}
		for _, inner := range v {
			walk(inner, visit)
		}
	case []any:
		for _, inner := range v {
			walk(inner, visit)
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

// message returns the members of the message in a request, without those of
// its frame.
func (in *asked) message() object {
	if in.read != nil {
		return in.read
	}
	m := object{}
	doc := parse(in.body)
	walk(doc, func(o object) { m = o })
	// The envelope dialect has the rest beside.
	if params, ok := doc["params"].(object); ok {
		if payload, ok := params["payload"].(object); ok {
			for k, v := range payload {
				m[k] = v
			}
		}
	}
	in.read = m
	return m
}

func (in *asked) text(name string) string {
	s, _ := in.message()[name].(string)
	return s
}

func (in *asked) of(t string) bool { return in.text("message_type") == t }

// changed returns the request with the members of its message changed.
func (in *asked) changed(edit func(object)) *asked {
	doc := parse(in.body)
	walk(doc, edit)
	return &asked{body: write(doc), header: in.header}
}

// refused reports whether an answer is a refusal.
func (r *reply) refused() bool { return r.status >= 400 || parse(r.body)["error"] != nil }

// edit changes the members of the message in an answer.
func (r *reply) edit(edit func(object)) *reply {
	if len(r.body) == 0 {
		return r
	}
	doc := parse(r.body)
	walk(doc, edit)
	return &reply{status: r.status, media: r.media, body: write(doc)}
}

// refusal answers a request by an error.
func refusal(in *asked, code int) *reply {
	id, _ := parse(in.body)["id"]
	return &reply{status: http.StatusOK, media: "application/json", body: write(object{"jsonrpc": "2.0", "id": id, "error": object{"code": code, "message": "no"}})}
}

// nothing is what a program answers that has failed.
func nothing() *reply { return &reply{status: http.StatusInternalServerError, media: "text/plain"} }

// accepted answers a request as if it were valid.
func accepted(in *asked) *reply {
	return &reply{status: http.StatusOK, media: "application/json", body: write(object{"jsonrpc": "2.0", "id": "1", "result": object{
		"protocol": "league.v2", "message_type": ackOf(in.text("message_type")), "timestamp": "2026-03-14T09:10:13Z", "accept": true,
	}})}
}

func ackOf(t string) string {
	switch t {
	case "LEAGUE_COMPLETED", "GAME_OVER":
		return t + "_ACK"
	}
	return "GAME_JOIN_ACK"
}

// The faults themselves.

type serve = func(m *memory, in *asked, next func(*asked) *reply) *reply

// answering changes what the agent answers, under the mutant's lock.
func answering(change func(m *memory, in *asked, r *reply) *reply) serve {
	return func(m *memory, in *asked, next func(*asked) *reply) *reply {
		r := next(in)
		m.Lock()
		defer m.Unlock()
		return change(m, in, r)
	}
}

// answers changes the message that answers a type, where it is no refusal.
func answers(t string, edit func(object)) serve {
	return answering(func(_ *memory, in *asked, r *reply) *reply {
		if !in.of(t) || r.refused() {
			return r
		}
		return r.edit(edit)
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

// refuses refuses a valid request, if a condition holds.
func refuses(when func(m *memory, in *asked) bool) serve {
	return answering(func(m *memory, in *asked, r *reply) *reply {
		if r.refused() || !when(m, in) {
			return r
		}
		return refusal(in, -32000)
	})
}

// breaks fails without an answer, if the condition holds.
func breaks(when func(in *asked) bool) serve {
	return func(_ *memory, in *asked, next func(*asked) *reply) *reply {
		if when(in) {
			return nothing()
		}
		return next(in)
	}
}

// accepts accepts a request that should be refused, if a condition holds.
func accepts(when func(in *asked) bool) serve {
	return func(_ *memory, in *asked, next func(*asked) *reply) *reply {
		if when(in) {
			return accepted(in)
		}
		return next(in)
	}
}

// believes changes a request so that the player accepts it, if a condition
// holds.
func believes(when func(in *asked) bool, edit func(m *memory, in *asked, o object)) serve {
	return func(m *memory, in *asked, next func(*asked) *reply) *reply {
		m.Lock()
		if in.of("GAME_INVITATION") {
			m.tokens[in.text("match_id")] = in.text("auth_token")
		}
		if in.of("LEAGUE_STANDINGS_UPDATE") && m.tokens["manager"] == "" {
			m.tokens["manager"] = in.text("auth_token")
		}
		if when(in) {
			in = in.changed(func(o object) { edit(m, in, o) })
		}
		m.Unlock()
		return next(in)
	}
}

func rightToken(m *memory, in *asked, o object) { o["auth_token"] = m.tokens[in.text("match_id")] }

// flips changes the choice of an answer, if the condition holds.
func flips(when func(m *memory, in *asked) bool) serve {
	return answering(func(m *memory, in *asked, r *reply) *reply {
		if r.refused() || !when(m, in) {
			return r
		}
		return r.edit(func(o object) {
			other := "even"
			if o["parity_choice"] == "even" {
				other = "odd"
			}
			o["parity_choice"], o["choice"] = other, other
		})
	})
}

// postsAnswers acknowledges invitations and calls in JSON-RPC without a
// wrapping, and posts the player's answers to the endpoint that was announced.
func postsAnswers(posts *sync.WaitGroup) serve {
	return func(m *memory, in *asked, next func(*asked) *reply) *reply {
		r := next(in)
		if in.of("ROUND_ANNOUNCEMENT") {
			if matches, ok := in.message()["matches"].([]any); ok && len(matches) > 0 {
				m.Lock()
				m.last, _ = matches[0].(object)["referee_endpoint"].(string)
				m.Unlock()
			}
		}
		doc := parse(r.body)
		result, _ := doc["result"].(object)
		t, _ := result["message_type"].(string)
		if t != "GAME_JOIN_ACK" && t != "CHOOSE_PARITY_RESPONSE" {
			return r
		}
		m.Lock()
		to := m.last
		m.Unlock()
		posts.Go(func() {
			resp, err := http.Post(to, "application/json", bytes.NewReader(write(object{"jsonrpc": "2.0", "id": 1, "method": strings.ToLower(t), "params": result})))
			if err == nil {
				_ = resp.Body.Close()
			}
		})
		doc["result"] = object{"status": "ACKNOWLEDGED"}
		return &reply{status: r.status, media: r.media, body: write(doc)}
	}
}

// framed changes the JSON-RPC frame of what is no refusal.
func framed(edit func(request, answer object)) serve {
	return answering(func(_ *memory, in *asked, r *reply) *reply {
		if r.refused() || len(r.body) == 0 {
			return r
		}
		doc := parse(r.body)
		edit(parse(in.body), doc)
		return &reply{status: r.status, media: r.media, body: write(doc)}
	})
}

func bodyHas(text string) func(*asked) bool {
	return func(in *asked) bool { return bytes.Contains(in.body, []byte(text)) }
}

func methodIs(name string) func(*memory, *asked) bool {
	return func(_ *memory, in *asked) bool { return parse(in.body)["method"] == name }
}

func isType(t string) func(*memory, *asked) bool {
	return func(_ *memory, in *asked) bool { return in.of(t) }
}

func with(t, name, value string) func(*asked) bool {
	return func(in *asked) bool { return in.of(t) && in.text(name) == value }
}

var largeNumber = regexp.MustCompile(`^\d{16,}$`)

type out = func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error)

// registersItself does not ask its manager.
func registersItself(t string, accepts func(*sent) *jsonrpc.Reply) out {
	return only(t, func(_ *memory, body []byte, _ onward) (*jsonrpc.Reply, error) { return accepts(reading(body)), nil })
}

// listensLate answers nobody before the agent is registered.
func listensLate(check, t string) mutant {
	return mutant{check: check, halts: true, wrap: unreachableUntilRegistered, out: only(t, func(m *memory, body []byte, next onward) (*jsonrpc.Reply, error) {
		defer func() {
			m.Lock()
			defer m.Unlock()
			if m.count("registered") == 1 {
				close(m.done)
			}
		}()
		return next(body)
	})}
}

// unreachableUntilRegistered answers nobody before the agent is registered.
func unreachableUntilRegistered(m *memory, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-m.done:
			h.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	})
}
