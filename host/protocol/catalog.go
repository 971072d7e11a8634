package protocol

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// area groups message types by what is done in them; the numbered JSON-RPC
// error codes of the protocol are counted per area.
type area uint8

const (
	areaNone          area = iota
	areaRefereeSignup      // 1001 and up
	areaPlayerSignup       // 2001 and up
	areaAnnouncement       // 3001 and up
	areaMatch              // 4001 and up
	areaReport             // 5001 and up
	areaQuery              // 6001 and up
)

// A Description describes a message type. It is shared and must not be changed.
type Description struct {
	Type    Type
	Title   string   // one line, for people
	Method  string   // the JSON-RPC method of the request; empty for a type that is only an answer
	Aliases []string // other methods in use for it
	Names   []string // every name of the request: the method, its aliases, the type in upper and lower case
	Answer  Type     // the type of the answer; empty where there is none
	From    []Role   // the roles that may sign it
	Auth    bool     // the request is refused without a token
}

// entry is one line of the catalog.
type entry struct {
	Description
	area   area
	shape  *shape
	blank  func() Message
	goType reflect.Type // of blank messages
}

// answer returns the entry of a message type that is only an answer.
func answer(t Type, title string, area area, s *shape, blank func() Message) *entry {
	return &entry{
		Description: Description{Type: t, Title: title, From: s.fields[s.index["sender"]].roles},
		area:        area, shape: s, blank: blank, goType: reflect.TypeOf(blank()),
	}
}

// line returns the entry of a message type that may come as a request.
func line(t Type, title, method string, to Type, area area, s *shape, blank func() Message, aliases ...string) *entry {
	e := answer(t, title, area, s, blank)
	e.Method, e.Aliases, e.Answer = method, aliases, to
	e.Auth = area != areaRefereeSignup && area != areaPlayerSignup
	for _, name := range append(append([]string{method}, aliases...), string(t), lower(t)) {
		if !slices.Contains(e.Names, name) {
			e.Names = append(e.Names, name)
		}
	}
	return e
}

// blank returns a new, empty message of the Go type T.
func blank[T any, M interface {
	*T
	Message
}]() Message {
	return M(new(T))
}

// lines lists the message types in the order in which a league sees them.
func lines() []*entry {
	return []*entry{
		line(TypeRefereeRegisterRequest, "A referee registers", "register_referee",
			typeRefereeRegisterResponse, areaRefereeSignup, refereeRegisterRequestShape(), blank[RefereeRegisterRequest]),
		answer(typeRefereeRegisterResponse, "The manager answers a referee", areaRefereeSignup, refereeRegisterResponseShape(), blank[RefereeRegisterResponse]),
		line(TypeLeagueRegisterRequest, "A player registers", "register_player",
			typeLeagueRegisterResponse, areaPlayerSignup, leagueRegisterRequestShape(), blank[LeagueRegisterRequest]),
		answer(typeLeagueRegisterResponse, "The manager answers a player", areaPlayerSignup, leagueRegisterResponseShape(), blank[LeagueRegisterResponse]),
		line(TypeStartLeague, "The launcher starts the league", "start_league",
			typeLeagueStatus, areaNone, startLeagueShape(), blank[StartLeague]),
		answer(typeLeagueStatus, "How far the league is", areaNone, leagueStatusShape(), blank[LeagueStatus]),
		line(TypeSetPlayerStatus, "The organiser takes a player out or lets it back in", "set_player_status",
			typePlayerStatus, areaNone, setPlayerStatusShape(), blank[PlayerStatus]),
		answer(typePlayerStatus, "What the player's status is", areaNone, playerStatusShape(), blank[PlayerStatus]),
		line(TypeSetPace, "The organiser pauses the league or sets its pace", "set_pace",
			typeLeaguePace, areaNone, setPaceShape(), blank[Pace]),
		answer(typeLeaguePace, "The pace of the league", areaNone, leaguePaceShape(), blank[Pace]),
		line(TypeRoundAnnouncement, "A round begins", "notify_round",
			typeRoundAnnouncementAck, areaAnnouncement, roundAnnouncementShape(), blank[RoundAnnouncement]),
		answer(typeRoundAnnouncementAck, "The round is known", areaAnnouncement, roundAckShape(), blank[Ack]),
		line(TypeLeagueStandingsUpdate, "The table after a round", "update_standings",
			typeStandingsUpdateAck, areaAnnouncement, leagueStandingsUpdateShape(), blank[LeagueStandingsUpdate], "notify_standings"),
		answer(typeStandingsUpdateAck, "The table is known", areaAnnouncement, roundAckShape(), blank[Ack]),
		line(TypeRoundCompleted, "A round is over", "notify_round_completed",
			typeRoundCompletedAck, areaAnnouncement, roundCompletedShape(), blank[RoundCompleted]),
		answer(typeRoundCompletedAck, "The end of the round is known", areaAnnouncement, roundOverAckShape(), blank[Ack]),
		line(TypeLeagueCompleted, "The league is over", "notify_league_completed",
			typeLeagueCompletedAck, areaAnnouncement, leagueCompletedShape(), blank[LeagueCompleted]),
		answer(typeLeagueCompletedAck, "The end of the league is known", areaAnnouncement, leagueAckShape(), blank[Ack]),
		line(TypeGameInvitation, "The referee invites a player", "handle_game_invitation",
			TypeGameJoinAck, areaMatch, gameInvitationShape(), blank[GameInvitation], "receive_game_invitation"),
		line(TypeGameJoinAck, "The player joins or declines", "game_join_ack",
			typeGameJoinAckAck, areaMatch, gameJoinAckShape(), blank[GameJoinAck]),
		answer(typeGameJoinAckAck, "An asynchronous join has arrived", areaMatch, receiptShape(), blank[Ack]),
		line(TypeChooseParityCall, "The referee asks for a choice", "parity_choose",
			TypeChooseParityResponse, areaMatch, chooseParityCallShape(), blank[ChooseParityCall], "choose_parity", "receive_parity_call"),
		line(TypeChooseParityResponse, "The player chooses", "choose_parity_response",
			typeChooseParityResponseAck, areaMatch, chooseParityResponseShape(), blank[ChooseParityResponse]),
		answer(typeChooseParityResponseAck, "An asynchronous choice has arrived", areaMatch, receiptShape(), blank[Ack]),
		line(TypeGameOver, "The match is over", "notify_match_result",
			typeGameOverAck, areaMatch, gameOverShape(), blank[GameOver], "receive_game_over"),
		answer(typeGameOverAck, "The end of the match is known", areaMatch, gameOverAckShape(), blank[Ack]),
		line(TypeGameError, "A fault in the match", "notify_game_error",
			typeGameErrorAck, areaMatch, gameErrorShape(), blank[GameError]),
		answer(typeGameErrorAck, "The fault is known", areaMatch, matchAckShape(), blank[Ack]),
		line(TypeMatchProgress, "The referee tells how far matches are", "report_match_progress",
			typeMatchProgressAck, areaReport, matchProgressShape(), blank[MatchProgress]),
		answer(typeMatchProgressAck, "The progress has arrived", areaReport, progressAckShape(), blank[Ack]),
		line(TypeMatchResultReport, "The referee reports a result", "report_match_result",
			typeMatchResultAck, areaReport, matchResultReportShape(), blank[MatchResultReport]),
		answer(typeMatchResultAck, "The result is taken down", areaReport, matchResultAckShape(), blank[MatchResultAck]),
		line(TypeLeagueQuery, "An agent asks about the league", "league_query",
			typeLeagueQueryResponse, areaQuery, leagueQueryShape(), blank[LeagueQuery]),
		answer(typeLeagueQueryResponse, "The manager answers a question", areaQuery, leagueQueryResponseShape(), blank[LeagueQueryResponse]),
		line(TypeLeagueError, "The manager refuses", "league_error",
			"", areaNone, leagueErrorShape(), blank[leagueError]),
	}
}

// tables is the catalog with its indexes. A method is found under the name by the book,
// its aliases, and the type itself in upper and lower case; fields are the member names
// of all tables.
type tables struct {
	lines   []*entry
	types   map[Type]*entry
	methods map[string]*entry
	fields  map[string]bool
	schemas sync.Map // those that were asked for
}

// catalog is built when the first message is read or written: a process that handles none
// does not pay for it.
var catalog = sync.OnceValue(func() *tables {
	c := &tables{lines: lines(), types: make(map[Type]*entry), methods: make(map[string]*entry), fields: make(map[string]bool)}
	for _, e := range c.lines {
		c.types[e.Type] = e
		for _, name := range e.Names {
			c.methods[name] = e
		}
		e.shape.gather(c.fields)
	}
	return c
})

// gather adds the names of the shape and of all shapes below it.
func (s *shape) gather(names map[string]bool) {
	for _, f := range s.fields {
		names[f.name] = true
		if f.elem != nil && f.elem.sub != nil {
			f.elem.sub.gather(names)
		}
		if f.sub != nil {
			f.sub.gather(names)
		}
	}
	for _, part := range s.parts {
		part.gather(names)
	}
}

// lower returns the type in lower case, which serves many programs as method.
func lower(t Type) string { return strings.ToLower(string(t)) }

// Types returns all message types in the order in which a league sees them.
func Types() []Type {
	all := catalog().lines
	types := make([]Type, len(all))
	for i, e := range all {
		types[i] = e.Type
	}
	return types
}

// Describe returns the description of a type, and whether the type is known. That of
// an unknown type is empty, not nil.
func Describe(t Type) (*Description, bool) {
	e, ok := catalog().types[t]
	if !ok {
		return new(Description), false
	}
	return &e.Description, true
}

// answers reports whether the type travels as an answer by the book.
func (e *entry) answers() bool {
	return e.Method == "" || slices.ContainsFunc(catalog().lines, func(other *entry) bool { return other.Answer == e.Type })
}

// TypeOfMethod returns the message type that travels under a method: the name
// by the book, an alias, or the type itself in upper or lower case.
func TypeOfMethod(method string) (Type, bool) {
	e, ok := catalog().methods[method]
	if !ok {
		return "", false
	}
	return e.Type, true
}

// KnownField reports whether any table has a member of that name.
func KnownField(name string) bool { return catalog().fields[name] }

// Answer returns the type of the answer to messages of type t, empty where there
// is none.
func (t Type) Answer() Type {
	if e := catalog().types[t]; e != nil {
		return e.Answer
	}
	return ""
}

// New returns an empty message of the type, with protocol and message_type set,
// or nil for an unknown type.
func New(t Type) Message {
	e, ok := catalog().types[t]
	if !ok {
		return nil
	}
	m := e.blank()
	m.Head().Protocol, m.Head().MessageType = Version, t
	return m
}
