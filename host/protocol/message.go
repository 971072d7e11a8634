package protocol

// Version is the only value of the protocol field that this package speaks.
const Version = "league.v2"

// A Type is the message_type of a message, the field by which it is
// dispatched.
type Type string

// The message types of league.v2.
const (
	TypeRefereeRegisterRequest  Type = "REFEREE_REGISTER_REQUEST"
	typeRefereeRegisterResponse Type = "REFEREE_REGISTER_RESPONSE"
	TypeLeagueRegisterRequest   Type = "LEAGUE_REGISTER_REQUEST"
	typeLeagueRegisterResponse  Type = "LEAGUE_REGISTER_RESPONSE"
	TypeStartLeague             Type = "START_LEAGUE"
	typeLeagueStatus            Type = "LEAGUE_STATUS"

	TypeRoundAnnouncement     Type = "ROUND_ANNOUNCEMENT"
	typeRoundAnnouncementAck  Type = "ROUND_ANNOUNCEMENT_ACK"
	TypeLeagueStandingsUpdate Type = "LEAGUE_STANDINGS_UPDATE"
	typeStandingsUpdateAck    Type = "STANDINGS_UPDATE_ACK"
	TypeRoundCompleted        Type = "ROUND_COMPLETED"
	typeRoundCompletedAck     Type = "ROUND_COMPLETED_ACK"
	TypeLeagueCompleted       Type = "LEAGUE_COMPLETED"
	typeLeagueCompletedAck    Type = "LEAGUE_COMPLETED_ACK"

	TypeGameInvitation          Type = "GAME_INVITATION"
	TypeGameJoinAck             Type = "GAME_JOIN_ACK"
	typeGameJoinAckAck          Type = "GAME_JOIN_ACK_ACK"
	TypeChooseParityCall        Type = "CHOOSE_PARITY_CALL"
	TypeChooseParityResponse    Type = "CHOOSE_PARITY_RESPONSE"
	typeChooseParityResponseAck Type = "CHOOSE_PARITY_RESPONSE_ACK"
	TypeGameOver                Type = "GAME_OVER"
	typeGameOverAck             Type = "GAME_OVER_ACK"
	TypeGameError               Type = "GAME_ERROR"
	typeGameErrorAck            Type = "GAME_ERROR_ACK"

	TypeMatchResultReport Type = "MATCH_RESULT_REPORT"
	typeMatchResultAck    Type = "MATCH_RESULT_ACK"

	TypeLeagueQuery         Type = "LEAGUE_QUERY"
	typeLeagueQueryResponse Type = "LEAGUE_QUERY_RESPONSE"
	TypeLeagueError         Type = "LEAGUE_ERROR"
)

// A Message is a pointer to one of the message structs of this package, each
// of which embeds a [Header]. A message is not safe for concurrent change;
// encoding one only reads it.
type Message interface {
	// Head returns the header of the message, which may be changed.
	Head() *Header
}
