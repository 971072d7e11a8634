package results_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/results"
)

// A run without records keeps its plan while it plays, and sums at its end. Until then the
// same run may start over in its folder; another may not.
func TestSumsFolder(t *testing.T) {
	path, plan := t.TempDir(), shardPlan()
	plan.Records = results.RecordsNone
	for range 2 {
		dir, err := results.Create(path, plan)
		must(t, err)
		l := results.League{Index: 64, Seats: []int{1, 0}, Matches: []results.Match{{A: game.Side{Choice: game.Even}, B: game.Side{Choice: game.Odd}, Number: 4}}}
		must(t, dir.Append(&l), dir.Close())
		if _, _, err := results.ReadSums(path); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("before the end: %v", err)
		}
	}
	other := plan
	other.Shard = &results.Shard{Number: 1, Of: 3, First: 0, End: 64}
	if _, err := results.Create(path, other); !errors.Is(err, results.ErrExists) {
		t.Errorf("another shard: %v", err)
	}
	dir, err := results.Create(path, plan)
	must(t, err)
	want := results.Sums{Leagues: 64, Matches: 64, Reproducible: true, Quarantined: []int{1}, Digest: "d", Analysis: json.RawMessage(`{"counters":[1]}`)}
	must(t, dir.KeepSums(want), dir.Close())
	_, got, err := results.ReadSums(path)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-kept +read):\n%s", err, diff)
	}
	if _, err := results.Create(path, plan); !errors.Is(err, results.ErrExists) {
		t.Errorf("a complete run: %v", err)
	}
	if _, err := results.OpenShard(path); !errors.Is(err, results.ErrNoRecords) {
		t.Errorf("open for reading: %v", err)
	}
	if _, err := results.Open(path); !errors.Is(err, results.ErrNoRecords) {
		t.Errorf("open: %v", err)
	}
}

// keptSums writes a complete shard without records and returns its folder with the text of
// its sums.json.
func keptSums(t *testing.T) (folder, text string) {
	t.Helper()
	folder = t.TempDir()
	plan := shardPlan()
	plan.Records = results.RecordsNone
	dir, err := results.Create(folder, plan)
	must(t, err)
	sums := results.Sums{Leagues: 64, Matches: 64, Quarantined: []int{1}, Analysis: json.RawMessage(`{"counters":[1, 2]}`)}
	must(t, dir.KeepSums(sums), dir.Close())
	return folder, string(readFile(t, filepath.Join(folder, results.SumsFile)))
}

// sealed returns sums.json with other sums under a checksum that fits them.
func sealed(t *testing.T, text, sums string) string {
	t.Helper()
	head, _, ok := strings.Cut(text, `"sha256":`)
	if !ok {
		t.Fatalf("no checksum in %s", text)
	}
	sum := sha256.Sum256([]byte(sums))
	return fmt.Sprintf(`%s"sha256":%q,"sums":%s}`, head, hex.EncodeToString(sum[:]), sums)
}

// Every kind of damage to sums.json has an error of its own, which names the file and says
// what to do. The first of several kinds is the one that explains the others.
func TestDamagedSums(t *testing.T) {
	folder, text := keptSums(t)
	file := filepath.Join(folder, results.SumsFile)
	change := func(old, changed string) string {
		t.Helper()
		if strings.Count(text, old) != 1 {
			t.Fatalf("%q does not stand once in %s", old, text)
		}
		return strings.Replace(text, old, changed, 1)
	}
	field := func(name string) string {
		_, rest, _ := strings.Cut(text, `"`+name+`":"`)
		value, _, _ := strings.Cut(rest, `"`)
		return value
	}
	sums := text[strings.Index(text, `"sums":`)+len(`"sums":`) : len(text)-len("}\n")]
	plan, sum := field("plan"), field("sha256")
	other := sha256.Sum256([]byte(strings.Replace(sums, `"matches":64`, `"matches":65`, 1)))
	const version = `schema "strategylab/sums/v2", want "strategylab/sums/v1"`
	for name, tc := range map[string]struct{ text, want string }{
		"empty":                      {"", "unexpected end of JSON input"},
		"cut off":                    {text[:len(text)-2], "unexpected end of JSON input"},
		"zeros after a power cut":    {strings.Repeat("\x00", len(text)), `invalid character '\x00' looking for beginning of value`},
		"twice":                      {text + text, `invalid character '{' after top-level value`},
		"a list":                     {"[]", "json: cannot unmarshal array into Go value of type results.sumsFile"},
		"null":                       {"null", "unexpected end of JSON input"},
		"without sums":               {change(sums, `""`), fmt.Sprintf("bad checksum: SHA-256 %x, want %s", sha256.Sum256([]byte(`""`)), sum)},
		"of a later version":         {change("sums/v1", "sums/v2"), version},
		"later, and of another plan": {strings.Replace(change("sums/v1", "sums/v2"), plan, sum, 1), version},
		"without a version":          {change(`"strategylab/sums/v1"`, `""`), `schema "", want "strategylab/sums/v1"`},
		"of another plan":            {change(plan, sum), "sums of another plan than plan.json"},
		"another plan, other sums":   {strings.Replace(change(plan, sum), `"matches":64`, `"matches":65`, 1), "sums of another plan than plan.json"},
		"a count changed":            {change(`"matches":64`, `"matches":65`), fmt.Sprintf("bad checksum: SHA-256 %x, want %s", other, sum)},
		"another checksum":           {change(sum, plan), fmt.Sprintf("bad checksum: SHA-256 %s, want %s", sum, plan)},
		"fewer leagues":              {sealed(t, text, strings.Replace(sums, `"leagues":64`, `"leagues":63`, 1)), "sums of 63 leagues, want 64"},
		"no leagues":                 {sealed(t, text, "{}"), "sums of 0 leagues, want 64"},
		"leagues in words":           {sealed(t, text, strings.Replace(sums, `"leagues":64`, `"leagues":"all"`, 1)), "json: cannot unmarshal string into Go struct field Sums.leagues of type int"},
	} {
		writeFile(t, file, []byte(tc.text))
		p, _, err := results.ReadSums(folder)
		if want := file + ": " + tc.want + "; play the run again"; err == nil || err.Error() != want {
			t.Errorf("%s:\n got  %v\n want %s", name, err, want)
		}
		if errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: damage is taken for a run that is not complete", name)
		}
		if p.Shard == nil || p.Shard.Number != 2 {
			t.Errorf("%s: the plan is lost: %+v", name, p)
		}
	}
}

// The checksum is of the sums without white space, and the rest of the file may be laid
// out and grow as it likes.
func TestSumsSurviveEditors(t *testing.T) {
	folder, text := keptSums(t)
	_, want, err := results.ReadSums(folder)
	must(t, err)
	var indented bytes.Buffer
	must(t, json.Indent(&indented, []byte(strings.Replace(text, "{", `{"note":"copied by hand",`, 1)), "", "\t"))
	for _, changed := range []string{indented.String(), strings.ReplaceAll(indented.String(), "\n", "\r\n")} {
		writeFile(t, filepath.Join(folder, results.SumsFile), []byte(changed))
		_, got, err := results.ReadSums(folder)
		must(t, err)
		var compact bytes.Buffer
		must(t, json.Compact(&compact, got.Analysis))
		got.Analysis = compact.Bytes()
		if diff := cmp.Diff(want, got); diff != "" || want.Leagues != 64 || string(want.Analysis) != `{"counters":[1,2]}` {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// Without sums.json the run is not complete; without a plan there is no run; and a run with
// leagues is no run of sums, whatever lies in its folder.
func TestSumsThatAreNotThere(t *testing.T) {
	folder, text := keptSums(t)
	file, planFile := filepath.Join(folder, results.SumsFile), filepath.Join(folder, results.PlanFile)
	plan := string(readFile(t, planFile))
	for name, tc := range map[string]struct {
		plan, sums, want string
		missing          bool
	}{
		"not complete": {plan, missing, "read sums " + file + ": stat: no such file or directory", true},
		"no run":       {missing, text, "read plan " + planFile + ": stat: no such file or directory", true},
		"torn plan":    {plan[:9], text, "read plan " + planFile + ": unexpected EOF", false},
		"with leagues": {strings.Replace(plan, `"records": "none"`, `"records": ""`, 1), text, "keeps leagues and no sums (without --records none); play all shards with the same --records", false},
		"bad shard":    {strings.Replace(plan, `"end": 128`, `"end": 64`, 1), text, "read " + planFile + ": plan: shard 2/3 with leagues 64 to 63 is not a part of 200 leagues", false},
	} {
		for path, content := range map[string]string{planFile: tc.plan, file: tc.sums} {
			if content != missing {
				writeFile(t, path, []byte(content))
			} else if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
		}
		_, _, err := results.ReadSums(folder)
		if err == nil || err.Error() != tc.want || errors.Is(err, fs.ErrNotExist) != tc.missing {
			t.Errorf("%s:\n got  %v\n want %s (missing: %v)", name, err, tc.want, tc.missing)
		}
	}
}
