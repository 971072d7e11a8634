package disk_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
		must(t, disk.WriteFile(name, []byte(content), 0o600))
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
	must(t, disk.WriteFile(name, []byte(contents[0]), 0o644))
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
	must(t, os.MkdirAll(filepath.Join(name, "child"), 0o755))
	err := disk.WriteJSON(name, map[string]int{"a": 1}, 0o644)
	if left, _ := os.ReadDir(dir); err == nil || !strings.Contains(err.Error(), name) || len(left) != 1 {
		t.Errorf("replacing a folder: %v, want an error that names it; %d entries left", err, len(left))
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
	must(t, err)
	wantLocked(t, name, "this process")
	must(t, l.Release())
	again, err := disk.Acquire(name)
	if err != nil {
		t.Fatalf("after Release: %v", err)
	}
	defer again.Release()
	for _, text := range []string{"", "no number\n"} { // what stands there while a holder has yet to sign
		must(t, os.WriteFile(name, []byte(text), 0o644))
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
	must(t, err)
	if _, err := cmd.StdinPipe(); err != nil { // kept open: the child waits on it
		t.Fatal(err)
	}
	must(t, cmd.Start())
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("child said %q, %v", line, err)
	}
	wantLocked(t, name, fmt.Sprintf("process %d", cmd.Process.Pid))
	must(t, cmd.Process.Kill())
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
	must(t, err)
	os.Stdout.WriteString("held\n")
	_, _ = io.Copy(io.Discard, os.Stdin) // until killed
	_ = l.Release()
}

func TestFileName(t *testing.T) {
	seen := make(map[string]string)
	for text, want := range map[string]string{
		"P01": "P01", "a.b-c_d": "a.b-c_d", ".": "%2E", "..": "%2E%2E", "a.": "a%2E", "con.LUA": "%63on.LUA", "Lpt1": "%4Cpt1", "com10": "com10", "console": "console", ".4": "%2E4", "team/3": "team%2F3", `a\b`: "a%5Cb", "Zoë 7": "Zo%C3%AB%207", "%2E": "%252E",
		strings.Repeat("é", 128): "", strings.Repeat("é", 127) + "e": "",
	} {
		got := disk.FileName(text)
		if want != "" && got != want || !filepath.IsLocal(got) || filepath.Base(got) != got || len(got) > 255 || seen[got] != "" {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		seen[got] = text
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a")
	must(t, os.WriteFile(file, []byte("abc"), 0o600))
	if got, info, err := disk.ReadFile(file, 3); err != nil || string(got) != "abc" || info.Size() != 3 {
		t.Errorf("%q, %v, %v", got, info, err)
	}
	for name, want := range map[string]string{
		file: "file has 3 bytes, more than 2", dir: "not a regular file", os.DevNull: "not a regular file",
	} {
		if _, _, err := disk.ReadFile(name, 2); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if _, _, err := disk.ReadFile(filepath.Join(dir, "b"), 1); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), dir) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestFilesOfARoot(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	root, err := os.OpenRoot(dir)
	must(t, err)
	defer root.Close()
	for _, content := range []string{"four", "1234"} {
		must(t, disk.WriteIn(root, "x", []byte(content), 0o600))
		if got, err := disk.ReadIn(root, "x", 4); err != nil || string(got) != content {
			t.Errorf("read %q, %v, want %q", got, err, content)
		}
	}
	if _, err := disk.ReadIn(root, "x", 3); err != disk.ErrTooLong {
		t.Errorf("a file of four bytes where three are allowed: %v", err)
	}
	if _, err := disk.ReadIn(root, ".", 3); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder: %v, want that it does not exist", err)
	}
	must(t, os.WriteFile(filepath.Join(outside, "secret"), []byte("hidden"), 0o600))
	if err := errors.Join(os.Symlink(filepath.Join(outside, "secret"), filepath.Join(dir, "out")), os.Symlink(outside, filepath.Join(dir, "away"))); err != nil {
		t.Skipf("this system makes no links: %v", err)
	}
	for _, name := range []string{"out", "away/secret", "../secret"} {
		if got, err := disk.ReadIn(root, name, 100); err == nil {
			t.Errorf("read %q through %s, which leads out of the root", got, name)
		}
	}
	for _, name := range []string{"away/new", "../new"} {
		err := disk.WriteIn(root, name, []byte("x"), 0o600)
		if err == nil {
			t.Errorf("wrote %s, which leads out of the root", name)
		} else if strings.Contains(disk.Pathless(err).Error(), "new") {
			t.Errorf("%v shows the path", disk.Pathless(err))
		}
	}
	// A link is replaced, and what it points to stays as it is.
	if err := disk.WriteIn(root, "out", []byte("mine"), 0o600); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(filepath.Join(outside, "secret")); err != nil || string(got) != "hidden" {
		t.Errorf("the file outside is %q, %v", got, err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 3 {
		t.Errorf("the folder has %v, %v, want x, out and away", left, err)
	}
}

// must ends a test at the first of some errors.
func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
