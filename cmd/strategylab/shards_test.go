package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sharded is a folder in which the leagues of one plan are played in parts.
type sharded struct {
	t    *testing.T
	dir  string
	args []string
}

// shardRuns leagues have at most 5 shards.
const shardRuns = 300

func newSharded(t *testing.T) *sharded {
	t.Helper()
	s := &sharded{t: t, dir: t.TempDir()}
	write(t, s.dir, "scripts/throws.lua", "function choose(turn)\n  if turn.round % 3 == 0 then error('on purpose') end\n  return 'even'\nend\n")
	write(t, s.dir, "scripts/hangs.lua", "function choose(turn) while true do end end\n")
	write(t, s.dir, "scripts/mine.js", "function choose(turn) { return Math.random() < 0.3 ? 'even' : 'odd'; }\n")
	s.args = []string{"experiment", "--runs", fmt.Sprint(shardRuns), "--legs", "2", "--seed", "7", "--instructions", "100000",
		"--field", "random,hedge,frequency-plugin,throws,hangs,mine"}
	return s
}

// merge returns the line of a merge.
func (s *sharded) merge(args ...string) []string {
	return append([]string{"merge", "--instructions", "100000", "--no-report"}, args...)
}

// run runs a command that has to succeed.
func (s *sharded) run(args ...string) {
	s.t.Helper()
	run1(s.t, s.dir, exitOK, args...)
}

// play plays a shard, in the middle of which it is killed if that is wanted.
func (s *sharded) play(number, of int, kill bool) string {
	s.t.Helper()
	out := fmt.Sprintf("of%d/shard-%d", of, number)
	line := append(s.args[:len(s.args):len(s.args)], "--shard", fmt.Sprintf("%d/%d", number, of), "--out", out)
	if kill {
		s.killAfter("leagues", out+"/leagues.bin", 200, line)
	}
	s.run(line...)
	return out
}

// same compares the folder of a merged run with that of one machine.
func (s *sharded) same(out string) {
	s.t.Helper()
	for _, name := range []string{"plan.json", "leagues.bin"} {
		if !bytes.Equal(s.read("one", name), s.read(out, name)) {
			s.t.Errorf("%s of %s is not that of one machine", name, out)
		}
	}
	if diff := cmp.Diff(s.summary("one"), s.summary(out)); diff != "" {
		s.t.Errorf("summary of %s (-one machine +merged):\n%s", out, diff)
	}
}

func (s *sharded) read(out, name string) []byte {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, out, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return text
}

// summary returns the summary without what was measured.
func (s *sharded) summary(out string) map[string]any {
	s.t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(s.read(out, "summary.json"), &doc); err != nil {
		s.t.Fatal(err)
	}
	for _, key := range []string{"seconds", "matches_per_second", "processes", "spenders"} {
		delete(doc, key)
	}
	return doc
}

// Shards of a field with all kinds of strategies, one failing and one hanging, merge to
// what one machine writes, also after a shard was killed and continued, and after one
// foresaw a wrong quarantine.
func TestShardsMergeToTheRunOfOneMachine(t *testing.T) {
	t.Parallel()
	notRaced(t, ownProcesses)
	s := newSharded(t)
	s.run(append(s.args[:len(s.args):len(s.args)], "--out", "one", "--no-report")...)
	s.run(append(s.merge(s.play(1, 2, false), s.play(2, 2, true)), "--out", "all")...)
	s.same("all")
	s.withoutRecords()
	s.misled("of2/shard-2")
	s.run(s.merge("of2/shard-2", "of2/shard-1", "--out", "replayed")...)
	s.same("replayed")
	s.withoutCode("of2")
}

// withoutRecords plays shards that keep sums only, the last one again after it was killed:
// their merge has every number of one machine.
func (s *sharded) withoutRecords() {
	s.t.Helper()
	merge := s.merge()
	for number := 1; number <= 2; number++ {
		out := fmt.Sprintf("sums2/shard-%d", number)
		line := append(s.args[:len(s.args):len(s.args)], "--records", "none", "--shard", fmt.Sprintf("%d/2", number), "--out", out)
		if number == 2 {
			s.killAfter("the plan", out+"/plan.json", 1, line)
		}
		s.run(line...)
		if _, err := os.Stat(filepath.Join(s.dir, out, "leagues.bin")); err == nil {
			s.t.Errorf("%s has leagues", out)
		}
		merge = append(merge, out)
	}
	s.run(append(merge, "--out", "sums")...)
	want, got := s.summary("one"), s.summary("sums")
	for _, key := range []string{"since_quarantine", "warnings"} { // from leagues, in their order
		delete(want, key)
		delete(got, key)
	}
	if want["digest"] = ""; !cmp.Equal(want, got) {
		s.t.Errorf("summary of sums (-one machine +merged):\n%s", cmp.Diff(want, got))
	}
	s.misled("sums2/shard-2")
	out := run1(s.t, s.dir, exitFailure, s.merge("sums2/shard-1", "sums2/shard-2", "--out", "none")...)
	if want := "sums2/shard-2: it took hedge for quarantined before its first league, but the leagues before it quarantine hangs"; !strings.Contains(out, want) {
		s.t.Errorf("want %q:\n%s", want, out)
	}
}

// killAfter starts a line and kills it when a file has so many bytes.
func (s *sharded) killAfter(what, file string, bytes int64, line []string) {
	s.t.Helper()
	p := launch(s.t, s.dir, line...)
	until(s.t, what+" on disk", func() bool {
		info, err := os.Stat(filepath.Join(s.dir, file))
		return err == nil && info.Size() >= bytes
	})
	p.kill() // unless it is over
}

// misled changes what a shard took for quarantined.
func (s *sharded) misled(shard string) {
	s.t.Helper()
	plan := s.read(shard, "plan.json")
	other := bytes.Replace(plan, []byte(`"quarantined": [
      4
    ]`), []byte(`"quarantined": [
      1
    ]`), 1)
	if bytes.Equal(plan, other) {
		s.t.Fatalf("%s did not foresee that hangs is quarantined: %s", shard, plan)
	}
	write(s.t, s.dir, filepath.Join(shard, "plan.json"), string(other))
}

// withoutCode merges shards that need a replay where the field is not known: nothing is
// lost, and the same line ends the work where it is.
func (s *sharded) withoutCode(shards string) {
	s.t.Helper()
	elsewhere := filepath.Join(s.dir, "elsewhere")
	if err := os.CopyFS(filepath.Join(elsewhere, shards), os.DirFS(filepath.Join(s.dir, shards))); err != nil {
		s.t.Fatal(err)
	}
	for _, shard := range []string{"shard-1", "shard-2"} {
		if err := os.RemoveAll(filepath.Join(elsewhere, shards, shard, "sources")); err != nil {
			s.t.Fatal(err)
		}
	}
	line := s.merge(shards+"/shard-1", shards+"/shard-2", "--out", "all")
	out := run1(s.t, elsewhere, exitUsage, line...)
	if want := "replay leagues 128 to 191"; !strings.Contains(out, want) || !strings.Contains(out, "merge where the code of the whole field is") {
		s.t.Fatalf("want %q and what to do:\n%s", want, out)
	}
	if err := os.CopyFS(filepath.Join(elsewhere, "scripts"), os.DirFS(filepath.Join(s.dir, "scripts"))); err != nil {
		s.t.Fatal(err)
	}
	run1(s.t, elsewhere, exitOK, line...)
	s.same("elsewhere/all")
}
