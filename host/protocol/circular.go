package protocol

import (
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// A Circular is a message that goes to many. Its fields are encoded once, and
// each copy adds the header for whom it is sent to. It is safe for concurrent
// use.
type Circular struct {
	kind   Type
	fields []byte // the members behind the header, each with a comma before it
	err    error
}

// NewCircular returns the circular of a message whose header, besides its type,
// does not count. A message that cannot be encoded is told of when a copy is.
func NewCircular(m Message) *Circular {
	c := &Circular{kind: m.Head().MessageType}
	raw, err := Encode(m)
	if err != nil {
		c.err = err
		return c
	}
	doc, err := splitDocument(raw)
	if err != nil {
		c.err = err
		return c
	}
	for _, m := range doc {
		if !slices.Contains(headerNames, m.name) {
			c.fields = append(quotedName(append(c.fields, ','), m.name), m.value...)
		}
	}
	return c
}

// With returns a copy with its header, which is of the circular's type.
func (c *Circular) With(h Header) Message {
	h.MessageType, h.Extra, h.odd = c.kind, nil, nil
	return &circularCopy{h, c}
}

type circularCopy struct {
	Header
	of *Circular
}

func (c *circularCopy) append(dst []byte) ([]byte, error) {
	if c.of.err != nil {
		return nil, c.of.err
	}
	dst, err := c.Header.append(dst)
	return append(dst, c.of.fields...), err
}

func (a *Ack) append(dst []byte) ([]byte, error) {
	dst, err := a.Header.append(dst)
	if err != nil {
		return nil, err
	}
	return appendTexts(dst, "status", a.Status, "player_id", a.PlayerID, "referee_id", a.RefereeID)
}

// append writes the members of a header without the braces around them.
func (h *Header) append(dst []byte) ([]byte, error) {
	dst, err := appendTexts(dst,
		"protocol", h.Protocol, "message_type", string(h.MessageType), "sender", h.Sender,
		"timestamp", h.Timestamp, "conversation_id", h.ConversationID, "auth_token", h.AuthToken, "league_id", h.LeagueID)
	if err == nil && !h.RoundID.IsAbsent() {
		dst, err = h.RoundID.append(quotedName(comma(dst), "round_id"))
	}
	if err != nil {
		return nil, err
	}
	return appendTexts(dst, "match_id", h.MatchID, "game_type", h.GameType)
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
			dst, err = jsontext.AppendQuote(quotedName(comma(dst), pairs[i]), pairs[i+1])
		}
	}
	return dst, err
}

// comma separates a member from one before it.
func comma(dst []byte) []byte {
	if len(dst) > 0 && dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return dst
}

// quotedName writes the name of a member of the tables, which has nothing to
// escape, or of a parsed one.
func quotedName(dst []byte, name string) []byte {
	dst, _ = jsontext.AppendQuote(dst, name)
	return append(dst, ':')
}
