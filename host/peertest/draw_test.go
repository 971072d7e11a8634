package peertest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"
)

// programsSeen draws a program: its wrapping, names, fields, ids, addresses,
// tokens, acknowledgements, timing and manner of refusing, each from what real
// programs do. What is drawn is a correct program: it completes leagues with
// players of its own.
var programsSeen = rapid.Custom(drawProgram)

// namesSeen are the methods that programs have for a message.
var namesSeen = map[string][]string{
	"LEAGUE_REGISTER_REQUEST": {"register_player", "LEAGUE_REGISTER_REQUEST", "league_register_request"},
	"GAME_INVITATION":         {"handle_game_invitation", "game_invitation", "receive_game_invitation", "GAME_INVITATION"},
	"CHOOSE_PARITY_CALL":      {"parity_choose", "choose_parity", "choose_parity_call", "receive_parity_call", "CHOOSE_PARITY_CALL"},
	"GAME_OVER":               {"notify_match_result", "game_over", "receive_game_over", "match_result_report", "GAME_OVER"},
	"ROUND_ANNOUNCEMENT":      {"notify_round", "round_announcement", "ROUND_ANNOUNCEMENT"},
	"LEAGUE_STANDINGS_UPDATE": {"update_standings", "notify_standings", "league_standings_update"},
}

func drawProgram(r *rapid.T) *style {
	one := func(what string, values ...string) string { return rapid.SampledFrom(values).Draw(r, what) }
	flag := func(what string, percent int) bool { return rapid.IntRange(1, 100).Draw(r, what) <= percent }
	s := new(style)
	s.name = one("wrapping", "book", "book", "type", "lower", "receive", "mixed", "mixed", "unknown", "requests", "text", "message", "tool", "plain tool", "listed tool", "io", "envelope", "bare")
	drawWrapping(r, s)
	s.refuses = one("refusal", "", "", "detail", "detail", "status", "page", "result", "error", "internal", "404", "405", "415", "500")
	s.path = one("path", "", "", "", "", "", "/MCP", "/", "/api/league")
	s.ids = one("ids", "", "int")
	s.wantsIDs = one("ids taken", "", "", "int", "int", "text")
	if s.wantsIDs != "" { // as it sends them itself
		s.ids = strings.TrimPrefix(s.wantsIDs, "text")
	}
	s.nullError = flag("null error", 20)

	s.noToken = flag("no token", 20)
	s.assigns = one("assigned ids", "", "", "", "", "honour", "sender", "hex", "space", "slash", "unicode", "dot")
	if s.headerless && s.assigns == "sender" { // there is none
		s.assigns = ""
	}
	s.ports = slices.Contains([]string{"", "honour", "sender"}, s.assigns) && flag("addresses by convention", 35)
	s.wantsMeta = one("version", "", "", "2.")
	if s.wantsSender { // its players declare league.v2
		s.wantsMeta = ""
	}
	s.probes = flag("probes", 20)
	s.badToken = one("bad token", "", "result", "401", "500", "type", "status")

	s.choiceField = one("choice", "", "choice")
	s.joinField = one("join", "", "accepted", "status")
	s.lowerRoles, s.textRounds = flag("lower roles", 20), flag("text rounds", 20)
	s.timestamp = one("timestamps", "", "", "2006-01-02T15:04:05.000Z", "2006-01-02T15:04:05.000000+00:00", "2006-01-02T15:04:05.000000")
	s.past, s.bare = flag("past deadlines", 20), flag("bare fields", 25)
	s.over = one("results", "", "player", "flat", "winner", "rows")
	s.draw = rapid.SampledFrom([]int{0, 0, 100, 20}).Draw(r, "numbers")
	s.standings = one("standings", "after", "before")
	s.quiet, s.endless = flag("quiet", 25), flag("endless", 25)

	s.tokens = one("tokens", "", "", "last", "placeholder", "empty", "none")
	s.plural, s.acks = flag("plural", 15), one("acknowledgements", "", "echo", "ok", "empty")
	s.repeats = flag("repeats", 10)
	s.closes, s.latecome = flag("closes connections", 25), flag("players come late", 25)
	s.thinks = time.Duration(rapid.SampledFrom([]int{0, 0, 0, 20, 80}).Draw(r, "pause")) * time.Millisecond
	s.start, s.single = one("start", "", "", "", "within", "tool", "path", "rest", "named", "empty", "missing"), flag("single-threaded", 30)
	if parameters := slices.Contains([]string{"", "tool", "io"}, s.frame) && s.naming != "unknown"; !parameters && slices.Contains([]string{"named", "empty", "missing"}, s.start) {
		s.start = "tool"
	}
	s.slow = time.Duration(rapid.SampledFrom([]int{0, 0, 0, 0, 1500}).Draw(r, "slow registration")) * time.Millisecond
	if s.probes && s.repeats { // the manager would wait for a player that waits for it
		s.single = false
	}
	s.habit = one("habit", "", "", "", "mark", "slash", "no media", "zip", "notify", "null id")
	s.joins = one("joins", "", "", "", "never")
	s.async = s.joins == "" && s.start != "within" && s.frame == "" && !s.wantsSender && s.answers == "" && !s.quiet && flag("joins by message", 15)
	if s.async && s.wantsIDs != "" && slices.Contains([]string{"notify", "null id"}, s.habit) { // its players refuse the announcements that say where joins go
		s.habit = ""
	}
	return s
}

// drawWrapping draws how the program wraps and names messages.
func drawWrapping(r *rapid.T, s *style) {
	s.picky = rapid.Bool().Draw(r, "picky")
	switch s.name {
	case "type":
		s.naming = "type"
		if s.picky && rapid.Bool().Draw(r, "known senders only") {
			s.wantsSender, s.registered = true, "REGISTERED"
		}
	case "lower", "receive":
		s.naming = s.name
	case "mixed":
		s.picky = true
		s.names = make(map[string]string)
		for _, kind := range []string{"LEAGUE_REGISTER_REQUEST", "GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_OVER", "ROUND_ANNOUNCEMENT", "LEAGUE_STANDINGS_UPDATE"} {
			s.names[kind] = rapid.SampledFrom(namesSeen[kind]).Draw(r, kind)
		}
	case "unknown":
		s.naming, s.picky = "unknown", false
	case "requests":
		s.answers, s.reads = "params", "params"
		s.naming = rapid.SampledFrom([]string{"", "lower"}).Draw(r, "naming")
	case "text":
		s.answers, s.reads = "text", "text"
	case "message":
		s.frame = "message"
	case "tool":
		s.frame, s.answers, s.reads = "tool", "content", "content"
	case "plain tool":
		s.frame, s.headerless, s.answers, s.reads = "tool", true, "content", rapid.SampledFrom([]string{"content", "top"}).Draw(r, "reads")
		if s.reads == "top" {
			s.answers = "result"
		}
	case "listed tool":
		s.frame, s.headerless, s.answers, s.reads, s.lists, s.picky = "tool", true, "content", "content", true, true
		s.naming = rapid.SampledFrom([]string{"", "receive"}).Draw(r, "naming")
	case "io", "envelope", "bare":
		s.frame, s.answers, s.reads = s.name, s.name, s.name
	}
}

// String lists what is not by the book.
func (s *style) String() string {
	var all []string
	v := reflect.ValueOf(*s)
	for i := range v.NumField() {
		if f := v.Field(i); !f.IsZero() {
			all = append(all, fmt.Sprintf("%s=%v", v.Type().Field(i).Name, f))
		}
	}
	return strings.Join(all, " ")
}
