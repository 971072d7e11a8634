package page_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden holds what a page says, one sentence a line, without its plots.
func TestGolden(t *testing.T) {
	t.Parallel()
	in := played(t, "", 6, 200, bot{"steady", 0, 0, 0}, bot{"turncoat", 0.1, 0.9, 0.01}, bot{"coin", 0.5, 0.5, 0}, bot{"mostly", 0.8, 0.8, 0})
	got := strings.ReplaceAll(text(written(t, in)), ". ", ".\n") + "\n"
	const file = "testdata/page.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("the page says something else (-want +got; -update rewrites the file):\n%s", d)
	}
}
