package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// A tune that is killed four times and resumed plays the same leagues, and says the same,
// as one that is not.
func TestTuneIsKilled(t *testing.T) {
	t.Parallel()
	notRaced(t, ownProcesses)
	dir := t.TempDir()
	write(t, dir, "scripts/gain.lua", "-- param: x 0.0..1.0 = 0.2\nfunction choose() return 0.25 + (params.x - 0.7) ^ 2 end\n")
	fresh := []string{"tune", "--quiet", "scripts/gain.lua", "--against", "always-even,always-odd*2", "--runs", "1500", "--confirm", "128", "--seed", "9", "--out"}
	want := run1(t, dir, exitOK, append(fresh, "whole")...)
	log := filepath.Join(dir, "cut", "evaluations.jsonl")
	lines := func() int {
		text, _ := os.ReadFile(log) // it may not be there yet
		return bytes.Count(text, []byte("\n"))
	}
	args := append(fresh, "cut")
	const kills = 4
	for kill := range kills {
		p := launch(t, dir, args...)
		until(t, "evaluations", func() bool { return p.over() || lines() >= 10*(kill+1) })
		if p.kill(); p.code() == exitOK {
			t.Fatalf("it was over before kill %d", kill+1)
		}
		args = []string{"tune", "--quiet", "--resume", "cut"}
	}
	if got := run1(t, dir, exitOK, args...); got != want {
		t.Errorf("after %d kills:\n%s\nwithout:\n%s", kills, got, want)
	}
	a, _ := os.ReadFile(filepath.Join(dir, "whole", "evaluations.jsonl"))
	if b, _ := os.ReadFile(log); len(a) == 0 || !bytes.Equal(a, b) {
		t.Errorf("%d bytes of evaluations after the kills, %d without", len(b), len(a))
	}
}
