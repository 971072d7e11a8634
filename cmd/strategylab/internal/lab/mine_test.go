package lab

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/strategylab/strategylab/host/results"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/catalog"
)

// write writes a file with a time of its own.
func write(t *testing.T, l Lab, name, content string, age time.Duration) {
	t.Helper()
	file := l.Path(name)
	at := time.Now().Add(-age)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, at, at); err != nil {
		t.Fatal(err)
	}
}

// edited loads the catalog of a lab and returns what has changed.
func edited(t *testing.T, l Lab) []string {
	t.Helper()
	cat, err := catalog.Load(t.Context(), catalog.Config{Dir: l.Dir, Lazy: true})
	if err != nil {
		t.Fatal(err)
	}
	defer cat.Close()
	return l.Edited("runs", cat.Entries())
}

func TestEdited(t *testing.T) {
	t.Parallel()
	l := here(t)
	const even, odd = `function choose() return "even" end`, `function choose() return "odd" end`
	write(t, l, "scripts/old.lua", even, 9*time.Hour)
	write(t, l, "scripts/other.lua", even, 9*time.Hour)
	own := []string{filepath.FromSlash("scripts/old.lua"), filepath.FromSlash("scripts/other.lua")}
	if diff := cmp.Diff(own, edited(t, l)); diff != "" {
		t.Errorf("without a run (-want +got):\n%s", diff)
	}
	evenSum, _ := l.codeOf(catalog.Entry{Info: strategies.Info{Source: "scripts/old.lua", Kind: strategies.Lua}})
	plan := func(folder string, age time.Duration, fingerprint string) {
		write(t, l, "runs/"+folder+"/"+results.PlanFile,
			`{"field":[{"name":"old","source":"./scripts/old.lua","fingerprint":"`+fingerprint+`"},{"name":"random"}]}`, age)
	}
	plan("a", 8*time.Hour, evenSum.fingerprint)
	write(t, l, "runs/broken/"+results.PlanFile, "{", time.Hour)
	if diff := cmp.Diff(own, edited(t, l)); diff != "" { // other.lua is older than the run
		t.Errorf("where nothing changed (-want +got):\n%s", diff)
	}
	write(t, l, "scripts/new.lua", odd, 7*time.Hour)
	want := []string{filepath.FromSlash("scripts/new.lua")}
	if diff := cmp.Diff(want, edited(t, l)); diff != "" {
		t.Errorf("after a new script (-want +got):\n%s", diff)
	}
	plan("b", 6*time.Hour, evenSum.fingerprint)
	if diff := cmp.Diff(want, edited(t, l)); diff != "" {
		t.Errorf("after a run without it, which is newer (-want +got):\n%s", diff)
	}
	write(t, l, "scripts/old.lua", odd, 9*time.Hour) // an editor that keeps times
	want = []string{filepath.FromSlash("scripts/old.lua")}
	if diff := cmp.Diff(want, edited(t, l)); diff != "" {
		t.Errorf("after an edit (-want +got):\n%s", diff)
	}
}
