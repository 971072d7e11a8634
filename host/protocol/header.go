package protocol

import (
	"reflect"
	"slices"
	"sync"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/rawjson"
)

// A Header holds the fields that any message may have: the five header fields proper (Protocol to
// ConversationID), the contextual fields that the envelope dialect puts beside them (AuthToken to
// GameType), and members that the sender added.
//
// An empty string is a missing field. A decoded message also keeps explicit nulls, empty strings
// and what objects within have that their Go types lack, and encodes them again unless the field
// was set since.
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

	// Extra is a JSON object of the members that the message's Go type lacks, in
	// their order; nil without any.
	Extra jsontext.Value `json:",embed"`

	// Flaw is what breaks the field rules in a message that was taken all the
	// same, since it holds what it is needed for; nil where nothing does.
	Flaw *Error `json:"-"`

	odd *odd
}

// odd is a message as received, kept only where it has what its Go fields cannot express.
type odd struct {
	text  jsontext.Value
	shape *shape
}

// headerFields are the members that the envelope dialect puts into params.envelope; the
// first five are the header proper.
var headerFields = sync.OnceValue(func() []plainField { return plainFields(reflect.TypeFor[Header]()) })

// IsHeaderField reports whether the member belongs to the [Header].
func IsHeaderField(name string) bool {
	return slices.ContainsFunc(headerFields(), func(f plainField) bool { return f.name == name })
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

// Answer returns the header of an answer to the message with header h: it echoes the conversation
// and the identifiers of league, round, match and game, not the token.
func (h *Header) Answer(t Type, sender, timestamp string) Header {
	return Header{
		Protocol: Version, MessageType: t, Sender: sender,
		Timestamp: timestamp, ConversationID: h.ConversationID,
		LeagueID: h.LeagueID, RoundID: h.RoundID, MatchID: h.MatchID, GameType: h.GameType,
	}
}

// TypeOf returns the message type that a message bears, "" where it bears none.
// Unlike [rawjson.Object.Text] it copies no known type.
func TypeOf(message rawjson.Object) Type {
	return typeIn(message.Get("message_type"))
}

// ReadHeader returns the header fields of a message as far as they are strings,
// so that its sender can be authenticated before anything else is validated.
func ReadHeader(message rawjson.Object) (h Header) {
	h.take(message, nil)
	return h
}

// take moves the header fields of a message into h and returns the other members. Of a
// valid message, texts that glanced holds already are shared with it; without glanced,
// the message may be anything.
func (h *Header) take(doc rawjson.Object, glanced *Header) (rest rawjson.Object) {
	if glanced != nil {
		rest = make(rawjson.Object, 0, len(doc))
	}
	fields, next := headerFields(), 0
	for _, m := range doc {
		at := headerField(fields, m.Name, next)
		if at < 0 {
			if glanced != nil {
				rest = append(rest, m)
			}
			continue
		}
		next = at + 1
		switch f := &fields[at]; {
		case f.kind != reflect.String && m.Value.Kind() == 'n' && glanced != nil:
			h.RoundID = NoRound()
		case f.kind != reflect.String:
			h.RoundID = glanceRound(m.Value)
		case m.Name == "message_type":
			h.MessageType = typeIn(m.Value)
		case m.Value.Kind() == '"':
			known := ""
			if glanced != nil {
				known = *glanced.text(f)
			}
			*h.text(f) = headerText(rawjson.Unquote(m.Value), known)
		}
	}
	return rest
}

// headerField returns the index of the field of a name, -1 for an unknown one. It looks
// at next first: members mostly come in the order of the fields.
func headerField(fields []plainField, name string, next int) int {
	for range fields {
		if next >= len(fields) {
			next = 0
		}
		if fields[next].name == name {
			return next
		}
		next++
	}
	return -1
}

func (h *Header) text(f *plainField) *string {
	return (*string)(unsafe.Add(unsafe.Pointer(h), f.offset))
}

// headerText returns text as a string, without a copy where it is known or one of the
// words that most headers hold.
func headerText(text []byte, known string) string {
	if string(text) == known {
		return known
	}
	switch string(text) { // of constants alone, or it would copy the text
	case Version:
		return Version
	case GameEvenOdd:
		return GameEvenOdd
	}
	return string(text)
}

// typeIn reads a message type, without a copy of a known one.
func typeIn(v jsontext.Value) Type {
	if v.Kind() != '"' {
		return ""
	}
	text := rawjson.Unquote(v)
	if e := catalog().types[Type(text)]; e != nil {
		return e.Type
	}
	return Type(text)
}
