//go:build unix

package catalog_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Reading a pipe would wait for ever for somebody to write to it.
func TestPipeIsNotRead(t *testing.T) {
	t.Parallel()
	o := options(t, map[string]string{"scripts/mine.lua": ""})
	if err := syscall.Mkfifo(filepath.Join(o.Dir, "scripts", "pipe.lua"), 0o600); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	e := load(t, o).Entries()[4]
	if e.Info.Name != "pipe" || e.Err == nil || !strings.Contains(e.Err.Error(), "not a regular file") {
		t.Errorf("entry %+v, want an error that it is not a regular file", e)
	}
}
