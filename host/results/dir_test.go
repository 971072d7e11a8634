package results_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/results"
)

func create(t *testing.T, plan results.Plan, leagues []*results.League) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "runs", "one")
	d, err := results.Create(path, plan)
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, d, leagues)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func appendAll(t *testing.T, d *results.Dir, leagues []*results.League) {
	t.Helper()
	for _, l := range leagues {
		if err := d.Append(l); err != nil {
			t.Fatal(err)
		}
	}
}

func open(t *testing.T, path string) *results.Dir {
	t.Helper()
	d, err := results.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func collect(t *testing.T, leagues iter.Seq2[*results.League, error]) []*results.League {
	t.Helper()
	var out []*results.League
	for l, err := range leagues {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, clone(l))
	}
	return out
}

func leaguesBin(path string) string { return filepath.Join(path, results.LeaguesFile) }

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func writeFile(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestDirGoesOnWhereItEnded(t *testing.T) {
	t.Parallel()
	plan := testPlan(4, 2, 10, "")
	want := randomLeagues(t, plan, 10)
	path := create(t, plan, want[:4])

	d := open(t, path)
	if d.Len() != 4 || d.Repaired() != nil {
		t.Fatalf("%d leagues, repaired %v; want 4 and nothing", d.Len(), d.Repaired())
	}
	wantLeagues(t, collect(t, d.Leagues()), want[:4])
	appendAll(t, d, want[4:7])
	wantLeagues(t, collect(t, d.Leagues()), want[:7]) // what was not flushed as well
	appendAll(t, d, want[7:])
	if err := d.Append(want[9]); err == nil {
		t.Error("a league was recorded twice")
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}

	if got := readFile(t, leaguesBin(path)); !bytes.Equal(got, encode(t, plan, want)) {
		t.Error("the file differs from one written in one go")
	}
	r, err := results.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := plan.SameLeagues(r.Plan()); err != nil {
		t.Error(err)
	}
	wantLeagues(t, collect(t, r.Leagues()), want)
	for l, err := range r.Leagues() { // again, and left early
		if err != nil || l.Index != 0 {
			t.Errorf("league %v, error %v", l, err)
		}
		break
	}
}

func TestCreateKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	plan := testPlan(3, 1, 5, "")
	path := create(t, plan, randomLeagues(t, plan, 2))
	before := readFile(t, leaguesBin(path))
	if _, err := results.Create(path, plan); !errors.Is(err, results.ErrExists) {
		t.Errorf("error %v, want ErrExists", err)
	}
	if !bytes.Equal(before, readFile(t, leaguesBin(path))) {
		t.Error("the run there was changed")
	}
	plan.Runs = 0
	if _, err := results.Create(filepath.Join(t.TempDir(), "x"), plan); err == nil {
		t.Error("a plan of no runs was accepted")
	}
}

// TestTornEnd cuts a file at every byte of its last record, and spoils every
// byte of it: all that was whole is kept, and the rest can be written again.
func TestTornEnd(t *testing.T) {
	t.Parallel()
	plan := testPlan(4, 1, 6, "")
	leagues := randomLeagues(t, plan, 6)
	whole := encode(t, plan, leagues)
	sound := encode(t, plan, leagues[:5])
	path := create(t, plan, nil)
	check := func(what string, torn []byte) {
		t.Helper()
		writeFile(t, leaguesBin(path), torn)
		r, err := results.OpenReader(path)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		wantLeagues(t, collect(t, r.Leagues()), leagues[:5])
		if r.Torn() == nil || r.Torn().Leagues != 5 {
			t.Fatalf("%s: reader reports %v", what, r.Torn())
		}
		_ = r.Close()
		if !bytes.Equal(readFile(t, leaguesBin(path)), torn) {
			t.Fatalf("%s: reading changed the file", what)
		}

		d, err := results.Open(path)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		want := results.Tear{Offset: int64(len(sound)), Dropped: int64(len(torn) - len(sound)), Leagues: 5}
		if got := d.Repaired(); got == nil || got.Offset != want.Offset || got.Dropped != want.Dropped || got.Leagues != 5 {
			t.Fatalf("%s: repaired %v, want %v", what, got, want)
		}
		appendAll(t, d, leagues[5:])
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(readFile(t, leaguesBin(path)), whole) {
			t.Fatalf("%s: the repaired file differs from a whole one", what)
		}
	}
	for at := len(sound) + 1; at < len(whole); at++ {
		check(fmt.Sprintf("cut at %d", at), whole[:at])
	}
	for at := len(sound); at < len(whole); at++ {
		b := bytes.Clone(whole)
		b[at] ^= 0x40
		check(fmt.Sprintf("byte %d spoilt", at), b)
	}
	check("zeros after a power failure", append(bytes.Clone(sound), make([]byte, 1000)...))
}

func TestDamageInTheMiddleIsAnError(t *testing.T) {
	t.Parallel()
	plan := testPlan(4, 1, 6, "")
	leagues := randomLeagues(t, plan, 6)
	whole := encode(t, plan, leagues)
	start, end := len(encode(t, plan, leagues[:2])), len(encode(t, plan, leagues[:3]))
	path := create(t, plan, nil)
	for at := start; at < end; at++ { // lengths included
		b := bytes.Clone(whole)
		b[at] ^= 0x08
		writeFile(t, leaguesBin(path), b)
		_, err := results.Open(path)
		if err == nil {
			t.Fatalf("byte %d spoilt: opened", at)
		}
		for _, want := range []string{
			path, "league 2", fmt.Sprintf("at byte %d", start), fmt.Sprintf("cut it to %d bytes", start),
		} {
			if !strings.Contains(err.Error(), want) {
				t.Fatalf("byte %d spoilt: error %q does not say %q", at, err, want)
			}
		}
		if !bytes.Equal(readFile(t, leaguesBin(path)), b) {
			t.Fatalf("byte %d spoilt: the file was changed", at)
		}
	}
	r, err := results.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n, last := 0, error(nil)
	for _, err := range r.Leagues() {
		last = err
		n++
	}
	var damage *results.DamageError
	if n != 3 || !errors.As(last, &damage) {
		t.Errorf("reading gave %d items and ended with %v, want two leagues and a DamageError", n, last)
	}
}

// TestOpenAfterEarlyKill covers a process killed before it wrote any league.
func TestOpenAfterEarlyKill(t *testing.T) {
	t.Parallel()
	plan := testPlan(3, 1, 5, "")
	leagues := randomLeagues(t, plan, 2)
	header := encode(t, plan, nil)
	for at := -1; at <= len(header); at++ {
		path := create(t, plan, nil)
		if at < 0 {
			if err := os.Remove(leaguesBin(path)); err != nil {
				t.Fatal(err)
			}
		} else {
			writeFile(t, leaguesBin(path), header[:at])
		}
		d := open(t, path)
		appendAll(t, d, leagues)
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(readFile(t, leaguesBin(path)), encode(t, plan, leagues)) {
			t.Errorf("header cut at %d: the file differs from one written in one go", at)
		}
	}
}

func TestFilesThatDoNotBelongTogether(t *testing.T) {
	t.Parallel()
	plan := testPlan(3, 1, 5, "")
	path := create(t, plan, nil)
	other := plan
	other.Seed++
	writeFile(t, leaguesBin(path), encode(t, other, randomLeagues(t, other, 1)))
	if _, err := results.Open(path); !errors.Is(err, results.ErrPlanDiffers) {
		t.Errorf("open: %v, want ErrPlanDiffers", err)
	}
	writeFile(t, leaguesBin(path), encode(t, plan, randomLeagues(t, plan, 2)[1:]))
	if _, err := results.Open(path); err == nil || !strings.Contains(err.Error(), "league 1 stands where league 0 should") {
		t.Errorf("first league missing: %v", err)
	}
	writeFile(t, leaguesBin(path), []byte("something else entirely, and longer than a header"))
	if _, err := results.Open(path); err == nil || !strings.Contains(err.Error(), "no file of leagues") {
		t.Errorf("foreign file: %v", err)
	}
	if _, err := results.Open(t.TempDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("empty directory: %v, want ErrNotExist", err)
	}
}

func TestExtend(t *testing.T) {
	t.Parallel()
	plan := testPlan(3, 1, 3, "")
	leagues := randomLeagues(t, testPlan(3, 1, 5, ""), 5)
	path := create(t, plan, leagues[:3])
	d := open(t, path)
	if err := d.Append(leagues[3]); err == nil {
		t.Fatal("more leagues than the plan has")
	}
	longer := plan
	longer.Runs = 5
	if err := d.Extend(longer); err != nil {
		t.Fatal(err)
	}
	appendAll(t, d, leagues[3:])
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, path)
	if again.Plan().Runs != 5 || again.Len() != 5 {
		t.Errorf("plan of %d runs with %d leagues, want 5 and 5", again.Plan().Runs, again.Len())
	}
	if err := again.Extend(plan); err == nil || !strings.Contains(err.Error(), "5 are recorded already") {
		t.Errorf("fewer runs than leagues: %v", err)
	}
	for name, change := range map[string]func(*results.Plan){
		"seed was 7 and is 8":                        func(p *results.Plan) { p.Seed = 8 },
		"legs was 1 and is 2":                        func(p *results.Plan) { p.Legs = 2 },
		"draw was  and is uniform:1-9":               func(p *results.Plan) { p.Draw = "uniform:1-9" },
		"transport was direct and is http":           func(p *results.Plan) { p.Transport = "http" },
		"number of players was 3 and is 2":           func(p *results.Plan) { p.Field = p.Field[:2] },
		"player 1 was random#2 and is mine":          func(p *results.Plan) { p.Field[1].Name = "mine" },
		"the code of random#3 has changed":           func(p *results.Plan) { p.Field[2].Fingerprint = "v2" },
		"origin of random#1 was {random#1 builtin r": func(p *results.Plan) { p.Field[0].Ref = "random" },
	} {
		changed := longer
		changed.Field = append([]results.Entrant(nil), longer.Field...)
		change(&changed)
		err := again.Extend(changed)
		if !errors.Is(err, results.ErrPlanDiffers) || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want ErrPlanDiffers that says %q", err, name)
		}
		if changed.Hash() == longer.Hash() {
			t.Errorf("%s: same hash", name)
		}
	}
	if plan.Hash() != longer.Hash() {
		t.Error("the hash depends on the number of runs")
	}
}

func TestPlanIsReadStrictly(t *testing.T) {
	t.Parallel()
	good, err := json.Marshal(testPlan(3, 1, 3, ""))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ old, new, want string }{
		"schema":        {"plan/v1", "plan/v2", `schema "strategylab/plan/v2"`},
		"unknown field": {`"runs"`, `"extra":1,"runs"`, `unknown field "extra"`},
		"no runs":       {`"runs":3`, `"runs":0`, "0 runs"},
		"no legs":       {`"legs":1`, `"legs":0`, "0 legs"},
		"bad draw":      {`"draw":""`, `"draw":"coin"`, `draw "coin"`},
		"bad transport": {`"direct"`, `"pigeon"`, `transport "pigeon"`},
		"same name":     {"random#2", "random#1", `both called "random#1"`},
		"no name":       {"random#2", "", "player 1 has no name"},
		"two values":    {`"runs":3`, `"runs":3}{"runs":3`, "more than one JSON value"},
		"no JSON":       {"{", "(", "invalid character"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			bad := strings.Replace(string(good), tc.old, tc.new, 1)
			if name == "two values" {
				bad = string(good) + string(good)
			}
			writeFile(t, filepath.Join(dir, results.PlanFile), []byte(bad))
			for _, open := range []func(string) (io.Closer, error){
				func(p string) (io.Closer, error) { return results.Open(p) },
				func(p string) (io.Closer, error) { return results.OpenReader(p) },
			} {
				if _, err := open(dir); err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("error %v, want one that says %q", err, tc.want)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, ".lock")); err == nil {
				t.Error("a directory that cannot be opened was written to")
			}
		})
	}
}

func TestOneWriterAtATime(t *testing.T) {
	t.Parallel()
	plan := testPlan(3, 1, 3, "")
	path := create(t, plan, nil)
	d := open(t, path)
	_, err := results.Open(path)
	var locked *results.LockedError
	if !errors.As(err, &locked) || locked.PID != os.Getpid() || !strings.Contains(err.Error(), "by this process") {
		t.Errorf("error %v, want that this process holds %s", err, path)
	}
	r, err := results.OpenReader(path)
	if err != nil {
		t.Errorf("reading beside a writer: %v", err)
	} else {
		_ = r.Close()
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	_ = open(t, path).Close() // free again
}

// TestLockDiesWithItsHolder has another process hold a directory and kills it.
func TestLockDiesWithItsHolder(t *testing.T) {
	const env = "STRATEGYLAB_TEST_HOLD"
	if path := os.Getenv(env); path != "" {
		if _, err := results.Open(path); err != nil {
			t.Fatal(err)
		}
		fmt.Println("holding")
		select {}
	}
	t.Parallel()
	path := create(t, testPlan(3, 1, 3, ""), nil)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLockDiesWithItsHolder$")
	cmd.Env = append(os.Environ(), env+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "holding\n" {
		t.Fatalf("holder said %q, %v", line, err)
	}
	_, err = results.Open(path)
	want := fmt.Sprintf("by process %d;", cmd.Process.Pid)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one that says %q", err, want)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	open(t, path)
}

// TestAppendAfterFailure closes the file under a Dir: it must not go on as if
// the record had been written.
func TestAppendAfterFailure(t *testing.T) {
	t.Parallel()
	plan := testPlan(3, 1, 3, "")
	leagues := randomLeagues(t, plan, 2)
	d := open(t, create(t, plan, nil))
	bad := clone(leagues[0])
	bad.Matches = nil
	first := d.Append(bad)
	if first == nil {
		t.Fatal("a league without matches was recorded")
	}
	if err := d.Append(leagues[0]); err != first {
		t.Errorf("next append: %v, want the first failure again", err)
	}
	if err := d.Flush(); err != first {
		t.Errorf("flush: %v, want the first failure again", err)
	}
}

func TestWriteJSON(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "summary.json")
	for _, v := range []map[string]int{{"runs": 1}, {"runs": 2}} {
		if err := results.WriteJSON(path, v); err != nil {
			t.Fatal(err)
		}
	}
	if got := string(readFile(t, path)); got != "{\n  \"runs\": 2\n}\n" {
		t.Errorf("file holds %q", got)
	}
	if err := results.WriteJSON(path, func() {}); err == nil {
		t.Error("a function was written")
	}
	if err := results.WriteJSON(filepath.Join(dir, "no", "such", "dir"), 1); err == nil {
		t.Error("written to a directory that is not there")
	}
	occupied := filepath.Join(dir, "occupied")
	if err := os.MkdirAll(filepath.Join(occupied, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := results.WriteJSON(occupied, 1); err == nil || !strings.Contains(err.Error(), occupied) {
		t.Errorf("over a directory: %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 2 {
		t.Errorf("%v left in the directory, want summary.json and occupied", entries)
	}
	d := open(t, create(t, testPlan(2, 1, 1, ""), nil))
	if err := d.Summary(map[string]int{"leagues": 0}); err != nil {
		t.Fatal(err)
	}
	if got := string(readFile(t, filepath.Join(d.Path(), results.SummaryFile))); !strings.Contains(got, "leagues") {
		t.Errorf("summary holds %q", got)
	}
}
