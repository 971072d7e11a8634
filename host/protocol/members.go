package protocol

import (
	"fmt"
	"reflect"
	"strconv"
	"unsafe"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/rawjson"
)

// A plainField is a field of a message that is written and read without reflection, and
// without being asked for its rules: most messages have nothing but texts and truth values.
type plainField struct {
	name   string
	kind   reflect.Kind // String, Bool for Opt[bool], or Pointer
	goType reflect.Type
	offset uintptr
}

// plainFields returns the fields of a message behind its header; nil where one of them
// is neither text nor truth value nor pointer.
func plainFields(t reflect.Type) []plainField {
	fields := []plainField{}
	for i := 1; i < t.NumField(); i++ {
		f := t.Field(i)
		p := plainField{jsonName(f), f.Type.Kind(), f.Type, f.Offset}
		if f.Type == reflect.TypeFor[Opt[bool]]() {
			p.kind = reflect.Bool
		}
		if p.kind != reflect.String && p.kind != reflect.Bool && p.kind != reflect.Pointer {
			return nil
		}
		fields = append(fields, p)
	}
	return fields
}

// at returns where the field is in the message that m points to, whose Go type is that
// which the field was found in.
func (f *plainField) at(m Message) unsafe.Pointer {
	return unsafe.Add(reflect.ValueOf(m).UnsafePointer(), f.offset)
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

// members writes the fields of a message.
func (w *memberWriter) members(m Message, fields []plainField) {
	for i := range fields {
		f := &fields[i]
		switch at := f.at(m); f.kind {
		case reflect.String:
			w.text(f.name, (*string)(at))
		case reflect.Bool:
			w.flag(f.name, (*Opt[bool])(at))
		default:
			w.value(f.name, *(*unsafe.Pointer)(at) == nil, reflect.NewAt(f.goType, at).Interface())
		}
	}
}

// readPlain sets the members of a message without reflection. It reports whether they
// are all; if not, it does no harm that some of them are set.
func readPlain(m Message, fields []plainField, doc rawjson.Object) bool {
	set := 0
	for i := range fields {
		f := &fields[i]
		switch v, at := doc.Get(f.name), f.at(m); {
		case f.kind == reflect.String && v.Kind() == '"':
			*(*string)(at) = string(rawjson.Unquote(v))
			set++
		case f.kind == reflect.Bool && (v.Kind() == 't' || v.Kind() == 'f'):
			*(*Opt[bool])(at) = Some(v.Kind() == 't')
			set++
		}
	}
	return set == len(doc)
}
