package protocol

import (
	"testing"

	"github.com/strategylab/strategylab/host/rawjson"
)

// TestWhatIsWrittenIsRead: a peer that asks for a member under another name gets the value
// of the field, and one that sends it under that name is understood.
func TestWhatIsWrittenIsRead(t *testing.T) {
	t.Parallel()
	for _, n := range namings {
		for _, name := range append([]string{n.field}, n.others...) {
			message := rawjson.Object{{Name: n.field, Value: rawjson.Quote("value")}}
			if v := ValueFor(message, name); string(v) != `"value"` {
				t.Errorf("%s, asked for as %s, is written as %s", n.field, name, v)
			}
			said := rawjson.Object{{Name: name, Value: rawjson.Quote("value")}}
			if m, found := Find(said, n.field, `"`); !found || m.Name != name {
				t.Errorf("%s, sent as %s, is not read", n.field, name)
			}
		}
	}
	for name, want := range map[string]string{"matchId": "match_id", "Match-ID": "match_id", "hook_url": "contact_endpoint", "league_url": ""} {
		doc := rawjson.Object{{Name: name, Value: rawjson.Quote("value")}}
		for _, n := range namings {
			if n.field != "match_id" && n.field != "contact_endpoint" {
				continue
			}
			m, found := FindInner(doc, n.field, `"`)
			if found != (n.field == want) {
				t.Errorf("%s is read as %s: %v (%s)", name, n.field, found, m.Name)
			}
		}
	}
	if _, found := Find(rawjson.Object{{Name: "match", Value: []byte(`{}`)}}, "match_id", `"0`); found {
		t.Error("an object is taken for an id")
	}
}

// TestMeanings: words in any case, and beginnings for failures.
func TestMeanings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		m    Meaning
		word string
		want bool
	}{
		{Enrolling, "registered", true}, {Enrolling, "REJECTED", false}, {Rejecting, "denied", true}, {Joining, StatusAcknowledged, false},
		{Receiving, " ok ", true}, {Failing, "unknown_message_type", true}, {Failing, "ok", false}, {Nobody, "n/a", true}, {Nobody, "P01", false},
		{Losing, "lost", true}, {Drawing, "Tie", true}, {Winning, StatusWin, true},
	} {
		if got := Means(tt.m, tt.word); got != tt.want {
			t.Errorf("%q means %v: %v", tt.word, tt.m, got)
		}
	}
}
