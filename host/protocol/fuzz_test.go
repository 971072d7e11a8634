package protocol

import (
	"errors"
	"slices"
	"strconv"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/rawjson"
)

// FuzzDecode: no text makes a decoder panic, and what is accepted of a message is written
// again and reads as the same message.
func FuzzDecode(f *testing.F) {
	types := Types()
	for _, s := range samples(f) { // host/dialect decodes the examples of the sources
		raw, err := Encode(s.message)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(slices.Index(types, s.message.Head().MessageType), true, true, []byte(raw))
	}
	f.Add(2, true, true, []byte(`{"player_meta":{"display_name":"x","contact_endpoint":"y","version":null},"sender":"","protocol":null}`))
	f.Add(20, true, true, []byte(`{"match_id":"R1M1","game_result":{"choices":{"P01":null},"drawn_number":7.0}}`))
	f.Add(slices.Index(types, "LEAGUE_QUERY_RESPONSE"), true, false, []byte(`{"message_type":"LEAGAT_QUERY_RESPONSE"}`))
	f.Fuzz(func(t *testing.T, i int, tolerant, request bool, body []byte) {
		typ := types[uint(i)%uint(len(types))]
		mode := Strict
		if tolerant {
			mode = Tolerant
		}
		if _, err := rawjson.Parse(body); err != nil {
			return // a codec refuses it before it is decoded: see FuzzOpen in host/dialect
		}
		m, err := decodeText(typ, body, mode, request)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || m != nil && mode == Strict {
				t.Fatalf("%v beside %v", err, m)
			}
			if len(e.Violations) == 0 && e.RPC == 0 {
				t.Fatalf("the rules accept what does not fit the Go type: %v", err)
			}
			return
		}
		raw, err := Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		want, table := parsed(t, body), messages.byType[typ].table()
		for _, m := range want {
			f, text := table.field(m.Name), comparable(m.Value)
			if m.Name == "message_type" {
				text = comparable([]byte(strconv.Quote(string(typ)))) // whatever an unknown one was
			}
			if f != nil && f.kind < kindObject && text != "null" && text != `""` && comparable(parsed(t, raw).Get(m.Name)) != text {
				t.Fatalf("%s of\n%s\nis written as\n%s", typ, body, raw)
			}
		}
		again, err := decodeText(typ, raw, mode, request)
		if err != nil {
			t.Fatalf("%s is not read again: %v", raw, err)
		}
		if same, err := Encode(again); err != nil || string(same) != string(raw) {
			t.Fatalf("%s is written as %s, %v", raw, same, err)
		}
	})
}

// comparable returns JSON in canonical form, or as it is where a number does not fit that form.
func comparable(raw jsontext.Value) string {
	v := raw.Clone()
	if v.Canonicalize() != nil {
		return ""
	}
	return string(v)
}
