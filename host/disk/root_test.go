package disk_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/disk"
)

func TestFilesOfARoot(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, content := range []string{"four", "1234"} {
		if err := disk.WriteIn(root, "x", []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
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
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("hidden"), 0o600); err != nil {
		t.Fatal(err)
	}
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
