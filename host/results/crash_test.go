package results_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/results"
)

// crash counts the fates of a run's folder.
type crash struct {
	plan    results.Plan
	leagues []*results.League
	path    string
	whole   []byte // leagues.bin of an uninterrupted run

	cases, repaired, refused int
}

// resume opens the folder and finishes the run: leagues.bin is then that of an uninterrupted run,
// and what was cut off is reported; or the error names the folder and no file has changed.
func (c *crash) resume(t *testing.T, what string) {
	t.Helper()
	c.cases++
	planBefore, leaguesBefore := content(filepath.Join(c.path, results.PlanFile)), content(leaguesBin(c.path))
	var torn *results.Tear
	if r, err := results.OpenReader(c.path); err == nil {
		for range r.Leagues() { // to the end, or to an error
		}
		torn = r.Torn()
		_ = r.Close()
	}
	d, err := results.Open(c.path)
	if err != nil {
		c.refused++
		if !strings.Contains(err.Error(), c.path) && !errors.Is(err, results.ErrPlanDiffers) {
			t.Errorf("%s: error %q does not name a file", what, err)
		}
		if content(filepath.Join(c.path, results.PlanFile)) != planBefore || content(leaguesBin(c.path)) != leaguesBefore {
			t.Errorf("%s: refused, and changed", what)
		}
		return
	}
	defer d.Close()
	// Without leagues.bin the run was stopped right after the plan was written.
	n, cut := d.Len(), leaguesBefore == missing || strings.HasPrefix(string(c.whole), leaguesBefore)
	if got := d.Repaired(); got != nil {
		c.repaired++
		sound := len(encode(t, c.plan, c.leagues[:n]))
		want := results.Tear{Offset: int64(sound), Dropped: int64(len(leaguesBefore) - sound), Leagues: n, Err: got.Err}
		if *got != want || torn == nil || torn.String() != got.String() ||
			!strings.Contains(got.String(), fmt.Sprintf("last %d bytes, after league %d", want.Dropped, n-1)) {
			t.Errorf("%s: repaired %v, want %v; reading found %v", what, got, &want, torn)
		}
	}
	if n < len(c.leagues) && d.Repaired() == nil && !cut {
		t.Errorf("%s: %d leagues of %d, and nothing said of the rest", what, n, len(c.leagues))
	}
	if diff := cmp.Diff(c.leagues[:n], collect(t, d.Leagues())); n > 0 && diff != "" {
		t.Errorf("%s: other leagues (-want +got):\n%s", what, diff)
	}
	if d.Plan().Runs != c.plan.Runs || d.Plan().Stop != nil {
		return // a change that no league depends on
	}
	appendAll(t, d, c.leagues[n:])
	if err := d.Flush(); err != nil || !bytes.Equal(readFile(t, leaguesBin(c.path)), c.whole) {
		t.Errorf("%s: resumed, the file differs from that of an uninterrupted run (%v)", what, err)
	}
}

const missing = "missing"

// content returns a file, or that it is missing.
func content(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return missing
	}
	return string(b)
}

// TestCrashOfARun cuts each file of a run at every byte, flips every bit, and takes the
// file away. A plain run flips one bit in every 29th byte and cuts at every 17th.
func TestCrashOfARun(t *testing.T) {
	plan := testPlan(4, 1, 4, "")
	c := &crash{plan: plan, leagues: randomLeagues(t, plan, 4)}
	c.path, c.whole = create(t, plan, c.leagues), encode(t, plan, c.leagues)
	step, flips := 17, 29
	if os.Getenv("WHOLE_TESTS") != "" {
		step, flips = 1, 1
	}
	planFile := filepath.Join(c.path, results.PlanFile)
	original := readFile(t, planFile)
	restore := func() {
		writeFile(t, planFile, original)
		writeFile(t, leaguesBin(c.path), c.whole)
	}
	for _, file := range []string{planFile, leaguesBin(c.path)} {
		restore()
		whole, name := readFile(t, file), filepath.Base(file)
		for at := 0; at < len(whole); at += step {
			restore()
			writeFile(t, file, whole[:at])
			c.resume(t, fmt.Sprintf("%s cut at %d", name, at))
		}
		for at := 0; at < len(whole); at += flips {
			for bit := range 8 {
				if flips > 1 && bit != at%8 {
					continue
				}
				flipped := bytes.Clone(whole)
				flipped[at] ^= 1 << bit
				restore()
				writeFile(t, file, flipped)
				c.resume(t, fmt.Sprintf("%s: bit %d of byte %d flipped", name, bit, at))
			}
		}
		restore()
		must(t, os.Remove(file))
		c.resume(t, name+" missing")
	}
	restore()
	writeFile(t, leaguesBin(c.path), append(bytes.Clone(c.whole), make([]byte, 1000)...))
	c.resume(t, "zeros after a power failure")
	t.Logf("crash: run: %d cases, %d repaired with a warning, %d refused with the file", c.cases, c.repaired, c.refused)
}

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
	must(t, err)
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
