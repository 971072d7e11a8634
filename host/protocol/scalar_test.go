package protocol

import (
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/go-json-experiment/json"
)

func TestTimestamp(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", 2*60*60)
	at := time.Date(2026, time.March, 14, 11, 0, 0, 1, zone)
	if got := Timestamp(at); got != "2026-03-14T09:00:00Z" {
		t.Errorf("Timestamp rounds to %s", got)
	}
	if got := Deadline(at); got != "2026-03-14T09:00:01Z" {
		t.Errorf("Deadline rounds to %s", got)
	}
	if got := Deadline(at.Truncate(time.Second)); got != "2026-03-14T09:00:00Z" {
		t.Errorf("Deadline moves a whole second to %s", got)
	}
	for text, want := range map[string]time.Time{
		"2026-03-14T09:00:00Z":            sampleTime,
		"2026-03-14T09:00:00+00:00":       sampleTime,
		"2026-03-14T09:00:00.000001Z":     sampleTime.Add(time.Microsecond),
		"2026-03-14T09:00:00.5+00:00":     sampleTime.Add(time.Second / 2),
		"2026-03-14T09:00:00.1234567891Z": sampleTime.Add(123456789),
	} {
		if got, err := ParseTimestamp(text); err != nil || !got.Equal(want) {
			t.Errorf("%s is read as %v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "Z", "2026-03-14T9:00:00Z", "2026-03-14T09:00:00,5Z", "2026-03-14T09:00:00.Z", "2026-02-29T09:00:00Z", "2026-03-14T09:00:60Z",
		"2026-03-14T24:00:00Z", "2026-03-14t09:00:00Z", "2026-03-14T09:00:00z", "2026-03-14T09:00:00-00:00", " 2026-03-14T09:00:00Z",
	} {
		if got, err := ParseTimestamp(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

func TestValidID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"P01": true, "REF01": true, "R1M1": true, "player_3fa9c2d1": true, "league_2025_even_odd": true, "a": true, "0.x-y_z": true,
		strings.Repeat("a", 64): true, strings.Repeat("a", 65): false, "": false,
		".": false, "..": false, ".hidden": false, "-x": false, "_x": false, "a/b": false, `a\b`: false, "a b": false, "a\x00": false, "é": false, "P01\n": false,
	} {
		if ValidID(id) != want || ValidID([]byte(id)) != want {
			t.Errorf("ValidID(%q) is %v", id, !want)
		}
	}
}

func TestSender(t *testing.T) {
	t.Parallel()
	for sender, want := range map[string]string{
		"league_manager": "league_manager ", "league_manager:LM01": "league_manager LM01", "launcher": "launcher ",
		"referee:REF01": "referee REF01", "player:P01": "player P01", "player:Agent: Alpha": "player Agent: Alpha",
		"league_manager:": "", "launcher:x": "", "referee": "", "player:": "", "Player:P01": "", "P01": "", "": "",
		"player:a\tb": "", "player:" + strings.Repeat("x", 129): "", "league_manager:../x": "",
	} {
		role, id, err := ParseSender(sender)
		if got := string(role) + " " + id; (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("%q is read as %q, %v", sender, got, err)
		}
		if err == nil && Sender(role, id) != sender {
			t.Errorf("%q is written as %q", sender, Sender(role, id))
		}
	}
}

func TestOptional(t *testing.T) {
	t.Parallel()
	type holder struct {
		N Opt[int]    `json:"n,omitzero"`
		S Opt[string] `json:"s,omitzero"`
		R Round       `json:"r,omitzero"`
		C Choice      `json:"c,omitzero"`
	}
	for _, text := range []string{
		`{}`, `{"n":null,"s":null,"r":null}`, `{"n":0,"s":"","r":0}`, `{"n":5,"s":"x","r":3,"c":"even"}`, `{"r":"\"ROUND\" 3"}`, `{"r":""}`, `{"c":"anything"}`,
	} {
		var h, copied holder
		var c checker
		table := shapeOf(reflect.TypeFor[holder](), "")
		c.object(parsed(t, []byte(text)), nil, table, unsafe.Pointer(&h))
		w := memberWriter{}
		w.members(table.fields, unsafe.Pointer(&h))
		if raw, err := w.closed(0); err != nil || string(raw) != text {
			t.Errorf("%s is written as %s, %v", text, raw, err)
		}
		if h.R.isText {
			continue
		}
		raw, err := json.Marshal(&h)
		if again := json.Unmarshal(raw, &copied, json.WithUnmarshalers(json.UnmarshalFunc(func(raw []byte, r *Round) error {
			*r = h.R
			return nil
		}))); err != nil || string(raw) != text || again != nil || copied != h {
			t.Errorf("%s is %s for package json, %v, %v", text, raw, err, again)
		}
	}
	if n := Null[int](); n == (Opt[int]{}) || n.Value() != 0 {
		t.Error("a null is not told from a missing member")
	}
	for text, want := range map[string]int{
		`1`: 1, `2.0`: 2, `"ROUND_12"`: 12, `"3"`: 3, `"final"`: 0, `"R99999999999999999999"`: 0, `null`: 0, `1.5`: 0,
	} {
		if r := glanceRound([]byte(text)); r.Number() != want || (r == Round{}) != (text == "null" || text == "1.5") {
			t.Errorf("%s is round %+v; want %d", text, r, want)
		}
	}
}
