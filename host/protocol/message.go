package protocol

import "github.com/go-json-experiment/json/jsontext"

// Version is the only value of the protocol field that this package speaks.
const Version = "league.v2"

// A Type is the message_type of a message, the field by which it is
// dispatched.
type Type string

// The message types of league.v2.
const (
	TypeRefereeRegisterRequest  Type = "REFEREE_REGISTER_REQUEST"
	TypeRefereeRegisterResponse Type = "REFEREE_REGISTER_RESPONSE"
	TypeLeagueRegisterRequest   Type = "LEAGUE_REGISTER_REQUEST"
	TypeLeagueRegisterResponse  Type = "LEAGUE_REGISTER_RESPONSE"
	TypeStartLeague             Type = "START_LEAGUE"
	TypeLeagueStatus            Type = "LEAGUE_STATUS"

	TypeRoundAnnouncement     Type = "ROUND_ANNOUNCEMENT"
	TypeRoundAnnouncementAck  Type = "ROUND_ANNOUNCEMENT_ACK"
	TypeLeagueStandingsUpdate Type = "LEAGUE_STANDINGS_UPDATE"
	TypeStandingsUpdateAck    Type = "STANDINGS_UPDATE_ACK"
	TypeRoundCompleted        Type = "ROUND_COMPLETED"
	TypeRoundCompletedAck     Type = "ROUND_COMPLETED_ACK"
	TypeLeagueCompleted       Type = "LEAGUE_COMPLETED"
	TypeLeagueCompletedAck    Type = "LEAGUE_COMPLETED_ACK"

	TypeGameInvitation          Type = "GAME_INVITATION"
	TypeGameJoinAck             Type = "GAME_JOIN_ACK"
	TypeGameJoinAckAck          Type = "GAME_JOIN_ACK_ACK"
	TypeChooseParityCall        Type = "CHOOSE_PARITY_CALL"
	TypeChooseParityResponse    Type = "CHOOSE_PARITY_RESPONSE"
	TypeChooseParityResponseAck Type = "CHOOSE_PARITY_RESPONSE_ACK"
	TypeGameOver                Type = "GAME_OVER"
	TypeGameOverAck             Type = "GAME_OVER_ACK"
	TypeGameError               Type = "GAME_ERROR"
	TypeGameErrorAck            Type = "GAME_ERROR_ACK"

	TypeMatchResultReport Type = "MATCH_RESULT_REPORT"
	TypeMatchResultAck    Type = "MATCH_RESULT_ACK"

	TypeLeagueQuery         Type = "LEAGUE_QUERY"
	TypeLeagueQueryResponse Type = "LEAGUE_QUERY_RESPONSE"
	TypeLeagueError         Type = "LEAGUE_ERROR"
)

// A Message is a pointer to one of the message structs of this package, each
// of which embeds a [Header]. A message is not safe for concurrent change;
// encoding one only reads it.
type Message interface {
	// Head returns the header of the message, which may be changed.
	Head() *Header
}

// Header holds the fields that any message may bear: the five header fields
// proper (Protocol to ConversationID), the contextual fields that the envelope
// dialect puts beside them (AuthToken to GameType), and what the sender added
// of its own.
//
// An empty string is a field that is not there. A message that was decoded
// remembers explicit nulls and empty strings beyond that, and encodes them
// again unless the field has been given a value since.
type Header struct {
	Protocol       string `json:"protocol,omitzero"`
	MessageType    Type   `json:"message_type,omitzero"`
	Sender         string `json:"sender,omitzero"`
	Timestamp      string `json:"timestamp,omitzero"`
	ConversationID string `json:"conversation_id,omitzero"`

	AuthToken string `json:"auth_token,omitzero"`
	LeagueID  string `json:"league_id,omitzero"`
	RoundID   Round  `json:"round_id,omitzero"`
	MatchID   string `json:"match_id,omitzero"`
	GameType  string `json:"game_type,omitzero"`

	// Extra is a JSON object of the members that the message's Go type does
	// not know, in the order they came; nil when there are none.
	Extra jsontext.Value `json:",embed"`

	// odd is the message as it came, kept only when it bears a null or an
	// empty string that the Go fields cannot express.
	odd jsontext.Value
}

// headerNames are the members that the envelope dialect puts into
// params.envelope; the first five are the header proper.
var headerNames = []string{
	"protocol", "message_type", "sender", "timestamp", "conversation_id",
	"auth_token", "league_id", "round_id", "match_id", "game_type",
}

// Head returns h, which makes every struct that embeds a Header a [Message].
func (h *Header) Head() *Header { return h }

// NewHeader returns the header of a message that opens a conversation.
// The timestamp is text as [Timestamp] returns it.
func NewHeader(t Type, sender, timestamp, conversation string) Header {
	return Header{
		Protocol: Version, MessageType: t, Sender: sender,
		Timestamp: timestamp, ConversationID: conversation,
	}
}

// Answer returns the header of an answer to the message that h heads: the
// conversation and the identifiers of league, round, match and game are
// echoed as they came, the token is not.
func (h *Header) Answer(t Type, sender, timestamp string) Header {
	return Header{
		Protocol: Version, MessageType: t, Sender: sender,
		Timestamp: timestamp, ConversationID: h.ConversationID,
		LeagueID: h.LeagueID, RoundID: h.RoundID, MatchID: h.MatchID, GameType: h.GameType,
	}
}
