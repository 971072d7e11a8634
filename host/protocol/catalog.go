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
	Names   []string // every name of the request: the method, others in use, the type in upper and lower case
	Answer  Type     // the type of the answer; empty without one
	Answers bool     // it travels as an answer by the book
	From    []Role   // the roles that may sign it
	Auth    bool     // the request is refused without a token
}

type entry struct {
	Description
	catalog *catalog // that has it
	area    area
	goType  reflect.Type // a struct whose pointer is a Message
	about   []string     // rules of its fields, beyond those of the Go type
	table   func() *shape
}

// A catalog has the message types in the order of their declaration, and by their names and those of
// their requests.
type catalog struct {
	entries []*entry
	byType  map[Type]*entry
	byName  map[string]*entry
}

// messages is complete when the package is initialized, and stays as it is.
var messages = &catalog{byType: make(map[Type]*entry), byName: make(map[string]*entry)}

// add adds a message type. Each rule names a field that this type of message treats otherwise than
// the Go type says: the field, what is added to its rules, and after "|" another description.
func (c *catalog) add(t Type, title string, area area, from []Role, of any, rules []string) *entry {
	e := &entry{Description: Description{Type: t, Title: title, From: from}, area: area, goType: reflect.TypeOf(of), about: rules, catalog: c}
	e.Answers = slices.ContainsFunc(c.entries, func(asked *entry) bool { return asked.Answer == t })
	e.table = sync.OnceValue(e.compile)
	c.entries, c.byType[t] = append(c.entries, e), e
	return e
}

// line adds a message type that may come as a request. Methods holds
// its method and other methods in use for it.
func (c *catalog) line(t Type, title, methods string, area area, from []Role, of any, rules ...string) *entry {
	e := c.add(t, title, area, from, of, rules)
	e.Names = strings.Fields(methods)
	e.Method = e.Names[0]
	e.Auth = area != areaRefereeSignup && area != areaPlayerSignup
	for _, name := range []string{string(t), lower(t)} {
		if !slices.Contains(e.Names, name) {
			e.Names = append(e.Names, name)
		}
	}
	for _, name := range e.Names {
		c.byName[name] = e
	}
	return e
}

// answered adds the message type that is only the answer to that of the line.
func (e *entry) answered(t Type, title string, from []Role, of any, rules ...string) Type {
	asked := e.answeredAs(t)
	e.catalog.add(t, title, e.area, from, of, rules)
	return asked
}

// answeredAs says which type answers that of the line, empty for none.
func (e *entry) answeredAs(t Type) Type {
	e.Answer = t
	return e.Type
}

// blank returns a new, empty message of the entry's type.
func (e *entry) blank() Message { return reflect.New(e.goType).Interface().(Message) }

var (
	byManager  = []Role{RoleManager}
	byLauncher = []Role{RoleLauncher}
	byReferee  = []Role{RoleReferee}
	byPlayer   = []Role{RolePlayer}
	byAgent    = []Role{RolePlayer, RoleReferee}
)

// Rules that several types have.
const (
	ifTaken  = "league_id when=status:ACCEPTED|The league it belongs to."
	itsRound = "round_id strict|The round."
	ackRound = "round_id strict|The round of the acknowledged message."
	ackMatch = "match_id strict|The match of the acknowledged message."
	receiver = "player_id or=|The player who answered."
)

// The message types of league.v2, each with what answers it, in the order in which a league sees them.
var (
	TypeRefereeRegisterRequest = messages.line("REFEREE_REGISTER_REQUEST", "A referee registers", "register_referee",
		areaRefereeSignup, byReferee, RefereeRegisterRequest{}).
		answered("REFEREE_REGISTER_RESPONSE", "The manager answers a referee", byManager, RegisterResponse{},
			"status|Whether the referee was taken on.", "auth_token when=status:ACCEPTED|The referee's token, shown this once.", ifTaken)
	TypeLeagueRegisterRequest = messages.line("LEAGUE_REGISTER_REQUEST", "A player registers", "register_player",
		areaPlayerSignup, byPlayer, LeagueRegisterRequest{}).
		answered("LEAGUE_REGISTER_RESPONSE", "The manager answers a player", byManager, RegisterResponse{},
			"auth_token when=status:ACCEPTED|The player's token, shown this once.", ifTaken)
	TypeStartLeague = messages.line("START_LEAGUE", "The launcher starts the league", "start_league",
		areaNone, byLauncher, StartLeague{}, "league_id strict|The league to start.").
		answered("LEAGUE_STATUS", "How far the league is", byManager, LeagueStatus{}, "league_id strict")
	TypeSetPlayerStatus = messages.line("SET_PLAYER_STATUS", "The organiser takes a player out or lets it back in", "set_player_status",
		areaNone, byLauncher, PlayerStatus{}, "league_id strict", "player_id always", "status always only=E006").
		answered("PLAYER_STATUS", "What the player's status is", byManager, PlayerStatus{},
			"league_id strict", "player_id strict", "display_name strict|The player's name.", "status strict|What the player's status is now.")
	TypeSetPace = messages.line("SET_PACE", "The organiser pauses the league or sets its pace", "set_pace",
		areaNone, byLauncher, Pace{}, "league_id strict").
		answered("LEAGUE_PACE", "The pace of the league", byManager, Pace{},
			"league_id strict", "paused strict|Whether the league is paused.", "pace_ms strict")
	TypeRoundAnnouncement = messages.line("ROUND_ANNOUNCEMENT", "A round begins", "notify_round",
		areaAnnouncement, byManager, RoundAnnouncement{}, "league_id strict", "round_id always|The round that begins.").
		answered("ROUND_ANNOUNCEMENT_ACK", "The round is known", byAgent, Ack{}, ackRound)
	TypeLeagueStandingsUpdate = messages.line("LEAGUE_STANDINGS_UPDATE", "The table after a round", "update_standings notify_standings",
		areaAnnouncement, byManager, LeagueStandingsUpdate{}, "league_id strict", "round_id strict|The round after which the table stands so.").
		answered("STANDINGS_UPDATE_ACK", "The table is known", byAgent, Ack{}, ackRound)
	TypeRoundCompleted = messages.line("ROUND_COMPLETED", "A round is over", "notify_round_completed",
		areaAnnouncement, byManager, RoundCompleted{}, "league_id strict", "round_id always|The round that is over.").
		answered("ROUND_COMPLETED_ACK", "The end of the round is known", byAgent, Ack{},
			ackRound, "draw_verified|Whether the player could verify the drawn number of its match in the round.")
	TypeLeagueCompleted = messages.line("LEAGUE_COMPLETED", "The league is over", "notify_league_completed",
		areaAnnouncement, byManager, LeagueCompleted{}, "league_id strict").
		answered("LEAGUE_COMPLETED_ACK", "The end of the league is known", byAgent, Ack{})
	TypeGameInvitation = messages.line("GAME_INVITATION", "The referee invites a player", "handle_game_invitation receive_game_invitation",
		areaMatch, byReferee, GameInvitation{}, "league_id strict", itsRound, "match_id always", "game_type strict").
		answeredAs("GAME_JOIN_ACK")
	TypeGameJoinAck = messages.line("GAME_JOIN_ACK", "The player joins or declines", "game_join_ack",
		areaMatch, byPlayer, GameJoinAck{}, "match_id strict").
		answered("GAME_JOIN_ACK_ACK", "An asynchronous join has arrived", byReferee, Ack{}, ackMatch, receiver)
	TypeChooseParityCall = messages.line("CHOOSE_PARITY_CALL", "The referee asks for a choice", "parity_choose choose_parity receive_parity_call",
		areaMatch, byReferee, ChooseParityCall{}, "match_id always", "game_type strict").
		answeredAs("CHOOSE_PARITY_RESPONSE")
	TypeChooseParityResponse = messages.line("CHOOSE_PARITY_RESPONSE", "The player chooses", "choose_parity_response",
		areaMatch, byPlayer, ChooseParityResponse{}, "match_id strict").
		answered("CHOOSE_PARITY_RESPONSE_ACK", "An asynchronous choice has arrived", byReferee, Ack{}, ackMatch, receiver)
	TypeGameOver = messages.line("GAME_OVER", "The match is over", "notify_match_result receive_game_over",
		areaMatch, byReferee, GameOver{}, "match_id always", "game_type strict|The game that was played.").
		answered("GAME_OVER_ACK", "The end of the match is known", byAgent, Ack{}, ackMatch)
	TypeGameError = messages.line("GAME_ERROR", "A fault in the match", "notify_game_error",
		areaMatch, []Role{RoleReferee, RolePlayer}, GameError{}, "match_id request").
		answered("GAME_ERROR_ACK", "The fault is known", byAgent, Ack{}, ackMatch)
	TypeMatchProgress = messages.line("MATCH_PROGRESS", "The referee tells how far matches are", "report_match_progress",
		areaReport, byReferee, MatchProgress{}, "league_id strict").
		answered("MATCH_PROGRESS_ACK", "The progress has arrived", byManager, Ack{})
	TypeMatchResultReport = messages.line("MATCH_RESULT_REPORT", "The referee reports a result", "report_match_result",
		areaReport, byReferee, MatchResultReport{}, "league_id strict", itsRound, "match_id always", "game_type strict|The game that was played.").
		answered("MATCH_RESULT_ACK", "The result is taken down", byManager, MatchResultAck{}, "match_id strict", itsRound)
	TypeLeagueQuery = messages.line("LEAGUE_QUERY", "An agent asks about the league", "league_query",
		areaQuery, []Role{RolePlayer, RoleReferee, RoleLauncher}, LeagueQuery{}, "league_id strict").
		answered("LEAGUE_QUERY_RESPONSE", "The manager answers a question", byManager, LeagueQueryResponse{})
	TypeLeagueError = messages.line("LEAGUE_ERROR", "The manager refuses", "league_error",
		areaNone, byManager, leagueError{}).
		answeredAs("")
)

var fieldNames = sync.OnceValue(func() map[string]bool {
	names := make(map[string]bool)
	var gather func(*shape)
	gather = func(s *shape) {
		for i := range s.fields {
			f := &s.fields[i]
			names[f.name] = true
			if sub := f.inner(); sub != nil {
				gather(sub)
			}
		}
		for _, part := range s.parts {
			gather(part)
		}
	}
	for _, e := range messages.entries {
		gather(e.table())
	}
	return names
})

// lower returns the type in lower case, which serves many programs as method.
func lower(t Type) string { return strings.ToLower(string(t)) }

// Types returns all message types in the order in which a league sees them.
func Types() []Type {
	types := make([]Type, len(messages.entries))
	for i, e := range messages.entries {
		types[i] = e.Type
	}
	return types
}

// Describe returns the description of a type, and whether the type is known. That of
// an unknown type is empty, not nil.
func Describe(t Type) (*Description, bool) {
	if e := messages.byType[t]; e != nil {
		return &e.Description, true
	}
	return new(Description), false
}

// TypeOfMethod returns the message type that travels under a method: the name
// by the book, an alias, or the type itself in upper or lower case.
func TypeOfMethod(method string) (Type, bool) {
	if e := messages.byName[method]; e != nil {
		return e.Type, true
	}
	return "", false
}

// KnownField reports whether any table has a member of that name.
func KnownField(name string) bool { return fieldNames()[name] }

// Answer returns the type of the answer to messages of type t, empty without one.
func (t Type) Answer() Type {
	about, _ := Describe(t)
	return about.Answer
}

// New returns an empty message of the type, with protocol and message_type set,
// or nil for an unknown type.
func New(t Type) Message {
	e, ok := messages.byType[t]
	if !ok {
		return nil
	}
	m := e.blank()
	m.Head().Protocol, m.Head().MessageType = Version, t
	return m
}
