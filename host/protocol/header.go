package protocol

import (
	"reflect"
	"sync"

	"github.com/strategylab/strategylab/host/rawjson"
)

// A Header holds the fields that any message may have: the five header fields proper (Protocol to
// ConversationID), and the contextual fields that the envelope dialect puts beside them (AuthToken to
// GameType).
//
// An empty string is a missing field.
type Header struct {
	Protocol       string `json:"protocol,omitzero" rule:"version strict" doc:"The protocol version."`
	MessageType    Type   `json:"message_type,omitzero" rule:"strict" doc:"The type of the message."`
	Sender         string `json:"sender,omitzero" rule:"sender request" doc:"Who speaks: league_manager, launcher, referee:<id> or player:<id>."`
	Timestamp      string `json:"timestamp,omitzero" rule:"time strict" doc:"When the message was written, in UTC."`
	ConversationID string `json:"conversation_id,omitzero" rule:"request" doc:"Shared by the messages that belong together."`

	AuthToken string `json:"auth_token,omitzero" doc:"The sender's token, or the match key."`
	LeagueID  string `json:"league_id,omitzero" rule:"id" doc:"The league."`
	RoundID   Round  `json:"round_id,omitzero" doc:"The round, counted from 1."`
	MatchID   string `json:"match_id,omitzero" rule:"id" doc:"The match."`
	GameType  string `json:"game_type,omitzero" doc:"The game that is played."`

	// Flaw is what breaks the field rules in a message that was taken all the
	// same, since it holds what it is needed for; nil where nothing does.
	Flaw *Error `json:"-"`

	extra rawjson.Object // written behind the fields of the message
}

// headerShape is the table of the members that the envelope dialect puts into
// params.envelope; the first five are the header proper.
var headerShape = sync.OnceValue(func() *shape { return shapeOf(reflect.TypeFor[Header](), "") })

// IsHeaderField reports whether the member belongs to the [Header].
func IsHeaderField(name string) bool { return headerShape().field(name) != nil }

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

// Answer returns the header of an answer to the message with header h: it echoes the conversation
// and the identifiers of league, round, match and game, not the token.
func (h *Header) Answer(t Type, sender, timestamp string) Header {
	answer := NewHeader(t, sender, timestamp, h.ConversationID)
	answer.LeagueID, answer.RoundID, answer.MatchID, answer.GameType = h.LeagueID, h.RoundID, h.MatchID, h.GameType
	return answer
}
