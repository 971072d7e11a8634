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
	area   area
	goType reflect.Type // a struct whose pointer is a Message
	about  []string     // rules of its fields, beyond those of the Go type
	table  func() *shape
	schema sync.Map // those that were asked for, by their writers
}

// answer returns the entry of a message type that is only an answer. Each rule names a field that
// this type of message treats otherwise than the Go type says: the field, what is added to its
// rules, and after "|" another description.
func answer(t Type, title string, area area, from []Role, of any, rules ...string) *entry {
	e := &entry{Description: Description{Type: t, Title: title, From: from}, area: area, goType: reflect.TypeOf(of), about: rules}
	e.table = sync.OnceValue(e.compile)
	return e
}

// line returns the entry of a message type that may come as a request. Methods holds
// its method and other methods in use for it.
func line(t Type, title, methods string, to Type, area area, from []Role, of any, rules ...string) *entry {
	e := answer(t, title, area, from, of, rules...)
	e.Names = strings.Fields(methods)
	e.Method, e.Answer = e.Names[0], to
	e.Auth = area != areaRefereeSignup && area != areaPlayerSignup
	for _, name := range []string{string(t), lower(t)} {
		if !slices.Contains(e.Names, name) {
			e.Names = append(e.Names, name)
		}
	}
	return e
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

// lines lists the message types in the order in which a league sees them.
func lines() []*entry {
	const (
		taken    = "league_id when=status:ACCEPTED|The league it belongs to."
		round    = "round_id strict|The round."
		ackRound = "round_id strict|The round of the acknowledged message."
		ackMatch = "match_id strict|The match of the acknowledged message."
		receiver = "player_id or=|The player who answered."
	)
	return []*entry{
		line(TypeRefereeRegisterRequest, "A referee registers", "register_referee",
			"REFEREE_REGISTER_RESPONSE", areaRefereeSignup, byReferee, RefereeRegisterRequest{}),
		answer("REFEREE_REGISTER_RESPONSE", "The manager answers a referee", areaRefereeSignup, byManager, RegisterResponse{}, "status|Whether the referee was taken on.",
			"auth_token when=status:ACCEPTED|The referee's token, shown this once.", taken),
		line(TypeLeagueRegisterRequest, "A player registers", "register_player",
			"LEAGUE_REGISTER_RESPONSE", areaPlayerSignup, byPlayer, LeagueRegisterRequest{}),
		answer("LEAGUE_REGISTER_RESPONSE", "The manager answers a player", areaPlayerSignup, byManager, RegisterResponse{},
			"auth_token when=status:ACCEPTED|The player's token, shown this once.", taken),
		line(TypeStartLeague, "The launcher starts the league", "start_league",
			"LEAGUE_STATUS", areaNone, byLauncher, StartLeague{}, "league_id strict|The league to start."),
		answer("LEAGUE_STATUS", "How far the league is", areaNone, byManager, LeagueStatus{}, "league_id strict"),
		line(TypeSetPlayerStatus, "The organiser takes a player out or lets it back in", "set_player_status",
			"PLAYER_STATUS", areaNone, byLauncher, PlayerStatus{}, "league_id strict", "player_id always", "status always only=E006"),
		answer("PLAYER_STATUS", "What the player's status is", areaNone, byManager, PlayerStatus{},
			"league_id strict", "player_id strict", "display_name strict|The player's name.", "status strict|What the player's status is now."),
		line(TypeSetPace, "The organiser pauses the league or sets its pace", "set_pace",
			"LEAGUE_PACE", areaNone, byLauncher, Pace{}, "league_id strict"),
		answer("LEAGUE_PACE", "The pace of the league", areaNone, byManager, Pace{},
			"league_id strict", "paused strict|Whether the league is paused.", "pace_ms strict"),
		line(TypeRoundAnnouncement, "A round begins", "notify_round",
			"ROUND_ANNOUNCEMENT_ACK", areaAnnouncement, byManager, RoundAnnouncement{}, "league_id strict", "round_id always|The round that begins."),
		answer("ROUND_ANNOUNCEMENT_ACK", "The round is known", areaAnnouncement, byAgent, Ack{}, ackRound),
		line(TypeLeagueStandingsUpdate, "The table after a round", "update_standings notify_standings",
			"STANDINGS_UPDATE_ACK", areaAnnouncement, byManager, LeagueStandingsUpdate{},
			"league_id strict", "round_id strict|The round after which the table stands so."),
		answer("STANDINGS_UPDATE_ACK", "The table is known", areaAnnouncement, byAgent, Ack{}, ackRound),
		line(TypeRoundCompleted, "A round is over", "notify_round_completed",
			"ROUND_COMPLETED_ACK", areaAnnouncement, byManager, RoundCompleted{}, "league_id strict", "round_id always|The round that is over."),
		answer("ROUND_COMPLETED_ACK", "The end of the round is known", areaAnnouncement, byAgent, Ack{},
			ackRound, "draw_verified|Whether the player could verify the drawn number of its match in the round."),
		line(TypeLeagueCompleted, "The league is over", "notify_league_completed",
			"LEAGUE_COMPLETED_ACK", areaAnnouncement, byManager, LeagueCompleted{}, "league_id strict"),
		answer("LEAGUE_COMPLETED_ACK", "The end of the league is known", areaAnnouncement, byAgent, Ack{}),
		line(TypeGameInvitation, "The referee invites a player", "handle_game_invitation receive_game_invitation",
			TypeGameJoinAck, areaMatch, byReferee, GameInvitation{}, "league_id strict", round, "match_id always", "game_type strict"),
		line(TypeGameJoinAck, "The player joins or declines", "game_join_ack",
			"GAME_JOIN_ACK_ACK", areaMatch, byPlayer, GameJoinAck{}, "match_id strict"),
		answer("GAME_JOIN_ACK_ACK", "An asynchronous join has arrived", areaMatch, byReferee, Ack{}, ackMatch, receiver),
		line(TypeChooseParityCall, "The referee asks for a choice", "parity_choose choose_parity receive_parity_call",
			TypeChooseParityResponse, areaMatch, byReferee, ChooseParityCall{}, "match_id always", "game_type strict"),
		line(TypeChooseParityResponse, "The player chooses", "choose_parity_response",
			"CHOOSE_PARITY_RESPONSE_ACK", areaMatch, byPlayer, ChooseParityResponse{}, "match_id strict"),
		answer("CHOOSE_PARITY_RESPONSE_ACK", "An asynchronous choice has arrived", areaMatch, byReferee, Ack{}, ackMatch, receiver),
		line(TypeGameOver, "The match is over", "notify_match_result receive_game_over",
			"GAME_OVER_ACK", areaMatch, byReferee, GameOver{}, "match_id always", "game_type strict|The game that was played."),
		answer("GAME_OVER_ACK", "The end of the match is known", areaMatch, byAgent, Ack{}, ackMatch),
		line(TypeGameError, "A fault in the match", "notify_game_error",
			"GAME_ERROR_ACK", areaMatch, []Role{RoleReferee, RolePlayer}, GameError{}, "match_id request"),
		answer("GAME_ERROR_ACK", "The fault is known", areaMatch, byAgent, Ack{}, ackMatch),
		line(TypeMatchProgress, "The referee tells how far matches are", "report_match_progress",
			"MATCH_PROGRESS_ACK", areaReport, byReferee, MatchProgress{}, "league_id strict"),
		answer("MATCH_PROGRESS_ACK", "The progress has arrived", areaReport, byManager, Ack{}),
		line(TypeMatchResultReport, "The referee reports a result", "report_match_result",
			"MATCH_RESULT_ACK", areaReport, byReferee, MatchResultReport{},
			"league_id strict", round, "match_id always", "game_type strict|The game that was played."),
		answer("MATCH_RESULT_ACK", "The result is taken down", areaReport, byManager, MatchResultAck{}, "match_id strict", round),
		line(TypeLeagueQuery, "An agent asks about the league", "league_query",
			"LEAGUE_QUERY_RESPONSE", areaQuery, []Role{RolePlayer, RoleReferee, RoleLauncher}, LeagueQuery{}, "league_id strict"),
		answer("LEAGUE_QUERY_RESPONSE", "The manager answers a question", areaQuery, byManager, LeagueQueryResponse{}),
		line(TypeLeagueError, "The manager refuses", "league_error",
			"", areaNone, byManager, leagueError{}),
	}
}

// tables is the catalog with its indexes. A method is found under the name by the book,
// its aliases, and the type itself in upper and lower case.
type tables struct {
	lines   []*entry
	types   map[Type]*entry
	methods map[string]*entry
}

// catalog is built when the first message is read or written: a process that handles none
// does not pay for it.
var catalog = sync.OnceValue(func() *tables {
	c := &tables{lines: lines(), types: make(map[Type]*entry), methods: make(map[string]*entry)}
	for _, e := range c.lines {
		e.Answers = e.Method == "" || slices.ContainsFunc(c.lines, func(other *entry) bool { return other.Answer == e.Type })
		c.types[e.Type] = e
		for _, name := range e.Names {
			c.methods[name] = e
		}
	}
	return c
})

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
	for _, e := range catalog().lines {
		gather(e.table())
	}
	return names
})

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
	if e := catalog().types[t]; e != nil {
		return &e.Description, true
	}
	return new(Description), false
}

// TypeOfMethod returns the message type that travels under a method: the name
// by the book, an alias, or the type itself in upper or lower case.
func TypeOfMethod(method string) (Type, bool) {
	if e := catalog().methods[method]; e != nil {
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
	e, ok := catalog().types[t]
	if !ok {
		return nil
	}
	m := e.blank()
	m.Head().Protocol, m.Head().MessageType = Version, t
	return m
}
