package dialect

import (
	"regexp"
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

// FindAcceptance looks in the body of an answer to a registration for signs that
// the agent was accepted, at any depth and also in JSON text. It is for answers
// of an unexpected form: an agent that has an id must not register again.
func FindAcceptance(body []byte) (Acceptance, bool) {
	doc, err := rawjson.Parse(body)
	if err != nil {
		return Acceptance{}, false
	}
	if e := doc.Get("error"); e != nil && e.Kind() != 'n' {
		return Acceptance{}, false
	}
	var best Acceptance
	yes := false
	search(doc, 0, &best, &yes)
	return best, yes
}

// FindWelcome is [FindAcceptance] for the answer of a tool that registers and
// that answers in prose: anything but an error is a yes, and a word like P07 or
// REF02 the id.
func FindWelcome(body []byte) (Acceptance, bool) {
	doc, err := rawjson.Parse(body)
	if err != nil {
		return Acceptance{}, false
	}
	result, err := rawjson.Split(doc.Get("result"))
	if err != nil || protocol.Fails(result) || result.Get("isError").Kind() == 't' {
		return Acceptance{}, false
	}
	text := protocol.Prose(result.Get("content"))
	if !protocol.Welcomes(text) {
		return Acceptance{}, false
	}
	return Acceptance{ID: assignedID().FindString(text)}, true
}

// assignedID is what ids by convention look like.
var assignedID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(P|REF)[0-9]{1,3}\b`) })

var agentIDs = []string{"player_id", "referee_id"}

// idText returns an id, also one that is a number. The agent validates it.
func idText(v jsontext.Value) string {
	if v.Kind() == '0' {
		return string(v)
	}
	return string(rawjson.Text(v))
}

const maxSearch = 6

// search looks through an object and the objects in it. A rejection ends it.
func search(d rawjson.Object, depth int, found *Acceptance, yes *bool) (no bool) {
	status := d.Text("status")
	affirmed, said := protocol.Affirms(d)
	if protocol.Means(protocol.Rejecting, status) || d.Text("error_code") != "" || protocol.Fails(d) || d.Get("isError").Kind() == 't' || said && !affirmed {
		*found, *yes = Acceptance{}, false
		return true
	}
	id, enrolled := "", protocol.Means(protocol.Enrolling, status)
	for _, field := range agentIDs {
		if m, given := protocol.Find(d, field, `"0`); given && id == "" {
			id = idText(m.Value)
		}
	}
	if id == "" && enrolled && d.Get("jsonrpc") == nil {
		id = d.Text("id")
	}
	if id != "" || enrolled || affirmed {
		*yes = true
	}
	take := func(into *string, text string) {
		if *into == "" {
			*into = text
		}
	}
	take(&found.ID, id)
	for field, into := range map[string]*string{"auth_token": &found.Token, "league_id": &found.League} {
		if m, given := protocol.Find(d, field, `"`); given {
			take(into, string(rawjson.Text(m.Value)))
		}
	}
	if depth == maxSearch {
		return false
	}
	for _, m := range d {
		for _, inner := range inside(m.Value) {
			if search(inner, depth+1, found, yes) {
				return true
			}
		}
	}
	return false
}

func inside(v jsontext.Value) []rawjson.Object {
	switch v.Kind() {
	case '{':
		if doc, err := rawjson.Split(v); err == nil {
			return []rawjson.Object{doc}
		}
	case '[':
		var all []rawjson.Object
		for _, e := range rawjson.Elements(v) {
			all = append(all, inside(e)...)
		}
		return all
	case '"':
		if doc, err := rawjson.Parse(rawjson.Unquote(v)); err == nil {
			return []rawjson.Object{doc}
		}
	}
	return nil
}

// FindAgent returns the id of the agent with this endpoint or, where endpoints
// are missing, with this display name, found anywhere in the body of an answer.
func FindAgent(body []byte, name, endpoint string) (id string, found bool) {
	doc, err := rawjson.Parse(body)
	if err != nil {
		return "", false
	}
	return findAgent(doc, name, endpoint, 0)
}

func findAgent(d rawjson.Object, name, endpoint string, depth int) (string, bool) {
	at, located := protocol.Find(d, "contact_endpoint", "")
	called, _ := protocol.Find(d, "display_name", `"`)
	same := !located && name != "" && string(rawjson.Text(called.Value)) == name
	if located && at.Value.Kind() == '"' {
		same = string(rawjson.Unquote(at.Value)) == endpoint
	}
	for _, field := range agentIDs {
		if m, given := protocol.FindInner(d, field, `"0`); given && same && protocol.ValidForeignID(idText(m.Value)) {
			return idText(m.Value), true
		}
	}
	if depth == maxSearch {
		return "", false
	}
	for _, m := range d {
		for _, inner := range inside(m.Value) {
			if id, ok := findAgent(inner, name, endpoint, depth+1); ok {
				return id, true
			}
		}
	}
	return "", false
}

// Words returns what a peer says in an answer: the words of a refusal, the text of
// a tool's result, or else the first 200 bytes.
func Words(body []byte) string {
	doc, raw := locate(body)
	if doc == nil {
		raw = body
	}
	return words(doc, raw)
}

// FindBeginning reads what an answer to START_LEAGUE, or the text of a refusal,
// says of the start of a league, in whatever wrapping and words.
func FindBeginning(answer []byte) protocol.Beginning {
	if doc, _ := locate(answer); doc != nil {
		return protocol.BeginningIn(doc)
	}
	return protocol.ReadBeginning(string(answer))
}
