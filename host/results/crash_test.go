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

// resume opens the folder and finishes the run: leagues.bin is then that of an
// uninterrupted run, and what was cut off is reported; or the error names the folder
// and no file has changed.
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
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		c.resume(t, name+" missing")
	}
	restore()
	writeFile(t, leaguesBin(c.path), append(bytes.Clone(c.whole), make([]byte, 1000)...))
	c.resume(t, "zeros after a power failure")
	t.Logf("crash: run: %d cases, %d repaired with a warning, %d refused with the file", c.cases, c.repaired, c.refused)
}
