package results_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/results"
)

func TestWriteJSON(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "summary.json")
	for _, v := range []map[string]int{{"runs": 1}, {"runs": 2}} {
		if err := results.WriteJSON(path, v); err != nil {
			t.Fatal(err)
		}
	}
	if got := string(readFile(t, path)); got != "{\n  \"runs\": 2\n}\n" {
		t.Errorf("file holds %q", got)
	}
	if err := results.WriteJSON(path, func() {}); err == nil {
		t.Error("a function was written")
	}
	if err := results.WriteJSON(filepath.Join(dir, "no", "such", "dir"), 1); err == nil {
		t.Error("written to a directory that is not there")
	}
	occupied := filepath.Join(dir, "occupied")
	if err := os.MkdirAll(filepath.Join(occupied, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := results.WriteJSON(occupied, 1); err == nil || !strings.Contains(err.Error(), occupied) {
		t.Errorf("over a directory: %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 2 {
		t.Errorf("%v left in the directory, want summary.json and occupied", entries)
	}
	d := open(t, create(t, testPlan(2, 1, 1, ""), nil))
	if err := d.Summary(map[string]int{"leagues": 0}); err != nil {
		t.Fatal(err)
	}
	if got := string(readFile(t, filepath.Join(d.Path(), results.SummaryFile))); !strings.Contains(got, "leagues") {
		t.Errorf("summary holds %q", got)
	}
}
