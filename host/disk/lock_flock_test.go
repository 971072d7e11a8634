//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package disk

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A lock that is released is free at once, even while a process that is just
// being started still has its file.
func TestReleaseWithTheFileStillOpenElsewhere(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	l, err := Acquire(name)
	if err != nil {
		t.Fatal(err)
	}
	child, err := syscall.Dup(int(l.file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(child)
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := Acquire(name)
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Release()
}

// A process that was killed while it replaced a file leaves a draft, which the next write
// in the folder removes. The draft of a process that still writes is locked, and stays.
func TestDraftsOfKilledProcesses(t *testing.T) {
	dir := t.TempDir()
	draft, locked, other := filepath.Join(dir, ".strategylab-draft-DEAD"), filepath.Join(dir, ".strategylab-draft-LIVE"), filepath.Join(dir, ".draft")
	for _, name := range []string{draft, other} {
		if err := os.WriteFile(name, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lock, err := Acquire(locked)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	if err := WriteFile(filepath.Join(dir, "view"), []byte("whole"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(draft); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the draft of a killed process is still there: %v", err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(locked); err != nil {
		t.Errorf("the draft of another writer: %v", err)
	}
}
