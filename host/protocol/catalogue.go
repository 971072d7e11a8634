package protocol

import (
	"slices"
	"strings"
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

// A Description is what the catalogue says of a message type.
type Description struct {
	Type    Type
	Title   string   // one line, for people
	Method  string   // the JSON-RPC method of the request; empty for a type that is only an answer
	Aliases []string // other methods in use for it
	Answer  Type     // the type of the answer; empty where there is none
	From    []Role   // who signs it
	Auth    bool     // the request is refused without a token
}

// entry is one line of the catalogue.
type entry struct {
	typ     Type
	title   string
	method  string // empty for a type that is only an answer
	answer  Type
	area    area
	shape   *shape
	blank   func() Message
	aliases []string
}

// blank returns a new, empty message of the Go type T.
func blank[T any, M interface {
	*T
	Message
}]() Message {
	return M(new(T))
}

// catalogue lists the message types in the order in which a league sees them.
var catalogue = []*entry{
	{TypeRefereeRegisterRequest, "A referee registers", "register_referee",
		TypeRefereeRegisterResponse, areaRefereeSignup, refereeRegisterRequestShape, blank[RefereeRegisterRequest], nil},
	{TypeRefereeRegisterResponse, "The manager answers a referee", "",
		"", areaRefereeSignup, refereeRegisterResponseShape, blank[RefereeRegisterResponse], nil},
	{TypeLeagueRegisterRequest, "A player registers", "register_player",
		TypeLeagueRegisterResponse, areaPlayerSignup, leagueRegisterRequestShape, blank[LeagueRegisterRequest], nil},
	{TypeLeagueRegisterResponse, "The manager answers a player", "",
		"", areaPlayerSignup, leagueRegisterResponseShape, blank[LeagueRegisterResponse], nil},
	{TypeStartLeague, "The launcher starts the league", "start_league",
		TypeLeagueStatus, areaNone, startLeagueShape, blank[StartLeague], nil},
	{TypeLeagueStatus, "How far the league is", "",
		"", areaNone, leagueStatusShape, blank[LeagueStatus], nil},
	{TypeRoundAnnouncement, "A round begins", "notify_round",
		TypeRoundAnnouncementAck, areaAnnouncement, roundAnnouncementShape, blank[RoundAnnouncement], nil},
	{TypeRoundAnnouncementAck, "The round is known", "",
		"", areaAnnouncement, roundAckShape, blank[Ack], nil},
	{TypeLeagueStandingsUpdate, "The table after a round", "update_standings",
		TypeStandingsUpdateAck, areaAnnouncement, leagueStandingsUpdateShape, blank[LeagueStandingsUpdate], []string{"notify_standings"}},
	{TypeStandingsUpdateAck, "The table is known", "",
		"", areaAnnouncement, roundAckShape, blank[Ack], nil},
	{TypeRoundCompleted, "A round is over", "notify_round_completed",
		TypeRoundCompletedAck, areaAnnouncement, roundCompletedShape, blank[RoundCompleted], nil},
	{TypeRoundCompletedAck, "The end of the round is known", "",
		"", areaAnnouncement, roundAckShape, blank[Ack], nil},
	{TypeLeagueCompleted, "The league is over", "notify_league_completed",
		TypeLeagueCompletedAck, areaAnnouncement, leagueCompletedShape, blank[LeagueCompleted], nil},
	{TypeLeagueCompletedAck, "The end of the league is known", "",
		"", areaAnnouncement, leagueAckShape, blank[Ack], nil},
	{TypeGameInvitation, "The referee invites a player", "handle_game_invitation",
		TypeGameJoinAck, areaMatch, gameInvitationShape, blank[GameInvitation], []string{"receive_game_invitation"}},
	{TypeGameJoinAck, "The player joins or declines", "game_join_ack",
		TypeGameJoinAckAck, areaMatch, gameJoinAckShape, blank[GameJoinAck], nil},
	{TypeGameJoinAckAck, "An asynchronous join has arrived", "",
		"", areaMatch, receiptShape, blank[Ack], nil},
	{TypeChooseParityCall, "The referee asks for a choice", "parity_choose",
		TypeChooseParityResponse, areaMatch, chooseParityCallShape, blank[ChooseParityCall], []string{"choose_parity", "receive_parity_call"}},
	{TypeChooseParityResponse, "The player chooses", "choose_parity_response",
		TypeChooseParityResponseAck, areaMatch, chooseParityResponseShape, blank[ChooseParityResponse], nil},
	{TypeChooseParityResponseAck, "An asynchronous choice has arrived", "",
		"", areaMatch, receiptShape, blank[Ack], nil},
	{TypeGameOver, "The match is over", "notify_match_result",
		TypeGameOverAck, areaMatch, gameOverShape, blank[GameOver], []string{"receive_game_over"}},
	{TypeGameOverAck, "The end of the match is known", "",
		"", areaMatch, matchAckShape, blank[Ack], nil},
	{TypeGameError, "A fault in the match", "notify_game_error",
		TypeGameErrorAck, areaMatch, gameErrorShape, blank[GameError], nil},
	{TypeGameErrorAck, "The fault is known", "",
		"", areaMatch, matchAckShape, blank[Ack], nil},
	{TypeMatchResultReport, "The referee reports a result", "report_match_result",
		TypeMatchResultAck, areaReport, matchResultReportShape, blank[MatchResultReport], nil},
	{TypeMatchResultAck, "The result is taken down", "",
		"", areaReport, matchResultAckShape, blank[MatchResultAck], nil},
	{TypeLeagueQuery, "An agent asks about the league", "league_query",
		TypeLeagueQueryResponse, areaQuery, leagueQueryShape, blank[LeagueQuery], nil},
	{TypeLeagueQueryResponse, "The manager answers a question", "",
		"", areaQuery, leagueQueryResponseShape, blank[LeagueQueryResponse], nil},
	{TypeLeagueError, "The manager refuses", "league_error",
		"", areaNone, leagueErrorShape, blank[LeagueError], nil},
}

// byType and byMethod index the catalogue; a method is found under the name
// by the book, its aliases, and the type itself in upper and lower case.
var (
	byType   = indexTypes()
	byMethod = indexMethods()
)

func indexTypes() map[Type]*entry {
	index := make(map[Type]*entry, len(catalogue))
	for _, e := range catalogue {
		index[e.typ] = e
	}
	return index
}

func indexMethods() map[string]*entry {
	index := make(map[string]*entry)
	for _, e := range catalogue {
		if e.method == "" {
			continue
		}
		for _, name := range e.methods() {
			index[name] = e
		}
	}
	return index
}

// fieldNames are the member names of all tables.
var fieldNames = indexFields()

func indexFields() map[string]bool {
	names := make(map[string]bool)
	for _, e := range catalogue {
		e.shape.gather(names)
	}
	return names
}

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

// methods returns every name the request is known by, the book's first.
func (e *entry) methods() []string {
	names := append([]string{e.method}, e.aliases...)
	for _, name := range []string{string(e.typ), lower(e.typ)} {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// lower returns the type in lower case, which serves many programs as method.
func lower(t Type) string { return strings.ToLower(string(t)) }

// Types returns all message types in the order in which a league sees them.
func Types() []Type {
	types := make([]Type, len(catalogue))
	for i, e := range catalogue {
		types[i] = e.typ
	}
	return types
}

// Describe returns what the catalogue says of a type, and whether it knows it.
func Describe(t Type) (Description, bool) {
	e, ok := byType[t]
	if !ok {
		return Description{}, false
	}
	return Description{
		Type: e.typ, Title: e.title, Method: e.method, Aliases: slices.Clone(e.aliases), Answer: e.answer,
		From: slices.Clone(e.signers()),
		Auth: e.method != "" && e.area != areaRefereeSignup && e.area != areaPlayerSignup,
	}, true
}

// answers reports whether the type travels as an answer by the book.
func (e *entry) answers() bool {
	return e.method == "" || slices.ContainsFunc(catalogue, func(other *entry) bool { return other.answer == e.typ })
}

// signers returns the roles that may sign the message.
func (e *entry) signers() []Role {
	return e.shape.fields[e.shape.index["sender"]].roles
}

// TypeOfMethod returns the message type that travels under a method: the name
// by the book, an alias, or the type itself in upper or lower case.
func TypeOfMethod(method string) (Type, bool) {
	e, ok := byMethod[method]
	if !ok {
		return "", false
	}
	return e.typ, true
}

// New returns an empty message of the type, with protocol and message_type
// set, or nil for a type that the catalogue does not know.
func New(t Type) Message {
	e, ok := byType[t]
	if !ok {
		return nil
	}
	m := e.blank()
	m.Head().Protocol, m.Head().MessageType = Version, t
	return m
}
