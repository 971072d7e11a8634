package command

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/cmd/strategylab/internal/lab"
)

// TestCompanion looks for a program beside this one, then on PATH, and never in the
// working directory.
func TestCompanion(t *testing.T) {
	t.Chdir(t.TempDir())
	name := "tool"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	beside, path := t.TempDir(), t.TempDir()
	for _, dir := range []string{beside, path, "."} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p := Process{Lab: lab.Lab{Exe: filepath.Join(beside, "strategylab")}, Env: func(name string) string {
		return map[string]string{"PATH": strings.Join([]string{".", "", path}, string(os.PathListSeparator))}[name]
	}}
	for _, dir := range []string{beside, path} {
		if got, err := p.Companion("tool", ""); err != nil || got != filepath.Join(dir, name) {
			t.Errorf("it is at %q, %v; want %s", got, err, dir)
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := p.Companion("tool", "do without"); err == nil || !strings.HasSuffix(HintOf(err), "go -C cmd/tool install . installs it; or do without") {
		t.Errorf("it is at %q, %v, %s", got, err, HintOf(err))
	}
}
