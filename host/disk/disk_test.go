package disk_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/strategylab/strategylab/host/disk"
)

func TestWriteFileReplacesWhole(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a", "b", "view.json")
	for _, content := range []string{"first and longer\n", "second\n"} {
		if err := disk.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(name)
		if err != nil || string(got) != content {
			t.Errorf("read %q, %v; want %q", got, err, content)
		}
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
	left, err := os.ReadDir(filepath.Dir(name))
	if err != nil || len(left) != 1 {
		t.Errorf("%d files left in the folder, %v; want the one", len(left), err)
	}
}

// Readers beside writers must always see one writer's whole content.
func TestWriteFileIsAtomic(t *testing.T) {
	name := filepath.Join(t.TempDir(), "view")
	contents := []string{strings.Repeat("a", 70_000), strings.Repeat("b", 50_000)}
	if err := disk.WriteFile(name, []byte(contents[0]), 0o644); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for _, c := range contents {
		writers.Go(func() {
			for range 30 {
				if err := disk.WriteFile(name, []byte(c), 0o644); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	for {
		got, err := os.ReadFile(name)
		if err != nil || (string(got) != contents[0] && string(got) != contents[1]) {
			t.Fatalf("read %d bytes, %v: neither content", len(got), err)
		}
		select {
		case <-done:
			return
		default:
		}
	}
}

func TestWriteFileSaysWhere(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "occupied")
	if err := os.MkdirAll(filepath.Join(name, "child"), 0o755); err != nil {
		t.Fatal(err)
	}
	err := disk.WriteJSON(name, map[string]int{"a": 1}, 0o644)
	if err == nil || !strings.Contains(err.Error(), name) {
		t.Errorf("replacing a folder: %v, want an error that names it", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("a failed write left %d entries, want only the folder", len(left))
	}
	if err := disk.WriteJSON(filepath.Join(dir, "x"), func() {}, 0o644); err == nil {
		t.Error("a function became JSON")
	}
}

// wantLocked wants the named lock to be held by somebody.
func wantLocked(t *testing.T, name, holder string) {
	t.Helper()
	_, err := disk.Acquire(name)
	if want := "lock " + name + ": in use by " + holder; !errors.Is(err, disk.ErrLocked) || err.Error() != want {
		t.Fatalf("Acquire = %v, want %q", err, want)
	}
}

func TestLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	l, err := disk.Acquire(name)
	if err != nil {
		t.Fatal(err)
	}
	wantLocked(t, name, "this process")
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := disk.Acquire(name)
	if err != nil {
		t.Fatalf("after Release: %v", err)
	}
	defer again.Release()
	for _, text := range []string{"", "no number\n"} { // what stands there while a holder has yet to sign
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		wantLocked(t, name, "another process")
	}
	if _, err := disk.Acquire(filepath.Join(name, "below a file")); err == nil || errors.Is(err, disk.ErrLocked) {
		t.Errorf("impossible name: %v, want an error other than ErrLocked", err)
	}
}

// A process that is killed gives its lock up without having released it.
func TestLockDiesWithItsProcess(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	cmd := exec.Command(os.Args[0], "-test.run", "^TestHoldLock$")
	cmd.Env = append(os.Environ(), "HOLD_LOCK="+name)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil { // kept open: the child waits on it
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("child said %q, %v", line, err)
	}
	wantLocked(t, name, fmt.Sprintf("process %d", cmd.Process.Pid))
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	l, err := disk.Acquire(name)
	if err != nil {
		t.Fatalf("after the child was killed: %v", err)
	}
	_ = l.Release()
}

// TestHoldLock is the child of TestLockDiesWithItsProcess.
func TestHoldLock(t *testing.T) {
	name := os.Getenv("HOLD_LOCK")
	if name == "" {
		t.Skip("runs only as the child of another test")
	}
	l, err := disk.Acquire(name)
	if err != nil {
		t.Fatal(err)
	}
	os.Stdout.WriteString("held\n")
	_, _ = io.Copy(io.Discard, os.Stdin) // until killed
	_ = l.Release()
}
