package dialect

import (
	"cmp"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/rawjson"
)

// An Acceptance is what a manager assigned to an agent that registered.
type Acceptance struct {
	ID     string // empty where the manager accepts without one
	Token  string
	League string
}

// FindAcceptance looks in the body of an answer to a registration for signs that the agent was
// accepted, at any depth and also in JSON text; a rejection anywhere rules them out. It is for
// answers of an unexpected form: an agent that has an id must not register again. The HTTP status
// 201 says that it was accepted if nothing else says that it was not.
func FindAcceptance(body []byte, code int) (found Acceptance, yes bool) {
	doc, err := rawjson.Parse(body)
	if e := doc.Get("error"); err != nil || e != nil && e.Kind() != 'n' {
		return Acceptance{}, false
	}
	loose := "" // beside a token, in an object below one that accepts
	for _, d := range within(doc.Encode(), 0) {
		status, token := d.Text("status"), textOf(d, "auth_token")
		affirmed, said := protocol.Affirms(d)
		if protocol.Means(protocol.Rejecting, status) || refuses(d) || said && !affirmed {
			return Acceptance{}, false
		}
		id, enrolled := agentID(d, protocol.Find), code == http.StatusCreated || protocol.Means(protocol.Enrolling, status)
		if id == "" && enrolled && d.Get("jsonrpc") == nil {
			id = d.Text("id")
		}
		if loose == "" && yes && token != "" {
			loose = agentID(d, protocol.FindInner)
		}
		yes = yes || id != "" || enrolled || affirmed
		found.ID, found.Token = cmp.Or(found.ID, id), cmp.Or(found.Token, token)
		found.League = cmp.Or(found.League, textOf(d, "league_id"))
	}
	found.ID = cmp.Or(found.ID, loose)
	return found, yes
}

// textOf returns the text that is a field of the protocol under any name, "" without one.
func textOf(d rawjson.Object, field string) string {
	m, _ := protocol.Find(d, field, `"`)
	return string(rawjson.Text(m.Value))
}

// FindWelcome is [FindAcceptance] for the answer of a tool that registers and that answers in
// prose: anything but an error is a yes, and a word like P07 or REF02 the id.
func FindWelcome(body []byte) (Acceptance, bool) {
	doc, _ := rawjson.Parse(body)
	result := rawjson.Split(doc.Get("result"))
	text := protocol.Prose(result.Get("content"))
	if result == nil || refuses(result) || !protocol.Welcomes(text) {
		return Acceptance{}, false
	}
	return Acceptance{ID: assignedID().FindString(text)}, true
}

// assignedID is what ids by convention look like in prose.
var assignedID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(P|REF)[0-9]{1,3}\b`) })

// agentID returns the id of an agent in an object, which find looks for; the caller validates it.
func agentID(d rawjson.Object, find func(rawjson.Object, string, string) (rawjson.Member, bool)) string {
	for _, field := range []string{"player_id", "referee_id"} {
		m, _ := find(d, field, `"0`)
		if id := cmp.Or(string(rawjson.Text(m.Value)), strings.Trim(string(m.Value), `"`)); id != "" {
			return id
		}
	}
	return ""
}

const maxSearch = 6

// within returns an object and those in it, also in JSON text, down to a depth.
func within(v jsontext.Value, depth int) (all []rawjson.Object) {
	switch v.Kind() {
	case '{':
		all = append(all, rawjson.Split(v))
		for _, m := range all[0] {
			if depth < maxSearch {
				all = append(all, within(m.Value, depth+1)...)
			}
		}
	case '"':
		if text := jsontext.Value(rawjson.Text(v)); text.Kind() == '{' && text.IsValid() {
			return within(text, depth)
		}
	case '[':
		for _, e := range rawjson.Elements(v) {
			all = append(all, within(e, depth)...)
		}
	}
	return all
}

// FindAgent returns the id of the agent with this endpoint or, where endpoints
// are missing, with this display name, found anywhere in the body of an answer.
func FindAgent(body []byte, name, endpoint string) (id string, found bool) {
	doc, _ := rawjson.Parse(body)
	for _, d := range within(doc.Encode(), 0) {
		_, located := protocol.Find(d, "contact_endpoint", "")
		same := textOf(d, "contact_endpoint") == endpoint
		if !located {
			same = name != "" && textOf(d, "display_name") == name
		}
		if id := agentID(d, protocol.FindInner); same && protocol.ValidForeignID(id) {
			return id, true
		}
	}
	return "", false
}

// Words returns what a peer says in an answer: the words of a refusal, the text of
// a tool's result, or else the first 200 bytes.
func Words(body []byte) string {
	doc := locate(body)
	if doc != nil {
		body = doc.Encode()
	}
	return words(doc, body)
}

// FindBeginning reads what an answer to START_LEAGUE, or the text of a refusal,
// says of the start of a league, in whatever wrapping and words.
func FindBeginning(answer []byte) protocol.Beginning {
	doc := locate(answer)
	if doc != nil {
		answer = nil // its members say it
	}
	return protocol.ReadBeginning(string(answer), doc)
}
