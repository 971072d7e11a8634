package dialect

import (
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/rawjson"
)

// A Beginning is what a manager says of the start of its league.
type Beginning int

// What managers say.
const (
	Unsaid  Beginning = iota // nothing about it: the message has arrived
	Begun                    // it has started the league
	Already                  // the league had started before
	TooFew                   // it waits for more agents
	Denied                   // it does not start it, or does not know what was asked
)

// Words in which managers speak of the start of a league, in lower case.
var (
	begunWords  = []string{"started", "starting", "begun", "beginning", "launched", "running", "in progress", "scheduled", "active", "underway"}
	notWords    = []string{"not started", "not yet", "not been", "not be ", "cannot", "can't", "could not", "unable", "not running", "not active", "never"}
	fewWords    = []string{"not enough", "insufficient", "too few", "at least", "minimum", "need", "waiting", "fewer than", "no players", "no registered", "more players", "players required", "required players"}
	agentWords  = []string{"players", "participants", "teams", "referees", "agents", "entrants"}
	formWords   = []string{"missing", "field", "param", "argument"}
	deniedWords = []string{
		"unknown", "unsupported", "not supported", "unrecogni", "not implemented", "not allowed", "unauthorized", "not authorized", "forbidden", "denied",
		"reject", "refuse", "fail", "error", "invalid", "ignored", "not found", "no such", "no handler", "not registered",
	}
	// saying are the members that speak, and affirming those that are true or false.
	saying    = []string{"status", "state", "message", "msg", "detail", "reason", "result", "info", "response", "text", "description", "error", "message_type"}
	affirming = []string{"started", "success", "ok", "accepted"}
)

// FindBeginning reads what an answer to START_LEAGUE, or the text of a refusal,
// says of the start of a league, in whatever wrapping and words.
func FindBeginning(answer []byte) Beginning {
	text := string(answer)
	if doc, _ := locate(answer); doc != nil {
		var said []string
		for _, name := range saying {
			said = append(said, string(rawjson.Text(doc.Get(name))))
		}
		for _, name := range affirming {
			switch doc.Get(name).Kind() {
			case 'f':
				said = append(said, "not started")
			case 't':
				said = append(said, name)
			}
		}
		text = strings.Join(said, "\n")
	}
	text = strings.NewReplacer("_", " ", "-", " ").Replace(strings.ToLower(text))
	says := func(words []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
	}
	begun := says(begunWords) && !says(notWords)
	switch {
	case strings.Contains(text, "already") && says(begunWords):
		return Already
	case !begun && says(fewWords) && says(agentWords) && !says(formWords):
		return TooFew
	case begun:
		return Begun
	case says(deniedWords) || says(notWords):
		return Denied
	}
	return Unsaid
}
