package protocol

import (
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/rawjson"
)

// What follows reads the texts by which programs of others refuse a message or take one,
// whatever the form in which they come. The phrases are in lower case.

// unknowns are the phrases in which a program says that it does not know something.
var unknowns = []string{
	"unknown", "not found", "no such", "unsupported", "not supported", "not implemented", "unrecognized", "unrecognised", "not recognized",
	"no handler", "does not exist", "not registered",
}

var (
	subjects = []string{
		"method", "methods", "tool", "tools", "message type", "message_type", "messagetype", "msg_type", "message", "action", "handler", "function",
		"command", "operation", "route", "type", "unknown_message_type", "unknown_method", "unknown_tool",
	}
	negations = append([]string{
		"doesn't exist", "undefined", "not available", "not known", "cannot handle", "unhandled", "invalid method", "invalid tool",
		"invalid message type", "invalid message_type", "invalid action", "unexpected", "not_found", "not a valid",
		"unknown_message_type", "unknown_method", "unknown_tool",
	}, unknowns...)
	// denials are those by which a program does not know who or what was named.
	denials = append([]string{"mismatch", "unregistered", "invalid", "wrong", "not allowed", "only", "unauthorized", "must be", "not authorized"}, unknowns...)
	// otherTypes are phrases with a subject in them that are about something else.
	otherTypes = strings.NewReplacer("game type", "", "game_type", "", "query type", "", "query_type", "", "content type", "", "content-type", "")
)

// leagueWords are those by which a league refuses, whatever the code they come with.
var leagueWords = []string{
	"full", "closed", "already", "duplicate", "taken", "in use", "in progress", "has started", "not accepting", "no longer", "banned", "blocked", "too late",
	"finished", "ended", "capacity", "maximum", "max players", "not open", "game type", "over",
}

// A Complaint is what a refusal is about, by its words: the phrases of which one is enough, unless
// [Says] has a rule for it.
type Complaint struct{ phrases []string }

// The complaints.
var (
	UnknownName   = &Complaint{}                                // a method, a tool or a type of message is not known
	UnknownType   = &Complaint{}                                // the type of the message is not known
	LeagueRefuses = &Complaint{}                                // the league refuses what the message asks for, not its form
	BlamesForm    = &Complaint{}                                // the form of the message, rather than what it asks for
	BlamesSender  = &Complaint{}                                // the sender is not one that the peer knows
	BlamesLeague  = &Complaint{}                                // the league is not one that it has
	SaysTaken     = &Complaint{}                                // somebody else has what was asked for
	TooMuch       = &Complaint{}                                // a function is given more parameters than it takes
	Forbids       = &Complaint{forbids}                         // a member that the validator does not know
	Lacks         = &Complaint{[]string{"missing", "required"}} // something is missing
	// BlamesID: the id of the request is of the wrong kind.
	BlamesID = &Complaint{[]string{"body.id", "id must", "id should", "invalid id", "id:", "request id", "'id'", `"id"`}}
	// WantsSession: an MCP server wants to be greeted first.
	WantsSession = &Complaint{[]string{"session", "event-stream", "not initialized", "not acceptable", "initialization"}}
	// NamesMessage: it speaks of methods, tools or types, not of a path.
	NamesMessage = &Complaint{[]string{"tool", "message type", "message_type", "unknown method", "type", "handler", "method not found"}}
	OtherGame    = &Complaint{[]string{"protocol", "game type", "game_type", "version"}} // another game, protocol or version
)

// Says reports whether a text in which a program refuses a message makes a complaint.
func Says(c *Complaint, text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	switch c {
	case UnknownName:
		switch strings.Trim(text, ". ") {
		case "not found", "unknown", "not implemented", "unsupported":
			return true
		}
		text = otherTypes.Replace(text)
		return contains(text, negations) && contains(text, subjects) && !Says(Lacks, text)
	case UnknownType:
		return Says(UnknownName, text) && contains(text, []string{"message type", "message_type", "messagetype", "msg_type", "type", "unknown_message_type"})
	case LeagueRefuses:
		text = strings.ReplaceAll(text, "_", " ")
		if strings.HasPrefix(text, "<") || contains(text, []string{"missing", "required", "field", "jsonrpc", "json-rpc", "validation"}) {
			return false
		}
		version := contains(text, []string{"version"}) &&
			contains(text, []string{"unsupported", "not supported", "mismatch", "incompatible", "wrong", "supported"})
		return version || contains(text, leagueWords)
	case BlamesForm:
		return Says(UnknownName, text) || !Says(LeagueRefuses, text) && contains(text, []string{"missing", "required", "invalid", "malformed", "validation", "params", "schema"})
	case TooMuch:
		return contains(text, forbids) || contains(text, []string{"positional argument", "positional arguments"}) && contains(text, []string{"given"})
	case BlamesSender, BlamesLeague:
		if !has(text, denials) || has(text, []string{"type", "method", "tool", "argument"}) {
			return false
		}
		sender := has(text, []string{"sender", "not registered", "unregistered", "launcher", "agent", "caller"})
		if c == BlamesSender {
			return sender
		}
		return !sender && has(text, []string{"league"}) && has(text, []string{"not found", "unknown", "mismatch", "does not exist", "no such", "league_id", "league id"})
	case SaysTaken:
		return has(text, []string{"taken", "already", "exists", "duplicate", "in use"})
	case BlamesID:
		text = strings.ReplaceAll(text, `"id":`, "") // an answer has one of its own
		return contains(text, c.phrases) && !contains(text, []string{"league_id", "player_id"})
	}
	return contains(text, c.phrases)
}

// has reports whether a text holds one of the phrases, also inside words.
func has(text string, phrases []string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(text, p) })
}

// contains reports whether a text holds one of the phrases as whole words. Both are in lower case.
func contains(text string, phrases []string) bool {
	letter := func(r byte) bool { return r == '_' || unicode.IsLetter(rune(r)) }
	return slices.ContainsFunc(phrases, func(p string) bool {
		for at := 0; ; {
			i := strings.Index(text[at:], p)
			if i < 0 {
				return false
			}
			start, end := at+i, at+i+len(p)
			if (start == 0 || !letter(text[start-1])) && (end == len(text) || !letter(text[end])) {
				return true
			}
			at = end
		}
	})
}

// forbids are the phrases by which validators refuse members.
var forbids = []string{
	"extra inputs are not permitted", "extra fields not permitted", "extra_forbidden", "unexpected keyword argument", "unexpected keyword arguments",
	"additional properties are not allowed", "unknown field", "unknown fields", "unexpected field", "unexpected fields", "unexpected property", "unrecognized field",
}

// Forbidden returns those of the names that a finding of a validator forbids: the last
// one of the path before it, or those that follow it.
func Forbidden(finding string, names []string) []string {
	lower := strings.ToLower(finding)
	at := slices.IndexFunc(forbids, func(phrase string) bool { return contains(lower, []string{phrase}) })
	if at < 0 {
		return nil
	}
	before, after, _ := strings.Cut(lower, forbids[at])
	if path, _, is := strings.Cut(before, ":"); is {
		steps := strings.Split(path, ".")
		if last := strings.TrimSpace(steps[len(steps)-1]); slices.Contains(names, last) {
			return []string{last}
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return !contains(after, []string{name}) })
}

// ParityWord returns the only parity that stands as a word in the prose of a program, "" for both or none.
func ParityWord(text string) string {
	text = strings.ToLower(text)
	even, odd := contains(text, []string{string(Even)}), contains(text, []string{string(Odd)})
	switch {
	case even && !odd:
		return string(Even)
	case odd && !even:
		return string(Odd)
	}
	return ""
}

var explaining = []string{"detail", "message", "reason", "error_description", "error", "errors", "msg", "content", "text"}

// Explanation returns the words of a refusal, "" without any: of the first member that
// usually holds them.
func Explanation(doc rawjson.Object) string {
	for _, name := range explaining {
		if text := Prose(doc.Get(name)); text != "" {
			return text
		}
	}
	return ""
}

// Prose returns the text of a value, also of a list of the findings of a validator or of
// the parts of a tool's result.
func Prose(v jsontext.Value) string {
	switch v.Kind() {
	case '"':
		return string(rawjson.Text(v))
	case '[':
		var all []string
		for _, e := range rawjson.Elements(v) {
			if text := Prose(e); text != "" {
				all = append(all, text)
			}
		}
		return strings.Join(all, "; ")
	case '{':
		doc := rawjson.Split(v)
		text := Explanation(doc)
		if loc := doc.Get("loc"); loc.Kind() == '[' {
			var path []string
			for _, e := range rawjson.Elements(loc) {
				path = append(path, strings.Trim(string(e), `"`))
			}
			text = strings.Join(path, ".") + ": " + text
		}
		return text
	}
	return ""
}

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

// begunWords and those below it are the words in which managers speak of the start of a league, in lower case.
var (
	begunWords  = []string{"started", "starting", "begun", "beginning", "launched", "running", "in progress", "scheduled", "active", "underway"}
	notWords    = []string{"not started", "not yet", "not been", "not be ", "cannot", "can't", "could not", "unable", "not running", "not active", "never"}
	fewWords    = []string{"not enough", "insufficient", "too few", "at least", "minimum", "need", "waiting", "fewer than", "no players", "no registered", "more players", "players required", "required players"}
	agentWords  = []string{"players", "participants", "teams", "referees", "agents", "entrants"}
	formWords   = []string{"missing", "field", "param", "argument"}
	deniedWords = append([]string{
		"unrecogni", "not allowed", "unauthorized", "not authorized", "forbidden", "denied", "reject", "refuse", "fail", "error", "invalid", "ignored",
	}, unknowns...)
)

// The members of an answer to START_LEAGUE that speak, and those that are true or false.
var (
	saying   = []string{"status", "state", "message", "msg", "detail", "reason", "result", "info", "response", "text", "description", "error", "message_type"}
	starting = []string{"started", "success", "ok", "accepted"}
)

// ReadBeginning returns what a manager says of the start of its league, in a text and the members of an answer.
func ReadBeginning(text string, doc rawjson.Object) Beginning {
	for _, name := range saying {
		text += "\n" + string(rawjson.Text(doc.Get(name)))
	}
	for _, name := range starting {
		switch doc.Get(name).Kind() {
		case 'f':
			text += "\n" + notWords[0]
		case 't':
			text += "\n" + name
		}
	}
	text = strings.NewReplacer("_", " ", "-", " ").Replace(strings.ToLower(text))
	says := func(words []string) bool { return has(text, words) }
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

// welcomes and refusals are words of tools that answer a registration in prose.
var (
	welcomes = []string{"register", "welcome", "accepted"}
	refusals = []string{"error", "fail", "not ", "reject", "denied", "refuse", "missing", "already", "invalid", "unknown", "closed", "cannot"}
)

// Welcomes reports whether the prose of a tool takes an agent on.
func Welcomes(text string) bool {
	text = strings.ToLower(text)
	return has(text, welcomes) && !has(text, refusals)
}
