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

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a")
	if err := os.WriteFile(file, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
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
