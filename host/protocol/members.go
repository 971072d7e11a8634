package protocol

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/rawjson"
)

// plainMessage is a message that is sent so often that its members are written and read
// without reflection. Tests compare the results with those of package json.
type plainMessage interface {
	Message
	// visitMembers shows what follows the header.
	visitMembers(memberVisitor)
}

// A memberVisitor writes the members that it is shown, or sets those that it has read.
type memberVisitor interface {
	text(name string, s *string)
	flag(name string, b *Opt[bool])
	value(name string, absent bool, v any) // anything else
}

func (m *Ack) visitMembers(v memberVisitor) {
	v.text("status", &m.Status)
	v.text("player_id", &m.PlayerID)
	v.text("referee_id", &m.RefereeID)
	v.flag("draw_verified", &m.DrawVerified)
	v.text("strategy_version", &m.StrategyVersion)
	v.text("strategy_error", &m.StrategyError)
}

func (m *GameInvitation) visitMembers(v memberVisitor) {
	v.text("role_in_match", &m.RoleInMatch)
	v.text("opponent_id", &m.OpponentID)
}

func (m *GameJoinAck) visitMembers(v memberVisitor) {
	v.text("player_id", &m.PlayerID)
	v.text("arrival_timestamp", &m.ArrivalTimestamp)
	v.flag("accept", &m.Accept)
	v.flag("accepted", &m.Accepted)
	v.text("status", &m.Status)
	v.text("draw_scheme", &m.DrawScheme)
}

func (m *ChooseParityCall) visitMembers(v memberVisitor) {
	v.text("player_id", &m.PlayerID)
	v.value("context", m.Context == nil, &m.Context)
	v.text("deadline", &m.Deadline)
	v.text("draw_commitment", &m.DrawCommitment)
}

func (m *ChooseParityResponse) visitMembers(v memberVisitor) {
	v.text("player_id", &m.PlayerID)
	v.text("parity_choice", (*string)(&m.ParityChoice))
	v.text("choice", (*string)(&m.Choice))
	v.text("draw_nonce", &m.DrawNonce)
}

// A memberWriter appends members of an object, each with a comma before it, until one
// of them cannot be encoded. Zero values are left out.
type memberWriter struct {
	dst []byte
	err error // names the member
}

func (w *memberWriter) header(h *Header) {
	w.text("protocol", &h.Protocol)
	w.text("message_type", (*string)(&h.MessageType))
	w.text("sender", &h.Sender)
	w.text("timestamp", &h.Timestamp)
	w.text("conversation_id", &h.ConversationID)
	w.text("auth_token", &h.AuthToken)
	w.text("league_id", &h.LeagueID)
	if r := &h.RoundID; r.is == present && !r.isText {
		w.name("round_id")
		w.dst = strconv.AppendInt(w.dst, int64(r.number), 10)
	} else {
		w.value("round_id", r.is == absent, r)
	}
	w.text("match_id", &h.MatchID)
	w.text("game_type", &h.GameType)
}

func (w *memberWriter) text(name string, s *string) {
	if *s == "" {
		return
	}
	w.name(name)
	dst, err := jsontext.AppendQuote(w.dst, *s)
	w.wrote(name, dst, err)
}

func (w *memberWriter) flag(name string, b *Opt[bool]) {
	if v, is := b.Get(); is {
		w.name(name)
		w.dst = strconv.AppendBool(w.dst, v)
		return
	}
	w.value(name, b.is == absent, b)
}

func (w *memberWriter) value(name string, absent bool, v any) {
	if absent {
		return
	}
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

// A memberReader sets the members of a message that are strings and truth values, and
// counts them.
type memberReader struct {
	doc rawjson.Object
	set int
}

// readPlain sets the members of a message without reflection. It reports whether they
// are all; if not, it does no harm that some of them are set.
func readPlain(m Message, doc rawjson.Object) bool {
	p, ok := m.(plainMessage)
	if !ok {
		return false
	}
	r := memberReader{doc: doc}
	p.visitMembers(&r)
	return r.set == len(doc)
}

func (r *memberReader) text(name string, s *string) {
	if v := r.doc.Get(name); v.Kind() == '"' {
		*s = string(rawjson.Unquote(v))
		r.set++
	}
}

func (r *memberReader) flag(name string, b *Opt[bool]) {
	if kind := r.doc.Get(name).Kind(); kind == 't' || kind == 'f' {
		*b = Some(kind == 't')
		r.set++
	}
}

func (r *memberReader) value(string, bool, any) {}
