package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// A tune that is killed four times and resumed plays the same leagues, and says the same,
// as one that is not.
func TestTuneIsKilled(t *testing.T) {
	t.Parallel()
	notRaced(t, ownProcesses)
	dir := t.TempDir()
	self := program(t, dir)
	write(t, dir, "scripts/gain.lua", "-- param: x 0.0..1.0 = 0.2\nfunction choose() return 0.25 + (params.x - 0.7) ^ 2 end\n")
	tune := func(more ...string) (*exec.Cmd, *bytes.Buffer) {
		cmd := exec.Command(self, append([]string{"tune", "--quiet"}, more...)...)
		stdout := new(bytes.Buffer)
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, stdout, os.Stderr
		return cmd, stdout
	}
	fresh := []string{"scripts/gain.lua", "--against", "always-even,always-odd*2", "--runs", "1500", "--confirm", "128", "--seed", "9", "--out"}
	whole, want := tune(append(fresh, "whole")...)
	if err := whole.Run(); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "cut", "evaluations.jsonl")
	lines := func() int {
		text, _ := os.ReadFile(log) // it may not be there yet
		return bytes.Count(text, []byte("\n"))
	}
	args := append(fresh, "cut")
	kills := 0
	for kill := range 4 {
		cmd, _ := tune(args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { _ = cmd.Wait(); close(ended) }()
		for over := false; !over && lines() < 10*(kill+1); {
			select {
			case <-ended:
				over = true
			case <-time.After(time.Millisecond):
			}
		}
		if cmd.Process.Kill() == nil {
			kills++
		}
		<-ended
		args = []string{"--resume", "cut"}
	}
	last, got := tune(args...)
	if err := last.Run(); err != nil {
		t.Fatal(err)
	}
	if kills < 4 || got.String() != want.String() {
		t.Errorf("after %d kills:\n%s\nwithout:\n%s", kills, got, want)
	}
	a, _ := os.ReadFile(filepath.Join(dir, "whole", "evaluations.jsonl"))
	if b, _ := os.ReadFile(log); len(a) == 0 || !bytes.Equal(a, b) {
		t.Errorf("%d bytes of evaluations after the kills, %d without", len(b), len(a))
	}
}
