package protocol

import (
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// TestQuickEncodingIsTheLongOne: what is encoded without reflection, copies of
// circulars and acknowledgements, is byte by byte what reflection writes.
func TestQuickEncodingIsTheLongOne(t *testing.T) {
	t.Parallel()
	for _, s := range samples(t) {
		h := *s.message.Head()
		if h.odd != nil || h.Extra != nil {
			continue
		}
		want, err := json.Marshal(s.message, plain)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Encode(s.message)
		if err != nil || string(got) != string(want) {
			t.Errorf("%s: %v\n got %s\nwant %s", s.name, err, got, want)
		}
		got, err = Encode(NewCircular(s.message).With(h))
		if err != nil || string(got) != string(want) {
			t.Errorf("a copy of %s: %v\n got %s\nwant %s", s.name, err, got, want)
		}
	}
	for _, r := range []Round{{}, NoRound(), RoundNumber(7), {text: `"ROUND" 1`, isText: true, is: present}} {
		ack := &Ack{Header: NewHeader(TypeGameOverAck, "player:\"P01\"\n", "", "é\u2028"), Status: StatusAcknowledged, RefereeID: "<&>"}
		ack.RoundID = r
		want, err := json.Marshal(ack, plain)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Encode(ack); err != nil || string(got) != string(want) {
			t.Errorf("%v: %v\n got %s\nwant %s", r, err, got, want)
		}
	}
}

// TestQuickMessagesMissNoField sets every field of the messages that are
// written and read without reflection, one after the other.
func TestQuickMessagesMissNoField(t *testing.T) {
	t.Parallel()
	for typ, of := range goTypes {
		if _, ok := byType[typ].blank().(quick); !ok {
			continue
		}
		for i := range of.Elem().NumField() {
			m := byType[typ].blank()
			m.Head().MessageType = typ
			switch f := reflect.ValueOf(m).Elem().Field(i).Addr().Interface().(type) {
			case *Header:
				continue
			case *string:
				*f = "a \"text\""
			case *Choice:
				*f = Odd
			case *Opt[bool]:
				*f = Some(false)
			case **ChoiceContext:
				*f = &ChoiceContext{OpponentID: "P02"}
			case *MatchResult:
				f.Score = map[string]int{"P02": 3, "P01": 0}
			default:
				t.Fatalf("%s: no value for %T", typ, f)
			}
			want, err := json.Marshal(m, plain)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Encode(m)
			if err != nil || string(got) != string(want) {
				t.Errorf("%v\n got %s\nwant %s", err, got, want)
			}
			back := byType[typ].blank()
			doc, err := splitDocument(got)
			if q, ok := back.(quickRead); ok && err == nil && q.setFields(back.Head().take(doc, back.Head())) && !reflect.DeepEqual(back, m) {
				t.Errorf("%s: read %+v, want %+v", got, back, m)
			}
		}
	}
}

// TestCircularsAreWrappedLikeTheirMessage in every dialect, for whom each copy
// is meant.
func TestCircularsAreWrappedLikeTheirMessage(t *testing.T) {
	t.Parallel()
	message := &LeagueStandingsUpdate{
		Header:    NewHeader(TypeLeagueStandingsUpdate, "league_manager", "2026-03-14T09:10:14Z", "cup-table-1"),
		Standings: []Standing{{Rank: 1, PlayerID: "P01", Points: 3}},
	}
	c := NewCircular(message)
	for _, d := range append(Dialects(), variants...) {
		for _, token := range []string{"tok-LM-1", "tok-LM-2"} {
			h := message.Header
			h.AuthToken = token
			single := *message
			single.Header = h
			want, err := d.Call(&single)
			if err != nil {
				t.Fatal(err)
			}
			got, err := d.Call(c.With(h))
			if err != nil || string(got.Document(nil)) != string(want.Document(nil)) {
				t.Errorf("%s: %v\n got %s\nwant %s", d.Name, err, got.Document(nil), want.Document(nil))
			}
		}
	}
}

func TestQuickEncodingRefusesWhatTheLongOneRefuses(t *testing.T) {
	t.Parallel()
	const bad = "\xff"
	good := NewHeader(TypeGameOverAck, "player:P01", "2026-03-14T09:10:14Z", "conv")
	broken := good
	broken.ConversationID = bad
	table := &LeagueStandingsUpdate{Header: NewHeader(TypeLeagueStandingsUpdate, "league_manager", "", ""), Standings: []Standing{{DisplayName: bad}}}
	for what, m := range map[string]Message{
		"a header field":          &Ack{Header: broken},
		"an own field":            &Ack{Header: good, PlayerID: bad},
		"a type of another shape": &Ack{Header: NewHeader(TypeGameOver, "", "", "")},
		"an extra that is none":   &Ack{Header: Header{MessageType: TypeGameOverAck, Extra: jsontext.Value(`1`)}},
		"a round":                 &Ack{Header: Header{MessageType: TypeGameOverAck, RoundID: Round{text: bad, isText: true, is: present}}},
		"a circular's field":      NewCircular(table).With(table.Header),
		"a copy's header":         NewCircular(&Ack{Header: good}).With(broken),
	} {
		if raw, err := Encode(m); err == nil || !strings.HasPrefix(err.Error(), "protocol: encode ") {
			t.Errorf("%s: encoded as %s, %v", what, raw, err)
		}
	}
}
