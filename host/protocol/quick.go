package protocol

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// quick is a message that is sent so often that it is worth writing its own
// fields, those besides the header, without reflection. A test holds what that
// writes to what reflection does.
type quick interface {
	Message
	// appendFields writes the own fields behind those of the header, each with
	// a comma before it.
	appendFields(dst []byte) ([]byte, error)
}

// quickRead is the same for reading. setFields returns false if the document
// holds anything but the own fields in their usual form; what it has set by
// then does no harm.
type quickRead interface {
	Message
	setFields(doc document) bool
}

// encodeQuickly encodes a message without reflection. It does not do it where
// something is wrong or out of the ordinary.
func encodeQuickly(m Message, h *Header) (raw jsontext.Value, done bool, err error) {
	q, ok := m.(quick)
	if !ok || h.MessageType == "" || h.odd != nil || len(h.Extra) > 0 {
		return nil, false, nil
	}
	_, circular := m.(*circularCopy)
	if !circular && goTypes[h.MessageType] != reflect.TypeOf(m) {
		return nil, false, nil
	}
	dst, err := h.append(append(make([]byte, 0, 512), '{'))
	if err == nil {
		dst, err = q.appendFields(dst)
	}
	switch {
	case err == nil:
		return append(dst, '}'), true, nil
	case circular:
		return nil, true, fmt.Errorf("protocol: encode %s: %w", h.MessageType, err)
	}
	return nil, false, nil // the long way says which field it is
}

func (m *Ack) appendFields(dst []byte) ([]byte, error) {
	return appendTexts(dst, "status", m.Status, "player_id", m.PlayerID, "referee_id", m.RefereeID)
}

func (m *GameInvitation) appendFields(dst []byte) ([]byte, error) {
	return appendTexts(dst, "role_in_match", m.RoleInMatch, "opponent_id", m.OpponentID)
}

func (m *GameJoinAck) appendFields(dst []byte) ([]byte, error) {
	dst, err := appendTexts(dst, "player_id", m.PlayerID, "arrival_timestamp", m.ArrivalTimestamp)
	if err != nil {
		return nil, err
	}
	dst = appendBool(appendBool(dst, "accept", m.Accept), "accepted", m.Accepted)
	return appendTexts(dst, "status", m.Status)
}

func (m *ChooseParityCall) appendFields(dst []byte) ([]byte, error) {
	dst, err := appendTexts(dst, "player_id", m.PlayerID)
	if err == nil && m.Context != nil {
		dst, err = appendValue(dst, "context", m.Context)
	}
	if err != nil {
		return nil, err
	}
	return appendTexts(dst, "deadline", m.Deadline)
}

func (m *ChooseParityResponse) appendFields(dst []byte) ([]byte, error) {
	return appendTexts(dst, "player_id", m.PlayerID, "parity_choice", string(m.ParityChoice), "choice", string(m.Choice))
}

func (m *MatchResultReport) appendFields(dst []byte) ([]byte, error) {
	return appendValue(dst, "result", &m.Result)
}

func (m *Ack) setFields(doc document) bool {
	return doc.setTexts("status", &m.Status, "player_id", &m.PlayerID, "referee_id", &m.RefereeID)
}

func (m *GameInvitation) setFields(doc document) bool {
	return doc.setTexts("role_in_match", &m.RoleInMatch, "opponent_id", &m.OpponentID, "", nil)
}

func (m *ChooseParityResponse) setFields(doc document) bool {
	return doc.setTexts("player_id", &m.PlayerID, "parity_choice", (*string)(&m.ParityChoice), "choice", (*string)(&m.Choice))
}

// setTexts sets the strings of those names, and reports whether they are all
// that there is.
func (d document) setTexts(name1 string, text1 *string, name2 string, text2 *string, name3 string, text3 *string) bool {
	for _, m := range d {
		if m.value.Kind() != '"' {
			return false
		}
		switch {
		case m.name == name1:
			*text1 = internValue(unquote(m.value))
		case m.name == name2:
			*text2 = internValue(unquote(m.value))
		case m.name == name3 && text3 != nil:
			*text3 = internValue(unquote(m.value))
		default:
			return false
		}
	}
	return true
}

// append writes the members of a header behind the brace that opens the
// message. There is at least the type.
func (h *Header) append(dst []byte) ([]byte, error) {
	begin := len(dst)
	dst, err := appendTexts(dst,
		"protocol", h.Protocol, "message_type", string(h.MessageType), "sender", h.Sender,
		"timestamp", h.Timestamp, "conversation_id", h.ConversationID, "auth_token", h.AuthToken, "league_id", h.LeagueID)
	if err == nil && !h.RoundID.IsAbsent() {
		dst, err = h.RoundID.append(appendName(append(dst, ','), "round_id"))
	}
	if err == nil {
		dst, err = appendTexts(dst, "match_id", h.MatchID, "game_type", h.GameType)
	}
	if err != nil {
		return nil, err
	}
	return append(dst[:begin], dst[begin+1:]...), nil // the first member has no comma before it
}

func (r Round) append(dst []byte) ([]byte, error) {
	switch {
	case r.is != present:
		return append(dst, "null"...), nil
	case r.isText:
		return jsontext.AppendQuote(dst, r.text)
	default:
		return strconv.AppendInt(dst, int64(r.number), 10), nil
	}
}

// appendTexts writes members that are strings, of pairs of names and values;
// empty ones are left out.
func appendTexts(dst []byte, pairs ...string) ([]byte, error) {
	var err error
	for i := 0; i < len(pairs) && err == nil; i += 2 {
		if pairs[i+1] != "" {
			dst, err = jsontext.AppendQuote(appendName(append(dst, ','), pairs[i]), pairs[i+1])
		}
	}
	return dst, err
}

func appendBool(dst []byte, name string, v Opt[bool]) []byte {
	switch b, ok := v.Get(); {
	case ok:
		return strconv.AppendBool(appendName(append(dst, ','), name), b)
	case v.IsNull():
		return append(appendName(append(dst, ','), name), "null"...)
	}
	return dst
}

// appendValue writes a member whose value reflection writes.
func appendValue(dst []byte, name string, v any) ([]byte, error) {
	raw, err := json.Marshal(v, plain)
	return append(appendName(append(dst, ','), name), raw...), err
}

// appendName writes the name of a member and a colon. Names come out of parsed
// JSON or from literals, so they are UTF-8.
func appendName(dst []byte, name string) []byte {
	dst, _ = jsontext.AppendQuote(dst, name)
	return append(dst, ':')
}
