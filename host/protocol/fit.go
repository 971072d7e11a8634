package protocol

import (
	"slices"
	"strings"
	"unicode"
)

// profile describes the names under which programs take a type of message.
type profile struct {
	all  [][]string // one word of each group occurs in the name
	not  []string   // none of these does
	plus []string   // these make it likelier
}

var (
	registers = []string{"register", "registration", "join", "enroll", "enrol", "signup", "enter"}
	ends      = []string{"completed", "complete", "end", "ended", "over", "finished", "finish", "closed"}
	answers   = []string{"response", "ack", "reply", "unregister", "list", "get", "received", "confirmed", "cancelled", "canceled", "timeout"}
)

// profiles are what the names seen in real leagues have in common.
var profiles = map[Type]profile{
	TypeLeagueRegisterRequest: {
		all: [][]string{registers}, not: append([]string{"referee", "ref", "referees", "game", "match"}, answers...),
		plus: []string{"player", "league", "agent", "team", "register", "players"},
	},
	TypeRefereeRegisterRequest: {
		all: [][]string{registers, {"referee", "ref", "referees", "agent"}}, not: answers, plus: []string{"register", "referee"},
	},
	TypeGameInvitation: {
		all: [][]string{{"invite", "invitation", "invited", "join"}}, not: append([]string{"league", "choose", "over"}, answers...),
		plus: []string{"game", "match", "invitation", "receive", "handle"},
	},
	TypeChooseParityCall: {
		all: [][]string{{"parity", "choose", "choice", "move"}}, not: answers, plus: []string{"parity", "choose", "call"},
	},
	TypeGameOver: {
		all:  [][]string{append([]string{"result", "results"}, ends...)},
		not:  append([]string{"league", "round", "report", "tournament", "standings", "registration", "register"}, answers...),
		plus: []string{"game", "match", "notify", "receive", "over"},
	},
	TypeGameError: {
		all: [][]string{{"error", "fault", "failure"}}, not: append([]string{"league"}, answers...), plus: []string{"game", "match"},
	},
	TypeRoundAnnouncement: {
		all: [][]string{{"round"}}, not: slices.Concat(ends, answers, []string{"result", "results"}),
		plus: []string{"announce", "announcement", "notify", "start", "new"},
	},
	TypeRoundCompleted:        {all: [][]string{{"round"}, ends}, not: answers},
	TypeLeagueStandingsUpdate: {all: [][]string{{"standings", "standing", "table", "ranking"}}, not: answers, plus: []string{"update", "notify"}},
	TypeLeagueCompleted:       {all: [][]string{{"league", "tournament", "season"}, ends}, not: append([]string{"registration", "register", "round", "match", "game"}, answers...)},
	TypeMatchResultReport: {
		all: [][]string{{"report", "result", "results"}}, not: append([]string{"get", "ack", "list", "round", "notify"}, "response"),
		plus: []string{"match", "report", "result", "game"},
	},
	TypeStartLeague: {
		all: [][]string{{"start", "begin", "launch", "run"}}, not: append([]string{"match", "game", "round"}, answers...),
		plus: []string{"league", "tournament", "season", "start"},
	},
	TypeLeagueQuery: {all: [][]string{{"query"}}, not: []string{"response", "ack"}, plus: []string{"league"}},
}

// kinds are the words at the end of types that ask for something.
var kinds = []string{"request", "call"}

// Neighbours returns the names by which programs may know a type of message instead of
// its own, the likeliest first: one word of it replaced by another that says the same, as
// PLAYER_REGISTER_REQUEST beside LEAGUE_REGISTER_REQUEST, and its method in upper case.
func Neighbours(t Type) []Type {
	p := profiles[t]
	about, _ := Describe(t)
	words, near := WordsOf(string(t)), []Type{Type(strings.ToUpper(about.Method))}
	for _, group := range slices.Concat([][]string{p.plus}, p.all, [][]string{kinds}) {
		for i, w := range words {
			for _, other := range group {
				if slices.Contains(group, w) && !slices.Contains(words, other) && strings.TrimSuffix(other, "s") != w {
					words[i] = other
					return append([]Type{Type(strings.ToUpper(strings.Join(words, "_")))}, near...)
				}
			}
		}
	}
	return near
}

// otherMethods are names under which programs take messages, besides those of the
// catalog and their patterns.
var otherMethods = map[Type][]string{
	TypeGameInvitation:        {"invite", "game_invite"},
	TypeChooseParityCall:      {"CHOOSE_PARITY_REQUEST", "choose_parity_request", "parity_call", "make_choice"},
	TypeGameOver:              {"match_result", "game_result"},
	TypeRoundAnnouncement:     {"announce_round"},
	TypeLeagueStandingsUpdate: {"standings_update"},
}

// MethodsOf returns the names under which programs take requests of a type: one of a dialect's
// own, those of the protocol, and others.
func MethodsOf(t Type, own string) []string {
	about, _ := Describe(t)
	names := []string{own}
	for _, name := range slices.Concat(about.Names, otherMethods[t], []string{"handle_" + lower(t), "receive_" + lower(t)}) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// AssignmentNames are the names, of types and of methods, under which managers assign a referee one match
// at a time, the commonest first. Such a message stands for an announcement of that match alone.
var AssignmentNames = []string{"START_MATCH", "MATCH_ASSIGNMENT", "start_match", "assign_match", "RUN_MATCH", "run_match", "ASSIGN_MATCH", "conduct_match"}

// exact outranks every other fit: the name is one of the protocol's own.
const exact = 100

// Fit returns how well the name of a method, a tool or a path fits a type of
// message: 0 where it does not, more for a better fit.
func Fit(name string, t Type) int {
	words := WordsOf(name)
	about, _ := Describe(t)
	if slices.ContainsFunc(about.Names, func(known string) bool { return strings.ToLower(known) == strings.Join(words, "_") }) {
		return exact
	}
	p, described := profiles[t]
	if !described || common(words, p.not) || slices.ContainsFunc(p.all, func(group []string) bool { return !common(words, group) }) {
		return 0
	}
	score := 20
	for _, w := range words {
		if slices.Contains(p.plus, w) {
			score += 5
		} else {
			score-- // a longer name says more of other things
		}
	}
	return max(score, 1)
}

// Best returns the index of the name that fits a type of message best, the
// first of several; -1 where none fits.
func Best(t Type, names []string) int {
	best, most := -1, 0
	for i, name := range names {
		if fit := Fit(name, t); fit > most {
			best, most = i, fit
		}
	}
	return best
}

// NamesIn returns the names in a text of a peer, such as a list of its methods,
// that fit a type of message, the best first and at most three.
func NamesIn(text string, t Type) []string {
	var found []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-./", r)
	}) {
		word = strings.Trim(word, "./-")
		if len(WordsOf(word)) > 1 && Fit(word, t) > 0 && !slices.Contains(found, word) {
			found = append(found, word)
		}
	}
	slices.SortStableFunc(found, func(a, b string) int { return Fit(b, t) - Fit(a, t) })
	return found[:min(len(found), 3)]
}
