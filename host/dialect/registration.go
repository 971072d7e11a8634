package dialect

import (
	"regexp"
	"slices"
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

// statusRegistered is the word of some managers for ACCEPTED.
const statusRegistered = "REGISTERED"

// acceptedWords are the statuses with which managers accept a registration.
var acceptedWords = []string{protocol.StatusAccepted, statusRegistered, "OK", "SUCCESS", "ACK", protocol.StatusAcknowledged}

// affirmations are the members that say by true that a registration is accepted.
var affirmations = []string{"success", "ok", "accepted", "accept", "registered", "joined"}

// rejectedWords are the statuses with which they reject one.
var rejectedWords = []string{protocol.StatusRejected, "ERROR", "FAILED", "FAILURE", "DENIED", "REFUSED"}

// fails reports whether a message says of itself that it is a failure.
func fails(doc rawjson.Object) bool {
	if doc.Get("success").Kind() == 'f' || doc.Get("ok").Kind() == 'f' {
		return true
	}
	if e := doc.Get("error"); e.Kind() == '{' || e.Kind() == '"' && len(e) > len(`""`) {
		return true
	}
	said := strings.ToLower(doc.Text("status"))
	return slices.ContainsFunc(failureWords, func(w string) bool { return strings.HasPrefix(said, w) })
}

// failureWords begin the statuses of messages that are failures. A registration
// that is rejected has an answer of its own.
var failureWords = []string{"error", "fail", "unknown", "unsupported", "unrecogni", "invalid", "not_found", "not found", "not_implemented"}

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
	if err != nil || fails(result) || result.Get("isError").Kind() == 't' {
		return Acceptance{}, false
	}
	text := wordsIn(result.Get("content"), 0)
	said := strings.ToLower(text)
	if !strings.Contains(said, "register") && !strings.Contains(said, "welcome") && !strings.Contains(said, "accepted") ||
		slices.ContainsFunc([]string{"error", "fail", "not ", "reject", "denied", "refuse", "missing", "already", "invalid", "unknown", "closed", "cannot"}, func(no string) bool { return strings.Contains(said, no) }) {
		return Acceptance{}, false
	}
	return Acceptance{ID: assignedID().FindString(text)}, true
}

// assignedID is what ids by convention look like.
var assignedID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(P|REF)[0-9]{1,3}\b`) })

// idText returns an id, also one that is a number. The agent validates it.
func idText(v jsontext.Value) string {
	if v.Kind() == '0' {
		return string(v)
	}
	return string(rawjson.Text(v))
}

// maxSearch limits the depth of the search.
const maxSearch = 6

// search looks through an object and the objects in it. A rejection ends it.
func search(d rawjson.Object, depth int, found *Acceptance, yes *bool) (no bool) {
	status := strings.ToUpper(d.Text("status"))
	denies := func(name string) bool { return d.Get(name).Kind() == 'f' }
	if slices.Contains(rejectedWords, status) || d.Text("error_code") != "" || fails(d) || d.Get("isError").Kind() == 't' || slices.ContainsFunc(affirmations, denies) {
		*found, *yes = Acceptance{}, false
		return true
	}
	id := ""
	for _, name := range []string{"player_id", "referee_id", "assigned_id", "agent_id", "playerId", "refereeId", "assigned_player_id"} {
		if id = idText(d.Get(name)); id != "" {
			break
		}
	}
	if id == "" && slices.Contains(acceptedWords, status) && d.Get("jsonrpc") == nil {
		id = d.Text("id")
	}
	affirms := func(name string) bool { return d.Get(name).Kind() == 't' }
	if id != "" || slices.Contains(acceptedWords, status) || slices.ContainsFunc(affirmations, affirms) {
		*yes = true
	}
	take := func(into *string, text string) {
		if *into == "" {
			*into = text
		}
	}
	take(&found.ID, id)
	take(&found.Token, d.Text("auth_token"))
	take(&found.Token, d.Text("token"))
	take(&found.League, d.Text("league_id"))
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

// inside returns the objects that a value is or holds.
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
	at := d.First("contact_endpoint", "endpoint")
	same := at == nil && name != "" && d.Text("display_name") == name
	if at.Kind() == '"' {
		same = string(rawjson.Unquote(at)) == endpoint
	}
	for _, member := range []string{"player_id", "referee_id", "id"} {
		if id := idText(d.Get(member)); same && protocol.ValidForeignID(id) {
			return id, true
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

// Accepted reports whether a registration status means accepted.
func Accepted(status string) bool {
	return status == protocol.StatusAccepted || status == statusRegistered
}
