package protocol

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// plainMessage is a message that is sent so often that its members are written without
// reflection. A test compares them with what package json writes.
type plainMessage interface {
	Message
	// members writes what follows the header.
	members(*memberWriter)
}

// header writes the members of a header.
func (w *memberWriter) header(h *Header) {
	w.text("protocol", h.Protocol)
	w.text("message_type", string(h.MessageType))
	w.text("sender", h.Sender)
	w.text("timestamp", h.Timestamp)
	w.text("conversation_id", h.ConversationID)
	w.text("auth_token", h.AuthToken)
	w.text("league_id", h.LeagueID)
	w.round("round_id", h.RoundID)
	w.text("match_id", h.MatchID)
	w.text("game_type", h.GameType)
}

func (m *Ack) members(w *memberWriter) {
	w.text("status", m.Status)
	w.text("player_id", m.PlayerID)
	w.text("referee_id", m.RefereeID)
	w.flag("draw_verified", m.DrawVerified)
	w.text("strategy_version", m.StrategyVersion)
	w.text("strategy_error", m.StrategyError)
}

func (m *GameInvitation) members(w *memberWriter) {
	w.text("role_in_match", m.RoleInMatch)
	w.text("opponent_id", m.OpponentID)
}

func (m *GameJoinAck) members(w *memberWriter) {
	w.text("player_id", m.PlayerID)
	w.text("arrival_timestamp", m.ArrivalTimestamp)
	w.flag("accept", m.Accept)
	w.flag("accepted", m.Accepted)
	w.text("status", m.Status)
	w.text("draw_scheme", m.DrawScheme)
}

func (m *ChooseParityCall) members(w *memberWriter) {
	w.text("player_id", m.PlayerID)
	if m.Context != nil {
		w.value("context", m.Context)
	}
	w.text("deadline", m.Deadline)
	w.text("draw_commitment", m.DrawCommitment)
}

func (m *ChooseParityResponse) members(w *memberWriter) {
	w.text("player_id", m.PlayerID)
	w.text("parity_choice", string(m.ParityChoice))
	w.text("choice", string(m.Choice))
	w.text("draw_nonce", m.DrawNonce)
}

// A memberWriter appends members of an object, each with a comma before it, until one
// of them cannot be encoded. Zero values are left out.
type memberWriter struct {
	dst []byte
	err error // names the member
}

func (w *memberWriter) text(name, text string) {
	if text != "" {
		w.name(name)
		dst, err := jsontext.AppendQuote(w.dst, text)
		w.wrote(name, dst, err)
	}
}

func (w *memberWriter) flag(name string, b Opt[bool]) {
	switch v, is := b.Get(); {
	case is:
		w.name(name)
		w.dst = strconv.AppendBool(w.dst, v)
	case b.is == null:
		w.value(name, b)
	}
}

func (w *memberWriter) round(name string, r Round) {
	switch {
	case r.is == present && !r.isText:
		w.name(name)
		w.dst = strconv.AppendInt(w.dst, int64(r.number), 10)
	case r.is != absent:
		w.value(name, r)
	}
}

// value writes a member whose value package json writes.
func (w *memberWriter) value(name string, v any) {
	w.name(name)
	raw, err := json.Marshal(v, plain)
	w.wrote(name, append(w.dst, raw...), err)
}

// name appends a name that needs no escapes, and a colon.
func (w *memberWriter) name(name string) {
	w.dst = append(append(append(w.dst, ',', '"'), name...), '"', ':')
}

func (w *memberWriter) wrote(name string, dst []byte, err error) {
	w.dst = dst
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("%s: %w", name, err)
	}
}

// object returns the members as an object.
func (w *memberWriter) object() (jsontext.Value, error) {
	switch {
	case w.err != nil:
		return nil, w.err
	case len(w.dst) == 0:
		return jsontext.Value("{}"), nil
	}
	w.dst[0] = '{'
	return append(w.dst, '}'), nil
}
