package results_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/results"
)

// The error of a damaged run says where the damage is, and how to go on; TestCrashOfARun
// damages every byte.
func TestDamageInTheMiddleIsAnError(t *testing.T) {
	plan := testPlan(4, 1, 6, "")
	leagues := randomLeagues(t, plan, 6)
	start := len(encode(t, plan, leagues[:2]))
	b := encode(t, plan, leagues)
	b[start+5] ^= 0x08
	path := create(t, plan, nil)
	writeFile(t, leaguesBin(path), b)
	_, err := results.Open(path)
	if want := fmt.Sprintf("league 2 at byte %d", start); err == nil || !strings.Contains(err.Error(), want) ||
		!strings.Contains(err.Error(), fmt.Sprintf("cut it to %d bytes", start)) {
		t.Errorf("error %v, want %q", err, want)
	}
	r, err := results.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n, last := 0, error(nil)
	for _, last = range r.Leagues() {
		n++
	}
	var damage *results.DamageError
	if n != 3 || !errors.As(last, &damage) {
		t.Errorf("reading gave %d items and ended with %v, want two leagues and a DamageError", n, last)
	}
}

func TestFilesThatDoNotBelongTogether(t *testing.T) {
	plan := testPlan(3, 1, 5, "")
	path := create(t, plan, nil)
	other := plan
	other.Seed++
	writeFile(t, leaguesBin(path), encode(t, other, randomLeagues(t, other, 1)))
	if _, err := results.Open(path); !errors.Is(err, results.ErrPlanDiffers) {
		t.Errorf("open: %v, want ErrPlanDiffers", err)
	}
	writeFile(t, leaguesBin(path), encode(t, plan, randomLeagues(t, plan, 2)[1:]))
	if _, err := results.Open(path); err == nil || !strings.Contains(err.Error(), "found league 1, want league 0") {
		t.Errorf("first league missing: %v", err)
	}
	writeFile(t, leaguesBin(path), []byte("something else entirely, and longer than a header"))
	if _, err := results.Open(path); err == nil || !strings.Contains(err.Error(), "not a file of leagues") {
		t.Errorf("foreign file: %v", err)
	}
	if _, err := results.Open(t.TempDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("empty directory: %v, want ErrNotExist", err)
	}
}

// TestBadPayloads are records whose checksum is good.
func TestBadPayloads(t *testing.T) {
	three := func(tail string) string { return "\x00" + "\x00\x01\x02" + tail } // league 0, seats, three matches, notes
	for name, tc := range map[string]struct{ draw, payload, want string }{
		"good":                     {"", three("\x00\x05\x27\x00"), ""},
		"good, wide":               {"uniform:0-99", three("\x00\x00\x01\x63\x03\x05\x00"), ""},
		"index not minimal":        {"", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01\x00\x01\x02\x00\x05\x27\x00", "record too short"},
		"index too large":          {"", "\x80\x94\xeb\xdc\x03\x00\x01\x02\x00\x05\x27\x00", "at most 999999999"},
		"seats no permutation":     {"", "\x00\x00\x01\x01\x00\x05\x27\x00", "player 1 has two seats"},
		"seat of nobody":           {"", "\x00\x00\x01\x03\x00\x05\x27\x00", "seat 2 holds player 3"},
		"unknown code":             {"", three("\x00\x05\x28\x00"), "match 2: unknown code 40"},
		"unknown code, wide":       {"uniform:0-99", three("\x00\x00\x04\x63\x03\x05\x00"), "match 1: unknown code 4"},
		"number beyond the draw":   {"uniform:0-99", three("\x00\x00\x00\x64\x03\x05\x00"), "match 1: number 100 of 100"},
		"escape without fault":     {"", three("\x00\x05\xff\x01\x01\x00"), "match 2: no drawn number without a fault"},
		"escape without choice":    {"", three("\x00\x05\xff\x00\x04\x00"), "match 2: neither a choice nor a fault"},
		"escape with third choice": {"", three("\x00\x05\xff\x07\x04\x00"), "match 2: invalid choice"},
		"escape cut short":         {"", three("\x00\x05\xff\x05"), "match 2: record too short"},
		"no notes":                 {"", three("\xff\x04\x04\xff\x04\x04\xff\x04\x04"), "record too short"},
		"more notes than said":     {"", three("\x00\x05\x27\x00\x00"), "a list of costs without costs"},
		"costs":                    {"", three("\x00\x05\x27\x00\x02\x00\xd3\x0f\x02\xd2\x0f"), ""},
		"cost that is allowed":     {"", three("\x00\x05\x27\x00\x01\x00\xd0\x0f"), "cost of player 0, share 1000"},
		"costs out of order":       {"", three("\x00\x05\x27\x00\x02\x02\xd3\x0f\x00\xd2\x0f"), "cost of player 0"},
		"cost of nobody":           {"", three("\x00\x05\x27\x00\x01\x03\xd3\x0f"), "at most 2"},
		"cost cut short":           {"", three("\x00\x05\x27\x00\x01\x02"), "record too short"},
		"more costs than said":     {"", three("\x00\x05\x27\x00\x01\x02\xd3\x0f\x00"), "1 extra bytes"},
		"fewer notes than said":    {"", three("\x00\x05\x27\x01"), "record too short"},
		"too many notes":           {"", three("\x00\x05\x27\xff\x7f"), "at most 192"},
		"note on nobody":           {"", three("\x00\x05\x27\x01\x03\x01\x00"), "at most 2"},
		"note on no fault":         {"", three("\x00\x05\x27\x01\x02\x40\x00"), "note on unknown fault 64"},
		"note too long":            {"", three("\x00\x05\x27\x01\x02\x01\x81\x08"), "at most 1024"},
		"note cut short":           {"", three("\x00\x05\x27\x01\x02\x01\x05abcd"), "record too short"},
	} {
		t.Run(name, func(t *testing.T) {
			file := encode(t, testPlan(3, 1, 1, tc.draw), nil)
			_, err := decodeAll(bytes.NewReader(results.Frame(file, []byte(tc.payload))))
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}
